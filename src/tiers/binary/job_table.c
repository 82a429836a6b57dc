/* job_table.c - tier 3 by signature and config: the table that hits read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "context/types/types.h"
#include "tiers/binary/job_table.h"
#include "tiers/tiers_state.h"

/*
 * Types, functions and configs are interned, so a job is a few addresses, and a
 * hit is a probe that compares them. With many jobs, every cache line that a
 * hit has to wait for costs more than everything else. So a slot is one line
 * and contains everything: what is asked for, and the kernel. Job and kernel
 * themselves are not read, unless a signature is too long for a slot.
 *
 * Writers hold the lock. Readers load a slot's function with acquire, which
 * writers stored with release after the other members, and its kernel in the
 * same way. A kernel is removed from its slot when it is no longer valid. A
 * reader of a table that has been replaced sees the hits of the time when it
 * got the table.
 */
#define FIRST_SLOTS 64
#define LINE 64

_Static_assert(sizeof(kiln__job_slot) == LINE, "a slot is a line");

/* The first marks the end of a slot's types. The second one means that not all
   types fit. */
static const kiln_type end_of_types, more_types;

static uint64_t mix(uint64_t hash, const void *address)
{
    hash ^= (uint64_t)(uintptr_t)address;
    hash *= 0x9e3779b97f4a7c15u; /* 2^64 / the golden ratio, odd */
    return hash ^ (hash >> 29);
}

static uint64_t job_hash(const kiln_signature *signature,
                         const kiln_config *config)
{
    uint64_t hash = mix(mix(signature->count, signature->function), config);

    for (size_t i = 0; i < signature->count; i++)
        hash = mix(hash, signature->types[i]);
    return hash;
}

/* ---- finding ---- */

/* Compares the types of a long signature that do not fit into its slot. */
static int job_has_rest(const kiln__job *job, const kiln_signature *signature)
{
    if (job->count != signature->count)
        return 0;
    for (size_t i = KILN__SLOT_TYPES - 1; i < job->count; i++)
        if (job->types[i] != signature->types[i])
            return 0;
    return 1;
}

static int slot_is(const kiln__job_table *table, size_t at,
                   const kiln_function *function,
                   const kiln_signature *signature, const kiln_config *config)
{
    const kiln__job_slot *slot = &table->slots[at];
    const size_t count = signature->count;
    const int is_long = count > KILN__SLOT_TYPES;
    const size_t near = is_long ? KILN__SLOT_TYPES - 1 : count;

    if (function != signature->function || slot->config != config)
        return 0;
    for (size_t i = 0; i < near; i++)
        if (slot->types[i] != signature->types[i])
            return 0;
    if (near == KILN__SLOT_TYPES)
        return 1;
    if (!is_long)
        return slot->types[near] == &end_of_types;
    return slot->types[near] == &more_types &&
           job_has_rest(table->jobs[at], signature);
}

/* Returns the slot of the job, or a free one. */
static size_t table_find(const kiln__job_table *table,
                         const kiln_signature *signature,
                         const kiln_config *config)
{
    size_t at = job_hash(signature, config) & table->mask;

    for (;; at = (at + 1) & table->mask) {
        const kiln_function *function = atomic_load_explicit(
            &table->slots[at].function, memory_order_acquire);

        if (function == NULL || slot_is(table, at, function, signature, config))
            return at;
    }
}

const kiln_kernel *kiln__job_lookup(const kiln_context *context,
                                    const kiln_signature *signature,
                                    const kiln_config *config)
{
    const kiln__job_table *table =
        atomic_load_explicit(&context->tiers->table, memory_order_acquire);
    const kiln__job_slot *slot =
        &table->slots[table_find(table, signature, config)];

    return atomic_load_explicit(&slot->kernel, memory_order_acquire);
}

kiln__job *kiln__job_find(const struct kiln__tiers *tiers,
                          const kiln_signature *signature,
                          const kiln_config *config)
{
    const kiln__job_table *table = atomic_load(&tiers->table);

    return table->jobs[table_find(table, signature, config)];
}

/* ---- changing ---- */

static size_t table_size(size_t slots)
{
    return LINE + sizeof(kiln__job_table) +
           slots * (sizeof(kiln__job_slot) + sizeof(kiln__job *));
}

static kiln__job_table *table_new(const kiln_alloc *alloc, size_t slots)
{
    char *memory = kiln__allocate(alloc, table_size(slots));
    kiln__job_table *table;

    if (memory == NULL)
        return NULL;
    table = (void *)(memory + (LINE - (uintptr_t)memory % LINE) % LINE);
    table->memory = memory;
    table->mask = slots - 1;
    table->jobs = (void *)(table->slots + slots);
    return table;
}

static void slot_fill(kiln__job_slot *slot, const kiln__job *job)
{
    size_t near = job->count;

    if (near > KILN__SLOT_TYPES) {
        near = KILN__SLOT_TYPES - 1;
        slot->types[near] = &more_types;
    } else if (near < KILN__SLOT_TYPES) {
        slot->types[near] = &end_of_types;
    }
    if (near)
        memcpy(slot->types, job->types, near * sizeof slot->types[0]);
    slot->config = job->config;
}

static void table_insert(kiln__job_table *table, kiln__job *job)
{
    const kiln_signature signature = {job->function, job->types, job->count};
    const size_t at = table_find(table, &signature, job->config);
    kiln__job_slot *slot = &table->slots[at];

    slot_fill(slot, job);
    atomic_store_explicit(&slot->kernel, job->kernel, memory_order_release);
    table->jobs[at] = job;
    atomic_store_explicit(&slot->function, job->function, memory_order_release);
    job->slot = slot;
    table->used++;
}

/* Doubles the table when it is half full, so that probes stay short. */
static int table_reserve(struct kiln__tiers *tiers)
{
    kiln__job_table *table = atomic_load(&tiers->table);
    kiln__job_table *bigger;

    if ((table->used + 1) * 2 <= table->mask + 1)
        return 1;
    bigger = table_new(&tiers->context->alloc, (table->mask + 1) * 2);
    if (bigger == NULL)
        return 0;
    for (size_t i = 0; i <= table->mask; i++)
        if (table->jobs[i] != NULL)
            table_insert(bigger, table->jobs[i]);
    bigger->retired = table;
    atomic_store_explicit(&tiers->table, bigger, memory_order_release);
    return 1;
}

int kiln__job_insert(struct kiln__tiers *tiers, kiln__job *job)
{
    if (!table_reserve(tiers))
        return 0;
    table_insert(atomic_load(&tiers->table), job);
    return 1;
}

void kiln__job_show(kiln__job *job, const kiln_kernel *kernel)
{
    job->kernel = kernel;
    atomic_store_explicit(&job->slot->kernel, kernel, memory_order_release);
}

int kiln__job_table_new(struct kiln__tiers *tiers)
{
    kiln__job_table *table = table_new(&tiers->context->alloc, FIRST_SLOTS);

    atomic_init(&tiers->table, table);
    return table != NULL;
}

void kiln__job_table_free(struct kiln__tiers *tiers)
{
    kiln__job_table *table = atomic_load(&tiers->table);

    while (table != NULL) {
        kiln__job_table *older = table->retired;

        kiln__deallocate(&tiers->context->alloc, table->memory,
                         table_size(table->mask + 1));
        table = older;
    }
    atomic_store(&tiers->table, NULL);
}
