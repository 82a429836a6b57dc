/* signatures.h - kernels of the language's tests, with lists of their types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SIGNATURES_H
#define KILN_TESTS_SIGNATURES_H

#include <stddef.h>

/*
 * tests/language/signatures.txt has a line for each kernel of that folder and
 * each list of types that it is tested with: "file kernel | type | type".
 */
typedef struct signature {
    char file[32];
    char kernel[48];
    char types[256]; /* with " | " between them */
} signature;

#define SIGNATURES_MAX 512

extern signature signatures[SIGNATURES_MAX];
extern size_t signature_count;

/* Fills the two, once. */
void signatures_read(void);
/* Is it the first list of its kernel? */
int signature_is_first(size_t i);

#endif /* KILN_TESTS_SIGNATURES_H */
