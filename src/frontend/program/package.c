/* package.c - makes, defines, finds and unloads packages. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/host_ops.h"
#include "frontend/program/lazy_text.h"
#include "kiln/runtime.h"
#include "tiers/frontends.h"

/* ---- the object ---- */

static void free_slot(kiln_digest key, void *value, void *env)
{
    const kiln_alloc *alloc = env;
    kiln__slot *slot = value;

    (void)key;
    kiln__string_free(alloc, slot->name);
    kiln__deallocate(alloc, slot, sizeof *slot);
}

void kiln__package_free(kiln_package *package)
{
    kiln_alloc alloc = *package->language->alloc;

    if (package->bindings != NULL) {
        kiln__map_each(&package->bindings->slots, free_slot, &alloc);
        kiln__map_dispose(&package->bindings->slots);
    }
    kiln__deallocate(&alloc, package->bindings,
                     package->bindings == NULL ? 0 : sizeof *package->bindings);
    kiln__string_free(&alloc, package->name);
    kiln__deallocate(&alloc, package->imports,
                     package->import_capacity * sizeof *package->imports);
    kiln__deallocate(&alloc, package, sizeof *package);
}

static kiln_package *package_new(kiln__language *language, const char *name)
{
    const kiln_alloc *alloc = language->alloc;
    kiln_package *package = kiln__allocate(alloc, sizeof *package);

    if (package == NULL)
        return NULL;
    package->language = language;
    package->name = kiln__string_copy(alloc, name);
    package->bindings = kiln__allocate(alloc, sizeof *package->bindings);
    if (package->bindings != NULL)
        kiln__map_init(&package->bindings->slots, alloc);
    if (package->name != NULL && package->bindings != NULL)
        return package;
    kiln__package_free(package);
    return NULL;
}

kiln_status kiln__package_prepare(kiln_package **out, kiln__language *language,
                                  const char *name)
{
    kiln_package *package;
    kiln_status status = KILN_OK;

    kiln__mutex_lock(&language->change);
    package = kiln__package_get(language, name, strlen(name));
    if (package == NULL) {
        package = package_new(language, name);
        if (package == NULL)
            status = KILN_ENOMEM;
    }
    kiln__language_write(language);
    if (package != NULL && package != language->packages &&
        kiln__package_get(language, name, strlen(name)) == NULL) {
        package->next = language->packages;
        package->number = language->package_count++;
        language->packages = package;
    }
    kiln__language_unlock(language);
    kiln__mutex_unlock(&language->change);
    if (status == KILN_OK)
        *out = package;
    return status;
}

void kiln__package_show(kiln_package *package, int loaded)
{
    kiln__language *language = package->language;

    kiln__mutex_lock(&language->change);
    kiln__language_write(language);
    package->loaded = loaded;
    kiln__language_unlock(language);
    kiln__mutex_unlock(&language->change);
}

kiln_status kiln__package_make(kiln_package **out, kiln__language *language,
                               const char *name)
{
    KILN_TRY(kiln__package_prepare(out, language, name));
    kiln__package_show(*out, 1);
    return KILN_OK;
}

static int is_name(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];
        const int letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!letter && (i == 0 || c < '0' || c > '9'))
            return 0;
    }
    return size > 0;
}

kiln_status kiln__package_check_name(const char *name, size_t size,
                                     kiln_error **error)
{
    if (!is_name(name, size))
        return kiln__error_set(error, KILN_EINVAL,
                               "'%.*s' cannot name a package: its name is "
                               "letters, digits and '_', and begins with no "
                               "digit",
                               (int)(size < 200 ? size : 200), name);
    if (size == 4 && memcmp(name, "core", 4) == 0)
        return kiln__error_set(error, KILN_EINVAL,
                               "package 'core' is built in");
    return KILN_OK;
}

kiln_status kiln_package_new(kiln_package **out, kiln_context *context,
                             const char *name, kiln_error **error)
{
    kiln__language *language;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(name != NULL, error);
    KILN_TRY(kiln__package_check_name(name, strlen(name), error));
    kiln__stack_enter(context);
    language = kiln__language_of(context);
    KILN_TRY(kiln__language_start(language, error));
    if (kiln__package_make(out, language, name) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

kiln_status kiln_runtime_package(kiln_package **out, kiln_context *context,
                                 kiln_error **error)
{
    kiln__language *language;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    kiln__stack_enter(context);
    language = kiln__language_of(context);
    KILN_TRY(kiln__language_ready(language, error));
    *out = language->core;
    return KILN_OK;
}

static int is_loaded(kiln_package *package)
{
    int loaded;

    kiln__language_read(package->language);
    loaded = package->loaded;
    kiln__language_unlock(package->language);
    return loaded;
}

kiln_status kiln__package_find(kiln_package **out, kiln__language *language,
                               const char *name)
{
    kiln_package *package;
    int loaded;

    KILN_TRY(strcmp(name, "core") == 0 ? kiln__language_ready(language, NULL)
                                       : kiln__language_start(language, NULL));
    kiln__language_read(language);
    package = kiln__package_get(language, name, strlen(name));
    loaded = package != NULL && package->loaded;
    kiln__language_unlock(language);
    if (!loaded)
        return KILN_ENOTFOUND;
    *out = package;
    return KILN_OK;
}

kiln_status kiln_package_find(kiln_package **out, kiln_context *context,
                              const char *name)
{
    KILN_REQUIRE(out != NULL, NULL);
    KILN_REQUIRE(context != NULL, NULL);
    KILN_REQUIRE(name != NULL, NULL);
    kiln__stack_enter(context);
    return kiln__package_find(out, kiln__language_of(context), name);
}

const char *kiln_package_name(const kiln_package *package)
{
    return package->name;
}

/* Returns the function that a lazy text of the package will define, or NULL. */
static const kiln_function *lazy_function(kiln_package *package,
                                          const char *name)
{
    const kiln_function *function = NULL;
    kiln__text qualified;

    if (atomic_load_explicit(&package->language->ready, memory_order_acquire))
        return NULL;
    kiln__text_init(&qualified, package->language->alloc);
    kiln__text_format(&qualified, "%s.%s", package->name, name);
    if (!qualified.failed)
        function = kiln__lazy_text_function(package->language, qualified.bytes);
    kiln__text_dispose(&qualified);
    return function;
}

static kiln_status no_function(const kiln_package *package, const char *name,
                               uint64_t world, kiln_error **error)
{
    kiln__arena arena;
    const char *hint;

    kiln__arena_init(&arena, package->language->alloc);
    hint = kiln__name_hint(&arena, package, name, world);
    kiln__error_set(error, KILN_ENOTFOUND,
                    "package %s has no function `%s`%s%s", package->name, name,
                    hint == NULL ? "" : "; ", hint == NULL ? "" : hint);
    kiln__arena_dispose(&arena);
    return KILN_ENOTFOUND;
}

kiln_status kiln_package_function(const kiln_function **out,
                                  kiln_package *package, const char *name,
                                  kiln_error **error)
{
    const kiln_function *lazy;
    kiln__binding binding;
    uint64_t world;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(package != NULL, error);
    KILN_REQUIRE(name != NULL, error);
    kiln__stack_enter(package->language->context);
    lazy = lazy_function(package, name);
    if (lazy != NULL) {
        *out = lazy;
        return KILN_OK;
    }
    KILN_TRY(kiln__language_ready(package->language, error));
    world = kiln__language_world(package->language);
    (void)kiln__binding_find(&binding, package, name, world);
    if (binding.kind == KILN__BINDING_FUNCTION) {
        *out = binding.generic->function;
        return KILN_OK;
    }
    if (binding.kind != KILN__BINDING_NONE)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "`%s` is no function in package %s", name,
                               package->name);
    return no_function(package, name, world, error);
}

/* ---- texts ---- */

/* Parses the text and defines it at once. */
static kiln_status define_now(kiln_package *package, const char *file,
                              const char *text, size_t size,
                              kiln_change_report *report, kiln_error **error)
{
    kiln__language *language = package->language;
    kiln__source *source;
    kiln_status status;

    KILN_TRY(kiln__package_parse(&source, language, file, text, size, error));
    status = kiln__package_load_embedded(language, source, error);
    if (status == KILN_OK)
        status = kiln__language_ready(language, error);
    if (status != KILN_OK) {
        kiln__source_free(source);
        return status;
    }
    return kiln__define(package, source, NULL, report, error);
}

kiln_status kiln_package_define(kiln_package *package, const char *file,
                                const char *text, size_t size,
                                kiln_change_report *report, kiln_error **error)
{
    kiln__offer offer = {.file = file, .text = text, .size = size};
    int done = 0;

    KILN_REQUIRE(package != NULL, error);
    KILN_REQUIRE(file != NULL, error);
    KILN_REQUIRE(text != NULL || size == 0, error);
    KILN_TRY(kiln__report_check(report, error));
    kiln__stack_enter(package->language->context);
    if (!is_loaded(package))
        return kiln__error_set(error, KILN_EINVAL, "package %s was unloaded",
                               package->name);
    offer.text = text == NULL ? "" : text;
    KILN_TRY(kiln__package_defer(&done, package, &offer, report, error));
    if (done)
        return KILN_OK;
    return define_now(package, file, offer.text, size, report, error);
}
