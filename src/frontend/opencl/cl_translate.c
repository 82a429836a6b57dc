/* cl_translate.c - finds or makes what a version's text is translated to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/counters.h"
#include "context/host_ops.h"
#include "context/log.h"
#include "frontend/opencl/cl_program.h"
#include "tiers/tiers.h"

/*
 * A version's tokens and unit are found out once, by one thread; others wait.
 * Both stay as they are until the program is defined again, whatever becomes of
 * the included files: so every request sees one program.
 */

/* ---- one thread at a time ---- */

/* Marks the version as the calling thread's. KILN_ERECURSION: it already is. */
static kiln_status claim(kiln__cl_version *version)
{
    kiln__cl *cl = version->program->cl;
    kiln_status status = KILN_OK;

    kiln__mutex_lock(&cl->lock);
    while (status == KILN_OK && version->is_busy) {
        if (kiln__thread_is(version->owner, kiln__thread_self()))
            status = KILN_ERECURSION;
        else
            kiln__condition_wait(&cl->changed, &cl->lock);
    }
    if (status == KILN_OK) {
        version->is_busy = 1;
        version->owner = kiln__thread_self();
    }
    kiln__mutex_unlock(&cl->lock);
    return status;
}

static void give_back(kiln__cl_version *version)
{
    kiln__cl *cl = version->program->cl;

    kiln__mutex_lock(&cl->lock);
    version->is_busy = 0;
    kiln__condition_broadcast(&cl->changed);
    kiln__mutex_unlock(&cl->lock);
}

static void set_tokens(kiln__cl_version *version, kiln_digest tokens)
{
    kiln__cl *cl = version->program->cl;

    kiln__mutex_lock(&cl->lock);
    version->tokens = tokens;
    kiln__mutex_unlock(&cl->lock);
}

static kiln_digest tokens_of(const kiln__cl_version *version)
{
    kiln__cl *cl = version->program->cl;
    kiln_digest tokens;

    kiln__mutex_lock(&cl->lock);
    tokens = version->tokens;
    kiln__mutex_unlock(&cl->lock);
    return tokens;
}

/* ---- the translator ---- */

/* Warnings go to the host's log. */
static void log_notes(kiln_context *context, const kiln__source_result *result)
{
    for (size_t i = 0; i < result->note_count; i++) {
        const kiln__source_note *note = &result->notes[i];

        if (note->severity == KILN_SEVERITY_WARNING)
            kiln__log(context, KILN_LOG_INFO, "%s:%u:%u: %s",
                      note->file != NULL ? note->file : "", note->line,
                      note->column, note->text);
    }
}

static kiln_status run(kiln__source_result *out, kiln__cl_version *version,
                       int32_t form, kiln_error **error)
{
    kiln_context *context = version->program->cl->context;
    const kiln__cl_text *text = &version->text;
    const kiln__source_request request = {
        .form = form,
        .name = text->file,
        .text = text->text,
        .size = text->size,
        .folder = text->folder,
        .options = text->words,
        .option_count = text->word_count,
        .has_f64 = 1,
        .has_f16 = 1,
    };
    const uint64_t start = kiln__clock_ns();
    const kiln_status status =
        kiln__source_compile(out, context, &request, error);

    kiln__stage_ended(context, KILN_STAGE_PARSE, text->file,
                      kiln__clock_ns() - start);
    if (status == KILN_OK && form == KILN__SOURCE_MODULES)
        log_notes(context, out);
    return status;
}

/* The tokens that a version is known by must be those that are translated. */
static kiln_status check_tokens(const kiln__cl_version *version,
                                const kiln__source_result *result,
                                kiln_error **error)
{
    if (kiln__digest_is_zero(version->tokens) ||
        kiln__digest_equal(version->tokens, result->tokens))
        return KILN_OK;
    return kiln__error_set(error, KILN_ECOMPILE,
                           "a file that %s includes has changed since it was "
                           "defined: define it again",
                           version->text.file);
}

/* Asks the preprocessor for the tokens, for a text that is likely to be another
   form of a known one. */
static kiln_status preprocess(kiln__cl_version *version, kiln_error **error)
{
    kiln__source_result result;
    const kiln_status status =
        run(&result, version, KILN__SOURCE_TOKENS, error);

    if (status == KILN_OK) {
        set_tokens(version, result.tokens);
        kiln__cl_trail_keep(version, &result);
    }
    kiln__source_result_dispose(&result);
    return status;
}

static kiln_status translate(kiln__cl_unit **out, kiln__cl_version *version,
                             kiln_error **error)
{
    kiln__cl *cl = version->program->cl;
    kiln__source_result result;
    kiln_status status = run(&result, version, KILN__SOURCE_MODULES, error);

    if (status == KILN_OK)
        status = check_tokens(version, &result, error);
    if (status == KILN_OK &&
        kiln__cl_unit_make(out, cl->alloc, &result) != KILN_OK)
        status = kiln__error_no_memory(error);
    if (status == KILN_OK) {
        set_tokens(version, result.tokens);
        kiln__cl_trail_keep(version, &result);
        kiln__cl_unit_keep(cl, *out, result.tokens, result.make_ns);
    }
    kiln__source_result_dispose(&result);
    return status;
}

/* ---- what is known ---- */

/* Follows the trail, for the thread that owns the version. */
static kiln_status find_tokens(kiln__cl_version *version)
{
    kiln_digest tokens;

    if (!kiln__digest_is_zero(version->tokens))
        return KILN_OK;
    KILN_TRY(kiln__cl_trail_follow(&tokens, version));
    set_tokens(version, tokens);
    return KILN_OK;
}

kiln_status kiln__cl_known_tokens(kiln_digest *out, kiln__cl_version *version)
{
    kiln_status status = KILN_OK;

    *out = tokens_of(version);
    if (!kiln__digest_is_zero(*out))
        return KILN_OK;
    KILN_TRY(claim(version));
    status = find_tokens(version);
    *out = version->tokens;
    give_back(version);
    return status;
}

static kiln_status find_unit(kiln__cl_unit **out, kiln__cl_version *version,
                             kiln_error **error)
{
    kiln__cl *cl = version->program->cl;
    kiln_status status = find_tokens(version);

    if (status == KILN_ENOTFOUND &&
        (version->next != NULL || kiln__cl_trail_was_seen(version)))
        KILN_TRY(preprocess(version, error));
    status = kiln__digest_is_zero(version->tokens)
                 ? KILN_ENOTFOUND
                 : kiln__cl_unit_find(out, cl, version->tokens);
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    return status == KILN_OK ? KILN_OK : translate(out, version, error);
}

/* ---- units ---- */

/* Returns what was found out before, or KILN_EAGAIN. */
static kiln_status recall(const kiln__cl_unit **out,
                          const kiln__cl_version *version, kiln_error **error)
{
    kiln__cl *cl = version->program->cl;
    kiln_status status;

    kiln__mutex_lock(&cl->lock);
    *out = version->unit;
    status = *out != NULL                  ? KILN_OK
             : version->failure != KILN_OK ? version->failure
                                           : KILN_EAGAIN;
    if (*out == NULL && version->failure != KILN_OK && error != NULL)
        *error = kiln__error_retain(version->error);
    kiln__mutex_unlock(&cl->lock);
    return status;
}

/* Failures that the same text would give again are remembered. */
static void note(kiln__cl_version *version, kiln__cl_unit *unit,
                 kiln_status status, kiln_error *fault)
{
    kiln__cl *cl = version->program->cl;

    kiln__mutex_lock(&cl->lock);
    version->unit = unit;
    if (kiln__status_is_final(status) || status == KILN_EINVAL) {
        version->failure = status;
        version->error = kiln__error_retain(fault);
    }
    kiln__mutex_unlock(&cl->lock);
}

kiln_status kiln__cl_unit_of(const kiln__cl_unit **out,
                             kiln__cl_version *version, kiln_error **error)
{
    kiln_error *fault = NULL;
    kiln__cl_unit *unit = NULL;
    kiln_status status = recall(out, version, error);

    if (status != KILN_EAGAIN)
        return status;
    status = claim(version);
    if (status != KILN_OK)
        return kiln__error_set(error, status,
                               "%s is asked for while it is translated",
                               version->text.file);
    status = recall(out, version, error);
    if (status != KILN_EAGAIN) {
        give_back(version);
        return status;
    }
    status = find_unit(&unit, version, &fault);
    note(version, unit, status, fault);
    give_back(version);
    *out = unit;
    if (status != KILN_OK && error != NULL)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}
