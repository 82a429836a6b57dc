/* growth.h - programs of any size, and what compiling them takes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#define GROWTH_ITEMS 8 /* of the array that kernels get */

/* A text that grows. */
struct text {
    char *bytes;
    size_t size;
    size_t room;
};

/* Ends the program when there is no memory. */
void text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the program of a shape and a size, which has a kernel `grown(y)`, and
   returns how many times that adds 1 to an item; -1: there is no such
   shape. */
int64_t growth_text(struct text *text, const char *shape, int size);

/* Appends kernels k0(y) to k<size - 1>(y); kernel N adds N + `step`. */
void growth_kernels(struct text *text, int size, int step);

#endif /* BENCH_GROWTH_H */
