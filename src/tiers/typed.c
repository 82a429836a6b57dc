/* typed.c - tier 1: typed IR per method instance and owner token. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "state.h"

/*
 * A request finds a code instance of its world, or a flight of another run to
 * wait for, or claims the instance and infers. A thread that cannot wait (it
 * would wait for itself, or must never block) infers privately; whichever
 * result is published first stays.
 *
 * A callback that asks for what is being inferred around it, be it in the
 * chain that its stay suspended, waits for itself in this sense. If it always
 * asks again, the number of nested stays puts an end to it.
 */

typedef enum lookup { FOUND, FAILED, WAIT, CLAIMED, PRIVATE, NO_MEMORY } lookup;

typedef struct lookup_result {
    kiln__instance *instance;
    kiln_code *code;
    kiln__flight *flight;
    kiln_status status;
    kiln_error *error;
} lookup_result;

/* With the lock held. */
static lookup look(struct kiln__tiers *tiers, kiln__run *run,
                   const kiln__typed_request *request, lookup_result *out)
{
    kiln__instance *instance = kiln__instance_get(tiers, request->signature,
                                                  request->config->owner, 1);

    out->instance = instance;
    if (!instance)
        return NO_MEMORY;
    out->code = kiln__instance_code(instance, request->world, request->for_job);
    if (out->code) {
        out->code->is_root |= request->for_job != 0;
        return FOUND;
    }
    if (instance->failed_world == request->world) {
        out->status = instance->failed_status;
        out->error = kiln__error_retain(instance->failed_error);
        return FAILED;
    }
    if (instance->flights) {
        if (request->never_wait || instance->flights->owner == run)
            return PRIVATE;
        out->flight = instance->flights;
        out->flight->references++;
        return WAIT;
    }
    out->flight = kiln__flight_new(tiers, run, instance);
    if (!out->flight)
        return NO_MEMORY;
    instance->flights = out->flight;
    return CLAIMED;
}

static void note_root(kiln_context *context, kiln_code *code,
                      const kiln__typed_request *request)
{
    kiln__mutex_lock(&context->tiers->lock);
    code->is_root = 1;
    kiln__mutex_unlock(&context->tiers->lock);
    if (!code->is_record)
        kiln__code_remember(code, request);
}

static kiln_status infer_counted(kiln_code **out, kiln_context *context,
                                 kiln__run *run, const lookup_result *found,
                                 const kiln__typed_request *request,
                                 kiln_error **error)
{
    kiln_status status = kiln__typed_infer(out, context, run, found->instance,
                                           request, found->flight, error);

    kiln__count_request(context, KILN_TIER_TYPED,
                        status != KILN_OK   ? KILN__COUNT_FAILED
                        : (*out)->is_stored ? KILN__COUNT_STORE_HIT
                                            : KILN__COUNT_BUILT);
    if (status == KILN_OK && request->for_job)
        note_root(context, *out, request);
    return status;
}

/* KILN_OK asks the caller to look again, KILN_ERECURSION to infer. */
static kiln_status wait_for(kiln_context *context, kiln__run *run,
                            lookup_result *found, int *waited)
{
    kiln_status status = kiln__flight_wait(context, run, found->flight);

    if (status == KILN_OK)
        *waited = 1;
    kiln__flight_release(context, found->flight);
    found->flight = NULL;
    return status;
}

/* A request that ends at once: with what is there, or with a failure. */
static kiln_status answer(const kiln_code **out, kiln_context *context,
                          const lookup_result *found, lookup outcome,
                          int waited, kiln_error **error)
{
    if (outcome == FOUND) {
        kiln__count_request(context, KILN_TIER_TYPED,
                            waited ? KILN__COUNT_WAITED : KILN__COUNT_HIT);
        *out = found->code;
        return KILN_OK;
    }
    kiln__count_request(context, KILN_TIER_TYPED, KILN__COUNT_FAILED);
    if (outcome == NO_MEMORY)
        return kiln__error_no_memory(error);
    if (error)
        *error = found->error;
    else
        kiln_error_free(found->error);
    return found->status;
}

kiln_status kiln__typed_get(const kiln_code **out, kiln_context *context,
                            kiln__run *run, const kiln__typed_request *request,
                            kiln_error **error)
{
    struct kiln__tiers *tiers = context->tiers;
    int waited = 0;

    if (kiln__stay_check_depth(run, error) != KILN_OK) {
        kiln__count_request(context, KILN_TIER_TYPED, KILN__COUNT_FAILED);
        return KILN_ERECURSION;
    }
    for (;;) {
        lookup_result found = {0};
        kiln_code *code = NULL;
        kiln_status status;
        lookup outcome;

        kiln__mutex_lock(&tiers->lock);
        outcome = look(tiers, run, request, &found);
        kiln__mutex_unlock(&tiers->lock);
        if (outcome == FOUND || outcome == FAILED || outcome == NO_MEMORY)
            return answer(out, context, &found, outcome, waited, error);
        if (outcome == WAIT &&
            wait_for(context, run, &found, &waited) == KILN_OK)
            continue;
        status = infer_counted(&code, context, run, &found, request, error);
        if (status == KILN_OK)
            *out = code;
        return status;
    }
}

const kiln_code *kiln__typed_find(kiln_context *context,
                                  const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world)
{
    struct kiln__tiers *tiers = context->tiers;
    const kiln_code *code = NULL;
    kiln__instance *instance;

    kiln__mutex_lock(&tiers->lock);
    instance = kiln__instance_get(tiers, signature, config->owner, 0);
    if (instance)
        code = kiln__instance_code(instance, world, 0);
    kiln__mutex_unlock(&tiers->lock);
    return code;
}

/* Breadth does not matter here, order does: a callee follows the first caller
   that names it, so that equal programs give equal lists. */
kiln_status kiln__code_closure(const kiln_code ***out, size_t *count,
                               const kiln_code *root)
{
    const kiln_alloc *alloc = &root->context->alloc;
    kiln__array_of(const kiln_code *) list = {0};
    kiln__map seen;
    kiln_status status = KILN_ENOMEM;

    kiln__map_init(&seen, alloc);
    if (!kiln__array_push(alloc, &list, root))
        goto out;
    for (size_t at = 0; at < list.count; at++) {
        const kiln_code *code = list.items[at];

        for (size_t i = 0; i < code->callees.count; i++) {
            kiln_code *callee = code->callees.items[i];
            const kiln_digest key = kiln__map_key((uintptr_t)callee, 0);

            if (callee == root || kiln__map_get(&seen, key))
                continue;
            if (!kiln__map_set(&seen, key, callee) ||
                !kiln__array_push(alloc, &list, (const kiln_code *)callee))
                goto out;
        }
    }
    *out = kiln__allocate_array(alloc, list.count, sizeof *list.items);
    if (!*out)
        goto out;
    memcpy(*out, list.items, list.count * sizeof *list.items);
    *count = list.count;
    status = KILN_OK;
out:
    kiln__map_dispose(&seen);
    kiln__array_dispose(alloc, &list);
    return status;
}
