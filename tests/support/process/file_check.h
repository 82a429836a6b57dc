/* file_check.h - runs LLVM's FileCheck, for golden tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FILE_CHECK_H
#define KILN_TESTS_FILE_CHECK_H

/* Checks the file `input` against those lines of the file `checks` that begin
   with the prefix. Returns FileCheck's exit status; FileCheck prints what is
   missing on standard error. -1: FileCheck is not installed. */
int file_check(const char *checks, const char *input, const char *prefix);

#endif /* KILN_TESTS_FILE_CHECK_H */
