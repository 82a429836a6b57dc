/* list_store.h - the smallest possible store: a list in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_LIST_STORE_H
#define KILN_TESTS_LIST_STORE_H

#include "kiln/sys/store.h"

extern const kiln_store_ops list_store_ops;
/* Returns the `self` for the table, or NULL: out of memory. The table's free()
   frees it. */
void *list_store_new(void);

#endif /* KILN_TESTS_LIST_STORE_H */
