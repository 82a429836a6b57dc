/* host_heavy.c - learns which kernels have few items that take long. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdatomic.h>

#include "backends/host/host_backend.h"
#include "base/system/thread.h"

/*
 * A launch without a block has large groups. That is right where an item takes
 * nanoseconds, but 16 items of a millisecond each are one group, which one
 * thread runs. What an item takes is only known when it has run. So the pool
 * remembers kernels of few groups by what their launches took, and shares those
 * that take long in smaller groups. This is for kernels that compute the same
 * in groups of any size.
 *
 *   - UNKNOWN: the launch is timed. If it took long, the next ones are TRIED.
 *   - LIGHT: it did not. Now and then it is timed again.
 *   - TRIED: smaller groups. If they are faster, the kernel is SHARED.
 *     Otherwise the items are probably vectors of a large group, which small
 *     groups do not fill: the kernel stays WHOLE, and is tried again later.
 *   - SHARED: smaller groups, until a launch does not take long any more.
 *
 * What is remembered may be wrong, because a kernel has other arguments, or
 * because another kernel is at the same address. Then a launch takes longer.
 */

#define LONG_NS 30000
/* Smaller groups are better if they take less than so many sixteenths. */
#define BETTER 14
#define TRIES 3
#define GROUPS_PER_THREAD 4
/* Groups have a multiple of this, if there are enough items: vectors. */
#define ITEMS_OF_VECTOR 16

/* One in so many launches of a queue is timed again, or tried again. */
#define LIGHT_TIMED 32
#define WHOLE_TRIED 256

enum state { UNKNOWN, LIGHT, TRIED, SHARED, WHOLE };

/* ---- what is known of kernels ---- */

/* An entry is, from the lowest bit: the state, how often it was tried, the
   time of a launch in large groups in units of 128 ns, and the kernel. */
#define STATE_BITS 3
#define COUNT_BITS 3
#define TIME_BITS 26
#define TIME_UNIT_NS 128

typedef struct memory {
    enum state state;
    uint64_t count;
    uint64_t time_ns;
} memory;

/* Launches of a kernel with many items say nothing of those with few. */
static uint64_t hash_of(const void *function, uint64_t items)
{
    const uint64_t size = (uint64_t)(63 - __builtin_clzll(items));

    return ((uint64_t)(uintptr_t)function + size) *
           UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t entry_of(uint64_t hash, memory m)
{
    const uint64_t most = ((uint64_t)1 << TIME_BITS) - 1;
    uint64_t time = m.time_ns / TIME_UNIT_NS;

    if (time > most)
        time = most;
    return ((hash >> 32) << 32) | time << (STATE_BITS + COUNT_BITS) |
           m.count << STATE_BITS | (uint64_t)m.state;
}

static memory recall(uint64_t entry, uint64_t hash)
{
    const uint64_t time = (entry & UINT32_MAX) >> (STATE_BITS + COUNT_BITS);

    if (entry >> 32 != hash >> 32)
        return (memory){UNKNOWN, 0, 0};
    return (memory){(enum state)(entry & ((1 << STATE_BITS) - 1)),
                    (entry >> STATE_BITS) & ((1 << COUNT_BITS) - 1),
                    time * TIME_UNIT_NS};
}

/* ---- groups ---- */

static uint64_t smaller_group(uint64_t items, uint64_t threads)
{
    const uint64_t size = items / (threads * GROUPS_PER_THREAD);

    if (size >= ITEMS_OF_VECTOR)
        return size / ITEMS_OF_VECTOR * ITEMS_OF_VECTOR;
    return size > 0 ? size : 1;
}

/* ---- a launch ---- */

static int is_turn(uint32_t launch, uint32_t one_in)
{
    return launch % one_in == 0;
}

/* Decides about the launch: how it is run, and whether it is timed. */
static void decide(kiln__host_plan *plan, memory known, uint32_t launch)
{
    switch (known.state) {
    case LIGHT:
        plan->is_timed = is_turn(launch, LIGHT_TIMED);
        return;
    case WHOLE:
        plan->is_smaller = is_turn(launch, WHOLE_TRIED);
        plan->is_timed = plan->is_smaller;
        return;
    case TRIED:
    case SHARED:
        plan->is_smaller = 1;
        plan->is_timed = 1;
        return;
    case UNKNOWN:
    default:
        plan->is_timed = 1;
    }
}

uint64_t kiln__host_plan_begin(kiln__host_plan *plan, kiln__host_pool *pool,
                               const void *function, uint64_t items,
                               uint32_t launch)
{
    const uint64_t threads = kiln__host_pool_threads(pool);
    const uint64_t hash = hash_of(function, items);

    if (threads == 1)
        return 0;
    plan->slot = &kiln__host_pool_known(pool)
                      ->heavy[(hash >> 24) % KILN__HOST_KNOWN_MAX];
    plan->hash = hash;
    plan->is_smaller = 0;
    decide(plan,
           recall(atomic_load_explicit(plan->slot, memory_order_relaxed), hash),
           launch);
    if (plan->is_timed)
        plan->start_ns = kiln__clock_ns();
    return plan->is_smaller ? smaller_group(items, threads) : 0;
}

/* What is known after a launch in smaller groups that took so long. */
static memory learn_smaller(memory known, uint64_t took_ns)
{
    if (known.state == SHARED && took_ns >= LONG_NS / 2)
        return known;
    if (known.state == SHARED || known.time_ns == 0)
        return (memory){UNKNOWN, 0, 0};
    if (took_ns < known.time_ns / 16 * BETTER)
        return (memory){SHARED, 0, known.time_ns};
    if (known.state == TRIED && known.count + 1 < TRIES)
        return (memory){TRIED, known.count + 1, known.time_ns};
    return (memory){WHOLE, 0, known.time_ns};
}

void kiln__host_plan_end(const kiln__host_plan *plan, kiln__host_pool *pool)
{
    uint64_t before, took_ns;
    memory known, now;

    took_ns = kiln__clock_ns() - plan->start_ns;
    before = atomic_load_explicit(plan->slot, memory_order_relaxed);
    known = recall(before, plan->hash);
    if (plan->is_smaller)
        now = learn_smaller(known, took_ns);
    else
        now = took_ns < LONG_NS ? (memory){LIGHT, 0, 0}
                                : (memory){TRIED, 0, took_ns};
    if (entry_of(plan->hash, now) != before)
        atomic_store_explicit(plan->slot, entry_of(plan->hash, now),
                              memory_order_relaxed);
    if (now.state == TRIED && !plan->is_smaller)
        kiln__host_pool_alone(pool, took_ns);
}
