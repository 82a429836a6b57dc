/* backend_suite.h - what every backend must do, whatever its device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_BACKEND_SUITE_H
#define KILN_TESTS_BACKEND_SUITE_H

typedef struct backend_subject {
    const char *name;   /* "host" */
    const char *target; /* one that any machine compiles for */
} backend_subject;

/* Runs the suite; returns how many tests failed. Tests that launch are skipped
   where there is no device. */
int backend_suite_run(const backend_subject *subject);

#endif /* KILN_TESTS_BACKEND_SUITE_H */
