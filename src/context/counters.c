/* counters.c - counts what the tiers do, without shared cache lines. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdatomic.h>
#include <string.h>

#include "base/data/array.h"
#include "base/system/thread.h"
#include "context/callback.h"
#include "context/context.h"
#include "context/counters.h"
#include "context/log.h"
#include "context/trace.h"

/*
 * Each thread adds to a block of its own, which it finds through a small
 * thread-local table. Blocks belong to the context; they are added to its list
 * by compare and swap, and removed only when the context ends. So the counts of
 * a thread that has ended stay. A later thread with the same identity takes
 * over its block, so that there are no more blocks than threads alive at once.
 *
 * A context is known by a serial number that is never given twice: a
 * thread-local slot that points into a context that has ended has a serial
 * number that no context uses, so its pointer is never followed.
 *
 * A counter has one writer, so adding is a relaxed load and a relaxed store.
 * Atomic additions are needed only for the shared block, which serves threads
 * that could not get a block of their own.
 */

#define CACHE_LINE 64

_Static_assert(KILN_TIER_COUNT <= KILN_TIERS_MAX &&
                   KILN_STAGE_COUNT <= KILN_STAGES_MAX &&
                   (int)KILN_MISS_COUNT <= KILN_MISSES_MAX,
               "statistics have room");

typedef struct tier_counters {
    atomic_uint_fast64_t counts[KILN__COUNT_END];
    atomic_uint_fast64_t entries; /* deltas, modulo 2^64 */
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t kept;
    atomic_uint_fast64_t not_kept;
    atomic_uint_fast64_t saved_ns;
    atomic_uint_fast64_t stores[KILN__STORE_COUNT_END];
} tier_counters;

typedef struct block {
    tier_counters tiers[KILN_TIER_COUNT];
    atomic_uint_fast64_t stage_ns[KILN_STAGE_COUNT];
    atomic_uint_fast64_t stage_count[KILN_STAGE_COUNT];
    atomic_uint_fast64_t invalidated;
    kiln__thread owner;
    struct block *next;
    void *memory; /* the allocation; the block is aligned inside it */
} block;

struct kiln__counters {
    uint64_t serial;
    _Atomic(block *) blocks; /* released in block_add(), acquired by readers */
    block shared;
};

#define NAME(name, text) text,
static const char *const tier_names[] = {KILN_TIER_MAP(NAME)};
static const char *const stage_names[] = {KILN_STAGE_MAP(NAME)};
static const char *const miss_names[] = {KILN_MISS_MAP(NAME)};
#undef NAME

#define BLOCK_SIZE \
    ((sizeof(block) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE + CACHE_LINE)

/* A thread that works with several contexts has a slot for each. */
#define SLOT_COUNT 4

typedef struct slot {
    uint64_t serial; /* 0: empty */
    block *block;
} slot;

static _Thread_local slot slots[SLOT_COUNT]
    __attribute__((tls_model("initial-exec")));

static atomic_uint_fast64_t last_serial;

kiln_status kiln__counters_new(kiln_context *context)
{
    struct kiln__counters *counters =
        kiln__allocate(&context->alloc, sizeof *counters);

    if (counters == NULL)
        return KILN_ENOMEM;
    counters->serial = atomic_fetch_add(&last_serial, 1) + 1;
    context->counters = counters;
    return KILN_OK;
}

void kiln__counters_free(kiln_context *context)
{
    struct kiln__counters *counters = context->counters;
    block *next;

    if (counters == NULL)
        return;
    for (block *b = atomic_load(&counters->blocks); b != NULL; b = next) {
        next = b->next;
        kiln__deallocate(&context->alloc, b->memory, BLOCK_SIZE);
    }
    kiln__deallocate(&context->alloc, counters, sizeof *counters);
    context->counters = NULL;
}

/* ---- finding the thread's block ---- */

static block *block_new(kiln_context *context)
{
    char *memory = kiln__allocate(&context->alloc, BLOCK_SIZE);
    block *made;

    if (memory == NULL)
        return NULL;
    made = (block *)(void *)(memory +
                             (CACHE_LINE - (uintptr_t)memory % CACHE_LINE));
    made->memory = memory;
    made->owner = kiln__thread_self();
    return made;
}

static void block_add(struct kiln__counters *counters, block *added)
{
    block *first =
        atomic_load_explicit(&counters->blocks, memory_order_relaxed);

    do {
        added->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&counters->blocks, &first,
                                                    added, memory_order_release,
                                                    memory_order_relaxed));
}

static block *block_find(kiln_context *context)
    __attribute__((noinline, cold)); /* off the hit path */

/* Only the thread itself adds blocks that it owns, so no other thread can add
   one between the search and the addition. */
static block *block_find(kiln_context *context)
{
    struct kiln__counters *counters = context->counters;
    block *found =
        atomic_load_explicit(&counters->blocks, memory_order_acquire);

    while (found != NULL && !kiln__thread_is(found->owner, kiln__thread_self()))
        found = found->next;
    if (found == NULL) {
        found = block_new(context);
        if (found == NULL)
            return NULL;
        block_add(counters, found);
    }
    slots[counters->serial % SLOT_COUNT] = (slot){counters->serial, found};
    return found;
}

/* Returns the thread's block; NULL: use the shared block. */
static inline block *block_get(kiln_context *context)
{
    const uint64_t serial = context->counters->serial;
    const slot *mine = &slots[serial % SLOT_COUNT];

    return mine->serial == serial ? mine->block : block_find(context);
}

/* ---- counting ---- */

static void add_own(atomic_uint_fast64_t *counter, uint64_t value)
{
    const uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, now + value, memory_order_relaxed);
}

static void add_shared(atomic_uint_fast64_t *counter, uint64_t value)
{
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* Adds to two counters of the block that this thread may write. The counters
   are named as members of the block. */
#define ADD(context, first, first_value, second, second_value) \
    do { \
        block *b = block_get(context); \
        if (b != NULL) { \
            add_own(&b->first, (first_value)); \
            add_own(&b->second, (second_value)); \
        } else { \
            b = &(context)->counters->shared; \
            add_shared(&b->first, (first_value)); \
            add_shared(&b->second, (second_value)); \
        } \
    } while (0)

void kiln__count_request(kiln_context *context, int32_t tier,
                         kiln__count outcome)
{
    ADD(context, tiers[tier].counts[KILN__COUNT_REQUEST], 1,
        tiers[tier].counts[outcome], outcome == KILN__COUNT_REQUEST ? 0 : 1);
}

void kiln__count_stage(kiln_context *context, int32_t stage,
                       uint64_t nanoseconds)
{
    ADD(context, stage_ns[stage], nanoseconds, stage_count[stage], 1);
}

void kiln__count_invalidated(kiln_context *context, uint64_t count)
{
    ADD(context, invalidated, count, invalidated, 0);
}

void kiln__count_held(kiln_context *context, int32_t tier, int64_t entries,
                      int64_t bytes)
{
    ADD(context, tiers[tier].entries, (uint64_t)entries, tiers[tier].bytes,
        (uint64_t)bytes);
}

void kiln__count_judged(kiln_context *context, int32_t tier, int is_kept)
{
    ADD(context, tiers[tier].kept, is_kept != 0, tiers[tier].not_kept,
        is_kept == 0);
}

void kiln__count_saved(kiln_context *context, int32_t tier,
                       uint64_t nanoseconds)
{
    ADD(context, tiers[tier].saved_ns, nanoseconds, tiers[tier].saved_ns, 0);
}

void kiln__count_store(kiln_context *context, int32_t tier, int first,
                       int64_t first_value, int second, int64_t second_value)
{
    ADD(context, tiers[tier].stores[first], (uint64_t)first_value,
        tiers[tier].stores[second], (uint64_t)second_value);
}

static void trace_stage(kiln_context *context, int32_t stage, const char *name,
                        uint64_t nanoseconds)
{
    const uint64_t now = kiln__clock_ns();
    const kiln__trace_note note = {
        .category = "stage", .verb = stage_names[stage], .name = name};

    kiln__trace_span(context, now - nanoseconds, now, &note);
}

void kiln__stage_ended(kiln_context *context, int32_t stage, const char *name,
                       uint64_t nanoseconds)
{
    const kiln_event event = {
        .size = sizeof event,
        .kind = KILN_EVENT_STAGE,
        .stage = stage,
        .status = KILN_OK,
        .name = name,
        .nanoseconds = nanoseconds,
    };

    kiln__count_stage(context, stage, nanoseconds);
    if (context->trace != NULL)
        trace_stage(context, stage, name, nanoseconds);
    kiln__tell_event(context, &event);
}

/* ---- reading ---- */

static void collect(uint64_t *sum, const atomic_uint_fast64_t *counter)
{
    *sum += atomic_load_explicit(counter, memory_order_relaxed);
}

static void collect_tier(kiln_tier_statistics *sum, const tier_counters *tier)
{
    collect(&sum->requests, &tier->counts[KILN__COUNT_REQUEST]);
    collect(&sum->hits, &tier->counts[KILN__COUNT_HIT]);
    collect(&sum->store_hits, &tier->counts[KILN__COUNT_STORE_HIT]);
    collect(&sum->waited, &tier->counts[KILN__COUNT_WAITED]);
    collect(&sum->built, &tier->counts[KILN__COUNT_BUILT]);
    collect(&sum->failed, &tier->counts[KILN__COUNT_FAILED]);
    collect(&sum->entries, &tier->entries);
    collect(&sum->bytes, &tier->bytes);
    collect(&sum->kept, &tier->kept);
    collect(&sum->not_kept, &tier->not_kept);
    collect(&sum->saved_ns, &tier->saved_ns);
}

static void collect_stores(kiln_store_statistics *sum,
                           const tier_counters *tier)
{
    collect(&sum->hits, &tier->stores[KILN__STORE_HITS]);
    for (size_t i = 0; i < KILN_MISS_COUNT; i++)
        collect(&sum->misses[i], &tier->stores[KILN__STORE_MISSES + i]);
    collect(&sum->puts, &tier->stores[KILN__STORE_PUTS]);
    collect(&sum->put_failures, &tier->stores[KILN__STORE_PUT_FAILURES]);
    collect(&sum->refused, &tier->stores[KILN__STORE_REFUSED]);
    collect(&sum->bytes_read, &tier->stores[KILN__STORE_BYTES_READ]);
    collect(&sum->bytes_written, &tier->stores[KILN__STORE_BYTES_WRITTEN]);
    collect(&sum->get_ns, &tier->stores[KILN__STORE_GET_NS]);
    collect(&sum->put_ns, &tier->stores[KILN__STORE_PUT_NS]);
}

static void collect_block(kiln_statistics *sum, const block *b)
{
    for (size_t i = 0; i < KILN_TIER_COUNT; i++) {
        collect_tier(&sum->tiers[i], &b->tiers[i]);
        collect_stores(&sum->stores[i], &b->tiers[i]);
    }
    for (size_t i = 0; i < KILN_STAGE_COUNT; i++) {
        collect(&sum->stage_ns[i], &b->stage_ns[i]);
        collect(&sum->stage_count[i], &b->stage_count[i]);
    }
    collect(&sum->invalidated, &b->invalidated);
}

static void collect_all(kiln_statistics *sum, const kiln_context *context)
{
    const struct kiln__counters *counters = context->counters;
    const block *b =
        atomic_load_explicit(&counters->blocks, memory_order_acquire);

    *sum = (kiln_statistics){.size = sizeof *sum};
    collect_block(sum, &counters->shared);
    for (; b != NULL; b = b->next)
        collect_block(sum, b);
}

void kiln_statistics_get(kiln_statistics *out, const kiln_context *context)
{
    kiln_statistics sum;
    size_t size;

    if (out == NULL || context == NULL)
        return;
    size = out->size;
    collect_all(&sum, context);
    if (size > sizeof sum)
        memset((char *)out + sizeof sum, 0, size - sizeof sum);
    memcpy(out, &sum, size < sizeof sum ? size : sizeof sum);
    out->size = size;
}

/* Reasons with count 0 are left out. */
static void render_store(kiln__text *text, const kiln_store_statistics *store)
{
    const char *separator = "";

    kiln__text_format(text, ", \"store\": {\"hits\": %llu, \"misses\": {",
                      (unsigned long long)store->hits);
    for (size_t i = 0; i < KILN_MISS_COUNT; i++) {
        if (store->misses[i] == 0)
            continue;
        kiln__text_format(text, "%s\"%s\": %llu", separator, miss_names[i],
                          (unsigned long long)store->misses[i]);
        separator = ", ";
    }
    kiln__text_format(text,
                      "}, \"puts\": %llu, \"put_failures\": %llu, "
                      "\"refused\": %llu, \"bytes_read\": %llu, "
                      "\"bytes_written\": %llu, \"get_ns\": %llu, "
                      "\"put_ns\": %llu}",
                      (unsigned long long)store->puts,
                      (unsigned long long)store->put_failures,
                      (unsigned long long)store->refused,
                      (unsigned long long)store->bytes_read,
                      (unsigned long long)store->bytes_written,
                      (unsigned long long)store->get_ns,
                      (unsigned long long)store->put_ns);
}

static void render_tier(kiln__text *text, size_t which,
                        const kiln_tier_statistics *tier,
                        const kiln_store_statistics *store)
{
    kiln__text_format(
        text,
        "\"%s\": {\"requests\": %llu, \"hits\": %llu, \"store_hits\": %llu, "
        "\"waited\": %llu, \"built\": %llu, \"failed\": %llu, "
        "\"entries\": %llu, \"bytes\": %llu",
        tier_names[which], (unsigned long long)tier->requests,
        (unsigned long long)tier->hits, (unsigned long long)tier->store_hits,
        (unsigned long long)tier->waited, (unsigned long long)tier->built,
        (unsigned long long)tier->failed, (unsigned long long)tier->entries,
        (unsigned long long)tier->bytes);
    if (which == KILN_TIER_RUNTIME)
        kiln__text_format(
            text, ", \"kept\": %llu, \"not_kept\": %llu, \"saved_ns\": %llu",
            (unsigned long long)tier->kept, (unsigned long long)tier->not_kept,
            (unsigned long long)tier->saved_ns);
    render_store(text, store);
    kiln__text_add(text, "}");
}

kiln_status kiln_statistics_json(kiln_blob *out, const kiln_context *context)
{
    kiln_statistics sum;
    kiln__text text;

    if (out == NULL || context == NULL)
        return KILN_EINVAL;
    collect_all(&sum, context);
    kiln__text_init(&text, &context->alloc);
    kiln__text_add(&text, "{\"tiers\": {");
    for (size_t i = 0; i < KILN_TIER_COUNT; i++) {
        kiln__text_add(&text, i == 0 ? "" : ", ");
        render_tier(&text, i, &sum.tiers[i], &sum.stores[i]);
    }
    kiln__text_add(&text, "}, \"stages_ns\": {");
    for (size_t i = 0; i < KILN_STAGE_COUNT; i++)
        kiln__text_format(&text, "%s\"%s\": %llu", i == 0 ? "" : ", ",
                          stage_names[i], (unsigned long long)sum.stage_ns[i]);
    kiln__text_add(&text, "}}");
    return kiln__text_to_blob(&text, out);
}
