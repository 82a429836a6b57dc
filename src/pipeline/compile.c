/* compile.c - the way from a signature to a loaded kernel, up to a worker. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/compile.h"
#include "abi/shared_words.h"
#include "base/error.h"
#include "base/options.h"
#include "context/counters.h"
#include "context/host_objects.h"
#include "context/keys/key.h"
#include "context/types/types.h"
#include "frontend/language.h"
#include "frontend/typed_reports.h"
#include "pipeline/build.h"
#include "pipeline/build_task.h"
#include "pipeline/debug_lines.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/job_table.h"
#include "tiers/binary/jobs.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"
#include "tiers/typed/code_instance.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 *   kiln_compile
 *     lookup      tier 3 by addresses: a hit ends here
 *     infer       tier 1: the code instance of the signature's world
 *     claim       tier 3: this job's kernel, its builder, or our turn
 *     reuse       tier 3 by binary key: another job with the same meaning, or
 *                 what a store has
 *     gather      the call closure; a foreign frontend lowers here
 *   on a worker (build_task.c)
 *     lock        of the key: one process builds, the others wait for it
 *     generate    lower, link, optimise, emit
 *     keep        tier 3 and the stores get the artifact; the lock is released
 *     load        the backend puts it on the device
 *     publish     tier 3 gets the kernel; waiters go on
 *
 * What `reuse` finds is loaded on the caller's thread.
 */

/* Returns a reference to an artifact with the same meaning, from memory or a
   store; or NULL. */
static const kiln_artifact *find_artifact(kiln_context *context,
                                          const kiln_code *code,
                                          const kiln_config *config,
                                          int32_t *source)
{
    const kiln_artifact *artifact = NULL;
    kiln_digest digest;
    kiln__encoder key;

    kiln__encoder_init(&key, &context->alloc);
    if (kiln__job_digest(&digest, code, config) == KILN_OK &&
        kiln__key_binary(&key, digest, config) == KILN_OK) {
        const kiln_key wanted = {kiln__encoder_digest(&key), key.bytes,
                                 key.size};

        *source = KILN_SOURCE_MEMORY;
        artifact =
            kiln__artifact_find(context, wanted.digest, key.bytes, key.size);
        if (artifact == NULL) {
            *source = KILN_SOURCE_STORE;
            artifact = kiln__artifact_recall(context, &wanted);
        }
    }
    kiln__encoder_dispose(&key);
    if (artifact != NULL && artifact->roots != NULL &&
        !kiln__roots_still_hold(artifact->roots)) {
        kiln_artifact_release(artifact); /* its constants are out of date */
        return NULL;
    }
    return artifact;
}

/* Loads an existing artifact from memory or a store. If there is none that can
   be used, it returns KILN_OK without a kernel. `flight` may be NULL. */
static kiln_status reuse(kiln_kernel **out, int32_t *source,
                         kiln__flight *flight, const kiln_code *code,
                         const kiln_config *config, kiln_error **error)
{
    const kiln_artifact *artifact =
        find_artifact(config->context, code, config, source);
    kiln_status status;

    *out = NULL;
    if (artifact == NULL)
        return KILN_OK;
    if (*source == KILN_SOURCE_STORE)
        status = kiln__build_load_found(out, artifact, code, config, error);
    else
        status = kiln__build_load(out, artifact, code, config, error);
    if (flight != NULL)
        kiln__flight_bind(flight, artifact);
    kiln_artifact_release(artifact);
    return status;
}

static kiln_status check_entry(const kiln_code *code, const kiln_config *config,
                               kiln_error **error)
{
    if (kiln__code_frontend(code)->ops.lower != NULL ||
        config->entry_abi != KILN_ABI_KERNEL)
        return KILN_OK;
    return kiln__entry_check(code, &config->context->alloc, error);
}

static kiln_status gather(kiln__build **out, kiln__call_chain *chain,
                          kiln__flight *flight, const kiln_config *config,
                          kiln_error **error)
{
    const uint64_t recursions = chain->recursions;
    kiln_status status = check_entry(flight->code, config, error);

    if (status == KILN_OK)
        status =
            kiln__build_new(out, flight->code, config, KILN_EMIT_BINARY, error);
    flight->is_bound =
        chain->recursions != recursions || status == KILN_ENOTFOUND;
    return status;
}

static kiln_status refuse_build(const kiln_code *code, kiln_error **error)
{
    return kiln__error_set(error, KILN_ENOTFOUND,
                           "%s is not in the cache, and must be (must-hit)",
                           kiln_code_name(code));
}

/* Starts generating code; the flight ends on a worker. */
static void build(kiln_context *context, kiln__call_chain *chain,
                  kiln__flight *flight, const kiln_config *config)
{
    const int is_refused = kiln__stores_mode(context) == KILN__CACHE_MUST_HIT;
    kiln__build *made = NULL;
    kiln_error *error = NULL;
    const kiln_status status =
        is_refused ? refuse_build(flight->code, &error)
                   : gather(&made, chain, flight, config, &error);

    if (status == KILN_OK)
        kiln__task_start(context, flight, made);
    else
        kiln__task_fail(context, flight, status, error);
}

/* Starts the flight, which ends here or on a worker. */
static void start(kiln__call_chain *chain, kiln__flight *flight,
                  kiln__compile_request *request)
{
    kiln_context *context = request->context;
    kiln_kernel *kernel = request->kernel;
    int32_t source = request->kernel_source;
    kiln_error *error = NULL;
    kiln_status status = KILN_OK;

    request->kernel = NULL;
    if (kernel == NULL)
        status = reuse(&kernel, &source, flight, flight->code, request->config,
                       &error);
    if (kernel != NULL || status != KILN_OK)
        kiln__job_finish(context, flight, kernel, source, status, error);
    else
        build(context, chain, flight, request->config);
}

static void count_outcome(kiln_context *context, kiln__count outcome)
{
    kiln__count_request(context, KILN_TIER_BINARY, outcome);
}

static kiln_status claimed(kiln__compile_answer *out, kiln__call_chain *chain,
                           kiln__compile_request *request,
                           const kiln_code *code, kiln_error **error)
{
    kiln_context *context = request->context;
    kiln__claim_result claim =
        kiln__job_claim(context, chain, &request->signature, request->config,
                        code, request->world);

    switch (claim.outcome) {
    case KILN__CLAIM_HIT:
        count_outcome(context, KILN__COUNT_HIT);
        out->source = KILN_SOURCE_MEMORY;
        out->kernel = claim.kernel;
        return KILN_OK;
    case KILN__CLAIM_FAILED:
        count_outcome(context, KILN__COUNT_FAILED);
        if (error != NULL)
            *error = claim.error;
        else
            kiln_error_free(claim.error);
        return claim.status;
    case KILN__CLAIM_OWN:
        out->flight = claim.flight;
        out->owned = 1;
        start(chain, claim.flight, request);
        return KILN_OK;
    case KILN__CLAIM_WAIT:
        out->flight = claim.flight;
        return KILN_OK;
    case KILN__CLAIM_NO_MEMORY:
        break;
    }
    count_outcome(context, KILN__COUNT_FAILED);
    return kiln__error_no_memory(error);
}

/* Finds the code instance of the job, in worlds that the caller ends; or a
   record together with the kernel that was found for it. */
static kiln_status find_code(const kiln_code **out, kiln__call_chain *chain,
                             kiln__compile_request *request,
                             kiln__worlds *worlds, kiln_error **error)
{
    kiln__typed_request typed = {
        &request->signature, request->config, worlds, request->never_wait,
        /* a record has no lines */
        request->config->debug_level == KILN_DEBUG_NONE};
    kiln__worlds of_record;
    kiln_status status;

    KILN_TRY(kiln__typed_begin(out, chain, &typed, request->world, error));
    if (!kiln__code_is_record(*out))
        return KILN_OK;
    status = reuse(&request->kernel, &request->kernel_source, NULL, *out,
                   request->config, error);
    if (status == KILN_OK && request->kernel != NULL)
        return KILN_OK;
    /* A record without a compiled kernel is of no use. Its worlds stay held
       until those of the complete instance are, because nobody else may hold
       the world that was asked for. */
    of_record = *worlds;
    typed.for_job = 0;
    if (status == KILN_OK)
        status = kiln__typed_begin(out, chain, &typed, request->world, error);
    kiln__worlds_end(&of_record);
    return status;
}

kiln_status kiln__compile_begin(kiln__compile_answer *out,
                                kiln__call_chain *chain,
                                const kiln__compile_request *request,
                                kiln_error **error)
{
    kiln__compile_request asked = *request;
    const kiln_code *code = NULL;
    kiln__worlds worlds;
    kiln_status status = find_code(&code, chain, &asked, &worlds, error);

    *out = (kiln__compile_answer){0};
    if (status != KILN_OK) {
        count_outcome(request->context, KILN__COUNT_FAILED);
        return status;
    }
    asked.world = kiln__worlds_of(&worlds, kiln__code_frontend(code));
    status = claimed(out, chain, &asked, code, error);
    kiln__kernel_free(asked.kernel);
    kiln__worlds_end(&worlds);
    return status;
}

kiln_status kiln__compile_take_result(const kiln_kernel **out, int32_t *source,
                                      kiln_context *context,
                                      kiln__flight *flight, int owned,
                                      kiln_error **error)
{
    kiln_status status = kiln__flight_status(context, flight, error);

    if (status == KILN_OK) {
        *out = flight->kernel;
        *source = owned ? flight->source : KILN_SOURCE_WAITED;
    }
    count_outcome(context, kiln__flight_outcome(flight, owned));
    kiln__flight_release(context, flight);
    return status;
}

/* The call ends, but the build goes on if others need it: later requests get
   its result, or wait. */
static kiln_status leave_build(const kiln__compile_request *request,
                               kiln__flight *flight, int owned,
                               kiln_error **error)
{
    const kiln_status status = kiln__error_set(
        error, KILN_ETIMEDOUT, "building %s took longer than the call may wait",
        kiln_code_name(flight->code));

    kiln__flight_cancel(request->context, flight);
    kiln__flight_abandon(request->context, flight, owned);
    return status;
}

static kiln_status refuse_wait(kiln__call_chain *chain, const kiln_code *code,
                               kiln_error **error)
{
    const char *name = kiln_code_name(code);

    chain->recursions++;
    if (chain->on_worker)
        return kiln__error_set(error, KILN_ERECURSION,
                               "a callback on a compiling thread cannot wait "
                               "for %s",
                               name);
    return kiln__error_set(error, KILN_ERECURSION,
                           "compiling %s needs %s itself", name, name);
}

/* Either the request is part of the job that it asks for, which is an error; or
   two threads need each other's kernels while they lower their own: then this
   kernel is built a second time. */
kiln_status kiln__compile_break_cycle(const kiln_kernel **out, int32_t *source,
                                      kiln__call_chain *chain,
                                      const kiln__compile_request *request,
                                      kiln__flight *flight, kiln_error **error)
{
    kiln_context *context = request->context;
    kiln_status status = KILN_OK;
    kiln__flight *again = NULL;
    kiln__compile_request anew = *request;

    if (chain->on_worker || kiln__flight_is_owned(context, chain, flight)) {
        status = refuse_wait(chain, flight->code, error);
    } else {
        again =
            kiln__flight_private(context, chain, &request->signature,
                                 request->config, flight->code, flight->world);
        if (again == NULL)
            status = kiln__error_no_memory(error);
    }
    kiln__flight_release(context, flight);
    if (status != KILN_OK) {
        count_outcome(context, KILN__COUNT_FAILED);
        return status;
    }
    start(chain, again, &anew);
    if (kiln__flight_wait_until(context, chain, again, request->deadline_ns) ==
        KILN_ETIMEDOUT)
        return leave_build(request, again, 1, error);
    return kiln__compile_take_result(out, source, context, again, 1, error);
}

/* Waits for the flight of the answer. */
static kiln_status wait_for(const kiln_kernel **out, int32_t *source,
                            kiln__call_chain *chain,
                            const kiln__compile_request *request,
                            const kiln__compile_answer *answer,
                            kiln_error **error)
{
    const kiln_status waited = kiln__flight_wait_until(
        request->context, chain, answer->flight, request->deadline_ns);

    if (waited == KILN_ETIMEDOUT)
        return leave_build(request, answer->flight, answer->owned, error);
    if (waited == KILN_OK)
        return kiln__compile_take_result(out, source, request->context,
                                         answer->flight, answer->owned, error);
    return kiln__compile_break_cycle(out, source, chain, request,
                                     answer->flight, error);
}

static kiln_status compile_slowly(const kiln_kernel **out, int32_t *source,
                                  const kiln__compile_request *request,
                                  kiln_error **error)
{
    kiln__call_scope scope;
    kiln__call_chain *chain = kiln__call_scope_enter(&scope, request->context);
    kiln__compile_answer answer;
    kiln_status status = kiln__compile_begin(&answer, chain, request, error);

    if (status == KILN_OK && answer.flight != NULL)
        status = wait_for(out, source, chain, request, &answer, error);
    else if (status == KILN_OK) {
        *out = answer.kernel;
        *source = answer.source;
    }
    kiln__call_scope_leave(&scope);
    return status;
}

static kiln_status compile_miss(const kiln_kernel **out, kiln_context *context,
                                const kiln_signature *signature,
                                const kiln_config *config,
                                const kiln_compile_options *given,
                                kiln_error **error)
{
    kiln_compile_options options;
    kiln__compile_request request;
    int32_t source = KILN_SOURCE_NONE;
    kiln_status status;

    KILN_TRY(kiln__request_check(context, signature, config, error));
    KILN_TRY(KILN__OPTIONS_READ(&options, given, kiln_compile_options, error));
    if (!options.world) {
        *out = kiln__job_lookup(context, signature, config);
        if (*out != NULL) {
            count_outcome(context, KILN__COUNT_HIT);
            if (options.source != NULL)
                *options.source = KILN_SOURCE_MEMORY;
            return KILN_OK;
        }
    }
    request = (kiln__compile_request){.context = context,
                                      .signature = *signature,
                                      .config = config,
                                      .world = options.world};
    if (options.time_limit_ms != 0)
        request.deadline_ns =
            kiln__clock_ns() + (uint64_t)options.time_limit_ms * 1000000;
    status = compile_slowly(out, &source, &request, error);
    if (options.source != NULL)
        *options.source = source;
    return status;
}

kiln_status kiln_compile(const kiln_kernel **out, kiln_context *context,
                         const kiln_signature *signature,
                         const kiln_config *config,
                         const kiln_compile_options *options,
                         kiln_error **error)
{
    const kiln_kernel *kernel;

    KILN_REQUIRE(out != NULL, error);
    if (options != NULL || context == NULL || signature == NULL ||
        signature->function == NULL || signature->count > KILN_ARGUMENTS_MAX ||
        (signature->count && signature->types == NULL))
        return compile_miss(out, context, signature, config, options, error);
    kernel = kiln__job_lookup(context, signature, config);
    if (kernel == NULL)
        return compile_miss(out, context, signature, config, NULL, error);
    kiln__count_request(context, KILN_TIER_BINARY, KILN__COUNT_HIT);
    *out = kernel;
    return KILN_OK;
}

kiln_status kiln_call_site_compile(const kiln_kernel **out,
                                   kiln_call_site *site, kiln_context *context,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_compile_options *options,
                                   kiln_error **error)
{
    const kiln_kernel *kernel;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(site != NULL, error);
    kernel = kiln_call_site_get(site);
    if (kernel == NULL) {
        KILN_TRY(
            kiln_compile(&kernel, context, signature, config, options, error));
        kiln__call_site_publish(site, kernel);
    }
    *out = kernel;
    return KILN_OK;
}
