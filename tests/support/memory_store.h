/* memory_store.h - stores that keep entries in this process, for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_MEMORY_STORE_H
#define KILN_TESTS_MEMORY_STORE_H

#include "stores.h"

/*
 * Stands in for the stores of every context of the program: a test that wraps
 * the functions of stores.h calls these.
 */
typedef struct memory_store_counts {
    unsigned gets, hits, puts, replaced, rejects;
} memory_store_counts;

void memory_store_clear(void);
memory_store_counts memory_store_counted(void);
kiln_status memory_store_get(kiln__stored *out, int32_t kind,
                             const kiln_key *key);
void memory_store_put(const kiln__entry *entry, int replace);
void memory_store_reject(const kiln__stored *stored);
/* Calls `change` for each entry's meta, which it may alter in place. */
void memory_store_alter(void (*change)(unsigned char *meta, size_t size,
                                       void *env),
                        void *env);

#endif /* KILN_TESTS_MEMORY_STORE_H */
