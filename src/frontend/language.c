/* language.c - the kernel language as a frontend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "deferred.h"
#include "float_mode.h"
#include "report.h"
#include "runtime_sources.h"
#include "settings.h"
#include "stack.h"
#include "types.h"

/* The form of typed IR and, beside it, what inference makes of a program:
   raised by whoever changes what the same text is inferred to, refused for or
   asked about, as PIPELINE_VERSION is for code. Both enter keys. */
#define IR_VERSION "2"
#define INFERENCE_VERSION "4"
#define LANGUAGE_NAME "kiln " IR_VERSION " inference " INFERENCE_VERSION

/* ---- locks ---- */

void kiln__language_read(kiln__language *language)
{
    pthread_rwlock_rdlock(&language->lock);
}

void kiln__language_write(kiln__language *language)
{
    pthread_rwlock_wrlock(&language->lock);
}

void kiln__language_unlock(kiln__language *language)
{
    pthread_rwlock_unlock(&language->lock);
}

/* Writers hold the change lock, which fork() takes; readers of the parent are
   still counted in the child's copy, so the lock is made anew. */
static void renew_lock(void *env)
{
    kiln__language *language = env;

    pthread_rwlock_init(&language->lock, NULL);
}

/* What threads of the parent tell is not told here. */
static void renew_tellings(void *env)
{
    kiln__language *language = env;

    kiln__condition_init(&language->shown);
    language->tellings = NULL;
}

/* ---- the object ---- */

kiln_context *kiln__language_context(const kiln__language *language)
{
    return language->context;
}

kiln__language *kiln__language_of(const kiln_context *context)
{
    return context->language == NULL ? NULL : context->language->self;
}

uint64_t kiln__language_world(const kiln__language *language)
{
    return atomic_load_explicit(&language->world, memory_order_acquire);
}

/* With `starting`. */
static kiln_status make_ready(kiln__language *language,
                              kiln__deferred **settled, kiln_error **error)
{
    kiln_status status;

    KILN_TRY(kiln__core_new(language, error));
    status = kiln__deferral_settle(language, settled);
    if (status != KILN_OK)
        return kiln__error_shortage(error, status);
    atomic_store_explicit(&language->ready, 1, memory_order_release);
    return KILN_OK;
}

kiln_status kiln__language_ready(kiln__language *language, kiln_error **error)
{
    kiln__deferred *settled = NULL;
    kiln_status status = KILN_OK, told;

    if (atomic_load_explicit(&language->ready, memory_order_acquire))
        return KILN_OK;
    kiln__mutex_lock(&language->starting);
    if (!atomic_load_explicit(&language->ready, memory_order_relaxed))
        status = make_ready(language, &settled, error);
    kiln__mutex_unlock(&language->starting);
    told = kiln__deferral_finish(language, settled,
                                 status == KILN_OK ? error : NULL);
    return status == KILN_OK ? told : status;
}

kiln_status kiln__language_start(kiln__language *language, kiln_error **error)
{
    uint64_t none = 1, none_made = 1;

    if (atomic_load_explicit(&language->ready, memory_order_acquire))
        return KILN_OK;
    if (!kiln__deferral_is_on(language))
        return kiln__language_ready(language, error);
    /* Each of core's texts makes a world. */
    atomic_compare_exchange_strong(&language->newest, &none_made,
                                   1 + kiln__runtime_source_count);
    atomic_compare_exchange_strong(&language->world, &none,
                                   1 + kiln__runtime_source_count);
    return KILN_OK;
}

/* A function of another frontend is found without the language; one of its own
   may be there when what it has put off is made. */
static kiln_status function_of_name(const kiln_function **out,
                                    kiln_context *context,
                                    kiln_package *package, const char *name,
                                    kiln_error **error)
{
    kiln__language *language = kiln__language_of(context);
    kiln_status status = KILN_OK;

    *out = kiln__function_find(context, name);
    if (*out == NULL)
        status = language == NULL ? KILN_ENOTFOUND
                                  : kiln__language_ready(language, NULL);
    if (kiln__is_shortage(status))
        return kiln__error_shortage(error, status);
    if (*out == NULL && status == KILN_OK)
        *out = kiln__function_find(context, name);
    if (*out != NULL)
        return KILN_OK;
    if (package != NULL)
        return kiln_package_function(out, package, name, error);
    return kiln__error_set(error, KILN_EINVAL, "there is no function '%s'",
                           name);
}

static const kiln__names names = {.type = kiln__type_of_name,
                                  .function = function_of_name};

void kiln__sources_free(kiln__language *language, kiln__source_node *list)
{
    while (list != NULL) {
        kiln__source_node *next = list->next;

        kiln__source_free(list->source);
        kiln__deallocate(language->alloc, list, sizeof *list);
        list = next;
    }
}

static void free_generic(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)env;
    kiln__generic_free(value);
}

static void language_dispose(kiln__language *language)
{
    kiln__map_each(&language->generics, free_generic, NULL);
    kiln__map_dispose(&language->generics);
    kiln__map_dispose(&language->places);
    kiln__known_texts_free(language);
    while (language->deferred != NULL) {
        kiln__deferred *next = language->deferred->next;

        kiln__deferred_free(language->deferred);
        language->deferred = next;
    }
    while (language->packages != NULL) {
        kiln_package *next = language->packages->next;

        kiln__package_free(language->packages);
        language->packages = next;
    }
    kiln__sources_free(language, language->sources);
    kiln__arena_dispose(&language->arena);
    pthread_rwlock_destroy(&language->lock);
    kiln__mutex_dispose(&language->change);
    kiln__mutex_dispose(&language->starting);
    kiln__mutex_dispose(&language->telling);
    kiln__condition_dispose(&language->shown);
    kiln__deallocate(language->alloc, language, sizeof *language);
}

/* ---- the frontend's table ---- */

static uint64_t language_world(void *self)
{
    return kiln__language_world(self);
}

/* The call that a signature makes. */
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
                               r->generic, r->arguments, r->count, r->overlays,
                               r->world) != KILN_OK) {
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

/* Inference recurs, over chains of calls: a root is too large for its frames.
 */
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
    return kiln__infer_method(language, inference,
                              kiln_inference_signature(inference), &r->match,
                              config, r->world, error);
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
    const kiln_function *function = kiln__deferral_function(language, name);
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

/* Worlds need no keeping: methods go only in a collection, which knows the
   oldest world that is held. */
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

/* "main.saxpy#0123456789abcdef": the newest method of that digest. */
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

int kiln__language_span(const kiln_frontend *frontend, const char *label,
                        uint32_t ordinal, const kiln__source **source,
                        kiln__span *span)
{
    return frontend->ops.locate == language_locate &&
           kiln__language_ready(frontend->self, NULL) == KILN_OK &&
           find_span(frontend->self, label, ordinal, source, span) == KILN_OK;
}

/* The context frees its fork list's owner after the frontends. */
static void language_free(void *self)
{
    kiln__language *language = self;

    kiln__fork_remove(&language->context->fork, &language->starting_guard);
    kiln__fork_remove(&language->context->fork, &language->change_guard);
    kiln__fork_remove(&language->context->fork, &language->telling_guard);
    language_dispose(language);
}

static const kiln_frontend_ops language_ops = {
    .size = sizeof(kiln_frontend_ops),
    .name = LANGUAGE_NAME,
    .world = language_world,
    .infer = language_infer,
    .answer = language_answer,
    .free = language_free,
    .locate = language_locate,
    .hold = language_hold,
    .release = language_release,
    .collect = language_collect,
    .root = language_root,
    .program = language_program,
    .type = language_type,
    .function = language_function,
};

static kiln__language *language_make(kiln_context *context)
{
    kiln__language *language =
        kiln__allocate(&context->alloc, sizeof *language);

    if (language == NULL)
        return NULL;
    language->context = context;
    language->alloc = &context->alloc;
    atomic_init(&language->world, 1);
    atomic_init(&language->newest, 1);
    atomic_init(&language->reclaimed, 0);
    atomic_init(&language->ready, 0);
    language->made = 1;
    kiln__map_init(&language->generics, &context->alloc);
    kiln__map_init(&language->places, &context->alloc);
    kiln__arena_init(&language->arena, &context->alloc);
    if (pthread_rwlock_init(&language->lock, NULL) != 0)
        goto no_lock;
    if (kiln__mutex_init(&language->change) != KILN_OK)
        goto no_change;
    if (kiln__mutex_init(&language->starting) != KILN_OK)
        goto no_starting;
    if (kiln__mutex_init(&language->telling) != KILN_OK)
        goto no_telling;
    if (kiln__condition_init(&language->shown) != KILN_OK)
        goto no_shown;
    return language;

no_shown:
    kiln__mutex_dispose(&language->telling);
no_telling:
    kiln__mutex_dispose(&language->starting);
no_starting:
    kiln__mutex_dispose(&language->change);
no_change:
    pthread_rwlock_destroy(&language->lock);
no_lock:
    kiln__deallocate(&context->alloc, language, sizeof *language);
    return NULL;
}

kiln_status kiln__language_new(kiln_context *context, kiln_error **error)
{
    kiln__language *language = language_make(context);
    kiln_status status;

    if (language == NULL)
        return kiln__error_no_memory(error);
    status = kiln_frontend_add(&language->frontend, context, &language_ops,
                               language, error);
    if (status != KILN_OK) {
        language_dispose(language);
        return status;
    }
    language->change_guard = (kiln__fork_guard){
        .mutex = &language->change, .child = renew_lock, .env = language};
    language->starting_guard = (kiln__fork_guard){.mutex = &language->starting};
    language->telling_guard = (kiln__fork_guard){
        .mutex = &language->telling, .child = renew_tellings, .env = language};
    kiln__fork_add(&context->fork, &language->telling_guard);
    kiln__fork_add(&context->fork, &language->change_guard);
    kiln__fork_add(&context->fork, &language->starting_guard);
    context->language = language->frontend;
    context->names = &names;
    return KILN_OK;
}
