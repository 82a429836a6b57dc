/* publish.c - puts code instances into tier 1, against today's world. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "state.h"

/*
 * The order makes a race with a definition harmless. A code instance is put
 * under its subjects first, and only then is the world read: either the
 * definition's kiln_world_changed() finds it there, or its world is already
 * seen here, and the queries are asked again.
 */

static kiln_digest subject_key(uint64_t subject)
{
    kiln_digest key = {subject, ~subject};

    return key;
}

static kiln__subject *subject_get(struct kiln__tiers *tiers, uint64_t subject)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    kiln_digest key = subject_key(subject);
    kiln__subject *found = kiln__map_get(&tiers->subjects, key);

    if (found)
        return found;
    found = kiln__allocate(alloc, sizeof *found);
    if (!found)
        return NULL;
    found->subject = subject;
    if (!kiln__map_set(&tiers->subjects, key, found)) {
        kiln__deallocate(alloc, found, sizeof *found);
        return NULL;
    }
    return found;
}

kiln__subject *kiln__subject_find(struct kiln__tiers *tiers, uint64_t subject)
{
    return kiln__map_get(&tiers->subjects, subject_key(subject));
}

static int list_ends_with(const kiln__code_list *list, const kiln_code *code)
{
    return list->count && list->items[list->count - 1] == code;
}

static int link_code(struct kiln__tiers *tiers, kiln_code *code)
{
    const kiln_alloc *alloc = &tiers->context->alloc;

    for (size_t i = 0; i < code->queries.count; i++) {
        kiln__subject *subject =
            subject_get(tiers, code->queries.items[i].subject);

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

static void list_remove(kiln__code_list *list, const kiln_code *code)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] != code)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static void unlink_code(struct kiln__tiers *tiers, const kiln_code *code)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        kiln__subject *subject =
            kiln__subject_find(tiers, code->queries.items[i].subject);

        if (subject)
            list_remove(&subject->codes, code);
    }
    for (size_t i = 0; i < code->callees.count; i++)
        list_remove(&code->callees.items[i]->callers, code);
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

        code->published = 1;
        code->next = code->instance->codes;
        code->instance->codes = code;
        code->next_all = tiers->codes;
        tiers->codes = code;
    }
    return KILN_OK;
}

/* A callee that lost its validity meanwhile ends its caller's too. */
static uint64_t callees_maximum(const kiln_code *code)
{
    uint64_t maximum = UINT64_MAX;

    for (size_t i = 0; i < code->callees.count; i++) {
        uint64_t limit = atomic_load(&code->callees.items[i]->max_world);

        if (limit < maximum)
            maximum = limit;
    }
    return maximum;
}

static void check_world(struct kiln__tiers *tiers, kiln_code *code)
{
    kiln_frontend *frontend = code->frontend;
    uint64_t now = frontend->ops.world(frontend->self);
    uint64_t maximum = UINT64_MAX;

    if (now != code->inferred_world && !kiln__code_still_holds(code, now))
        maximum = code->inferred_world;
    kiln__mutex_lock(&tiers->lock);
    if (callees_maximum(code) < maximum)
        maximum = callees_maximum(code);
    if (maximum != UINT64_MAX)
        kiln__code_clip(tiers, code, maximum, NULL);
    kiln__mutex_unlock(&tiers->lock);
}

kiln_status kiln__codes_publish(kiln_context *context, kiln_code **group,
                                size_t count, kiln_code *own, kiln_code **out)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln_code *earlier = NULL;
    kiln_status status = KILN_OK;
    int64_t bytes = 0;

    kiln__mutex_lock(&tiers->lock);
    /* A private inference may have been overtaken. */
    if (count == 1)
        earlier = kiln__instance_code(own->instance, own->inferred_world);
    if (!earlier)
        status = link_group(tiers, group, count);
    kiln__mutex_unlock(&tiers->lock);
    if (earlier) {
        kiln__code_free(own);
        *out = earlier;
        return KILN_OK;
    }
    if (status != KILN_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        bytes += (int64_t)group[i]->ir_size;
        check_world(tiers, group[i]);
    }
    kiln__count_held(context, KILN_TIER_TYPED, (int64_t)count, bytes);
    *out = own;
    return KILN_OK;
}
