/* growth.h - makes programs of any size, to measure their compilation. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#define GROWTH_ITEMS 8 /* elements of the array that kernels get */

/* A text that grows. */
struct text {
    char *bytes;
    size_t size;
    size_t room;
};

/* Ends the program when memory runs out. */
void text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the program of that shape and size, which has a kernel `grown(y)`.
   Returns how many times the kernel adds 1 to an item; -1: there is no such
   shape. */
int64_t growth_text(struct text *text, const char *shape, int size);

/* Appends kernels k0(y) to k<size - 1>(y); kernel N adds N + `step`. */
void growth_kernels(struct text *text, int size, int step);

#endif /* BENCH_GROWTH_H */
