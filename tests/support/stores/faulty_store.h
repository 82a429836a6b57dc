/* faulty_store.h - a store that fails, lies, truncates and delays on demand. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAULTY_STORE_H
#define KILN_TESTS_FAULTY_STORE_H

#include <stdatomic.h>

#include "kiln/sys/store.h"

/*
 * It stands before another store and passes everything on, unless a member
 * demands something else. Members may be set while it is in use.
 */
typedef struct faulty_store {
    const kiln_store_ops *ops; /* of the other store, which it owns */
    void *self;
    atomic_int get_fails; /* a kiln_status, returned with an error; 0: works */
    atomic_int put_fails; /* as get_fails */
    atomic_int remove_fails; /* as get_fails */
    atomic_int put_forgets;  /* returns KILN_OK and keeps nothing */
    atomic_int cuts;  /* so many bytes are missing at the end of a blob */
    atomic_int flips; /* this bit of a blob, counted from 1, is wrong */
    atomic_int lies;  /* returns the last entry that was put, for any key */
    atomic_int empty; /* returns a blob that holds nothing */
    atomic_int delay_ms;
    atomic_int gets; /* number of calls */
    atomic_int puts;
    atomic_int removes;
    atomic_int lent;  /* blobs that are not released yet */
    atomic_int ended; /* set by free(); the test owns the struct */
    kiln_blob last;   /* what was put last */
} faulty_store;

extern const kiln_store_ops faulty_store_ops;
/* The table's `self` is the struct. */
void faulty_store_init(faulty_store *faulty, const kiln_store_ops *ops,
                       void *self);

#endif /* KILN_TESTS_FAULTY_STORE_H */
