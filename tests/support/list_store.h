/* list_store.h - the smallest store there is: a list in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_LIST_STORE_H
#define KILN_TESTS_LIST_STORE_H

#include "kiln/sys/store.h"

extern const kiln_store_ops list_store_ops;
/* The table's `self`, or NULL when out of memory; its free() ends it. */
void *list_store_new(void);

#endif /* KILN_TESTS_LIST_STORE_H */
