/* file_check.h - LLVM's FileCheck, for golden tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FILE_CHECK_H
#define KILN_TESTS_FILE_CHECK_H

/* Looks in the file `input` for what lines of the file `checks` say that begin
   with the prefix. Returns FileCheck's exit status, which tells on standard
   error what is missing; -1: it is not here. */
int file_check(const char *checks, const char *input, const char *prefix);

#endif /* KILN_TESTS_FILE_CHECK_H */
