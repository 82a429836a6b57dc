/* store_suite.h - what every store must do, wherever it keeps its bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_STORE_SUITE_H
#define KILN_TESTS_STORE_SUITE_H

#include "kiln/sys/store.h"

typedef struct store_subject {
    /* Gives an empty store; ops->free ends it. */
    kiln_status (*open)(const kiln_store_ops **ops, void **self);
} store_subject;

/* Runs the suite; returns how many tests failed. */
int store_suite_run(const store_subject *subject);

#endif /* KILN_TESTS_STORE_SUITE_H */
