/* sum.h - sums that find damage, and hashes of tables in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SUM_H
#define KILN_SUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * XXH3-128. An attacker can construct two contents with the same sum: so a sum
 * is only used beside its content, and never identifies content (digest.h
 * does).
 */
#define KILN__SUM_SIZE ((size_t)16)

typedef struct kiln__sum {
    uint64_t low;
    uint64_t high;
} kiln__sum;

kiln__sum kiln__sum_bytes(const void *bytes, size_t size);
/* Order matters. */
kiln__sum kiln__sum_combine(kiln__sum first, kiln__sum second);
int kiln__sum_equal(kiln__sum a, kiln__sum b);
/* As KILN__SUM_SIZE bytes, little-endian. */
void kiln__sum_put(unsigned char *to, kiln__sum sum);
kiln__sum kiln__sum_take(const unsigned char *from);

/* A hash for tables in memory, with a secret of the process, so that nobody
   outside can construct two contents with the same hash. Never stored. */
kiln__sum kiln__hash_bytes(const void *bytes, size_t size);
/* A quick 64-bit hash for tables in memory; never stored. */
uint64_t kiln__hash_words(const uint64_t *words, size_t count);

#endif /* KILN_SUM_H */
