/* remove.c - deletes methods and unloads packages. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/host_ops.h"
#include "frontend/program/program_tables.h"
#include "tiers/frontends.h"

/* ---- finding a method by the text of its parameters' types ---- */

/* The method that is asked for. */
typedef struct wanted {
    const kiln__generic *generic;
    const char *parameters; /* as written */
    const char *overlay;
    const kiln__ast *trees[KILN_ARGUMENTS_MAX];
    size_t count;
} wanted;

static kiln_status add_tree(wanted *w, kiln__arena *arena, const char *text,
                            size_t size, kiln_error **error)
{
    const char *copy = kiln__arena_string(arena, text, size);
    kiln__ast *tree;

    if (copy == NULL)
        return kiln__error_no_memory(error);
    if (w->count == KILN_ARGUMENTS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "\"%.64s\" lists more than %d parameters, and a "
                               "function has at most so many",
                               w->parameters, KILN_ARGUMENTS_MAX);
    KILN_TRY(kiln__type_tree_parse(&tree, arena, copy, error));
    w->trees[w->count++] = tree;
    return KILN_OK;
}

/* Splits the text at commas outside of brackets. */
static kiln_status parse_types(wanted *w, kiln__arena *arena,
                               kiln_error **error)
{
    const char *text = w->parameters, *start = text;
    int depth = 0;

    if (text[strspn(text, " \t")] == '\0')
        return KILN_OK;
    for (;; text++) {
        if (*text != '\0' && strchr("([{", *text) != NULL)
            depth++;
        else if (*text != '\0' && strchr(")]}", *text) != NULL)
            depth--;
        else if (*text == '\0' || (*text == ',' && depth == 0)) {
            KILN_TRY(add_tree(w, arena, start, (size_t)(text - start), error));
            start = text + 1;
        }
        if (*text == '\0')
            return KILN_OK;
    }
}

/* Reads the types in the scope of the method's own definition, and compares. */
static kiln_status is_wanted(int *out, kiln__change *change, kiln__arena *arena,
                             const wanted *w, const kiln__method *method)
{
    kiln__diagnostics quiet;
    const kiln__type_scope scope = {.facts = &change->facts,
                                    .package = change->package,
                                    .definition = method->definition,
                                    .diagnostics = &quiet};
    const kiln__pattern *patterns[KILN_ARGUMENTS_MAX];
    kiln__method asked = *method;
    kiln_status status = KILN_OK;
    int failed = 0;

    *out = 0;
    if (w->count != method->parameter_count)
        return KILN_OK;
    kiln__diagnostics_init(&quiet, change->language->alloc);
    for (size_t i = 0; status == KILN_OK && i < w->count; i++)
        status =
            kiln__pattern_resolve(&patterns[i], arena, &scope, w->trees[i]);
    kiln__diagnostics_dispose(&quiet);
    if (status != KILN_OK)
        return kiln__is_shortage(status) ? status : KILN_OK;
    asked.parameters = patterns;
    *out = kiln__method_covers(&asked, method, change->world, &failed) &&
           kiln__method_covers(method, &asked, change->world, &failed);
    return failed ? KILN_ENOMEM : KILN_OK;
}

static int is_in_table(const kiln__method *method, const char *overlay)
{
    if (method->overlay == NULL || overlay == NULL)
        return method->overlay == overlay;
    return strcmp(method->overlay, overlay) == 0;
}

static kiln_status find_method(kiln__method **out, kiln__change *change,
                               kiln__arena *arena, const wanted *w)
{
    kiln__method *method;

    for (method = w->generic->methods; method != NULL; method = method->next) {
        int found = 0;

        if (method->package != change->package ||
            !is_in_table(method, w->overlay))
            continue;
        KILN_TRY(is_wanted(&found, change, arena, w, method));
        if (found)
            break;
    }
    *out = method;
    return KILN_OK;
}

static kiln_status no_such_method(kiln__arena *arena,
                                  const kiln_package *package, const wanted *w,
                                  kiln_error **error)
{
    const kiln__method *method;
    kiln__text list;

    kiln__text_init(&list, arena->alloc);
    for (method = w->generic->methods; method != NULL; method = method->next) {
        const char *text =
            method->package == package ? kiln__method_text(arena, method) : "";

        if (text == NULL)
            list.failed = 1;
        else if (*text != '\0')
            kiln__text_format(&list, "%s%s", list.size == 0 ? "" : "; ", text);
    }
    if (list.failed)
        kiln__error_no_memory(error);
    else
        kiln__error_set(error, KILN_ENOTFOUND,
                        "package %s has no method %s(%s)%s%s", package->name,
                        w->generic->name, w->parameters,
                        list.size == 0 ? "" : "; there is ",
                        list.size == 0 ? "" : list.bytes);
    kiln__text_dispose(&list);
    return list.failed ? KILN_ENOMEM : KILN_ENOTFOUND;
}

static kiln_status delete_method(kiln__change *change, kiln__arena *arena,
                                 wanted *w, kiln_change_report *report,
                                 kiln_error **error)
{
    kiln__method *method = NULL;

    KILN_TRY(parse_types(w, arena, error));
    if (find_method(&method, change, arena, w) != KILN_OK)
        return kiln__error_no_memory(error);
    if (method == NULL)
        return no_such_method(arena, change->package, w, error);
    if (w->generic->is_essential && method->overlay == NULL &&
        change->package == change->language->core)
        return kiln__error_set(error, KILN_EINVAL,
                               "the language itself calls %s: its methods can "
                               "be replaced, not deleted",
                               kiln_function_name(w->generic->function));
    kiln__change_remove_method(change, method);
    kiln__change_touch_method(change, method);
    change->removed_count = 1;
    kiln__change_end_functions(change);
    return kiln__change_publish(change, report, error);
}

kiln_status kiln_method_delete(kiln_package *package,
                               const kiln_function *function,
                               const char *parameters, const char *overlay,
                               kiln_change_report *report, kiln_error **error)
{
    wanted w = {.parameters = parameters, .overlay = overlay};
    kiln__change change;
    kiln__arena arena;
    kiln_status status;

    KILN_REQUIRE(package != NULL, error);
    KILN_REQUIRE(function != NULL, error);
    KILN_REQUIRE(parameters != NULL, error);
    KILN_REQUIRE(function->frontend == package->language->frontend, error);
    KILN_TRY(kiln__report_check(report, error));
    kiln__stack_enter(package->language->context);
    KILN_TRY(kiln__language_ready(package->language, error));
    w.generic = function->data;
    kiln__arena_init(&arena, package->language->alloc);
    kiln__change_begin(&change, package->language, package, NULL);
    status = delete_method(&change, &arena, &w, report, error);
    status = kiln__change_end(&change, status, report, error);
    kiln__arena_dispose(&arena);
    return status;
}

/* ---- unloading a package ---- */

/* Removes the methods that the package has given to a function. */
static void remove_methods(kiln_digest key, void *value, void *env)
{
    const kiln__generic *generic = value;
    kiln__change *change = env;
    const uint32_t before = change->removed_count;
    kiln__method *method;
    int replaced = 0;

    (void)key;
    for (method = generic->methods; method != NULL; method = method->next) {
        if (method->package != change->package)
            continue;
        kiln__change_remove_method(change, method);
        change->removed_count++;
        replaced |= method->replaces;
    }
    if (change->removed_count > before)
        kiln__change_touch(change, generic->subject);
    if (replaced)
        kiln__change_touch(change, KILN__OPERATORS_SUBJECT);
}

static void end_name(kiln_digest key, void *value, void *env)
{
    (void)key;
    kiln__change_end_name(env, value);
}

kiln_status kiln_package_unload(kiln_package *package,
                                kiln_change_report *report, kiln_error **error)
{
    kiln__language *language;
    kiln__change change;
    kiln_status status;

    KILN_REQUIRE(package != NULL, error);
    KILN_REQUIRE(package != package->language->core, error);
    KILN_TRY(kiln__report_check(report, error));
    language = package->language;
    kiln__stack_enter(language->context);
    KILN_TRY(kiln__language_ready(language, error));
    kiln__change_begin(&change, language, package, NULL);
    if (package->loaded) {
        change.unloads = 1;
        kiln__map_each(&language->generics, remove_methods, &change);
        kiln__map_each(&package->bindings->slots, end_name, &change);
        status = kiln__change_publish(&change, report, error);
    } else {
        status =
            kiln__error_set(error, KILN_EINVAL,
                            "package %s was unloaded before", package->name);
    }
    return kiln__change_end(&change, status, report, error);
}
