/* codegen_fork.c - fork() while LLVM gets ready. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <stdatomic.h>

#include "codegen/module/codegen_stages.h"

/*
 * LLVM registers its passes when they are first asked for, each under a flag
 * that other threads wait for. A child of fork() in that moment would wait for
 * a thread that it does not have. So until one job of a backend has gone all
 * the way, fork() waits for that backend's jobs that are under way. After that
 * nothing in LLVM is made for the first time for it, and fork() waits for lld
 * and for SPIR-V's translator alone.
 */

static pthread_rwlock_t getting_ready = PTHREAD_RWLOCK_INITIALIZER;
static atomic_uint ready;          /* a bit for each backend */
static _Thread_local int has_read; /* this thread's job holds it */
static _Thread_local int has_write;

void kiln__codegen_job_begins(unsigned backend)
{
    if ((atomic_load_explicit(&ready, memory_order_acquire) & backend) == 0)
        has_read = pthread_rwlock_rdlock(&getting_ready) == 0;
}

void kiln__codegen_job_ends(unsigned gone_all_the_way)
{
    (void)atomic_fetch_or_explicit(&ready, gone_all_the_way,
                                   memory_order_release);
    if (has_read)
        (void)pthread_rwlock_unlock(&getting_ready);
    has_read = 0;
}

/* Nobody holds it where all jobs are of backends that are ready. A callback of
   a job may fork: then there is nothing to wait for but itself. */
static void before_fork(void)
{
    if (!has_read)
        has_write = pthread_rwlock_wrlock(&getting_ready) == 0;
}

static void after_fork(void)
{
    if (has_write)
        (void)pthread_rwlock_unlock(&getting_ready);
    has_write = 0;
}

/* The owner's number is in the lock, and the child's thread has another. */
static void in_child(void)
{
    static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_INITIALIZER;

    getting_ready = fresh;
    has_read = has_write = 0;
}

void kiln__codegen_guard_forks(void)
{
    /* Without memory for it a child may wait for ever. */
    (void)pthread_atfork(before_fork, after_fork, in_child);
}
