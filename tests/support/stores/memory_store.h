/* memory_store.h - stores that keep entries in this process, for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_MEMORY_STORE_H
#define KILN_TESTS_MEMORY_STORE_H

#include "stores/stores.h"

/*
 * Replaces the stores of every context, for a test that wraps
 * kiln__stores_mode() and _read(), _write(), _get(), _put() and _reject(). Only
 * what texts define is kept.
 */
extern kiln__cache_mode memory_store_mode;

typedef struct memory_store_counts {
    unsigned gets, hits, puts, replaced, rejects;
} memory_store_counts;

void memory_store_clear(void);
memory_store_counts memory_store_counted(void);
/* Calls `change` for each entry's meta, which it may change in place. */
void memory_store_alter(void (*change)(unsigned char *meta, size_t size,
                                       void *env),
                        void *env);

#endif /* KILN_TESTS_MEMORY_STORE_H */
