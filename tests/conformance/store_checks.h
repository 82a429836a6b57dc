/* store_checks.h - what both parts of the store suite look at. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_STORE_CHECKS_H
#define KILN_TESTS_STORE_CHECKS_H

#include "kiln/sys/store.h"

/* *state of each test. */
typedef struct store_opened {
    const kiln_store_ops *ops;
    void *self;
} store_opened;

int store_teardown(void **state);
void store_assert_holds(store_opened *f, const kiln_key *key, const void *bytes,
                        size_t size);
/* What is not there is no error. */
void store_assert_lacks(store_opened *f, const kiln_key *key);
/* A test. */
void a_table_names_itself_and_its_functions(void **state);

#endif /* KILN_TESTS_STORE_CHECKS_H */
