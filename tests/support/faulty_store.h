/* faulty_store.h - a store that fails, lies, cuts and delays when told to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAULTY_STORE_H
#define KILN_TESTS_FAULTY_STORE_H

#include <stdatomic.h>

#include "kiln/sys/store.h"

/*
 * It stands before another store and passes everything on until a member says
 * otherwise. Members may be set while it is in use.
 */
typedef struct faulty_store {
    const kiln_store_ops *ops; /* of the store behind, which it owns */
    void *self;
    atomic_int get_fails;    /* a kiln_status, with an error; 0: it works */
    atomic_int put_fails;    /* likewise */
    atomic_int remove_fails; /* likewise */
    atomic_int put_forgets;  /* says KILN_OK and keeps nothing */
    atomic_int cuts;  /* so many bytes are missing at the end of what is got */
    atomic_int flips; /* this bit, counted from 1, is wrong in what is got */
    atomic_int lies;  /* gives the last entry that was put, whatever the key */
    atomic_int empty; /* gives a blob that holds nothing */
    atomic_int delay_ms;
    atomic_int gets; /* how often each was called */
    atomic_int puts;
    atomic_int removes;
    atomic_int lent;  /* blobs that are not released yet */
    atomic_int ended; /* set by free(); the struct is the test's */
    kiln_blob last;   /* of the last put */
} faulty_store;

extern const kiln_store_ops faulty_store_ops;
/* `self` of the table is the struct. */
void faulty_store_init(faulty_store *faulty, const kiln_store_ops *ops,
                       void *self);

#endif /* KILN_TESTS_FAULTY_STORE_H */
