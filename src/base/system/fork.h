/* fork.h - what a context does so that a child of fork() may use it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FORK_H
#define KILN_FORK_H

#include "base/system/thread.h"

/*
 * A lock that another thread holds at the moment of fork() stays locked in
 * the child for ever. So whoever owns a lock that is reachable from a context
 * registers it, and fork() happens while the forking thread holds them all.
 *
 * `child` (may be NULL) runs in the child, where no other thread exists and
 * no lock is held any more. It must forget work that was under way on other
 * threads and make conditions anew, since waiters of the parent are written
 * into them: kiln__condition_init() over the old one, without disposing.
 */
typedef struct kiln__fork_guard kiln__fork_guard;
struct kiln__fork_guard {
    kiln__mutex *mutex; /* or NULL: only `child` */
    void (*child)(void *env);
    void *env;
    kiln__fork_guard *next;
};

typedef struct kiln__fork_list kiln__fork_list;
struct kiln__fork_list {
    kiln__fork_guard *guards; /* newest first */
    kiln__fork_list *next;    /* of another context */
};

/* Puts a context's list before the eyes of fork(), if it is not there yet. The
   handlers are installed once per process. KILN_ENOMEM. */
kiln_status kiln__fork_list_add(kiln__fork_list *list);
void kiln__fork_list_remove(kiln__fork_list *list);

/* The guard is the caller's storage until it is removed. */
void kiln__fork_add(kiln__fork_list *list, kiln__fork_guard *guard);
void kiln__fork_remove(kiln__fork_list *list, kiln__fork_guard *guard);

#endif /* KILN_FORK_H */
