/* fork.h - keeps contexts usable in a child of fork(). */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FORK_H
#define KILN_FORK_H

#include "base/system/thread.h"

/*
 * A lock that another thread holds at the moment of fork() stays locked in the
 * child for ever. So every lock that is reachable from a context is registered,
 * and fork() happens while the forking thread holds them all.
 *
 * `child` (may be NULL) runs in the child, where no other thread exists and
 * no lock is held any more. It must forget work that was under way on other
 * threads and make conditions anew, since waiters of the parent are written
 * into them: kiln__condition_init() over the old one, without disposing.
 */
typedef struct kiln__fork_guard kiln__fork_guard;
struct kiln__fork_guard {
    kiln__mutex *mutex; /* NULL: there is only `child` */
    void (*child)(void *env);
    void *env;
    kiln__fork_guard *next;
};

typedef struct kiln__fork_list kiln__fork_list;
struct kiln__fork_list {
    kiln__fork_guard *guards; /* newest first */
    kiln__fork_list *next;    /* of another context */
};

/* Registers a context's list for fork(), if it is not registered yet. The
   handlers are installed once per process. KILN_ENOMEM. */
kiln_status kiln__fork_list_add(kiln__fork_list *list);
void kiln__fork_list_remove(kiln__fork_list *list);

/* The caller provides the guard's memory until it is removed. */
void kiln__fork_add(kiln__fork_list *list, kiln__fork_guard *guard);
void kiln__fork_remove(kiln__fork_list *list, kiln__fork_guard *guard);

/*
 * For a lock of the process that no context reaches, such as one for a global
 * of a third-party library: `before` takes it, the others give it.
 * Handlers run in reverse order of their registration before the fork, and stay
 * for as long as the library that this code is in. KILN_ENOMEM.
 */
kiln_status kiln__fork_handle(void (*before)(void), void (*in_parent)(void),
                              void (*in_child)(void));

#endif /* KILN_FORK_H */
