/* inference.c - runs one inference, from its beginning to its publication. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <stdio.h>

#include "base/data/array.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "context/counters.h"
#include "context/types/types.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"
#include "tiers/runtime/bitcode_library.h"
#include "tiers/tiers.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/inference.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/publish.h"
#include "tiers/typed/stored_program.h"
#include "tiers/typed/stored_typed.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * Inferences of a thread form a chain: each frame was asked for by the previous
 * one. If a frame is asked for again from further down, it is the head of a
 * cycle. All frames from there up to the head rely on an assumption about the
 * head, so their results are provisional: they are kept in the head's `members`
 * and published together with it. If the head itself relies on a frame above
 * it, it passes its members on to that frame.
 *
 * Provisional results that began after a frame may rely on it, wherever they
 * are kept; they are dropped when the frame fails or restarts. Sequence numbers
 * show which they are.
 *
 * inference_report.c records what the frontend reports.
 */

void kiln__inference_rely_on(kiln_inference *from, const kiln_inference *head)
{
    for (kiln_inference *at = from; at != NULL && at != head; at = at->parent)
        if (head->depth < at->cycle_depth)
            at->cycle_depth = head->depth;
}

void kiln__inference_forget_since(kiln_inference *inference)
{
    for (kiln_inference *at = inference; at != NULL; at = at->parent) {
        kiln__code_list *members = &at->members;
        size_t kept = 0;

        for (size_t i = 0; i < members->count; i++)
            if (members->items[i]->sequence >= inference->sequence)
                kiln__code_free(members->items[i]);
            else
                members->items[kept++] = members->items[i];
        members->count = kept;
    }
}

/* ---- running one ---- */

static kiln_status name_by_default(kiln_inference *inference)
{
    const kiln_signature *signature = &inference->signature;
    kiln__text text;
    kiln_status status;

    if (inference->code->name != NULL)
        return KILN_OK;
    kiln__text_init(&text, &inference->context->alloc);
    kiln__text_format(&text, "%s(", signature->function->name);
    for (size_t i = 0; i < signature->count; i++)
        kiln__text_format(&text, "%s%s", i ? ", " : "",
                          kiln_type_text(signature->types[i]));
    kiln__text_add(&text, ")");
    status = text.failed ? KILN_ENOMEM
                         : kiln_inference_set_name(inference, text.bytes);
    kiln__text_dispose(&text);
    return status;
}

static kiln_status refuse_report(const kiln_code *code, const char *what,
                                 kiln_error **error)
{
    return kiln__error_set(error, KILN_EINVAL, "frontend '%s' inferred %s %s",
                           code->frontend->name, code->name, what);
}

/* A frontend may report anything, so it is checked. */
static kiln_status check_report(const kiln_inference *inference,
                                kiln_error **error)
{
    const kiln_code *code = inference->code;
    const uint64_t last = atomic_load(&code->max_world);

    if (code->result != NULL && code->result->context != inference->context)
        return refuse_report(code, "with a result type of another context",
                             error);
    if (inference->world < code->min_world || inference->world > last)
        return kiln__error_set(error, KILN_EINVAL,
                               "frontend '%s' inferred %s in world %" PRIu64
                               " and reported worlds %" PRIu64 " to %" PRIu64,
                               code->frontend->name, code->name,
                               inference->world, code->min_world, last);
    return KILN_OK;
}

/* A result that went on without something that failed is valid in the
   inference's own worlds only: in another world that thing might exist, and no
   query tells. */
static kiln_status end_with_moment(const kiln_inference *inference)
{
    const kiln__worlds *worlds = inference->worlds;
    kiln_code *code = inference->code;

    if (code->lacks == KILN__LACKS_NOTHING)
        return KILN_OK;
    (void)kiln__code_end(code, code->frontend, inference->world);
    code->min_world = inference->world;
    for (size_t i = 0; i < worlds->taken.count; i++) {
        const kiln__world *taken = &worlds->taken.items[i];

        if (taken->frontend != code->frontend)
            KILN_TRY(kiln__ranges_narrow(worlds->alloc, &code->others,
                                         taken->frontend, taken->number,
                                         taken->number));
    }
    return code->lacks == KILN__LACKS_MEMORY ? KILN_ENOMEM : KILN_OK;
}

void kiln__inference_goes_without(kiln_inference *inference,
                                  const kiln__lack *lack)
{
    const kiln__worlds *worlds = lack->worlds;
    kiln_code *code = inference->code;

    if (!kiln__status_is_final(lack->status))
        inference->passing = lack->status;
    else if (inference->chain->recursions != lack->recursions)
        inference->passing = KILN_ERECURSION;
    if (code->lacks == KILN__LACKS_NOTHING)
        code->lacks = KILN__LACKS_SOMETHING;
    for (size_t i = 0; i < worlds->taken.count; i++) {
        const kiln__world *taken = &worlds->taken.items[i];

        if (taken->frontend != code->frontend &&
            kiln__ranges_narrow(worlds->alloc, &code->others, taken->frontend,
                                taken->number, taken->number) != KILN_OK)
            code->lacks = KILN__LACKS_MEMORY;
    }
}

/* If something failed for a temporary reason, such as want of memory, the
   result is discarded. */
static kiln_status check_lacks(const kiln_inference *inference,
                               kiln_error **error)
{
    if (inference->passing == KILN_OK)
        return KILN_OK;
    return kiln__error_set(error, inference->passing,
                           "%s goes on without what failed for the moment: %s",
                           inference->code->name,
                           kiln_status_text(inference->passing));
}

static kiln_status run_frontend(kiln_inference *inference, kiln_error **error)
{
    kiln_frontend *frontend = inference->code->frontend;
    uint64_t start = kiln__clock_ns();
    kiln_status status;

    if (inference->level >= KILN__INFERENCE_DEPTH_MAX) {
        inference->chain->recursions++;
        return kiln__error_set(error, KILN_ECOMPILE,
                               "calls nest too deep to infer: %s",
                               inference->signature.function->name);
    }
    status = name_by_default(inference);
    if (status != KILN_OK)
        return kiln__error_no_memory(error);
    inference->chain->inference = inference;
    kiln__libraries_close(inference->context);
    status = frontend->ops.infer(frontend->self, &inference->signature,
                                 inference->config, inference->world, inference,
                                 error);
    inference->chain->inference = inference->parent;
    status = kiln__callback_status(status, frontend, "infer", error);
    if (status == KILN_OK)
        status = check_lacks(inference, error);
    if (status == KILN_OK)
        status = check_report(inference, error);
    if (status == KILN_OK)
        status = end_with_moment(inference);
    /* The time of nested inferences is part of the outermost one's. */
    if (inference->parent == NULL)
        kiln__stage_ended(inference->context, KILN_STAGE_INFER,
                          inference->code->name, kiln__clock_ns() - start);
    return status;
}

/* Passes a provisional result, its members and its flight to the head. */
static kiln_status park(kiln_inference *inference)
{
    const kiln_alloc *alloc = &inference->context->alloc;
    kiln_inference *head = inference->parent;

    while (head->depth != inference->cycle_depth)
        head = head->parent;
    if (!kiln__array_reserve(alloc, &head->members,
                             inference->members.count + 1))
        return KILN_ENOMEM;
    for (size_t i = 0; i < inference->members.count; i++)
        head->members.items[head->members.count++] =
            inference->members.items[i];
    head->members.items[head->members.count++] = inference->code;
    inference->members.count = 0;
    /* The frames between rely on the head as well: they are provisional,
       too. */
    kiln__inference_rely_on(inference->parent, head);
    while (inference->held != NULL) {
        kiln__flight *flight = inference->held;

        inference->held = flight->held_next;
        flight->held_next = head->held;
        head->held = flight;
    }
    if (inference->flight != NULL) {
        inference->flight->held_next = head->held;
        head->held = inference->flight;
        inference->flight = NULL;
    }
    return KILN_OK;
}

/* A member of a cycle may report no typed IR as long as what it relies on is
   not known. Now it is known, so every member must have its IR. */
static kiln_status check_members(kiln_inference *inference)
{
    const kiln__code_list *members = &inference->members;

    for (size_t i = 0; i < members->count; i++) {
        if (members->items[i]->has_ir)
            continue;
        kiln_error_free(inference->refusal);
        inference->refusal = NULL;
        return refuse_report(members->items[i], "and reported no typed IR",
                             &inference->refusal);
    }
    return KILN_OK;
}

static kiln_status publish(kiln_inference *inference, kiln_code **out)
{
    const kiln_alloc *alloc = &inference->context->alloc;
    kiln__code_list *members = &inference->members;
    kiln_code *own = inference->code;
    kiln_status status;

    if (!kiln__array_push(alloc, members, own))
        return KILN_ENOMEM;
    inference->code = NULL;
    status = check_members(inference);
    if (status == KILN_OK)
        status = kiln__code_seal(members->items, members->count);
    if (status == KILN_OK &&
        !kiln__codes_are_as_stored(members->items, members->count)) {
        kiln__code_list_remove(members, own); /* sealing sorted the list */
        inference->code = own;
        return KILN_ENOTFOUND;
    }
    if (status == KILN_OK)
        status = kiln__codes_publish(inference->context, inference->worlds,
                                     members->items, members->count, own, out);
    if (status == KILN_OK && *out == own)
        kiln__codes_save(members->items, members->count);
    if (status == KILN_OK)
        members->count = 0;
    return status;
}

/* Ends the flights of a frame and those that it held; the waiting threads look
   for the instance again. */
static void end_flights(kiln_inference *inference, kiln_status status)
{
    struct kiln__tiers *tiers = inference->context->tiers;

    if (inference->flight != NULL) {
        inference->flight->held_next = inference->held;
        inference->held = inference->flight;
        inference->flight = NULL;
    }
    kiln__mutex_lock(&tiers->lock);
    while (inference->held != NULL) {
        kiln__flight *flight = inference->held;
        kiln__instance *instance = (kiln__instance *)(uintptr_t)flight->subject;

        inference->held = flight->held_next;
        kiln__flight_end(tiers, &instance->flights, flight, status, NULL);
        kiln__flight_drop(tiers, flight);
    }
    kiln__mutex_unlock(&tiers->lock);
}

/* True if the same request would certainly fail again: not if it relied on the
   assumption of a frame above, nor if something was refused because of the
   calls around it. */
static int fails_again(const kiln_inference *inference, kiln_status status)
{
    const kiln__call_chain *chain = inference->chain;
    const int is_outermost = inference->level == 0 && chain->depth == 1;

    if (!kiln__status_is_final(status) ||
        inference->cycle_depth < inference->depth)
        return 0;
    return is_outermost || chain->recursions == inference->recursions;
}

static void remember_failure(const kiln_inference *inference,
                             kiln_status status, kiln_error *error)
{
    struct kiln__tiers *tiers = inference->context->tiers;
    kiln__instance *instance = inference->instance;

    if (!fails_again(inference, status))
        return;
    kiln__mutex_lock(&tiers->lock);
    kiln__instance_remember(instance, inference->worlds, status, error);
    kiln__mutex_unlock(&tiers->lock);
}

static kiln_status publish_or_park(kiln_inference *inference, kiln_code **out)
{
    if (inference->cycle_depth == inference->depth)
        return publish(inference, out);
    *out = inference->code;
    KILN_TRY(park(inference));
    inference->code = NULL;
    return KILN_OK;
}

/* Loads the instance from a store. KILN_ENOTFOUND leaves the frame as it
   was. */
static kiln_status load_instance(kiln_inference *inference, kiln_code **out)
{
    kiln_status status;

    KILN_TRY(kiln__inference_load(inference));
    status = publish_or_park(inference, out);
    if (status == KILN_ENOTFOUND)
        kiln__inference_unload(inference);
    return status;
}

/* Loads the instance or runs the frontend, then parks or publishes the
   result. */
static kiln_status infer(kiln_inference *inference, kiln_code **out,
                         kiln_error **error)
{
    kiln_status status;

    inference->code = kiln__code_new(inference->context, inference->instance,
                                     inference->config, inference->world);
    if (inference->code == NULL)
        return kiln__error_no_memory(error);
    inference->code->sequence = inference->sequence;
    status = load_instance(inference, out);
    if (status == KILN_ENOTFOUND) {
        KILN_TRY(run_frontend(inference, error));
        status = publish_or_park(inference, out);
    }
    /* inference->refusal has the reason if the frontend's report was
       refused. */
    if (status == KILN_OK || status == KILN_EINVAL)
        return status;
    return kiln__error_shortage(error, status);
}

/* `level` counts on across suspended chains; the other counters begin anew with
   each chain. */
static void begin_inference(kiln_inference *inference, kiln__call_chain *chain)
{
    const kiln_inference *around =
        chain->inference != NULL ? chain->inference : chain->suspended;

    inference->chain = chain;
    inference->parent = chain->inference;
    inference->around = around;
    inference->sequence = ++chain->inferred;
    inference->recursions = chain->recursions;
    inference->level = around != NULL ? around->level + 1 : 0;
    inference->depth =
        chain->inference != NULL ? chain->inference->depth + 1 : 0;
    inference->cycle_depth = inference->depth;
}

static kiln_status find_or_infer(kiln_inference *inference, kiln_code **out,
                                 const kiln__typed_request *request,
                                 kiln_error **error)
{
    if (kiln__stack_is_low())
        return kiln__stack_error(error);
    if (request->for_job)
        *out =
            kiln__code_recall(inference->context, inference->instance, request);
    return *out != NULL ? KILN_OK : infer(inference, out, error);
}

kiln_status kiln__typed_infer(kiln_code **out, kiln__call_chain *chain,
                              kiln__instance *instance,
                              const kiln__typed_request *request,
                              kiln__flight *flight, kiln_error **error)
{
    kiln_context *context = request->config->context;
    kiln_inference inference = {
        .context = context,
        .instance = instance,
        .signature = {instance->function, instance->types, instance->count},
        .config = request->config,
        .worlds = request->worlds,
        .world = kiln__worlds_of(request->worlds, instance->function->frontend),
        .flight = flight,
    };
    kiln_error *fault = NULL;
    kiln_status status;

    begin_inference(&inference, chain);
    *out = NULL;
    status = find_or_infer(&inference, out, request, &fault);
    if (status != KILN_OK) {
        if (fault == NULL && inference.refusal != NULL) {
            fault = inference.refusal;
            inference.refusal = NULL;
        }
        if (fault == NULL)
            kiln__error_set(&fault, status, "%s: %s",
                            inference.signature.function->name,
                            kiln_status_text(status));
        kiln__inference_forget_since(&inference);
        remember_failure(&inference, status, fault);
    }
    end_flights(&inference, status);
    if (status == KILN_OK) {
        kiln_error_free(fault); /* the error of something that infer() did
                                   without */
        fault = NULL;
    }
    if (inference.code != NULL)
        kiln__code_free(inference.code);
    kiln_error_free(inference.refusal);
    kiln__array_dispose(&context->alloc, &inference.members);
    if (error != NULL && fault != NULL)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}
