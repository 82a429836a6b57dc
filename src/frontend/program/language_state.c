/* language_state.c - the program of the kernel language: its locks and
   lifetime. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/types/types.h"
#include "frontend/program/lazy_text.h"
#include "frontend/program/runtime_sources.h"
#include "tiers/frontends.h"

/* ---- locks ---- */

void kiln__language_read(kiln__language *language)
{
    (void)kiln__rwlock_read(&language->lock);
}

void kiln__language_write(kiln__language *language)
{
    (void)kiln__rwlock_write(&language->lock);
}

void kiln__language_unlock(kiln__language *language)
{
    kiln__rwlock_unlock(&language->lock);
}

/* Makes the world lock again in a child of fork(). Writers hold the change
   lock, which fork() takes, so none is active. But readers of the parent would
   still be counted in the child's copy. */
static void renew_lock(void *env)
{
    kiln__language *language = env;

    kiln__rwlock_init(&language->lock);
}

/* Drops the notices of the parent's threads, which would never end in the
   child. */
static void drop_notices(void *env)
{
    kiln__language *language = env;

    kiln__condition_init(&language->shown);
    language->notices = NULL;
}

/* ---- reading ---- */

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

/* Called with `starting` held. */
static kiln_status make_ready(kiln__language *language,
                              kiln__lazy_text **defined, kiln_error **error)
{
    kiln_status status;

    KILN_TRY(kiln__core_new(language, error));
    status = kiln__lazy_text_define_all(language, defined);
    if (status != KILN_OK)
        return kiln__error_shortage(error, status);
    atomic_store_explicit(&language->ready, 1, memory_order_release);
    return KILN_OK;
}

kiln_status kiln__language_ready(kiln__language *language, kiln_error **error)
{
    kiln__lazy_text *defined = NULL;
    kiln_status status = KILN_OK, finished;

    if (atomic_load_explicit(&language->ready, memory_order_acquire))
        return KILN_OK;
    kiln__mutex_lock(&language->starting);
    if (!atomic_load_explicit(&language->ready, memory_order_relaxed))
        status = make_ready(language, &defined, error);
    kiln__mutex_unlock(&language->starting);
    finished = kiln__lazy_text_finish(language, defined,
                                      status == KILN_OK ? error : NULL);
    return status == KILN_OK ? finished : status;
}

kiln_status kiln__language_start(kiln__language *language, kiln_error **error)
{
    uint64_t none = 1, none_made = 1;

    if (atomic_load_explicit(&language->ready, memory_order_acquire))
        return KILN_OK;
    if (!kiln__lazy_text_is_on(language))
        return kiln__language_ready(language, error);
    /* Each of core's texts will make a world. */
    atomic_compare_exchange_strong(&language->newest, &none_made,
                                   1 + kiln__runtime_source_count);
    atomic_compare_exchange_strong(&language->world, &none,
                                   1 + kiln__runtime_source_count);
    return KILN_OK;
}

void kiln__sources_free(kiln__language *language, kiln__source_node *list)
{
    while (list != NULL) {
        kiln__source_node *next = list->next;

        kiln__source_free(list->source);
        kiln__deallocate(language->alloc, list, sizeof *list);
        list = next;
    }
}

/* ---- names in the texts of types ---- */

/* A function of another frontend is found without the language. One of the
   language may only be there after lazy texts are defined. */
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

/* ---- making and freeing ---- */

kiln__language *kiln__language_make(kiln_context *context)
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
    if (kiln__rwlock_init(&language->lock) != KILN_OK)
        goto no_lock;
    if (kiln__mutex_init(&language->change) != KILN_OK)
        goto no_change;
    if (kiln__mutex_init(&language->starting) != KILN_OK)
        goto no_starting;
    if (kiln__mutex_init(&language->notice_lock) != KILN_OK)
        goto no_notice_lock;
    if (kiln__condition_init(&language->shown) != KILN_OK)
        goto no_shown;
    return language;

no_shown:
    kiln__mutex_dispose(&language->notice_lock);
no_notice_lock:
    kiln__mutex_dispose(&language->starting);
no_starting:
    kiln__mutex_dispose(&language->change);
no_change:
    kiln__rwlock_dispose(&language->lock);
no_lock:
    kiln__deallocate(&context->alloc, language, sizeof *language);
    return NULL;
}

void kiln__language_publish(kiln__language *language)
{
    kiln_context *context = language->context;

    language->change_guard = (kiln__fork_guard){
        .mutex = &language->change, .child = renew_lock, .env = language};
    language->starting_guard = (kiln__fork_guard){.mutex = &language->starting};
    language->notice_guard = (kiln__fork_guard){.mutex = &language->notice_lock,
                                                .child = drop_notices,
                                                .env = language};
    kiln__fork_add(&context->fork, &language->notice_guard);
    kiln__fork_add(&context->fork, &language->change_guard);
    kiln__fork_add(&context->fork, &language->starting_guard);
    context->language = language->frontend;
    context->names = &names;
}

void kiln__language_withdraw(kiln__language *language)
{
    kiln__fork_remove(&language->context->fork, &language->starting_guard);
    kiln__fork_remove(&language->context->fork, &language->change_guard);
    kiln__fork_remove(&language->context->fork, &language->notice_guard);
}

static void free_generic(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)env;
    kiln__generic_free(value);
}

void kiln__language_dispose(kiln__language *language)
{
    kiln__map_each(&language->generics, free_generic, NULL);
    kiln__map_dispose(&language->generics);
    kiln__map_dispose(&language->places);
    kiln__text_facts_free(language);
    while (language->lazy_texts != NULL) {
        kiln__lazy_text *next = language->lazy_texts->next;

        kiln__lazy_text_free(language->lazy_texts);
        language->lazy_texts = next;
    }
    while (language->packages != NULL) {
        kiln_package *next = language->packages->next;

        kiln__package_free(language->packages);
        language->packages = next;
    }
    kiln__sources_free(language, language->sources);
    kiln__arena_dispose(&language->arena);
    kiln__rwlock_dispose(&language->lock);
    kiln__mutex_dispose(&language->change);
    kiln__mutex_dispose(&language->starting);
    kiln__mutex_dispose(&language->notice_lock);
    kiln__condition_dispose(&language->shown);
    kiln__deallocate(language->alloc, language, sizeof *language);
}
