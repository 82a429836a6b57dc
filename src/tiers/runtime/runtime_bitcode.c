/* runtime_bitcode.c - tier 2: bitcode, by runtime key or closure key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/counters.h"
#include "context/log.h"
#include "tiers/memory_bounds.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/runtime/runtime_entry.h"
#include "tiers/typed/code_state.h"

/*
 * An entry is built by one thread while others wait for it. It is lent to
 * builds, and is dropped when a collection finds no code that could ask for it.
 * An entry whose digest is also that of another key is in no map, and serves
 * its builder only.
 *
 * Reading and linking bitcode takes time, too. An entry that could also be
 * lowered with the kernel is judged after a few readings, by the fastest one,
 * because the first readings in a process are slow for other reasons. If it is
 * slower to read than to make, it is given up. Then entries that take no more
 * work to make than that one are not tried any more.
 */

static void count_outcome(kiln_context *context, kiln__count outcome)
{
    kiln__count_request(context, KILN_TIER_RUNTIME, outcome);
}

static kiln__runtime_entry *entry_new(const kiln_alloc *alloc,
                                      const kiln__runtime_query *query)
{
    kiln__runtime_entry *entry =
        kiln__allocate(alloc, sizeof *entry + query->encoded_size);

    if (entry == NULL)
        return NULL;
    entry->is_optional = query->is_optional;
    entry->pins = 1;
    entry->builder = kiln__thread_self();
    entry->digest = query->digest;
    entry->asker = query->asker;
    entry->work = query->work;
    entry->encoded_size = query->encoded_size;
    memcpy(entry->encoded, query->encoded, query->encoded_size);
    return entry;
}

/* Frees the bitcode; no build may have it on loan. */
static void drop_bitcode(kiln_context *context, kiln__runtime_entry *entry)
{
    if (entry->bitcode == NULL)
        return;
    kiln__count_held(context, KILN_TIER_RUNTIME, -1, -(int64_t)entry->size);
    kiln__deallocate(&context->alloc, entry->bitcode, entry->size);
    entry->bitcode = NULL;
    entry->size = 0;
}

static void entry_free(kiln_context *context, kiln__runtime_entry *entry)
{
    kiln__lock_release(&entry->lock);
    drop_bitcode(context, entry);
    kiln__string_free(&context->alloc, entry->toolchain);
    kiln__deallocate(&context->alloc, entry,
                     sizeof *entry + entry->encoded_size);
}

static void unlist(struct kiln__tiers *tiers, kiln__runtime_entry *entry)
{
    if (entry->is_listed)
        kiln__map_remove(&tiers->runtime, entry->digest);
    entry->is_listed = 0;
}

/* ---- asking ---- */

static int is_for(const kiln__runtime_entry *entry,
                  const kiln__runtime_query *query)
{
    return entry->encoded_size == query->encoded_size &&
           memcmp(entry->encoded, query->encoded, entry->encoded_size) == 0;
}

/* With the lock held. Finds the entry of the key; sets `*other` when another
   key has the digest. */
static kiln__runtime_entry *find_bitcode(struct kiln__tiers *tiers,
                                         const kiln__runtime_query *query,
                                         int *other)
{
    kiln__runtime_entry *entry = kiln__map_get(&tiers->runtime, query->digest);

    *other = entry != NULL && !is_for(entry, query);
    return *other ? NULL : entry;
}

static kiln__runtime_outcome take_entry(struct kiln__tiers *tiers,
                                        kiln__runtime_entry **out,
                                        const kiln__runtime_query *query)
{
    int other;
    kiln__runtime_entry *entry = find_bitcode(tiers, query, &other);

    if (entry != NULL && entry->state == KILN__RUNTIME_GIVEN_UP)
        return KILN__RUNTIME_IN_PLACE;
    if (entry == NULL && query->is_optional && query->work < tiers->given_up)
        return KILN__RUNTIME_IN_PLACE;
    if (entry != NULL) {
        entry->pins++;
        *out = entry;
        return KILN__RUNTIME_FOUND;
    }
    entry = entry_new(&tiers->context->alloc, query);
    if (entry == NULL)
        return KILN__RUNTIME_NO_MEMORY;
    entry->is_listed =
        !other && kiln__map_set(&tiers->runtime, query->digest, entry);
    *out = entry;
    return KILN__RUNTIME_OWN;
}

/* With the lock held. */
static int is_being_built(struct kiln__tiers *tiers,
                          const kiln__runtime_query *query)
{
    int other;
    const kiln__runtime_entry *entry = find_bitcode(tiers, query, &other);

    return entry != NULL && entry->state == KILN__RUNTIME_BUILDING;
}

static void wait_for_builder(kiln_context *context,
                             const kiln__runtime_query *query)
{
    struct kiln__tiers *tiers = context->tiers;

    kiln__own_blocking_enter(context);
    kiln__mutex_lock(&tiers->lock);
    while (is_being_built(tiers, query))
        kiln__condition_wait(&tiers->ended, &tiers->lock);
    kiln__mutex_unlock(&tiers->lock);
    kiln__own_blocking_leave(context);
}

/* ---- claiming ---- */

kiln__runtime_outcome kiln__runtime_claim(kiln__runtime_entry **out,
                                          kiln_context *context,
                                          const kiln__runtime_query *query)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__runtime_outcome outcome = KILN__RUNTIME_OWN;
    int waited = 0, busy;

    do {
        kiln__mutex_lock(&tiers->lock);
        busy = is_being_built(tiers, query);
        if (!busy)
            outcome = take_entry(tiers, out, query);
        kiln__mutex_unlock(&tiers->lock);
        if (busy)
            wait_for_builder(context, query);
        waited |= busy;
    } while (busy);
    if (outcome == KILN__RUNTIME_OWN && !query->is_anew &&
        kiln__runtime_recall(context, *out)) {
        count_outcome(context, KILN__COUNT_STORE_HIT);
        return KILN__RUNTIME_FOUND;
    }
    if (outcome == KILN__RUNTIME_FOUND)
        count_outcome(context, waited ? KILN__COUNT_WAITED : KILN__COUNT_HIT);
    if (outcome == KILN__RUNTIME_NO_MEMORY)
        count_outcome(context, KILN__COUNT_FAILED);
    return outcome;
}

/* ---- building ---- */

kiln_status kiln__runtime_finish(kiln_context *context,
                                 kiln__runtime_entry *entry,
                                 const void *bitcode, size_t size,
                                 uint64_t make_ns)
{
    kiln__string_free(&context->alloc, entry->toolchain);
    entry->toolchain = NULL;
    if (kiln__runtime_keep(context, entry, bitcode, size, make_ns) != KILN_OK) {
        kiln__runtime_fail(context, entry);
        return KILN_ENOMEM;
    }
    count_outcome(context, KILN__COUNT_BUILT);
    if (!entry->is_optional)
        kiln__runtime_save(context, entry);
    kiln__lock_release(&entry->lock);
    return KILN_OK;
}

void kiln__runtime_fail(kiln_context *context, kiln__runtime_entry *entry)
{
    struct kiln__tiers *tiers = context->tiers;

    kiln__mutex_lock(&tiers->lock);
    unlist(tiers, entry);
    kiln__condition_broadcast(&tiers->ended);
    kiln__mutex_unlock(&tiers->lock);
    entry_free(context, entry);
    count_outcome(context, KILN__COUNT_FAILED);
}

/* ---- reading ---- */

const void *kiln__runtime_bitcode(const kiln__runtime_entry *entry,
                                  size_t *size)
{
    *size = entry->size;
    return entry->bitcode;
}

/* With the lock held. -1: it is too early, or the entry was judged already. */
static int judge(struct kiln__tiers *tiers, kiln__runtime_entry *entry)
{
    if (entry->is_judged || !entry->is_optional ||
        entry->reads < KILN__RUNTIME_READS)
        return -1;
    entry->is_judged = 1;
    if (entry->read_ns < entry->make_ns)
        return 1;
    entry->state = KILN__RUNTIME_GIVEN_UP;
    if (entry->work >= tiers->given_up)
        tiers->given_up = entry->work + 1;
    return 0;
}

void kiln__runtime_was_read(kiln_context *context, kiln__runtime_entry *entry,
                            uint64_t read_ns)
{
    struct kiln__tiers *tiers = context->tiers;
    int verdict;

    kiln__mutex_lock(&tiers->lock);
    if (entry->reads == 0 || read_ns < entry->read_ns)
        entry->read_ns = read_ns;
    entry->reads++;
    verdict = judge(tiers, entry);
    kiln__mutex_unlock(&tiers->lock);
    if (verdict >= 0)
        kiln__count_judged(context, KILN_TIER_RUNTIME, verdict);
    if (verdict == 1)
        kiln__runtime_save(context, entry); /* still on loan to the caller */
    if (read_ns < entry->make_ns)
        kiln__count_saved(context, KILN_TIER_RUNTIME, entry->make_ns - read_ns);
}

void kiln__runtime_release(kiln_context *context, kiln__runtime_entry *entry)
{
    struct kiln__tiers *tiers = context->tiers;

    kiln__mutex_lock(&tiers->lock);
    if (--entry->pins == 0) {
        if (!entry->is_listed)
            entry_free(context, entry);
        else if (entry->state == KILN__RUNTIME_GIVEN_UP)
            drop_bitcode(context, entry);
    }
    kiln__mutex_unlock(&tiers->lock);
}

int kiln__runtime_reject(kiln_context *context, kiln__runtime_entry *entry)
{
    struct kiln__tiers *tiers = context->tiers;

    if (!entry->is_recalled)
        return 0;
    kiln__runtime_unsave(context, entry);
    kiln__mutex_lock(&tiers->lock);
    unlist(tiers, entry);
    kiln__mutex_unlock(&tiers->lock);
    return 1;
}

/* ---- entries of a delta ---- */

typedef struct listing {
    kiln__runtime_list *out;
    const kiln_alloc *alloc;
    uint64_t since;
    int failed;
} listing;

static void list_entry(kiln_digest key, void *value, void *env)
{
    kiln__runtime_entry *entry = value;
    listing *l = env;

    (void)key;
    if (entry->state != KILN__RUNTIME_READY || entry->order <= l->since ||
        entry->is_packed)
        return;
    if (kiln__array_push(l->alloc, l->out, entry))
        entry->pins++;
    else
        l->failed = 1;
}

kiln_status kiln__runtime_since(kiln__runtime_list *out,
                                struct kiln__tiers *tiers, uint64_t since)
{
    listing l = {.out = out, .alloc = &tiers->context->alloc, .since = since};

    kiln__map_each(&tiers->runtime, list_entry, &l);
    return l.failed ? KILN_ENOMEM : KILN_OK;
}

/* ---- dropping ---- */

typedef struct sweep {
    const kiln__map *askers;
    kiln__runtime_entry *dead;
} sweep;

static void sweep_entry(kiln_digest key, void *value, void *env)
{
    kiln__runtime_entry *entry = value;
    sweep *s = env;

    (void)key;
    if (entry->pins || kiln__digest_is_zero(entry->asker) ||
        kiln__map_get(s->askers, entry->asker) != NULL)
        return;
    entry->next = s->dead;
    s->dead = entry;
}

static void free_dead(struct kiln__tiers *tiers, kiln__runtime_entry *dead)
{
    while (dead != NULL) {
        kiln__runtime_entry *next = dead->next;

        unlist(tiers, dead);
        entry_free(tiers->context, dead);
        dead = next;
    }
}

static int note_askers(kiln__map *askers, kiln_code *codes)
{
    int noted = 1;

    for (kiln_code *code = codes; noted && code != NULL;
         code = code->next_all) {
        if (code->is_runtime)
            noted = kiln__map_set(askers, code->digest, code);
        for (size_t i = 0; noted && i < code->uses.count; i++)
            noted = kiln__map_set(askers, code->uses.items[i].digest, code);
    }
    return noted;
}

/* If there is no memory for the list of askers, everything stays. */
void kiln__runtime_sweep(struct kiln__tiers *tiers)
{
    kiln__map askers;
    sweep s = {.askers = &askers};

    kiln__map_init(&askers, &tiers->context->alloc);
    if (note_askers(&askers, tiers->codes))
        kiln__map_each(&tiers->runtime, sweep_entry, &s);
    free_dead(tiers, s.dead);
    kiln__map_dispose(&askers);
}

typedef struct idle_listing {
    kiln__idle_list *out;
    const kiln_alloc *alloc;
    int failed;
} idle_listing;

static void list_idle(kiln_digest key, void *value, void *env)
{
    kiln__runtime_entry *entry = value;
    idle_listing *l = env;
    const kiln__idle idle = {
        .order = entry->order, .size = entry->size, .runtime = entry};

    (void)key;
    if (entry->state == KILN__RUNTIME_READY && !entry->pins)
        l->failed |= !kiln__array_push(l->alloc, l->out, idle);
}

kiln_status kiln__runtime_idle(kiln__idle_list *out, struct kiln__tiers *tiers)
{
    idle_listing l = {.out = out, .alloc = &tiers->context->alloc};

    kiln__map_each(&tiers->runtime, list_idle, &l);
    return l.failed ? KILN_ENOMEM : KILN_OK;
}

void kiln__runtime_drop(struct kiln__tiers *tiers, kiln__runtime_entry *entry)
{
    unlist(tiers, entry);
    entry_free(tiers->context, entry);
}

static void forget_entry(kiln_digest key, void *value, void *env)
{
    kiln__runtime_entry *entry = value;
    sweep *s = env;

    (void)key;
    if (entry->state != KILN__RUNTIME_BUILDING ||
        kiln__thread_is(entry->builder, kiln__thread_self()))
        return;
    entry->next = s->dead;
    s->dead = entry;
}

void kiln__runtime_forget(struct kiln__tiers *tiers)
{
    sweep s = {0};

    kiln__map_each(&tiers->runtime, forget_entry, &s);
    free_dead(tiers, s.dead);
}

static void free_entry(kiln_digest key, void *value, void *env)
{
    (void)key;
    entry_free(env, value);
}

void kiln__runtime_free(struct kiln__tiers *tiers)
{
    kiln__map_each(&tiers->runtime, free_entry, tiers->context);
    kiln__map_dispose(&tiers->runtime);
}
