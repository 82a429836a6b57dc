/* host_alone.c - atomic operations that need no lock. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "backends/host/host_backend.h"

/*
 * On x86 an atomic addition takes 20 times as long as a plain one. It need not
 * be atomic while no other thread runs code with atomic operations on memory
 * outside of groups. So a kernel with such operations has two bodies, and asks
 * before it runs groups. It may be *alone*: then it runs the body in which they
 * are plain, and others wait. Or it *shares*: then all that run have the body
 * in which they are atomic.
 *
 * Nobody waits for long, and none for ever:
 *
 *   - Threads that run parts of one launch share, since they would only take
 *     turns.
 *   - A thread that is alone runs a few groups at a time. If another one waits
 *     then, it goes on sharing, and for some time all do without asking.
 *   - Only kernels that do not look at what their atomic operations return have
 *     the plain body (llvm_gap_alone.cc). They cannot wait for another one.
 *   - Who shares waits only for who is alone, and stops waiting when its launch
 *     is to stop.
 *
 * What a thread wrote alone, others see: leaving is a release, and entering an
 * acquire operation. The contents of a buffer belong to one thread of the
 * runtime at a time (device.h), so only launches can meet here.
 */

#define ALONE 0x80000000u /* of `users`, which else is how many share */
#define CROWD 1000        /* runs that share without asking */
#define HOLD_NS 10000     /* about as long is one alone */
#define SPINS 1000

static _Atomic uint32_t users;
static _Atomic uint32_t crowd;
static _Thread_local uint32_t mine; /* what of `users` is this thread's */

/* ---- being alone ---- */

static int try_alone(void)
{
    uint32_t count = atomic_load_explicit(&crowd, memory_order_relaxed);
    uint32_t none = 0;

    if (count > 0) {
        atomic_store_explicit(&crowd, count - 1, memory_order_relaxed);
        return 0;
    }
    if (!atomic_compare_exchange_strong_explicit(
            &users, &none, ALONE, memory_order_acquire, memory_order_relaxed))
        return 0;
    mine = ALONE;
    return 1;
}

static void leave_alone(void)
{
    mine = 0;
    atomic_store_explicit(&users, 0, memory_order_release);
}

/* ---- sharing ---- */

/* Returns 0 when the launch is to stop. */
static int share(const struct kiln__host_launch_state *launch)
{
    uint32_t count = atomic_load_explicit(&users, memory_order_relaxed);
    unsigned spins = 0;

    for (;;) {
        if ((count & ALONE) == 0) {
            if (atomic_compare_exchange_weak_explicit(&users, &count, count + 1,
                                                      memory_order_acquire,
                                                      memory_order_relaxed))
                break;
            continue;
        }
        atomic_store_explicit(&crowd, CROWD, memory_order_relaxed);
        if (atomic_load_explicit(launch->stop, memory_order_relaxed) != 0)
            return 0;
        if (++spins > SPINS)
            (void)sched_yield();
        count = atomic_load_explicit(&users, memory_order_relaxed);
    }
    mine++;
    return 1;
}

static void leave_shared(void)
{
    mine--;
    atomic_fetch_sub_explicit(&users, 1, memory_order_release);
}

/* ---- what images call ---- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Runs groups from `first` on, as long as the thread may be alone; returns the
   first one that it has not run. */
static uint64_t run_alone(struct kiln__host_launch_state *launch,
                          const void *arguments, uint64_t first, uint64_t last,
                          void *memory, kiln__host_entry plain, int32_t *failed)
{
    uint64_t groups = 1;

    while (first < last && *failed == 0 && try_alone()) {
        const uint64_t rest = last - first;
        const uint64_t next = first + (groups < rest ? groups : rest);
        const uint64_t begin = next < last ? now_ns() : 0;

        *failed = plain(launch, arguments, first, next, memory);
        leave_alone();
        if (*failed == KILN__HOST_LEFT) {
            *failed = 0;
            return launch->left;
        }
        if (next < last && now_ns() - begin < HOLD_NS / 2)
            groups *= 2;
        first = next;
    }
    return first;
}

static int is_whole(const struct kiln__host_launch_state *launch,
                    uint64_t first, uint64_t last)
{
    return first == 0 &&
           last == launch->groups[0] * launch->groups[1] * launch->groups[2];
}

/* The entry of an image with atomic operations is nothing but a call of this.
   `plain` is NULL when it has no such body. */
static int32_t run(struct kiln__host_launch_state *launch,
                   const void *arguments, uint64_t first, uint64_t last,
                   void *memory, kiln__host_entry atomic,
                   kiln__host_entry plain)
{
    int32_t failed = 0;

    if (plain != NULL && mine == 0 && is_whole(launch, first, last))
        first =
            run_alone(launch, arguments, first, last, memory, plain, &failed);
    if (first == last || failed)
        return failed;
    if (!share(launch))
        return 1;
    failed = atomic(launch, arguments, first, last, memory);
    leave_shared();
    return failed;
}

/* ---- fork() ---- */

/* Other threads do not exist here. The one that is left may be in a callback of
   a kernel that shares. */
static void forget_others(void)
{
    atomic_store_explicit(&users, mine, memory_order_relaxed);
}

static void do_nothing(void)
{
}

/* Without the handlers, a child might wait for ever for a thread that it has
   not. */
static int guards_forks(void)
{
    static _Atomic int state; /* 1: they are installed, 2: being installed */
    int none = 0;

    if (atomic_compare_exchange_strong(&state, &none, 2))
        atomic_store(&state, kiln__fork_handle(do_nothing, do_nothing,
                                               forget_others) == KILN_OK
                                 ? 1
                                 : 0);
    while (atomic_load(&state) == 2)
        (void)sched_yield();
    return atomic_load(&state) == 1;
}

void *kiln__host_alone_import(const char *name)
{
    int32_t (*const address)(struct kiln__host_launch_state *, const void *,
                             uint64_t, uint64_t, void *, kiln__host_entry,
                             kiln__host_entry) = run;
    void *found = NULL;

    if (strcmp(name, KILN__HOST_ALONE) == 0 && guards_forks())
        memcpy(&found, &address, sizeof found);
    return found;
}
