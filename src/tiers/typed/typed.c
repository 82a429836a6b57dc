/* typed.c - tier 1: typed IR per method instance and owner token. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/counters.h"
#include "tiers/flight.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/inference.h"
#include "tiers/typed/invalidate.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/stored_program.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * A request finds a code instance of its worlds, or a flight of another call
 * chain to wait for, or it claims the instance and infers. A thread that cannot
 * wait (it would wait for itself, or must never block) infers privately; the
 * result that is published first is kept.
 *
 * A callback may ask for an instance that is being inferred around it, also in
 * the chain that its call scope suspended: it would wait for itself in this
 * sense. If it asks again each time, the limit of nested call scopes ends that.
 *
 * An instance that is found may rely on a frontend that the request has not
 * reached yet. Then the request takes that frontend's world, without the lock,
 * and looks again.
 */

#define ATTEMPTS_MAX 4 /* attempts of a request that definitions interrupt */

typedef enum lookup {
    FOUND,
    FAILED,
    TAKE, /* the world of `untaken` must be taken first */
    WAIT,
    CLAIMED,
    PRIVATE,
    NO_MEMORY
} lookup;

typedef struct lookup_result {
    kiln__instance *instance;
    kiln_code *code;
    kiln_frontend *untaken;
    kiln__flight *flight;
    kiln_status status;
    kiln_error *error;
} lookup_result;

/* With the lock held. */
static lookup look_up(struct kiln__tiers *tiers, kiln__call_chain *chain,
                      const kiln__typed_request *request, lookup_result *out)
{
    kiln__instance *instance = kiln__instance_get(tiers, request->signature,
                                                  request->config->owner, 1);

    out->instance = instance;
    if (instance == NULL)
        return NO_MEMORY;
    out->code = kiln__instance_code(instance, request->worlds, request->for_job,
                                    &out->untaken);
    if (out->code != NULL && out->untaken != NULL)
        return TAKE;
    if (out->code != NULL) {
        out->code->is_root |= request->for_job != 0;
        return FOUND;
    }
    if (kiln__instance_fails(instance, request->worlds, &out->untaken)) {
        if (out->untaken != NULL)
            return TAKE;
        out->status = instance->failed_status;
        out->error = kiln__error_retain(instance->failed_error);
        return FAILED;
    }
    if (instance->flights != NULL) {
        if (request->never_wait || instance->flights->owner == chain)
            return PRIVATE;
        out->flight = instance->flights;
        out->flight->references++;
        return WAIT;
    }
    out->flight = kiln__flight_new(tiers, chain, instance);
    if (out->flight == NULL)
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
        kiln__code_remember(code,
                            kiln__worlds_of(request->worlds, code->frontend));
}

static kiln_status infer_counted(kiln_code **out, kiln_context *context,
                                 kiln__call_chain *chain,
                                 const lookup_result *found,
                                 const kiln__typed_request *request,
                                 kiln_error **error)
{
    kiln_status status = kiln__typed_infer(out, chain, found->instance, request,
                                           found->flight, error);

    kiln__count_request(context, KILN_TIER_TYPED,
                        status != KILN_OK   ? KILN__COUNT_FAILED
                        : (*out)->is_stored ? KILN__COUNT_STORE_HIT
                                            : KILN__COUNT_BUILT);
    if (status == KILN_OK && request->for_job)
        note_root(context, *out, request);
    return status;
}

/* KILN_OK: the caller must look again. KILN_ERECURSION: it must infer. */
static kiln_status wait_for(kiln_context *context, kiln__call_chain *chain,
                            lookup_result *found, int *waited)
{
    kiln_status status = kiln__flight_wait(context, chain, found->flight);

    if (status == KILN_OK)
        *waited = 1;
    kiln__flight_release(context, found->flight);
    found->flight = NULL;
    return status;
}

/* Answers a request that ends at once, with an instance or a failure. */
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
    if (error != NULL)
        *error = found->error;
    else
        kiln_error_free(found->error);
    return found->status;
}

static kiln_status take_world(kiln_context *context,
                              const kiln__typed_request *request,
                              kiln_frontend *frontend, kiln_error **error)
{
    uint64_t world;
    const kiln_status status =
        kiln__worlds_take(&world, request->worlds, frontend, error);

    if (status != KILN_OK)
        kiln__count_request(context, KILN_TIER_TYPED, KILN__COUNT_FAILED);
    return status;
}

kiln_status kiln__typed_get(const kiln_code **out, kiln_context *context,
                            kiln__call_chain *chain,
                            const kiln__typed_request *request,
                            kiln_error **error)
{
    struct kiln__tiers *tiers = context->tiers;
    int waited = 0;

    if (kiln__call_scope_check_depth(chain, error) != KILN_OK) {
        kiln__count_request(context, KILN_TIER_TYPED, KILN__COUNT_FAILED);
        return KILN_ERECURSION;
    }
    for (;;) {
        lookup_result found = {0};
        kiln_code *code = NULL;
        kiln_status status;
        lookup outcome;

        kiln__mutex_lock(&tiers->lock);
        outcome = look_up(tiers, chain, request, &found);
        kiln__mutex_unlock(&tiers->lock);
        if (outcome == FOUND || outcome == FAILED || outcome == NO_MEMORY)
            return answer(out, context, &found, outcome, waited, error);
        if (outcome == TAKE) {
            KILN_TRY(take_world(context, request, found.untaken, error));
            continue;
        }
        if (outcome == WAIT &&
            wait_for(context, chain, &found, &waited) == KILN_OK)
            continue;
        status = infer_counted(&code, context, chain, &found, request, error);
        if (status == KILN_OK)
            *out = code;
        return status;
    }
}

/* True if all that the instance depends on is valid in the request's worlds.
   Something may have ended before them while its callers were being inferred.
   Ends may be set too early, but never too late; so an instance that has ended
   is checked by its queries. */
static int is_of_worlds(const kiln_code *root, const kiln__worlds *worlds)
{
    const kiln_alloc *alloc = &root->context->alloc;
    const kiln_code **list = NULL;
    kiln_frontend *untaken;
    size_t count = 0;
    int good = 1;

    if (kiln__code_is_for(root, worlds, &untaken))
        return 1;
    if (kiln__code_dependencies(&list, &count, root) != KILN_OK)
        return 0;
    for (size_t i = 0; good && i < count; i++) {
        const uint64_t world = kiln__worlds_of(worlds, list[i]->frontend);

        good = world != 0 && kiln__code_still_holds(list[i], world);
    }
    kiln__deallocate(alloc, list, count * sizeof *list);
    return good;
}

static kiln_status get_whole(const kiln_code **out, kiln__call_chain *chain,
                             const kiln__typed_request *request,
                             kiln_error **error)
{
    kiln__worlds *worlds = request->worlds;

    KILN_TRY(
        kiln__typed_get(out, request->config->context, chain, request, error));
    if (is_of_worlds(*out, worlds))
        return KILN_OK;
    worlds->is_torn = 1;
    return kiln__error_set(error, KILN_EINVAL,
                           "%s: what it calls has changed before the world "
                           "that it was inferred in, and nobody had said so",
                           kiln_code_name(*out));
}

kiln_status kiln__typed_begin(const kiln_code **out, kiln__call_chain *chain,
                              const kiln__typed_request *request,
                              uint64_t world, kiln_error **error)
{
    kiln_frontend *frontend = request->signature->function->frontend;
    /* Held until the next attempt holds its worlds, because nobody else may
       hold them. */
    kiln__worlds torn = {.alloc = &frontend->context->alloc};

    for (int attempt = 1;; attempt++) {
        kiln__lack lack = {request->worlds, KILN_OK, chain->recursions};
        kiln_error *fault = NULL;
        kiln_status status =
            kiln__worlds_begin(request->worlds, frontend, world, error);

        kiln__worlds_end(&torn);
        KILN_TRY(status);
        status = get_whole(out, chain, request, &fault);
        if (status == KILN_OK)
            return KILN_OK;
        lack.status = status;
        if (chain->suspended != NULL)
            kiln__inference_goes_without(chain->suspended, &lack);
        if (!request->worlds->is_torn || attempt == ATTEMPTS_MAX) {
            kiln__worlds_end(request->worlds);
            if (error != NULL)
                *error = fault;
            else
                kiln_error_free(fault);
            return status;
        }
        kiln_error_free(fault);
        torn = *request->worlds;
    }
}

/* A request whose worlds turned out inconsistent is restarted by the outer
   call. */
kiln_status kiln__typed_around(const kiln_code **out, kiln__call_chain *chain,
                               const kiln__typed_request *request,
                               kiln_error **error)
{
    kiln__lack lack = {request->worlds, KILN_OK, chain->recursions};

    lack.status =
        kiln__typed_get(out, request->config->context, chain, request, error);
    if (lack.status != KILN_OK && chain->suspended != NULL)
        kiln__inference_goes_without(chain->suspended, &lack);
    return lack.status;
}

const kiln_code *kiln__typed_find(kiln_context *context,
                                  const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__world own = {signature->function->frontend, world};
    const kiln__worlds worlds = {.taken = {.items = &own, .count = 1}};
    const kiln_code *code = NULL;
    kiln_frontend *untaken;
    kiln__instance *instance;

    kiln__mutex_lock(&tiers->lock);
    instance = kiln__instance_get(tiers, signature, config->owner, 0);
    if (instance != NULL)
        code = kiln__instance_code(instance, &worlds, 0, &untaken);
    kiln__mutex_unlock(&tiers->lock);
    return code;
}
