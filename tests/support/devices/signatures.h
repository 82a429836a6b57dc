/* signatures.h - kernels, and argument types that every backend is tested
   with. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SIGNATURES_H
#define KILN_TESTS_SIGNATURES_H

#include <stddef.h>

/*
 * tests/language/signatures.txt has a line for each kernel of that folder, of
 * the examples and of the golden programs, and for each list of types that it
 * is tested with: "file kernel | type | type". The path of a file with a slash
 * is relative to the project's folder.
 */
typedef struct signature {
    char file[64];
    char kernel[48];
    char types[256]; /* separated by " | " */
} signature;

#define SIGNATURES_MAX 640

extern signature signatures[SIGNATURES_MAX];
extern size_t signature_count;

/* Reads both lists, once. */
void signatures_read(void);
/* True for the first list of types of its kernel. */
int signature_is_first(size_t i);
/* Returns the path of its file, valid until the next call. */
const char *signature_path(const signature *s);

#endif /* KILN_TESTS_SIGNATURES_H */
