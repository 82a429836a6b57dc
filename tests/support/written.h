/* written.h - texts that a test writes piece by piece, and numbers that it
   chooses at random. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_WRITTEN_H
#define KILN_TESTS_WRITTEN_H

#include <stddef.h>
#include <stdint.h>

/* Begins empty, with room for `room` bytes at `bytes`. */
typedef struct written {
    char *bytes; /* ends in NUL once something was put */
    size_t room;
    size_t size;
} written;

/* Appends; fails the test if there is no room. */
void written_put(written *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns a number below `below`, and changes the seed. Equal seeds give equal
   numbers on every machine. */
uint32_t random_below(uint32_t *seed, uint32_t below);

/* Returns one of the texts. */
const char *random_text(uint32_t *seed, const char *const *texts, size_t count);

#endif /* KILN_TESTS_WRITTEN_H */
