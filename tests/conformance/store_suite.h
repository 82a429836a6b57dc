/* store_suite.h - what every store must do, wherever it keeps its bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_STORE_SUITE_H
#define KILN_TESTS_STORE_SUITE_H

#include "kiln/sys/store.h"

/* What a store is filled with that takes nothing itself. */
typedef struct store_filling {
    kiln_key key;
    const void *bytes;
    size_t size;
} store_filling;

typedef struct store_subject {
    /* Gives an empty store; ops->free ends it. NULL: it is read-only. */
    kiln_status (*open)(const kiln_store_ops **ops, void **self);
    /* Gives a read-only store of these entries, the first of equal keys. */
    kiln_status (*fill)(const kiln_store_ops **ops, void **self,
                        const store_filling *entries, size_t count);
} store_subject;

/* Runs the suite; returns how many tests failed. */
int store_suite_run(const store_subject *subject);
/* The part of it for a store that is filled and then only read. */
int store_filled_run(const store_subject *subject);

#endif /* KILN_TESTS_STORE_SUITE_H */
