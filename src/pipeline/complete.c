/* complete.c - makes code of the body that an artifact deferred. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/complete.h"

#include "base/data/arena.h"
#include "base/error.h"
#include "base/system/passing.h"
#include "base/system/thread.h"
#include "codegen_client/codegen_place.h"
#include "context/counters.h"
#include "context/log.h"
#include "context/trace.h"
#include "context/workers.h"
#include "stores/stores.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/deferred.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/flight.h"

/*
 * The code is generated on a worker, as for any kernel, while the caller waits.
 * What both share is on the caller's stack: the worker does not touch it any
 * more once it has set `done`.
 */
typedef struct completion {
    kiln_context *context;
    const kiln_artifact *artifact;
    kiln__arena arena;
    kiln__deferred deferred;
    uint32_t unproved; /* the check that needs it; 0: a pack */
    const kiln_artifact *made;
    kiln_status status;
    kiln_error *error;
    uint64_t start_ns;
    kiln__mutex lock;
    kiln__condition changed;
    int done;
} completion;

static const char *name_of(const completion *c)
{
    return kiln_artifact_kernel(c->artifact, 0)->method;
}

/* ---- what the code generator calls back ---- */

static kiln_status add_image(completion *c, const kiln__codegen_result *result,
                             kiln__encoder *image)
{
    const kiln_artifact *old = c->artifact;
    kiln__deferred deferred = c->deferred;
    kiln__artifact_source source = {
        .key = old->key,
        .encoded_key = old->encoded_key,
        .encoded_key_size = old->encoded_key_size,
        .format = old->format,
        .target = old->target,
        .relocation = old->relocation,
        .bytes = old->bytes,
        .size = old->size,
        .kernels = old->kernels,
        .kernel_count = old->kernel_count,
        .sites = old->sites,
        .site_count = old->site_count,
        .reports = old->reports,
        .report_size = old->report_size,
        .facts = old->facts,
        .fact_size = old->fact_size,
        .compile_ns = old->compile_ns,
        .toolchain = old->toolchain,
    };

    deferred.is_image = 1;
    deferred.stack_bytes = result->stack_bytes;
    deferred.unproved = c->unproved <= deferred.check_count ? c->unproved : 0;
    deferred.code = result->bytes;
    deferred.code_size = result->size;
    kiln__deferred_encode(image, &deferred);
    source.deferred = image->bytes;
    source.deferred_size = image->size;
    return image->failed ? KILN_ENOMEM : kiln__artifact_new(&c->made, &source);
}

static kiln_status take_result(void *env, const kiln__codegen_result *result)
{
    completion *c = env;
    kiln__encoder image;
    kiln_status status;

    kiln__encoder_init(&image, &c->context->alloc);
    status = add_image(c, result, &image);
    kiln__encoder_dispose(&image);
    return status;
}

static void take_failure(void *env, kiln_status status, const char *message)
{
    completion *c = env;

    kiln__error_set(&c->error, status, "%s: %s", name_of(c), message);
}

static void stage(void *env, int32_t which, uint64_t nanoseconds)
{
    const completion *c = env;

    kiln__stage_ended(c->context, which, name_of(c), nanoseconds);
}

static void take_log(void *env, int32_t level, const char *line)
{
    const completion *c = env;

    kiln__log(c->context, level, "%s: %s", name_of(c), line);
}

static void end(completion *c, kiln_status status)
{
    kiln__mutex_lock(&c->lock);
    c->status = status;
    c->done = 1;
    kiln__condition_signal(&c->changed);
    kiln__mutex_unlock(&c->lock);
}

static void fatal(void *env, const char *message)
{
    completion *c = env;
    kiln_context *context = c->context;
    const kiln_status status = kiln__fatal_status(message);

    kiln__error_set(&c->error, status, "%s: LLVM cannot go on: %s", name_of(c),
                    message);
    end(c, status);
    kiln__workers_park(context);
}

/* ---- on the worker ---- */

static void make(void *env)
{
    completion *c = env;
    const kiln__codegen_request request = {
        .settings = c->deferred.settings,
        .entry = kiln_artifact_kernel(c->artifact, 0)->name,
        .form = KILN__EMIT_DEFERRED,
        .module = c->deferred.code,
        .module_size = c->deferred.code_size,
        .env = c,
        .finish = take_result,
        .fail = take_failure,
        .fatal = fatal,
        .stage = stage,
        .log = take_log,
    };
    kiln__generator generator;
    kiln__call_scope scope;
    kiln_status status;

    kiln__call_scope_enter_worker(&scope, c->context, NULL);
    status = kiln__generator_open(&generator, c->context, 0, &c->error);
    if (status == KILN_OK)
        status = kiln__generate_by(&generator, &request);
    kiln__call_scope_leave(&scope);
    end(c, status);
}

/* ---- waiting for it ---- */

static kiln_status run(completion *c)
{
    kiln_status status = kiln__mutex_init(&c->lock);

    if (status != KILN_OK)
        return status;
    status = kiln__condition_init(&c->changed);
    if (status == KILN_OK) {
        status = kiln__workers_submit(c->context, make, c, &c->error);
        kiln__mutex_lock(&c->lock);
        while (status == KILN_OK && !c->done)
            kiln__condition_wait(&c->changed, &c->lock);
        kiln__mutex_unlock(&c->lock);
        kiln__condition_dispose(&c->changed);
    }
    kiln__mutex_dispose(&c->lock);
    return status == KILN_OK ? c->status : status;
}

static kiln_status complete(completion *c)
{
    kiln__call_scope scope;
    const kiln__call_chain *chain;
    kiln_status status;

    KILN_TRY(kiln__deferred_read(&c->deferred, &c->arena, c->artifact));
    chain = kiln__call_scope_enter(&scope, c->context);
    if (chain->on_worker)
        status = kiln__error_set(&c->error, KILN_ERECURSION,
                                 "a callback on a compiling thread cannot wait "
                                 "for the deferred body of %s",
                                 name_of(c));
    else
        status = run(c);
    kiln__call_scope_leave(&scope);
    return status;
}

static void trace(const completion *c)
{
    const kiln__trace_note note = {.category = "job",
                                   .verb = "completed",
                                   .name = name_of(c),
                                   .tier = kiln__trace_tier(KILN_TIER_BINARY),
                                   .outcome = kiln_status_name(c->status)};

    kiln__trace_end(c->context, c->start_ns, &note);
}

/* Makes a new artifact of one that has something to be made. */
static kiln_status make_complete(const kiln_artifact **out,
                                 kiln_context *context,
                                 const kiln_artifact *artifact,
                                 uint32_t unproved, kiln_error **error)
{
    completion c = {.context = context,
                    .artifact = artifact,
                    .unproved = unproved,
                    .start_ns = kiln__trace_begin(context)};
    kiln_status status;

    kiln__arena_init(&c.arena, &kiln__malloc);
    status = complete(&c);
    trace(&c);
    kiln__arena_dispose(&c.arena);
    *out = c.made;
    if (status == KILN_OK)
        return KILN_OK;
    if (c.error == NULL)
        kiln__error_set(&c.error, status, "%s: its deferred body: %s",
                        name_of(&c), kiln_status_text(status));
    if (error != NULL)
        *error = c.error;
    else
        kiln_error_free(c.error);
    return status;
}

kiln_status kiln__artifact_complete(const kiln_artifact **out,
                                    kiln_context *context,
                                    const kiln_artifact *artifact,
                                    uint32_t unproved, kiln_error **error)
{
    if (!kiln__deferred_is_open(artifact)) {
        *out = kiln_artifact_retain(artifact);
        return KILN_OK;
    }
    if (kiln__stores_mode(context) == KILN__CACHE_MUST_HIT)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "the code of %s with all checks is not in the "
                               "cache, and must be (must-hit)",
                               kiln_artifact_kernel(artifact, 0)->method);
    KILN_TRY(make_complete(out, context, artifact, unproved, error));
    kiln__artifact_replace(context, artifact, *out);
    return KILN_OK;
}

/* ---- packs ---- */

static kiln_status encode_anew(kiln__entry *entry, kiln_blob *meta,
                               kiln_context *context,
                               const kiln_artifact *artifact)
{
    kiln__entry_writer writer;
    kiln_status status =
        kiln__entry_writer_artifact(&writer, &context->alloc, artifact);

    if (status == KILN_OK)
        status = kiln__blob_copy(meta, &kiln__malloc, writer.entry.meta,
                                 writer.entry.meta_size);
    kiln__entry_writer_dispose(&writer);
    if (status != KILN_OK)
        return status;
    entry->meta = meta->data;
    entry->meta_size = meta->size;
    return KILN_OK;
}

kiln_status kiln__entry_complete(kiln__entry *entry, kiln_blob *meta,
                                 kiln_context *context, kiln_error **error)
{
    const kiln_artifact *artifact = NULL, *made = NULL;
    kiln_status status;

    if (entry->kind != KILN__ENTRY_BINARY)
        return KILN_OK;
    status = kiln__artifact_decode(&artifact, &context->alloc, entry);
    if (status == KILN_ECORRUPT)
        return KILN_OK; /* it is exported as it is */
    if (status != KILN_OK)
        return kiln__error_no_memory(error);
    if (kiln__deferred_is_open(artifact))
        status = make_complete(&made, context, artifact, 0, error);
    if (made != NULL && encode_anew(entry, meta, context, made) != KILN_OK)
        status = kiln__error_no_memory(error);
    kiln_artifact_release(made);
    kiln_artifact_release(artifact);
    return status;
}
