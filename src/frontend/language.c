/* language.c - the kernel language as a frontend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/system/float_mode.h"
#include "base/system/stack.h"
#include "context/keys/settings.h"
#include "context/types/types.h"
#include "frontend/infer/infer_method.h"
#include "frontend/language.h"
#include "frontend/program/lazy_text.h"
#include "frontend/program/text_facts.h"
#include "ir/ir.h"

/* INFERENCE_VERSION is the version of what inference makes of a program. Any
   change in what the same text is inferred to, refused for, or asked about has
   to raise it, as PIPELINE_VERSION is raised for changes in code. It enters
   keys, as the version of typed IR's form does. */
#define INFERENCE_VERSION "9"
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define LANGUAGE_NAME \
    "kiln " TEXT_OF(KILN__IR_VERSION) " inference " INFERENCE_VERSION

/* ---- the table of functions ---- */

static uint64_t language_world(void *self)
{
    return kiln__language_world(self);
}

/* The call that a signature stands for. */
typedef struct root {
    const kiln__generic *generic;
    kiln__argument arguments[KILN_ARGUMENTS_MAX];
    size_t count;
    const char *overlays;
    uint64_t world;
    kiln__match match;
} root;

static kiln_status diagnose_root(const root *r, kiln_status status,
                                 kiln_error **error)
{
    const kiln_alloc *alloc = r->generic->package->language->alloc;
    kiln__diagnostics diagnostics;
    kiln__refusal refusal;

    kiln__diagnostics_init(&diagnostics, alloc);
    if (kiln__dispatch_explain(&refusal, &diagnostics.arena, status, &r->match,
                               &(kiln__dispatch_call){r->generic, r->arguments,
                                                      r->count, r->overlays,
                                                      r->world}) != KILN_OK) {
        kiln__diagnostics_dispose(&diagnostics);
        return kiln__error_no_memory(error);
    }
    kiln__diagnose(&diagnostics, NULL, (kiln__span){0, 0}, refusal.code,
                   refusal.hint, "%s", refusal.message);
    status = kiln__diagnostics_finish(&diagnostics, KILN_ECOMPILE, error);
    kiln__diagnostics_dispose(&diagnostics);
    return status;
}

static void root_init(root *r, const kiln_signature *signature,
                      const kiln_config *config, uint64_t world)
{
    r->generic = signature->function->data;
    r->count = signature->count;
    r->overlays = config->overlays;
    r->world = world;
    for (size_t i = 0; i < r->count; i++)
        r->arguments[i] =
            (kiln__argument){signature->types[i], KILN__LITERAL_NONE};
}

/* Infers the root. Inference calls itself along chains of calls, and a root is
   too large to be in each frame, so it is passed by a pointer. */
static kiln_status infer_root(root *r, kiln__language *language,
                              kiln_inference *inference,
                              const kiln_config *config, kiln_error **error)
{
    kiln__facts facts = {.language = language,
                         .world = r->world,
                         .overlays = r->overlays,
                         .inference = inference};
    const kiln_status status =
        kiln__ask_method(&r->match, &facts, r->generic, r->arguments, r->count);

    if (status == KILN_ENOTFOUND || status == KILN_ECOMPILE)
        return diagnose_root(r, status, error);
    if (status != KILN_OK)
        return kiln__error_shortage(error, status);
    kiln_inference_set_root(inference, r->match.method->digest);
    return kiln__infer_method(
        language, inference,
        &(kiln__infer_request){kiln_inference_signature(inference), &r->match,
                               config, r->world},
        error);
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *inference, kiln_error **error)
{
    kiln__language *language = self;
    kiln_status status;
    root *r;

    KILN_REQUIRE(signature->function->frontend == language->frontend, error);
    KILN_REQUIRE(signature->count <= KILN_ARGUMENTS_MAX, error);
    KILN_TRY(kiln__language_ready(language, error));
    if (world <
        atomic_load_explicit(&language->reclaimed, memory_order_relaxed))
        return kiln__error_set(
            error, KILN_ENOTFOUND,
            "nobody held world %" PRIu64 ": it has been collected", world);
    r = kiln__allocate(language->alloc, sizeof *r);
    if (r == NULL)
        return kiln__error_no_memory(error);
    root_init(r, signature, config, world);
    status = infer_root(r, language, inference, config, error);
    kiln__deallocate(language->alloc, r, sizeof *r);
    return status;
}

static kiln_status language_infer(void *self, const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world,
                                  kiln_inference *inference, kiln_error **error)
{
    kiln_status status;
    fenv_t mode;

    kiln__float_begin(&mode);
    status = infer(self, signature, config, world, inference, error);
    kiln__float_end(&mode);
    return status;
}

static kiln_status language_answer(void *self, const void *query, size_t size,
                                   const kiln_config *config, uint64_t world,
                                   kiln_digest *out)
{
    return kiln__query_answer(self, query, size, config, world, out);
}

static kiln_status language_root(void *self, const kiln_signature *signature,
                                 const kiln_config *config, uint64_t world,
                                 kiln_digest *out)
{
    kiln__language *language = self;
    root r;

    *out = (kiln_digest){0};
    KILN_REQUIRE(signature->function->frontend == language->frontend, NULL);
    KILN_REQUIRE(signature->count <= KILN_ARGUMENTS_MAX, NULL);
    KILN_TRY(kiln__language_ready(language, NULL));
    if (world <
        atomic_load_explicit(&language->reclaimed, memory_order_relaxed))
        return KILN_OK;
    root_init(&r, signature, config, world);
    return kiln__query_root(out, r.generic, r.arguments, r.count, r.overlays,
                            world);
}

static kiln_status language_type(void *self, const char *text, uint64_t world,
                                 const kiln_type **out)
{
    return kiln__query_type(out, self, text, world);
}

static kiln_status language_function(void *self, const char *name,
                                     const kiln_function **out)
{
    kiln__language *language = self;
    const kiln_function *function = kiln__lazy_text_function(language, name);
    const kiln__generic *generic;

    if (function != NULL) {
        *out = function;
        return KILN_OK;
    }
    KILN_TRY(kiln__language_ready(language, NULL));
    kiln__language_read(language);
    generic = kiln__generic_get(language, name);
    kiln__language_unlock(language);
    if (generic == NULL)
        return KILN_ENOTFOUND;
    *out = generic->function;
    return KILN_OK;
}

static kiln_status language_program(void *self, const kiln_signature *signature,
                                    const kiln_config *config, uint64_t world,
                                    kiln_digest *out)
{
    (void)config;
    return kiln__program_digest(self, signature, world, out);
}

/* Nothing has to be done to hold a world: methods are freed only in a
   collection, which knows the oldest world that is held. */
static kiln_status language_hold(void *self, uint64_t world)
{
    kiln__language *language = self;

    if (world <
        atomic_load_explicit(&language->reclaimed, memory_order_relaxed))
        return KILN_ENOTFOUND;
    return world <= kiln__language_world(language) ? KILN_OK : KILN_EINVAL;
}

static void language_release(void *self, uint64_t world)
{
    (void)self;
    (void)world;
}

static void language_collect(void *self, uint64_t oldest_world)
{
    kiln__language_reclaim(self, oldest_world);
}

static const kiln__method *find_digest(const kiln__method *method,
                                       const char *digest)
{
    for (; method != NULL; method = method->next) {
        char text[KILN_DIGEST_TEXT_SIZE];

        kiln_digest_text(method->digest, text);
        if (strncmp(text, digest, 16) == 0 && digest[16] == '\0')
            break;
    }
    return method;
}

/* Finds the newest method of that digest, for a label such as
   "main.saxpy#0123456789abcdef". */
static kiln_status find_span(kiln__language *language, const char *label,
                             uint32_t ordinal, const kiln__source **source,
                             kiln__span *span)
{
    const char *mark = strrchr(label, '#');
    const kiln__generic *generic;
    const kiln__method *method = NULL;
    char *name;

    if (mark == NULL || strlen(mark + 1) != 16)
        return KILN_ENOTFOUND;
    name = kiln__string_copy_n(language->alloc, label, (size_t)(mark - label));
    if (name == NULL)
        return KILN_ENOMEM;
    kiln__language_read(language);
    generic = kiln__generic_get(language, name);
    if (generic != NULL)
        method = find_digest(generic->methods, mark + 1);
    if (generic != NULL && method == NULL)
        method = find_digest(generic->retired, mark + 1);
    kiln__language_unlock(language);
    kiln__string_free(language->alloc, name);
    if (method == NULL)
        return KILN_ENOTFOUND;
    *source = method->source;
    *span = ordinal == 0 || ordinal > method->definition->place_count
                ? method->definition->name_span
                : method->definition->places[ordinal - 1];
    return KILN_OK;
}

static kiln_status language_locate(void *self, const char *label,
                                   uint32_t ordinal, kiln_location *out)
{
    const kiln__source *source;
    kiln__span span;

    KILN_TRY(kiln__language_ready(self, NULL));
    KILN_TRY(find_span(self, label, ordinal, &source, &span));
    kiln__source_locate(source, span, out);
    return KILN_OK;
}

static kiln_status language_quote(void *self, const char *label,
                                  uint32_t ordinal, char *out, size_t size)
{
    const kiln__source *source;
    kiln__span span;

    KILN_TRY(kiln__language_ready(self, NULL));
    KILN_TRY(find_span(self, label, ordinal, &source, &span));
    return kiln__source_quote(source, span, out, size) ? KILN_OK
                                                       : KILN_ENOTFOUND;
}

int kiln__language_span(const kiln_frontend *frontend, const char *label,
                        uint32_t ordinal, const kiln__source **source,
                        kiln__span *span)
{
    return frontend->ops.locate == language_locate &&
           kiln__language_ready(frontend->self, NULL) == KILN_OK &&
           find_span(frontend->self, label, ordinal, source, span) == KILN_OK;
}

/* The context frees the owner of its fork list after the frontends. */
static void language_free(void *self)
{
    kiln__language *language = self;

    kiln__language_withdraw(language);
    kiln__language_dispose(language);
}

static const kiln_frontend_ops language_ops = {
    .size = sizeof(kiln_frontend_ops),
    .name = LANGUAGE_NAME,
    .world = language_world,
    .infer = language_infer,
    .answer = language_answer,
    .free = language_free,
    .locate = language_locate,
    .quote = language_quote,
    .hold = language_hold,
    .release = language_release,
    .collect = language_collect,
    .root = language_root,
    .program = language_program,
    .type = language_type,
    .function = language_function,
};

kiln_status kiln__language_new(kiln_context *context, kiln_error **error)
{
    kiln__language *language = kiln__language_make(context);
    kiln_status status;

    if (language == NULL)
        return kiln__error_no_memory(error);
    status = kiln_frontend_add(&language->frontend, context, &language_ops,
                               language, error);
    if (status != KILN_OK) {
        kiln__language_dispose(language);
        return status;
    }
    language->frontend->delta = kiln__language_delta;
    kiln__language_publish(language);
    return KILN_OK;
}
