/* inspect.c - shows keys, code instances and stages, without filling tier 3. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/array.h"
#include "base/error.h"
#include "base/system/float_mode.h"
#include "base/system/stack.h"
#include "base/system/thread.h"
#include "context/counters.h"
#include "context/keys/key.h"
#include "context/log.h"
#include "context/workers.h"
#include "frontend/external_ir.h"
#include "ir/ir.h"
#include "pipeline/build.h"
#include "pipeline/debug_lines.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/* Called in a callback of an inference; infers in the worlds of that
   inference. */
static kiln_status infer_around(const kiln_code **out, kiln__worlds *worlds,
                                const kiln_signature *signature,
                                const kiln_config *config, kiln_error **error)
{
    const kiln__typed_request request = {signature, config, worlds, 0, 0};
    kiln__call_scope scope;
    kiln__call_chain *chain = kiln__call_scope_enter(&scope, config->context);
    const kiln_status status = kiln__typed_around(out, chain, &request, error);

    kiln__call_scope_leave(&scope);
    return status;
}

/* An existing instance is returned without a call scope, because nothing is
   lent on the way. Without a call scope, the world that was just read may be
   held by nobody, so it is read again below. */
kiln_status kiln_infer(const kiln_code **out, kiln_context *context,
                       const kiln_signature *signature,
                       const kiln_config *config, uint64_t world,
                       kiln_error **error)
{
    const kiln_code *found;
    uint64_t checked;
    kiln__worlds worlds, *around;
    kiln__call_scope scope;
    kiln__call_chain *chain;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_TRY(kiln__request_check(context, signature, config, error));
    KILN_TRY(kiln__world_check(&checked, signature->function->frontend, world,
                               error));
    around =
        kiln__worlds_around(context, signature->function->frontend, checked);
    if (around != NULL)
        return infer_around(out, around, signature, config, error);
    found = kiln__typed_find(context, signature, config, checked);
    if (found != NULL) {
        kiln__count_request(context, KILN_TIER_TYPED, KILN__COUNT_HIT);
        *out = found;
        return KILN_OK;
    }
    chain = kiln__call_scope_enter(&scope, context);
    status = kiln__typed_begin(
        out, chain, &(kiln__typed_request){signature, config, &worlds, 0, 0},
        world, error);
    if (status == KILN_OK)
        kiln__worlds_end(&worlds);
    kiln__call_scope_leave(&scope);
    return status;
}

kiln_status kiln_code_find(const kiln_code **out, kiln_context *context,
                           const kiln_signature *signature,
                           const kiln_config *config, uint64_t world)
{
    uint64_t checked;

    if (out == NULL)
        return KILN_EINVAL;
    KILN_TRY(kiln__request_check(context, signature, config, NULL));
    KILN_TRY(kiln__world_check(&checked, signature->function->frontend, world,
                               NULL));
    *out = kiln__typed_find(context, signature, config, checked);
    return *out != NULL ? KILN_OK : KILN_ENOTFOUND;
}

static kiln_status key_of(kiln_digest *out, const kiln_code *code,
                          const kiln_config *config, kiln_error **error)
{
    kiln_digest digest;
    kiln__encoder key;
    kiln_status status;

    kiln__encoder_init(&key, &config->context->alloc);
    status = kiln__job_digest(&digest, code, config);
    if (status == KILN_OK)
        status = kiln__key_binary(&key, digest, config);
    if (status == KILN_OK)
        *out = kiln__encoder_digest(&key);
    kiln__encoder_dispose(&key);
    return status == KILN_OK ? KILN_OK : kiln__error_no_memory(error);
}

kiln_status kiln_job_key(kiln_digest *out, kiln_context *context,
                         const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_error **error)
{
    const kiln_code *code;
    kiln__worlds worlds;
    kiln__call_scope scope;
    kiln__call_chain *chain;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_TRY(kiln__request_check(context, signature, config, error));
    chain = kiln__call_scope_enter(&scope, context);
    status = kiln__typed_begin(
        &code, chain, &(kiln__typed_request){signature, config, &worlds, 0, 0},
        world, error);
    if (status == KILN_OK) {
        status = key_of(out, code, config, error);
        kiln__worlds_end(&worlds);
    }
    kiln__call_scope_leave(&scope);
    return status;
}

/* ---- the forms of kiln_emit ---- */

static kiln_status print_closure(kiln__text *text, const kiln_code *root,
                                 kiln_error **error)
{
    const kiln_alloc *alloc = text->alloc;
    const kiln_code **closure = NULL;
    size_t count = 0;
    kiln_status status = kiln__code_closure(&closure, &count, root);

    for (size_t i = 0; status == KILN_OK && i < count; i++) {
        kiln__ir ir;

        status = kiln__code_read_ir(&ir, alloc, closure[i], error);
        if (status != KILN_OK)
            break;
        status = kiln__ir_print(&ir, text);
        kiln__ir_dispose(&ir);
    }
    kiln__deallocate(alloc, closure, count * sizeof *closure);
    if (kiln__is_shortage(status))
        return kiln__error_shortage(error, status);
    return status;
}

static kiln_status emit_typed(kiln_blob *out, const kiln_code *code,
                              const kiln_config *config, kiln_error **error)
{
    kiln_frontend *frontend = kiln__code_frontend(code);
    kiln__text text;
    kiln_status status;
    fenv_t mode;

    if (frontend->ops.lower != NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "the typed IR of frontend %s has no text form",
                               frontend->name);
    kiln__text_init(&text, &config->context->alloc);
    kiln__float_begin(&mode);
    status = print_closure(&text, code, error);
    kiln__float_end(&mode);
    if (status != KILN_OK) {
        kiln__text_dispose(&text);
        return status;
    }
    if (kiln__text_to_blob(&text, out) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* One build on a worker, for which the calling thread waits. The flight is
   private. */
struct emission {
    kiln_context *context;
    kiln__build *build;
    kiln_blob out;
    int32_t form;
    kiln__mutex lock;
    kiln__condition ended;
    int done;
    kiln_status status;
    kiln_error *error;
};

static void emission_end(struct emission *emission, kiln_status status,
                         kiln_error *error)
{
    kiln__mutex_lock(&emission->lock);
    emission->status = status;
    emission->error = error;
    emission->done = 1;
    kiln__condition_signal(&emission->ended);
    kiln__mutex_unlock(&emission->lock);
}

static void emission_fatal(void *env, kiln_error *error)
{
    struct emission *emission = env;
    kiln_context *context = emission->context;

    emission_end(emission,
                 error != NULL ? kiln_error_status(error) : KILN_ENOMEM, error);
    kiln__workers_park(context);
}

static kiln_status take_output(struct emission *emission)
{
    size_t size;
    const void *bytes;

    if (emission->form != KILN_EMIT_BINARY)
        return kiln__build_text(emission->build, &emission->out);
    bytes = kiln_artifact_bytes(kiln__build_artifact(emission->build), &size);
    return kiln__blob_copy(&emission->out, &kiln__malloc, bytes, size);
}

static void emission_run(void *env)
{
    struct emission *emission = env;
    kiln_error *error = NULL;
    kiln__call_scope scope;
    kiln_status status;

    kiln__call_scope_enter_worker(&scope, emission->context, NULL);
    status = kiln__build_run(emission->build, emission_fatal, emission, &error);
    kiln__call_scope_leave(&scope);
    if (status == KILN_OK) {
        status = take_output(emission);
        if (status != KILN_OK)
            kiln__error_no_memory(&error);
    }
    emission_end(emission, status, error);
}

static void emission_wait(struct emission *emission)
{
    kiln__blocking_enter(emission->context);
    kiln__mutex_lock(&emission->lock);
    while (!emission->done)
        kiln__condition_wait(&emission->ended, &emission->lock);
    kiln__mutex_unlock(&emission->lock);
    kiln__blocking_leave(emission->context);
}

static kiln_status emission_go(struct emission *emission, kiln_error **error)
{
    KILN_TRY(
        kiln__workers_submit(emission->context, emission_run, emission, error));
    emission_wait(emission);
    if (error != NULL)
        *error = emission->error != NULL ? emission->error : *error;
    else
        kiln_error_free(emission->error);
    return emission->status;
}

static kiln_status emit_generated(kiln_blob *out, const kiln_code *code,
                                  const kiln_config *config, int32_t form,
                                  kiln_error **error)
{
    struct emission emission = {.context = config->context, .form = form};
    kiln_status status =
        kiln__build_new(&emission.build, code, config, form, error);

    if (status != KILN_OK)
        return status;
    if (kiln__mutex_init(&emission.lock) != KILN_OK) {
        kiln__build_free(emission.build);
        return kiln__error_no_memory(error);
    }
    if (kiln__condition_init(&emission.ended) == KILN_OK) {
        status = emission_go(&emission, error);
        kiln__condition_dispose(&emission.ended);
    } else {
        status = kiln__error_no_memory(error);
    }
    kiln__mutex_dispose(&emission.lock);
    kiln__build_free(emission.build);
    if (status == KILN_OK)
        *out = emission.out;
    else
        kiln_blob_release(&emission.out);
    return status;
}

static kiln_status emit(kiln_blob *out, kiln__call_chain *chain,
                        const kiln_code *code, const kiln_config *config,
                        int32_t form, kiln_error **error)
{
    if (form == KILN_EMIT_TYPED)
        return emit_typed(out, code, config, error);
    if (chain->on_worker)
        return kiln__error_set(error, KILN_ERECURSION,
                               "a callback on a compiling thread cannot wait "
                               "for %s",
                               kiln_code_name(code));
    return emit_generated(out, code, config, form, error);
}

kiln_status kiln_emit(kiln_blob *out, kiln_context *context,
                      const kiln_signature *signature,
                      const kiln_config *config, uint64_t world, int32_t form,
                      kiln_error **error)
{
    const kiln_code *code;
    kiln__worlds worlds;
    kiln__call_scope scope;
    kiln__call_chain *chain;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(form >= KILN_EMIT_TYPED && form <= KILN_EMIT_BINARY, error);
    KILN_TRY(kiln__request_check(context, signature, config, error));
    chain = kiln__call_scope_enter(&scope, context);
    status = kiln__typed_begin(
        &code, chain, &(kiln__typed_request){signature, config, &worlds, 0, 0},
        world, error);
    if (status == KILN_OK) {
        status = emit(out, chain, code, config, form, error);
        kiln__worlds_end(&worlds);
    }
    kiln__call_scope_leave(&scope);
    return status;
}
