/* publish.c - adds inferred code instances to tier 1. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/typed/publish.h"
#include "base/error.h"
#include "context/counters.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/invalidate.h"
#include "tiers/typed/method_instance.h"
#include "tiers/worlds.h"

/*
 * A definition may come while an inference runs. The result is valid in the
 * inference's own world in any case; is it also valid in later ones? First the
 * queries are asked again in the current world, without the lock. Then, in one
 * step under the lock, the result is added under its subjects, with the last
 * world in which it holds. Either a subject has changed after the world of the
 * inference, and the result ends with that world; or the kiln_world_changed()
 * of the definition is yet to come, and will find the result.
 *
 * Each member of a group is checked in the worlds of its own frontend. The
 * group as a whole is valid as long as everything in it and below it is, in the
 * worlds of each frontend concerned.
 */

/* Numbers of subjects are private to a frontend. */
static kiln_digest subject_key(const kiln_frontend *frontend, uint64_t subject)
{
    return kiln__map_key(subject, (uintptr_t)frontend);
}

kiln__subject *kiln__subject_get(struct kiln__tiers *tiers,
                                 const kiln_frontend *frontend,
                                 uint64_t subject)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    kiln_digest key = subject_key(frontend, subject);
    kiln__subject *found = kiln__map_get(&tiers->subjects, key);

    if (found != NULL)
        return found;
    found = kiln__allocate(alloc, sizeof *found);
    if (found == NULL)
        return NULL;
    if (!kiln__map_set(&tiers->subjects, key, found)) {
        kiln__deallocate(alloc, found, sizeof *found);
        return NULL;
    }
    return found;
}

kiln__subject *kiln__subject_find(struct kiln__tiers *tiers,
                                  const kiln_frontend *frontend,
                                  uint64_t subject)
{
    return kiln__map_get(&tiers->subjects, subject_key(frontend, subject));
}

static int list_ends_with(const kiln__code_list *list, const kiln_code *code)
{
    return list->count && list->items[list->count - 1] == code;
}

static int link_edges(const kiln_alloc *alloc, const kiln__code_list *edges,
                      kiln_code *code)
{
    for (size_t i = 0; i < edges->count; i++) {
        kiln__code_list *callers = &edges->items[i]->callers;

        if (!list_ends_with(callers, code) &&
            !kiln__array_push(alloc, callers, code))
            return 0;
    }
    return 1;
}

static int link_code(struct kiln__tiers *tiers, kiln_code *code)
{
    const kiln_alloc *alloc = &tiers->context->alloc;

    for (size_t i = 0; i < code->queries.count; i++) {
        kiln__subject *subject = kiln__subject_get(
            tiers, code->frontend, code->queries.items[i].subject);

        if (subject == NULL ||
            (!list_ends_with(&subject->codes, code) &&
             !kiln__array_push(alloc, &subject->codes, code)))
            return 0;
    }
    return link_edges(alloc, &code->callees, code) &&
           link_edges(alloc, &code->depends, code);
}

static void unlink_code(struct kiln__tiers *tiers, const kiln_code *code)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        kiln__subject *subject = kiln__subject_find(
            tiers, code->frontend, code->queries.items[i].subject);

        if (subject != NULL)
            kiln__code_list_remove(&subject->codes, code); /* it is not in
                                                              `ended` yet */
    }
    for (size_t i = 0; i < code->callees.count; i++)
        kiln__code_list_remove(&code->callees.items[i]->callers, code);
    for (size_t i = 0; i < code->depends.count; i++)
        kiln__code_list_remove(&code->depends.items[i]->callers, code);
}

static kiln_status link_group(struct kiln__tiers *tiers, kiln_code **group,
                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!link_code(tiers, group[i])) {
            for (size_t j = 0; j <= i; j++)
                unlink_code(tiers, group[j]);
            return KILN_ENOMEM;
        }
    return KILN_OK;
}

/* True if a subject of its queries changed after its world. Equal answers in
   the current world say nothing about the worlds between. */
static int was_overtaken(struct kiln__tiers *tiers, const kiln_code *code)
{
    if (code->frontend->unnoted > code->inferred_world)
        return 1;
    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln__subject *subject = kiln__subject_find(
            tiers, code->frontend, code->queries.items[i].subject);

        if (subject != NULL && subject->changed > code->inferred_world)
            return 1;
    }
    return 0;
}

/* Without the lock held. Notes whether all queries have the same answers
   now. */
static void ask_again(kiln_code *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kiln_code *code = group[i];
        uint64_t now;

        code->still_holds =
            kiln__world_now(&now, code->frontend, NULL) == KILN_OK &&
            (now == code->inferred_world || kiln__code_still_holds(code, now));
    }
}

static kiln_status narrow_by_edges(const kiln_alloc *alloc,
                                   kiln__world_range_list *ranges,
                                   const kiln__code_list *edges)
{
    for (size_t i = 0; i < edges->count; i++)
        if (edges->items[i]->published)
            KILN_TRY(kiln__ranges_narrow_by(alloc, ranges, edges->items[i]));
    return KILN_OK;
}

/* With the lock held. Narrows the ranges by one member's queries, and by what
   it calls and depends on outside its cycle. */
static kiln_status narrow_by_member(kiln__world_range_list *ranges,
                                    struct kiln__tiers *tiers, kiln_code *code)
{
    const kiln_alloc *alloc = &tiers->context->alloc;

    if (!code->still_holds || was_overtaken(tiers, code))
        (void)kiln__code_end(code, code->frontend, code->inferred_world);
    KILN_TRY(kiln__ranges_narrow_by(alloc, ranges, code));
    KILN_TRY(narrow_by_edges(alloc, ranges, &code->callees));
    return narrow_by_edges(alloc, ranges, &code->depends);
}

static kiln_status set_ranges(kiln_code *code,
                              const kiln__world_range_list *ranges)
{
    const kiln_alloc *alloc = &code->context->alloc;

    code->others.count = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        const kiln__world_range *range = &ranges->items[i];
        const uint64_t last = atomic_load(&range->maximum);

        if (range->frontend == code->frontend) {
            code->min_world = range->minimum;
            atomic_store(&code->max_world, last);
            continue;
        }
        KILN_TRY(kiln__ranges_narrow(alloc, &code->others, range->frontend,
                                     range->minimum, last));
    }
    return KILN_OK;
}

/* Finds the ranges that all members of a cycle share. */
static kiln_status find_ranges(struct kiln__tiers *tiers,
                               kiln_code *const *group, size_t count)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    kiln__world_range_list ranges = {0};
    kiln_status status = KILN_OK;

    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = narrow_by_member(&ranges, tiers, group[i]);
    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = set_ranges(group[i], &ranges);
    kiln__array_dispose(alloc, &ranges);
    return status;
}

/* With the lock held. */
static kiln_status put(struct kiln__tiers *tiers, kiln_code **group,
                       size_t count)
{
    KILN_TRY(find_ranges(tiers, group, count));
    KILN_TRY(link_group(tiers, group, count));
    for (size_t i = 0; i < count; i++) {
        kiln_code *code = group[i];

        kiln__instance_add(code->instance, code);
        code->next_all = tiers->codes;
        tiers->codes = code;
        code->order = ++tiers->order;
        code->published = 1;
    }
    return KILN_OK;
}

/* Returns what another thread has published in the meantime for these
   worlds. */
static kiln_code *find_earlier(const kiln_code *own, const kiln__worlds *worlds)
{
    kiln_frontend *untaken;
    kiln_code *code =
        kiln__instance_code(own->instance, worlds, own->is_record, &untaken);

    return untaken != NULL ? NULL : code;
}

kiln_status kiln__codes_publish(kiln_context *context,
                                const kiln__worlds *worlds, kiln_code **group,
                                size_t count, kiln_code *own, kiln_code **out)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln_code *earlier;
    kiln_status status = KILN_OK;
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += (int64_t)group[i]->ir_size;
    ask_again(group, count);
    kiln__mutex_lock(&tiers->lock);
    /* Another inference may have published a result while this private one ran.
       The result of a cycle is replaced as a whole, because its members are
       published together. */
    earlier = find_earlier(own, worlds);
    if (earlier == NULL)
        status = put(tiers, group, count);
    kiln__mutex_unlock(&tiers->lock);
    if (status != KILN_OK)
        return status;
    if (earlier != NULL) {
        for (size_t i = 0; i < count; i++)
            kiln__code_free(group[i]);
        *out = earlier;
        return KILN_OK;
    }
    kiln__count_held(context, KILN_TIER_TYPED, (int64_t)count, bytes);
    *out = own;
    return KILN_OK;
}
