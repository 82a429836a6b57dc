/* inference.c - one inference under way, and what it reports. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "libraries.h"
#include "stack.h"
#include "state.h"

/*
 * Inferences form a chain per thread: each frame asked for the next. A frame
 * that is asked for by one below it is the head of a cycle; all frames from
 * there up to the head rely on an assumption about the head, so their results
 * are provisional: they wait in the head's `members` and are published with
 * it. When the head relies on a frame above itself, it hands its members on.
 *
 * What was begun under a frame may rely on it, wherever it waits: it goes when
 * the frame fails or starts again. Sequence numbers tell.
 */

void kiln_inference_set_root(kiln_inference *inference, kiln_digest method)
{
    inference->code->root = method;
}

kiln_status kiln_inference_set_name(kiln_inference *inference, const char *name)
{
    const kiln_alloc *alloc = &inference->context->alloc;
    char *copy = kiln__string_copy(alloc, name);

    if (!copy)
        return KILN_ENOMEM;
    kiln__string_free(alloc, inference->code->name);
    inference->code->name = copy;
    return KILN_OK;
}

void kiln_inference_set_result(kiln_inference *inference, const kiln_type *type)
{
    inference->code->result = type;
}

void kiln_inference_set_worlds(kiln_inference *inference, uint64_t minimum,
                               uint64_t maximum)
{
    inference->code->min_world = minimum;
    atomic_store(&inference->code->max_world, maximum);
}

kiln_status kiln_inference_set_ir(kiln_inference *inference, const void *bytes,
                                  size_t size)
{
    const kiln_alloc *alloc = &inference->context->alloc;
    kiln_code *code = inference->code;
    void *copy = size ? kiln__allocate(alloc, size) : NULL;

    if (size && !copy)
        return KILN_ENOMEM;
    if (size)
        memcpy(copy, bytes, size);
    kiln__deallocate(alloc, code->ir, code->ir_size);
    code->ir = copy;
    code->ir_size = size;
    return KILN_OK;
}

void kiln_inference_set_runtime(kiln_inference *inference)
{
    inference->code->is_runtime = 1;
}

static int use_is_known(const kiln_code *code, kiln_digest digest)
{
    for (size_t i = 0; i < code->uses.count; i++)
        if (kiln__digest_equal(code->uses.items[i].digest, digest))
            return 1;
    return 0;
}

kiln_status kiln_inference_use_runtime(kiln_inference *inference,
                                       const char *symbol, kiln_error **error)
{
    kiln_code *code = inference->code;
    kiln__library_use use;

    KILN_REQUIRE(symbol != NULL, error);
    KILN_TRY(kiln__library_find(&use, inference->context, inference->config,
                                symbol, error));
    if (use_is_known(code, use.digest) ||
        kiln__array_push(&inference->context->alloc, &code->uses, use))
        return KILN_OK;
    return kiln__error_no_memory(error);
}

kiln_status kiln_inference_use_site(kiln_inference *inference, const char *name,
                                    int32_t kind, kiln_error **error)
{
    KILN_REQUIRE(name != NULL, error);
    KILN_REQUIRE(*name != '\0' && strlen(name) <= KILN_SITE_NAME_MAX, error);
    KILN_REQUIRE(kind == KILN_SITE_DATA || kind == KILN_SITE_FUNCTION, error);
    if (kiln__code_add_site(inference->code, name, kind) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

static int query_is_known(const kiln_code *code, const kiln_query *query)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln_query *known = &code->queries.items[i];

        if (known->subject == query->subject && known->size == query->size &&
            memcmp(known->data, query->data, query->size) == 0)
            return 1;
    }
    return 0;
}

kiln_status kiln_inference_add_query(kiln_inference *inference,
                                     const kiln_query *query)
{
    const kiln_alloc *alloc = &inference->context->alloc;
    kiln_code *code = inference->code;
    kiln_query copy = *query;
    void *data;

    if (!query->data || query->size == 0)
        return KILN_EINVAL;
    if (query_is_known(code, query))
        return KILN_OK;
    data = kiln__allocate(alloc, query->size);
    if (!data)
        return KILN_ENOMEM;
    memcpy(data, query->data, query->size);
    copy.data = data;
    if (!kiln__array_push(alloc, &code->queries, copy)) {
        kiln__deallocate(alloc, data, query->size);
        return KILN_ENOMEM;
    }
    return KILN_OK;
}

/* Records a callee once; its position is its first one in call order. */
static kiln_status add_callee(kiln_inference *inference, kiln_code *callee,
                              uint32_t *index)
{
    kiln_code *code = inference->code;
    size_t at = 0;

    while (at < code->callees.count && code->callees.items[at] != callee)
        at++;
    if (at == code->callees.count &&
        !kiln__array_push(&inference->context->alloc, &code->callees, callee))
        return KILN_ENOMEM;
    if (index)
        *index = (uint32_t)at;
    return KILN_OK;
}

static void rely_on(kiln_inference *from, const kiln_inference *head)
{
    for (kiln_inference *at = from; at && at != head; at = at->parent)
        if (head->depth < at->cycle_depth)
            at->cycle_depth = head->depth;
}

/* A frame that is loading has no frontend behind it: whoever infers does not
   see it, and infers what it needs on its own. */
static kiln_inference *find_running(kiln_inference *inference,
                                    const kiln__instance *instance)
{
    kiln_inference *at = inference;

    while (at && (at->instance != instance ||
                  (at->is_loading && !inference->is_loading)))
        at = at->parent;
    return at;
}

/* A provisional result of some frame above is good for its cycle alone. */
static kiln_code *find_member(kiln_inference *inference,
                              const kiln__instance *instance)
{
    for (kiln_inference *at = inference; at; at = at->parent)
        for (size_t i = 0; i < at->members.count; i++)
            if (at->members.items[i]->instance == instance) {
                rely_on(inference, at);
                return at->members.items[i];
            }
    return NULL;
}

static kiln__instance *callee_instance(const kiln_inference *inference,
                                       const kiln_signature *callee)
{
    struct kiln__tiers *tiers = inference->context->tiers;
    kiln__instance *instance;

    kiln__mutex_lock(&tiers->lock);
    instance = kiln__instance_get(tiers, callee, inference->config->owner, 1);
    kiln__mutex_unlock(&tiers->lock);
    return instance;
}

kiln_status kiln_inference_callee(kiln_inference *inference,
                                  const kiln_signature *callee,
                                  const kiln_code **out, uint32_t *index,
                                  kiln_inference **head, kiln_error **error)
{
    kiln__instance *instance = callee_instance(inference, callee);
    kiln__typed_request request = {callee, inference->config, inference->world,
                                   inference->run->never_wait, 0};
    const kiln_code *code = NULL;
    kiln_inference *running;

    if (!instance)
        return kiln__error_no_memory(error);
    running = find_running(inference, instance);
    if (running) {
        /* What is loaded may rely on what is loaded alone. */
        if (inference->is_loading && !running->is_loading)
            return KILN_ENOTFOUND;
        running->is_head = 1;
        rely_on(inference, running);
        KILN_TRY(add_callee(inference, running->code, index));
        *head = running;
        return KILN_ERECURSION;
    }
    code = find_member(inference, instance);
    if (!code)
        KILN_TRY(kiln__typed_get(&code, inference->context, inference->run,
                                 &request, error));
    *out = code;
    if (add_callee(inference, (kiln_code *)(uintptr_t)code, index) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* Frees the provisional results that were begun since the frame was. */
static void forget_since(kiln_inference *inference)
{
    for (kiln_inference *at = inference; at; at = at->parent) {
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

static void queries_clear(const kiln_alloc *alloc, kiln_code *code)
{
    for (size_t i = 0; i < code->queries.count; i++)
        kiln__deallocate(alloc, (void *)(uintptr_t)code->queries.items[i].data,
                         code->queries.items[i].size);
    code->queries.count = 0;
}

void kiln_inference_restart(kiln_inference *inference)
{
    forget_since(inference);
    queries_clear(&inference->context->alloc, inference->code);
    inference->code->callees.count = 0;
    inference->code->uses.count = 0;
    kiln__code_clear_sites(inference->code);
}

int32_t kiln_inference_is_cycle_head(const kiln_inference *inference)
{
    return inference->is_head;
}

int32_t kiln_inference_is_provisional(const kiln_inference *inference)
{
    return inference->cycle_depth < inference->depth;
}

kiln_inference *kiln_inference_parent(const kiln_inference *inference)
{
    return inference->parent;
}

const kiln_signature *kiln_inference_signature(const kiln_inference *inference)
{
    return &inference->signature;
}

void kiln_inference_set_user(kiln_inference *inference, void *user)
{
    inference->user = user;
}

void *kiln_inference_user(const kiln_inference *inference)
{
    return inference->user;
}

/* ---- running one ---- */

static kiln_status name_by_default(kiln_inference *inference)
{
    const kiln_signature *signature = &inference->signature;
    kiln__text text;
    kiln_status status;

    if (inference->code->name)
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

static kiln_status run_frontend(kiln_inference *inference, kiln_error **error)
{
    kiln_frontend *frontend = inference->code->frontend;
    uint64_t start = kiln__clock_ns();
    kiln_status status;

    if (inference->level >= KILN__INFERENCE_DEPTH_MAX) {
        inference->run->recursions++;
        return kiln__error_set(error, KILN_ECOMPILE,
                               "calls nest too deep to infer: %s",
                               inference->signature.function->name);
    }
    status = name_by_default(inference);
    if (status != KILN_OK)
        return kiln__error_no_memory(error);
    inference->run->inference = inference;
    kiln__libraries_close(inference->context);
    status = frontend->ops.infer(frontend->self, &inference->signature,
                                 inference->config, inference->world, inference,
                                 error);
    inference->run->inference = inference->parent;
    /* Nested inferences are part of the outermost one's time. */
    if (!inference->parent)
        kiln__stage_ended(inference->context, KILN_STAGE_INFER,
                          inference->code->name, kiln__clock_ns() - start);
    return status;
}

/* Hands a provisional result, its members and its flight to the head. */
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
    /* Rely on the head all the way: those between are provisional too. */
    rely_on(inference->parent, head);
    while (inference->held) {
        kiln__flight *flight = inference->held;

        inference->held = flight->held_next;
        flight->held_next = head->held;
        head->held = flight;
    }
    if (inference->flight) {
        inference->flight->held_next = head->held;
        head->held = inference->flight;
        inference->flight = NULL;
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
    status = kiln__code_seal(members->items, members->count);
    if (status == KILN_OK &&
        !kiln__codes_are_as_stored(members->items, members->count)) {
        kiln__code_list_remove(members, own); /* sealing moved it */
        inference->code = own;
        return KILN_ENOTFOUND;
    }
    if (status == KILN_OK)
        status = kiln__codes_publish(inference->context, members->items,
                                     members->count, own, out);
    if (status == KILN_OK && *out == own)
        kiln__codes_save(members->items, members->count);
    if (status == KILN_OK)
        members->count = 0;
    return status;
}

/* Ends the flights of a frame and of what it held: those who waited look
   again. */
static void end_flights(kiln_inference *inference, kiln_status status)
{
    struct kiln__tiers *tiers = inference->context->tiers;

    if (inference->flight) {
        inference->flight->held_next = inference->held;
        inference->held = inference->flight;
        inference->flight = NULL;
    }
    kiln__mutex_lock(&tiers->lock);
    while (inference->held) {
        kiln__flight *flight = inference->held;
        kiln__instance *instance = (kiln__instance *)(uintptr_t)flight->subject;

        inference->held = flight->held_next;
        kiln__flight_end(tiers, &instance->flights, flight, status, NULL);
        kiln__flight_drop(tiers, flight);
    }
    kiln__mutex_unlock(&tiers->lock);
}

/* Would the same request fail again? Not for certain if it relied on what a
   frame above it assumes, or if something was refused because of what is
   around. */
static int fails_again(const kiln_inference *inference, kiln_status status)
{
    const kiln__run *run = inference->run;
    const int is_outermost = inference->level == 0 && run->stays == 1;

    if (!kiln__status_is_final(status) ||
        inference->cycle_depth < inference->depth)
        return 0;
    return is_outermost || run->recursions == inference->recursions;
}

static void remember_failure(const kiln_inference *inference,
                             kiln_status status, kiln_error *error)
{
    struct kiln__tiers *tiers = inference->context->tiers;
    kiln__instance *instance = inference->instance;

    if (!fails_again(inference, status))
        return;
    kiln__mutex_lock(&tiers->lock);
    kiln_error_free(instance->failed_error);
    instance->failed_error = kiln__error_retain(error);
    instance->failed_status = status;
    instance->failed_world = inference->world;
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

/* Takes what a store has: KILN_ENOTFOUND leaves the frame as it was. */
static kiln_status load(kiln_inference *inference, kiln_code **out)
{
    kiln_status status;

    KILN_TRY(kiln__inference_load(inference));
    status = publish_or_park(inference, out);
    if (status == KILN_ENOTFOUND)
        kiln__inference_unload(inference);
    return status;
}

/* Loads it, or runs the frontend; then the result is parked or published. */
static kiln_status infer(kiln_inference *inference, kiln_code **out,
                         kiln_error **error)
{
    kiln_status status;

    inference->code = kiln__code_new(inference->context, inference->instance,
                                     inference->config, inference->world);
    if (!inference->code)
        return kiln__error_no_memory(error);
    inference->code->sequence = inference->sequence;
    status = load(inference, out);
    if (status == KILN_ENOTFOUND) {
        KILN_TRY(run_frontend(inference, error));
        status = publish_or_park(inference, out);
    }
    return status == KILN_OK ? KILN_OK : kiln__error_shortage(error, status);
}

/* The level goes on over suspended chains; the rest begins anew with one. */
static void begin(kiln_inference *inference, kiln__run *run)
{
    const kiln_inference *around =
        run->inference ? run->inference : run->suspended;

    inference->run = run;
    inference->parent = run->inference;
    inference->sequence = ++run->inferred;
    inference->recursions = run->recursions;
    inference->level = around ? around->level + 1 : 0;
    inference->depth = run->inference ? run->inference->depth + 1 : 0;
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
    return *out ? KILN_OK : infer(inference, out, error);
}

kiln_status kiln__typed_infer(kiln_code **out, kiln_context *context,
                              kiln__run *run, kiln__instance *instance,
                              const kiln__typed_request *request,
                              kiln__flight *flight, kiln_error **error)
{
    kiln_inference inference = {
        .context = context,
        .instance = instance,
        .signature = {instance->function, instance->types, instance->count},
        .config = request->config,
        .world = request->world,
        .flight = flight,
    };
    kiln_error *fault = NULL;
    kiln_status status;

    begin(&inference, run);
    *out = NULL;
    status = find_or_infer(&inference, out, request, &fault);
    if (status != KILN_OK) {
        if (!fault)
            kiln__error_set(&fault, status, "%s: %s",
                            inference.signature.function->name,
                            kiln_status_text(status));
        forget_since(&inference);
        remember_failure(&inference, status, fault);
    }
    end_flights(&inference, status);
    if (inference.code)
        kiln__code_free(inference.code);
    kiln__array_dispose(&context->alloc, &inference.members);
    if (error && fault)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}
