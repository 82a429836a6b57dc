/* frontends.c - the registry of frontends and their functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "abi/method_abi.h"
#include "base/data/map.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "base/options.h"
#include "base/system/thread.h"
#include "context/context.h"
#include "context/keys/settings.h"
#include "context/types/types.h"
#include "tiers/delta.h"
#include "tiers/frontends.h"
#include "tiers/worlds.h"

/*
 * There are few frontends: they are in a list, newest first. There are many
 * functions: they are in a map by the digest of (frontend, name). Both only
 * grow until the context ends, so results of a search may be used without the
 * lock.
 */

typedef struct function_entry {
    kiln_function function;       /* first: its address is that of the entry */
    struct function_entry *alias; /* another name with the same digest */
    struct function_entry *next;  /* in the list of all, for freeing */
} function_entry;

struct kiln__registry {
    kiln__mutex lock;
    kiln_frontend *frontends;
    kiln__map functions; /* -> function_entry */
    function_entry *all;
    kiln__fork_guard guard;
};

kiln_status kiln__registry_new(kiln_context *context)
{
    struct kiln__registry *registry =
        kiln__allocate(&context->alloc, sizeof *registry);

    if (registry == NULL)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&registry->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, registry, sizeof *registry);
        return KILN_ENOMEM;
    }
    kiln__map_init(&registry->functions, &context->alloc);
    registry->guard.mutex = &registry->lock;
    kiln__fork_add(&context->fork, &registry->guard);
    context->frontends = registry;
    return KILN_OK;
}

void kiln__registry_lock(const kiln_context *context)
{
    kiln__mutex_lock(&context->frontends->lock);
}

void kiln__registry_unlock(const kiln_context *context)
{
    kiln__mutex_unlock(&context->frontends->lock);
}

static void frontends_free(const kiln_alloc *alloc, kiln_frontend *frontend)
{
    while (frontend != NULL) {
        kiln_frontend *next = frontend->next;

        frontend->ops.free(frontend->self);
        kiln__worlds_free(frontend);
        kiln__string_free(alloc, frontend->name);
        kiln__deallocate(alloc, frontend, sizeof *frontend);
        frontend = next;
    }
}

static void entry_free(const kiln_alloc *alloc, function_entry *entry)
{
    kiln__string_free(alloc, entry->function.name);
    kiln__deallocate(alloc, entry, sizeof *entry);
}

void kiln__registry_free(kiln_context *context)
{
    struct kiln__registry *registry = context->frontends;

    if (registry == NULL)
        return;
    frontends_free(&context->alloc, registry->frontends);
    while (registry->all != NULL) {
        function_entry *next = registry->all->next;

        entry_free(&context->alloc, registry->all);
        registry->all = next;
    }
    kiln__map_dispose(&registry->functions);
    kiln__fork_remove(&context->fork, &registry->guard);
    kiln__mutex_dispose(&registry->lock);
    kiln__deallocate(&context->alloc, registry, sizeof *registry);
    context->frontends = NULL;
}

/* ---- frontends ---- */

/* The list grows only at its head, so walking it needs no lock. */
kiln_status kiln__frontends_delta(const kiln_context *context, uint64_t since,
                                  const kiln__delta_taker *taker)
{
    const kiln_frontend *frontend;

    kiln__registry_lock(context);
    frontend = context->frontends->frontends;
    kiln__registry_unlock(context);
    for (; frontend != NULL; frontend = frontend->next)
        if (frontend->delta != NULL)
            KILN_TRY(frontend->delta(frontend->self, since, taker));
    return KILN_OK;
}

static kiln_status check_ops(kiln_frontend_ops *out,
                             const kiln_frontend_ops *ops, kiln_error **error)
{
    KILN_TRY(KILN__OPTIONS_READ(out, ops, kiln_frontend_ops, error));
    if (out->name == NULL || !*out->name)
        return kiln__error_set(error, KILN_EINVAL, "a frontend needs a name");
    if (out->world == NULL || out->infer == NULL || out->answer == NULL ||
        out->free == NULL)
        return kiln__error_set(error, KILN_EINVAL,
                               "frontend '%s' lacks a required function: "
                               "world, infer, answer and free",
                               out->name);
    return KILN_OK;
}

static kiln_frontend *frontend_make(kiln_context *context,
                                    const kiln_frontend_ops *ops, void *self)
{
    kiln_frontend *frontend = kiln__allocate(&context->alloc, sizeof *frontend);

    if (frontend == NULL)
        return NULL;
    frontend->name = kiln__string_copy(&context->alloc, ops->name);
    if (frontend->name == NULL) {
        kiln__deallocate(&context->alloc, frontend, sizeof *frontend);
        return NULL;
    }
    frontend->context = context;
    frontend->ops = *ops;
    frontend->ops.name = frontend->name;
    frontend->self = self;
    atomic_init(&frontend->newest_shown, UINT64_MAX);
    return frontend;
}

/* Adds the frontend unless there is one of that name. */
static int frontend_publish(struct kiln__registry *registry,
                            kiln_frontend *frontend)
{
    const kiln_frontend *other;

    kiln__mutex_lock(&registry->lock);
    for (other = registry->frontends; other != NULL; other = other->next)
        if (strcmp(other->name, frontend->name) == 0)
            break;
    if (other == NULL) {
        frontend->next = registry->frontends;
        registry->frontends = frontend;
    }
    kiln__mutex_unlock(&registry->lock);
    return other == NULL;
}

kiln_status kiln_frontend_add(kiln_frontend **out, kiln_context *context,
                              const kiln_frontend_ops *ops, void *self,
                              kiln_error **error)
{
    kiln_frontend_ops known;
    kiln_frontend *frontend;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(ops != NULL, error);
    KILN_TRY(check_ops(&known, ops, error));
    frontend = frontend_make(context, &known, self);
    if (frontend == NULL)
        return kiln__error_no_memory(error);
    if (!frontend_publish(context->frontends, frontend)) {
        kiln__string_free(&context->alloc, frontend->name);
        kiln__deallocate(&context->alloc, frontend, sizeof *frontend);
        return kiln__error_set(error, KILN_EINVAL,
                               "there is a frontend '%s' already", known.name);
    }
    *out = frontend;
    return KILN_OK;
}

kiln_status kiln__callback_status(kiln_status status,
                                  const kiln_frontend *frontend,
                                  const char *callback, kiln_error **error)
{
    if (kiln__status_is_known(status))
        return status;
    if (error != NULL) {
        kiln_error_free(*error);
        *error = NULL;
    }
    return kiln__error_set(error, KILN_EINVAL,
                           "%s() of frontend '%s' returned %d, which is no "
                           "status",
                           callback, frontend->name, (int)status);
}

void *kiln_frontend_self(const kiln_frontend *frontend)
{
    return frontend->self;
}

kiln_frontend *kiln_context_language(kiln_context *context)
{
    return context != NULL ? context->language : NULL;
}

/* ---- the two ends of a collection ---- */

static uint64_t oldest_world(kiln_frontend *frontend)
{
    const uint64_t now = kiln_world(frontend);
    uint64_t oldest;

    kiln__registry_lock(frontend->context);
    oldest = kiln__world_oldest(frontend, now);
    kiln__registry_unlock(frontend->context);
    return oldest;
}

static kiln_frontend *first_frontend(const kiln_context *context)
{
    kiln_frontend *first;

    kiln__registry_lock(context);
    first = context->frontends->frontends;
    kiln__registry_unlock(context);
    return first;
}

void kiln__frontends_note_oldest(kiln_context *context)
{
    for (kiln_frontend *f = first_frontend(context); f != NULL; f = f->next)
        atomic_store(&f->oldest_world, oldest_world(f));
}

void kiln__frontends_collect(kiln_context *context)
{
    for (kiln_frontend *f = first_frontend(context); f != NULL; f = f->next)
        if (f->ops.collect != NULL && atomic_load(&f->oldest_world))
            f->ops.collect(f->self, atomic_load(&f->oldest_world));
}

/* ---- places in sources ---- */

static int locate_in(kiln_location *out, const kiln_frontend *frontend,
                     const char *method, uint32_t ordinal)
{
    *out = (kiln_location){0};
    if (frontend->ops.locate != NULL &&
        frontend->ops.locate(frontend->self, method, ordinal, out) == KILN_OK &&
        out->file != NULL)
        return 1;
    *out = (kiln_location){0};
    return 0;
}

void kiln__frontends_locate(kiln_location *out, const kiln_frontend *own,
                            const char *method, uint32_t ordinal)
{
    if (locate_in(out, own, method, ordinal) || kiln__method_place(method, out))
        return;
    for (const kiln_frontend *f = first_frontend(own->context); f != NULL;
         f = f->next)
        if (f != own && locate_in(out, f, method, ordinal))
            return;
}

static int quote_in(char *out, size_t size, const kiln_frontend *frontend,
                    const char *method, uint32_t ordinal)
{
    const kiln_status status =
        frontend->ops.quote == NULL
            ? KILN_ENOTFOUND
            : frontend->ops.quote(frontend->self, method, ordinal, out, size);

    if (status != KILN_OK)
        out[0] = '\0';
    out[size - 1] = '\0';
    return status == KILN_OK;
}

int kiln__frontends_quote(char *out, size_t size, const kiln_frontend *own,
                          const char *method, uint32_t ordinal)
{
    if (quote_in(out, size, own, method, ordinal))
        return 1;
    for (const kiln_frontend *f = first_frontend(own->context); f != NULL;
         f = f->next)
        if (f != own && quote_in(out, size, f, method, ordinal))
            return 1;
    return 0;
}

/* ---- functions ---- */

static kiln_digest function_key(const kiln_frontend *frontend, const char *name)
{
    const uint64_t words[2] = {(uintptr_t)frontend,
                               kiln__digest_word(kiln__map_text(name))};

    return kiln__map_words(words, 2);
}

static function_entry *entry_find(function_entry *entry,
                                  const kiln_frontend *frontend,
                                  const char *name)
{
    while (entry != NULL && (entry->function.frontend != frontend ||
                             strcmp(entry->function.name, name) != 0))
        entry = entry->alias;
    return entry;
}

static function_entry *entry_make(kiln_frontend *frontend, const char *name,
                                  void *data, uint64_t hash)
{
    const kiln_alloc *alloc = &frontend->context->alloc;
    function_entry *entry = kiln__allocate(alloc, sizeof *entry);

    if (entry == NULL)
        return NULL;
    entry->function = (kiln_function){.frontend = frontend,
                                      .name = kiln__string_copy(alloc, name),
                                      .data = data,
                                      .hash = hash};
    if (entry->function.name == NULL) {
        kiln__deallocate(alloc, entry, sizeof *entry);
        return NULL;
    }
    return entry;
}

/* With the lock held. Finds or makes the entry; NULL when out of memory. */
static function_entry *entry_intern(struct kiln__registry *registry,
                                    kiln_frontend *frontend, const char *name,
                                    void *data)
{
    const kiln_digest key = function_key(frontend, name);
    function_entry *first = kiln__map_get(&registry->functions, key);
    function_entry *entry = entry_find(first, frontend, name);

    if (entry != NULL)
        return entry;
    entry = entry_make(frontend, name, data, kiln__digest_word(key));
    if (entry == NULL)
        return NULL;
    entry->alias = first;
    if (!kiln__map_set(&registry->functions, key, entry)) {
        entry_free(&frontend->context->alloc, entry);
        return NULL;
    }
    entry->next = registry->all;
    registry->all = entry;
    return entry;
}

kiln_status kiln_function_new(const kiln_function **out,
                              kiln_frontend *frontend, const char *name,
                              void *data, kiln_error **error)
{
    struct kiln__registry *registry;
    const function_entry *entry;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(frontend != NULL, error);
    KILN_REQUIRE(name != NULL && *name != '\0', error);
    registry = frontend->context->frontends;
    kiln__mutex_lock(&registry->lock);
    entry = entry_intern(registry, frontend, name, data);
    kiln__mutex_unlock(&registry->lock);
    if (entry == NULL)
        return kiln__error_no_memory(error);
    *out = &entry->function;
    return KILN_OK;
}

static const function_entry *find_in(struct kiln__registry *registry,
                                     const kiln_frontend *frontend,
                                     const char *name)
{
    return entry_find(
        kiln__map_get(&registry->functions, function_key(frontend, name)),
        frontend, name);
}

const kiln_function *kiln__function_find(const kiln_context *context,
                                         const char *name)
{
    struct kiln__registry *registry = context->frontends;
    const function_entry *entry = NULL;

    kiln__mutex_lock(&registry->lock);
    if (context->language != NULL)
        entry = find_in(registry, context->language, name);
    for (const kiln_frontend *f = registry->frontends;
         f != NULL && entry == NULL; f = f->next)
        entry = find_in(registry, f, name);
    kiln__mutex_unlock(&registry->lock);
    return entry != NULL ? &entry->function : NULL;
}

kiln_frontend *kiln__frontend_find(const kiln_context *context,
                                   const char *name)
{
    struct kiln__registry *registry = context->frontends;
    kiln_frontend *found;

    kiln__mutex_lock(&registry->lock);
    found = registry->frontends;
    while (found != NULL && strcmp(found->name, name) != 0)
        found = found->next;
    kiln__mutex_unlock(&registry->lock);
    return found;
}

kiln_status kiln__frontend_with_package(kiln_frontend **out,
                                        const kiln_context *context,
                                        const char *name)
{
    kiln_frontend *frontend, *found = NULL;

    kiln__registry_lock(context);
    frontend = context->frontends->frontends;
    kiln__registry_unlock(context);
    for (; frontend != NULL; frontend = frontend->next)
        if (frontend->ops.package != NULL &&
            (found == NULL || strcmp(frontend->name, found->name) < 0) &&
            frontend->ops.package(frontend->self, name) == KILN_OK)
            found = frontend;
    *out = found;
    return found != NULL ? KILN_OK : KILN_ENOTFOUND;
}

void *kiln_function_data(const kiln_function *function)
{
    return function->data;
}

const char *kiln_function_name(const kiln_function *function)
{
    return function->name;
}

kiln_frontend *kiln_function_frontend(const kiln_function *function)
{
    return function->frontend;
}

/* ---- requests ---- */

kiln_status kiln__report_check(const kiln_change_report *report,
                               kiln_error **error)
{
    if (report != NULL && report->size < sizeof *report)
        return kiln__error_set(error, KILN_EINVAL,
                               "kiln_change_report.size is %zu; begin with "
                               "KILN_CHANGE_REPORT_INIT",
                               report->size);
    return KILN_OK;
}

kiln_status kiln__request_check(const kiln_context *context,
                                const kiln_signature *signature,
                                const kiln_config *config, kiln_error **error)
{
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(signature != NULL, error);
    KILN_REQUIRE(signature->function != NULL, error);
    KILN_REQUIRE(signature->function->frontend->context == context, error);
    KILN_REQUIRE(signature->count <= KILN_ARGUMENTS_MAX, error);
    KILN_REQUIRE(signature->types != NULL || signature->count == 0, error);
    for (size_t i = 0; i < signature->count; i++) {
        KILN_REQUIRE(signature->types[i] != NULL, error);
        if (signature->types[i]->context != context)
            return kiln__error_set(error, KILN_EINVAL,
                                   "%s: type %s of argument %zu is of another "
                                   "context",
                                   signature->function->name,
                                   signature->types[i]->text, i + 1);
    }
    KILN_REQUIRE(config != NULL, error);
    KILN_REQUIRE(config->context == context, error);
    return KILN_OK;
}
