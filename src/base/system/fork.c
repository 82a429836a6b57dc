/* fork.c - keeps contexts usable in a child of fork(). */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/fork.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/*
 * Before fork() the forking thread takes every registered lock of every
 * context. After fork() it releases them in the parent and in the child. It
 * does not know in which order other threads take them, so it never waits for
 * one while it holds another: it tries them all, and when one is taken it
 * releases everything, yields, and starts again. That cannot deadlock, whatever
 * the order of others is; these locks are held for moments, or for one
 * dlopen().
 *
 * So every state that these locks guard is consistent in the child. Work that
 * other threads had under way does not go on there: each guard's `child`
 * forgets it. The forking thread must hold none of the locks itself; that is
 * ensured because no callback ever runs under one.
 */

static kiln__mutex lists_lock = KILN__MUTEX_INIT;
static kiln__fork_list *lists; /* under lists_lock */

/* Unlocks the guards before `end` of list `end_list`. */
static void unlock_until(const kiln__fork_list *end_list,
                         const kiln__fork_guard *end)
{
    for (const kiln__fork_list *list = lists; list != NULL; list = list->next) {
        for (const kiln__fork_guard *g = list->guards; g != NULL; g = g->next) {
            if (list == end_list && g == end)
                return;
            if (g->mutex != NULL)
                kiln__mutex_unlock(g->mutex);
        }
    }
}

static int try_lock_all(void)
{
    for (const kiln__fork_list *list = lists; list != NULL; list = list->next) {
        for (const kiln__fork_guard *g = list->guards; g != NULL; g = g->next) {
            if (g->mutex != NULL && pthread_mutex_trylock(g->mutex) != 0) {
                unlock_until(list, g);
                return 0;
            }
        }
    }
    return 1;
}

static void prepare(void)
{
    kiln__mutex_lock(&lists_lock);
    while (!try_lock_all()) {
        kiln__mutex_unlock(&lists_lock);
        sched_yield();
        kiln__mutex_lock(&lists_lock);
    }
}

static void parent(void)
{
    unlock_until(NULL, NULL);
    kiln__mutex_unlock(&lists_lock);
}

static void child(void)
{
    unlock_until(NULL, NULL);
    for (const kiln__fork_list *list = lists; list != NULL; list = list->next)
        for (const kiln__fork_guard *g = list->guards; g != NULL; g = g->next)
            if (g->child != NULL)
                g->child(g->env);
    kiln__mutex_unlock(&lists_lock);
}

/* Installs the handlers, once for the process; a caller that has no memory for
   it leaves it to the next caller. In a child of fork() the thread that was
   installing them may not exist: so a child, which has another process id,
   installs them itself. Until they are installed, no handler takes locks for a
   child. */
static int install(void)
{
    enum { NOBODY = 0, DONE = -1 }; /* else the process id of the installer */
    static atomic_long installer;
    const long own = getpid();
    long now = NOBODY;
    int is_installed;

    while (now != DONE) {
        if (now != own &&
            atomic_compare_exchange_strong(&installer, &now, own)) {
            is_installed = kiln__fork_handle(prepare, parent, child) == KILN_OK;
            atomic_store(&installer, is_installed ? DONE : NOBODY);
            return is_installed;
        }
        if (now == own) {
            (void)sched_yield();
            now = atomic_load(&installer);
        }
    }
    return 1;
}

kiln_status kiln__fork_list_add(kiln__fork_list *list)
{
    const kiln__fork_list *at;

    if (!install())
        return KILN_ENOMEM;
    kiln__mutex_lock(&lists_lock);
    for (at = lists; at != NULL && at != list;)
        at = at->next;
    if (at == NULL) {
        list->next = lists;
        lists = list;
    }
    kiln__mutex_unlock(&lists_lock);
    return KILN_OK;
}

void kiln__fork_list_remove(kiln__fork_list *list)
{
    kiln__mutex_lock(&lists_lock);
    for (kiln__fork_list **at = &lists; *at != NULL; at = &(*at)->next) {
        if (*at == list) {
            *at = list->next;
            break;
        }
    }
    kiln__mutex_unlock(&lists_lock);
}

void kiln__fork_add(kiln__fork_list *list, kiln__fork_guard *guard)
{
    kiln__mutex_lock(&lists_lock);
    guard->next = list->guards;
    list->guards = guard;
    kiln__mutex_unlock(&lists_lock);
}

void kiln__fork_remove(kiln__fork_list *list, kiln__fork_guard *guard)
{
    kiln__mutex_lock(&lists_lock);
    for (kiln__fork_guard **at = &list->guards; *at != NULL;
         at = &(*at)->next) {
        if (*at == guard) {
            *at = guard->next;
            break;
        }
    }
    kiln__mutex_unlock(&lists_lock);
}

kiln_status kiln__fork_handle(void (*before)(void), void (*in_parent)(void),
                              void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0 ? KILN_OK
                                                            : KILN_ENOMEM;
}
