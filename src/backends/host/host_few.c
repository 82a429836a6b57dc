/* host_few.c - launches of few items: alone, or on several threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdatomic.h>

#include "backends/host/host_backend.h"
#include "base/system/thread.h"

/*
 * A launch of few items has usually ended before another thread has begun. So
 * the first group of a kernel's first launch runs alone, and its time decides:
 * the others are shared if they will take long enough. With four groups and two
 * threads that would be three groups after each other instead of two. So the
 * pool remembers of recent kernels what their last launch was like.
 *
 *   - The groups but the longest one took long. Then the next launch shares all
 *     groups from the beginning.
 *   - They did not. Then a long first group does not decide: perhaps it is the
 *     only one, as in `if (id == 0)`. The second one does.
 *
 * What is remembered may be wrong, because a kernel has other arguments, or
 * because another kernel is at the same address. Then this launch takes longer,
 * and the next one does not.
 */

#define WORTH_SHARING_NS 4000

/* In the lowest bits of what is known; the rest is the function's address. */
enum { UNKNOWN, TAKES_LONG, TAKES_SHORT, STATE_MASK };

typedef struct few {
    void (*work)(void *env, uint64_t first, uint64_t last);
    void *env;
    uint64_t done;                    /* groups that ran before the others */
    atomic_uint_least64_t busy_ns;    /* of all threads */
    atomic_uint_least64_t longest_ns; /* of a group */
} few;

/* ---- what is known of kernels ---- */

static atomic_uint_least64_t *known_of(kiln__host_known *known,
                                       const void *function)
{
    const uint64_t hash =
        (uint64_t)(uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15);

    return &known->kernels[(hash >> 32) % KILN__HOST_KNOWN_MAX];
}

static uint64_t entry_of(const void *function, uint64_t state)
{
    return (uint64_t)(uintptr_t)function << 2 | state;
}

static uint64_t recall(kiln__host_known *known, const void *function)
{
    const uint64_t entry =
        atomic_load_explicit(known_of(known, function), memory_order_relaxed);

    return entry == entry_of(function, entry & STATE_MASK) ? entry & STATE_MASK
                                                           : UNKNOWN;
}

static void remember(kiln__host_known *known, const void *function,
                     uint64_t state)
{
    if (recall(known, function) != state)
        atomic_store_explicit(known_of(known, function),
                              entry_of(function, state), memory_order_relaxed);
}

/* ---- running ---- */

static void run_timed(void *env, uint64_t first, uint64_t last)
{
    few *f = env;
    const uint64_t start = kiln__clock_ns();
    uint64_t ns, longest;

    f->work(f->env, f->done + first, f->done + last);
    ns = kiln__clock_ns() - start;
    atomic_fetch_add_explicit(&f->busy_ns, ns, memory_order_relaxed);
    ns /= last - first;
    longest = atomic_load_explicit(&f->longest_ns, memory_order_relaxed);
    while (longest < ns && !atomic_compare_exchange_weak_explicit(
                               &f->longest_ns, &longest, ns,
                               memory_order_relaxed, memory_order_relaxed))
        ;
}

static uint64_t busy(const few *f)
{
    return atomic_load_explicit(&f->busy_ns, memory_order_relaxed);
}

/* Runs the next group; true if those behind it will not take long, either. */
static int next_is_short(few *f, uint64_t count)
{
    const uint64_t before = busy(f);

    run_timed(f, 0, 1);
    f->done++;
    return (busy(f) - before) * (count - f->done) < WORTH_SHARING_NS;
}

/* Runs up to so many groups alone, and all others, too, if they are short:
   then it returns 1. */
static int run_alone(few *f, uint64_t count, unsigned groups)
{
    while (groups-- > 0 && f->done < count)
        if (next_is_short(f, count)) {
            if (f->done < count)
                f->work(f->env, f->done, count);
            return 1;
        }
    return f->done == count;
}

void kiln__host_run_few(kiln__host_pool *pool, uint64_t count,
                        void (*work)(void *env, uint64_t first, uint64_t last),
                        void *env, const void *function)
{
    kiln__host_known *known = kiln__host_pool_known(pool);
    const uint64_t state = recall(known, function);
    few f = {.work = work, .env = env};
    uint64_t others = 0;

    atomic_init(&f.busy_ns, 0);
    atomic_init(&f.longest_ns, 0);
    if (state == TAKES_LONG ||
        !run_alone(&f, count, state == TAKES_SHORT ? 2 : 1)) {
        kiln__host_pool_run(pool, count - f.done, run_timed, &f);
        others = busy(&f) -
                 atomic_load_explicit(&f.longest_ns, memory_order_relaxed);
    }
    if (others >= WORTH_SHARING_NS)
        kiln__host_pool_alone(pool, others);
    remember(known, function,
             others >= WORTH_SHARING_NS ? TAKES_LONG : TAKES_SHORT);
}
