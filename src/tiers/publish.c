/* publish.c - puts code instances into tier 1, against today's world. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report.h"
#include "state.h"

/*
 * A definition may come while an inference runs. What was inferred is good for
 * its own world in any case; is it good for those after it? The queries are
 * asked again in today's world, without the lock. Then, in one step under the
 * lock, the result is put under its subjects with the last world in which it
 * holds: either a subject says that it changed after the world of the
 * inference, which ends the result with that world, or the definition's
 * kiln_world_changed() is yet to come and will find it there.
 */

/* Subjects are a frontend's own numbers. */
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

    if (found)
        return found;
    found = kiln__allocate(alloc, sizeof *found);
    if (!found)
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

static int link_code(struct kiln__tiers *tiers, kiln_code *code)
{
    const kiln_alloc *alloc = &tiers->context->alloc;

    for (size_t i = 0; i < code->queries.count; i++) {
        kiln__subject *subject = kiln__subject_get(
            tiers, code->frontend, code->queries.items[i].subject);

        if (!subject || (!list_ends_with(&subject->codes, code) &&
                         !kiln__array_push(alloc, &subject->codes, code)))
            return 0;
    }
    for (size_t i = 0; i < code->callees.count; i++) {
        kiln__code_list *callers = &code->callees.items[i]->callers;

        if (!list_ends_with(callers, code) &&
            !kiln__array_push(alloc, callers, code))
            return 0;
    }
    return 1;
}

static void unlink_code(struct kiln__tiers *tiers, const kiln_code *code)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        kiln__subject *subject = kiln__subject_find(
            tiers, code->frontend, code->queries.items[i].subject);

        if (subject)
            kiln__code_list_remove(&subject->codes, code);
    }
    for (size_t i = 0; i < code->callees.count; i++)
        kiln__code_list_remove(&code->callees.items[i]->callers, code);
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
    for (size_t i = 0; i < count; i++) {
        kiln_code *code = group[i];

        code->next = code->instance->codes;
        code->instance->codes = code;
        code->next_all = tiers->codes;
        tiers->codes = code;
    }
    return KILN_OK;
}

/* Did something that it asked about change after its world? That the answers
   are the same today says nothing about the worlds between. */
static int was_overtaken(struct kiln__tiers *tiers, const kiln_code *code)
{
    if (tiers->unnoted > code->inferred_world)
        return 1;
    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln__subject *subject = kiln__subject_find(
            tiers, code->frontend, code->queries.items[i].subject);

        if (subject && subject->changed > code->inferred_world)
            return 1;
    }
    return 0;
}

/* With the lock held: the last world of one member, by what it calls outside
   of its cycle and by what changed. */
static uint64_t last_world(struct kiln__tiers *tiers, const kiln_code *code)
{
    uint64_t last = atomic_load(&code->max_world);

    if (was_overtaken(tiers, code))
        last = code->inferred_world;
    for (size_t i = 0; i < code->callees.count; i++) {
        const kiln_code *callee = code->callees.items[i];
        const uint64_t limit = atomic_load(&callee->max_world);

        if (callee->published && limit < last)
            last = limit;
    }
    return last;
}

/* Without the lock: do all queries have the same answers today? */
static int group_still_holds(kiln_code *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const kiln_frontend *frontend = group[i]->frontend;
        const uint64_t now = frontend->ops.world(frontend->self);

        if (now != group[i]->inferred_world &&
            !kiln__code_still_holds(group[i], now))
            return 0;
    }
    return 1;
}

/* With the lock held. The members of a cycle end together. */
static kiln_status put(struct kiln__tiers *tiers, kiln_code **group,
                       size_t count, int still_holds)
{
    uint64_t last = still_holds ? UINT64_MAX : group[0]->inferred_world;

    KILN_TRY(link_group(tiers, group, count));
    for (size_t i = 0; i < count; i++) {
        const uint64_t own = last_world(tiers, group[i]);

        if (own < last)
            last = own;
    }
    for (size_t i = 0; i < count; i++) {
        atomic_store(&group[i]->max_world, last);
        group[i]->order = ++tiers->order;
        group[i]->published = 1;
    }
    return KILN_OK;
}

kiln_status kiln__codes_publish(kiln_context *context, kiln_code **group,
                                size_t count, kiln_code *own, kiln_code **out)
{
    struct kiln__tiers *tiers = context->tiers;
    const int still_holds = group_still_holds(group, count);
    kiln_code *earlier;
    kiln_status status = KILN_OK;
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += (int64_t)group[i]->ir_size;
    kiln__mutex_lock(&tiers->lock);
    /* A private inference may have been overtaken; a cycle as a whole, since
       its members are published together. */
    earlier =
        kiln__instance_code(own->instance, own->inferred_world, own->is_record);
    if (!earlier)
        status = put(tiers, group, count, still_holds);
    kiln__mutex_unlock(&tiers->lock);
    if (status != KILN_OK)
        return status;
    if (earlier) {
        for (size_t i = 0; i < count; i++)
            kiln__code_free(group[i]);
        *out = earlier;
        return KILN_OK;
    }
    kiln__count_held(context, KILN_TIER_TYPED, (int64_t)count, bytes);
    *out = own;
    return KILN_OK;
}
