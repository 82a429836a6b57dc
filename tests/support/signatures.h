/* signatures.h - kernels that every backend is tried with, and their types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SIGNATURES_H
#define KILN_TESTS_SIGNATURES_H

#include <stddef.h>

/*
 * tests/language/signatures.txt has a line for each kernel of that folder, of
 * the examples and of the golden programs, and each list of types that it is
 * tried with: "file kernel | type | type". A file with a slash is named from
 * the project's folder on.
 */
typedef struct signature {
    char file[64];
    char kernel[48];
    char types[256]; /* with " | " between them */
} signature;

#define SIGNATURES_MAX 640

extern signature signatures[SIGNATURES_MAX];
extern size_t signature_count;

/* Fills the two, once. */
void signatures_read(void);
/* Is it the first list of its kernel? */
int signature_is_first(size_t i);
/* The path of its file, until the next call. */
const char *signature_path(const signature *s);

#endif /* KILN_TESTS_SIGNATURES_H */
