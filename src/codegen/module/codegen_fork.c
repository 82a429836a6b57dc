/* codegen_fork.c - makes fork() safe while LLVM initialises itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdatomic.h>

#include "base/system/fork.h"
#include "base/system/thread.h"
#include "codegen/module/codegen_stages.h"

/*
 * LLVM registers each pass at its first use, under a flag that other threads
 * wait for. A child of a fork() in that moment would wait for a thread that it
 * does not have. So until one job of a backend has run to its end, fork() waits
 * for all jobs of that backend that are under way. From then on, nothing in
 * LLVM is initialised for that backend any more, and fork() waits for lld and
 * for the SPIR-V translator alone.
 */

static kiln__rwlock getting_ready = KILN__RWLOCK_INIT;
static atomic_uint ready;          /* a bit for each backend */
static _Thread_local int has_read; /* this thread's job holds the read lock */
static _Thread_local int has_write;

void kiln__codegen_job_begins(unsigned backend)
{
    if ((atomic_load_explicit(&ready, memory_order_acquire) & backend) == 0)
        has_read = kiln__rwlock_read(&getting_ready);
}

void kiln__codegen_job_ends(unsigned completed)
{
    (void)atomic_fetch_or_explicit(&ready, completed, memory_order_release);
    if (has_read)
        kiln__rwlock_unlock(&getting_ready);
    has_read = 0;
}

/* When the backends of all running jobs are ready, nobody holds the lock. A
   callback of a job may fork: its own thread holds the lock, and there is
   nothing else to wait for. */
static void before_fork(void)
{
    if (!has_read)
        has_write = kiln__rwlock_write(&getting_ready);
}

static void release_lock_after_fork(void)
{
    if (has_write)
        kiln__rwlock_unlock(&getting_ready);
    has_write = 0;
}

/* The lock records the thread that owns it, and the child's thread has another
   number. So the child gets a fresh lock. */
static void in_child(void)
{
    static const kiln__rwlock fresh = KILN__RWLOCK_INIT;

    getting_ready = fresh;
    has_read = has_write = 0;
}

void kiln__codegen_guard_forks(void)
{
    /* Failure means no memory for the handlers; then a child may wait for
       ever. */
    (void)kiln__fork_handle(before_fork, release_lock_after_fork, in_child);
}
