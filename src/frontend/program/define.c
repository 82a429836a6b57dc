/* define.c - turns a parsed text into a change: the functions, and the
   whole. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "frontend/program/builtins.h"
#include "frontend/program/lazy_text.h"
#include "stores/stores.h"

/*
 * Imports come first, then constants, types and functions, since each kind may
 * use those before it. Every definition is checked, also after one has failed,
 * so that one run reports all errors.
 *
 * A function with the same meaning as before (which its digest tells) keeps its
 * results. If its place in the text has changed, the method is still replaced,
 * without a report, because places are read from the newest method.
 */

/* ---- finding the function ---- */

/* Finds the function of another package: `fn geometry.dot`. */
static kiln__generic *foreign_generic(kiln__change *change,
                                      const kiln__definition *definition)
{
    const kiln__version *package =
        kiln__name_meaning(change->package, definition->package, change->world);
    const kiln__version *version;

    if (package == NULL || package->binding.kind != KILN__BINDING_PACKAGE) {
        kiln__diagnose(&change->diagnostics, change->source,
                       definition->name_span, "unknown-package",
                       "import it first", "there is no package `%s` here",
                       definition->package);
        return NULL;
    }
    version = kiln__name_meaning(package->binding.package, definition->name,
                                 change->world);
    if (version != NULL && version->binding.kind == KILN__BINDING_FUNCTION)
        return version->binding.generic;
    kiln__diagnose(&change->diagnostics, change->source, definition->name_span,
                   "not-a-function",
                   kiln__name_hint(&change->diagnostics.arena,
                                   package->binding.package, definition->name,
                                   change->world),
                   "package `%s` has no function `%s`", definition->package,
                   definition->name);
    return NULL;
}

/* Finds or makes a function of this package. */
static kiln__generic *own_generic(kiln__change *change, kiln__slot *slot)
{
    kiln__version meaning = {.binding = {.kind = KILN__BINDING_FUNCTION}};
    kiln__generic **generic = &meaning.binding.generic;

    if (kiln__generic_make(generic, change->package, slot->name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return NULL;
    }
    meaning.digest = kiln__digest_texts(
        "function", kiln_function_name((*generic)->function));
    if (kiln__change_name(change, slot, &meaning) == NULL)
        return NULL;
    kiln__change_touch_name(change, slot);
    (*generic)->is_essential |= change->first;
    return *generic;
}

/* Finds a function of this package, an imported or a built-in one; else makes a
   new one. */
static kiln__generic *named_generic(kiln__change *change,
                                    const kiln__definition *definition)
{
    const kiln_package *core = change->language->core;
    const kiln__version *version;
    kiln__slot *slot;

    if (kiln__slot_make(&slot, change->package, definition->name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return NULL;
    }
    version = kiln__slot_meaning(slot, change->world);
    if (version != NULL && version->binding.kind == KILN__BINDING_FUNCTION)
        return version->binding.generic;
    if (kiln__define_is_taken(change, slot, definition->name_span,
                              KILN__BINDING_FUNCTION))
        return NULL;
    version = kiln__slot_version(kiln__slot_get(core, definition->name),
                                 change->world);
    if (version != NULL && version->binding.kind == KILN__BINDING_FUNCTION &&
        version->binding.generic->builtin != 0)
        return version->binding.generic;
    return own_generic(change, slot);
}

/* ---- making a method ---- */

static kiln__method *method_new(kiln__change *change,
                                const kiln__definition *definition,
                                kiln__generic *generic)
{
    kiln__arena *arena = &change->source->arena;
    kiln__method *method = kiln__arena_allocate(arena, sizeof *method);

    if (method == NULL)
        return NULL;
    method->generic = generic;
    method->definition = definition;
    method->source = change->source;
    method->package = change->package;
    method->overlay = definition->overlay;
    method->parameter_count = definition->parameter_count;
    method->type_parameter_count = definition->type_parameter_count;
    method->min_world = change->world;
    atomic_init(&method->max_world, UINT64_MAX);
    method->parameters = kiln__arena_allocate_array(
        arena, method->parameter_count + 1, sizeof *method->parameters);
    method->bounds = kiln__arena_allocate_array(
        arena, method->type_parameter_count + 1, sizeof *method->bounds);
    return arena->failed ? NULL : method;
}

static void note(kiln__change *change, kiln_status status)
{
    if (kiln__is_shortage(status))
        change->status = status;
}

kiln_status kiln__define_signature(kiln__change *change, kiln__method *method,
                                   kiln__diagnostics *diagnostics)
{
    const kiln__definition *definition = method->definition;
    kiln__arena *arena = &change->source->arena;
    const kiln__type_scope scope = {.facts = &change->facts,
                                    .package = method->package,
                                    .definition = definition,
                                    .diagnostics = diagnostics,
                                    .source = method->source};
    kiln_status result = KILN_OK, status;

    for (size_t i = 0; i < method->type_parameter_count; i++) {
        const kiln__ast *bound = definition->type_parameters[i].bound;

        if (bound == NULL)
            continue;
        status =
            kiln__pattern_resolve(&method->bounds[i], arena, &scope, bound);
        note(change, status);
        result = status == KILN_OK ? result : status;
    }
    for (size_t i = 0; i < method->parameter_count; i++) {
        status = kiln__pattern_resolve(&method->parameters[i], arena, &scope,
                                       definition->parameters[i].type);
        note(change, status);
        result = status == KILN_OK ? result : status;
    }
    return result;
}

/* Checks that the names in the result's type are known. Inference finds out
   which type it is. */
static void check_result(kiln__change *change, const kiln__method *method)
{
    const kiln__ast *tree = method->definition->result;
    const kiln__type_scope scope = {.facts = &change->facts,
                                    .package = change->package,
                                    .definition = method->definition,
                                    .diagnostics = &change->diagnostics,
                                    .source = change->source};
    const kiln__pattern *pattern;

    if (tree != NULL && tree->kind != KILN__AST_TYPEOF)
        note(change, kiln__pattern_resolve(&pattern, &change->source->arena,
                                           &scope, tree));
}

static void check_type_parameters(kiln__change *change,
                                  const kiln__method *method)
{
    for (size_t i = 0; i < method->type_parameter_count; i++) {
        const kiln__ast_type_parameter *parameter =
            &method->definition->type_parameters[i];
        int bound = 0;

        for (size_t j = 0; !bound && j < method->parameter_count; j++)
            bound = kiln__pattern_binds(method->parameters[j], (uint32_t)i);
        if (!bound)
            kiln__diagnose(&change->diagnostics, change->source,
                           parameter->span, "unbound-type-parameter",
                           "use it in the type of a parameter",
                           "no argument says what `%s` is", parameter->name);
    }
}

/* Refuses to replace methods of core, except in core, and what is built in. */
static void check_piracy(kiln__change *change, const kiln__method *method)
{
    const kiln_package *core = change->language->core;
    int own = 0;

    if (method->generic->package != core || method->overlay != NULL ||
        (change->package == core &&
         (change->first || method->generic->builtin == 0)))
        return;
    for (size_t i = 0; i < method->parameter_count; i++)
        own |= kiln__pattern_is_own(method->parameters[i]);
    for (size_t i = 0; i < method->type_parameter_count; i++)
        own |= method->bounds[i] != NULL &&
               kiln__pattern_is_own(method->bounds[i]);
    if (!own)
        kiln__diagnose(&change->diagnostics, change->source,
                       method->definition->name_span, "type-piracy",
                       "use a type of your own in it, choose another name, or "
                       "define it in an overlay",
                       "a method of the built-in `%s` must take a type that "
                       "is not built in",
                       method->generic->name);
}

static int check_counts(kiln__change *change,
                        const kiln__definition *definition)
{
    if (definition->parameter_count > KILN_ARGUMENTS_MAX)
        kiln__diagnose(&change->diagnostics, change->source,
                       definition->name_span, "too-many-parameters", NULL,
                       "a function with %zu parameters; it has at most %d",
                       definition->parameter_count, KILN_ARGUMENTS_MAX);
    else if (definition->type_parameter_count > KILN__TYPE_PARAMETERS_MAX)
        kiln__diagnose(&change->diagnostics, change->source,
                       definition->name_span, "too-many-parameters", NULL,
                       "a definition with %zu type parameters; it has at most "
                       "%d",
                       definition->type_parameter_count,
                       KILN__TYPE_PARAMETERS_MAX);
    else
        return 1;
    return 0;
}

/* Sets the digest of a method, and what methods.c and operators.c derive from
   its patterns. */
static void digest_method(kiln__change *change, kiln__method *method)
{
    kiln__encoder encoder;

    kiln__encoder_init(&encoder, change->language->alloc);
    kiln__encode_text(&encoder, method->package->name);
    kiln__encode_text(&encoder, kiln_function_name(method->generic->function));
    kiln__encode_text(&encoder, method->overlay);
    kiln__encode_u64(&encoder, method->parameter_count);
    for (size_t i = 0; i < method->parameter_count; i++)
        kiln__pattern_encode(&encoder, method->parameters[i]);
    kiln__encode_u64(&encoder, method->type_parameter_count);
    for (size_t i = 0; i < method->type_parameter_count; i++)
        kiln__pattern_encode(&encoder, method->bounds[i]);
    kiln__encode_digest(&encoder, method->definition->digest);
    method->digest = kiln__encoder_digest(&encoder);
    if (encoder.failed)
        change->status = KILN_ENOMEM;
    kiln__encoder_dispose(&encoder);
    method->shape = kiln__method_shape(method);
    method->replaces = kiln__method_replaces(method);
}

/* ---- adding a method ---- */

static kiln__method *find_same(kiln__change *change, const kiln__method *method,
                               int is_pending)
{
    int failed = 0;
    kiln__method *same =
        kiln__method_find_same(method, is_pending, change->world, &failed);

    if (failed)
        change->status = KILN_ENOMEM;
    return same;
}

/* Adds the method to its function, in place of one for the same types. */
static void add_method(kiln__change *change, kiln__method *method)
{
    kiln__generic *generic = method->generic;
    kiln__method *old = find_same(change, method, 0);
    int same;

    if (find_same(change, method, 1) != NULL) {
        kiln__diagnose(&change->diagnostics, change->source,
                       method->definition->name_span, "duplicate-definition",
                       "an earlier one in this text has the same types",
                       "`%s` is defined twice for these types", generic->name);
        return;
    }
    same = old != NULL && kiln__digest_equal(old->digest, method->digest);
    change->unchanged_count += (uint32_t)same;
    change->replaced_count += old != NULL && !same;
    change->added_count += old == NULL;
    if (!same)
        kiln__change_touch_method(change, method);
    else if (!kiln__define_is_moved(change, old->source))
        return;
    if (old != NULL)
        kiln__change_remove_method(change, old);
    kiln__change_add_method(change, method);
}

/* Refuses a function that is a part of the language: inference never looks for
   methods of it. */
static int check_definable(kiln__change *change,
                           const kiln__definition *definition,
                           const kiln__generic *generic)
{
    const kiln__builtin *builtin = kiln__builtin_at(generic->builtin);

    if (builtin == NULL || builtin->rule != KILN__RULE_TYPEOF)
        return 1;
    kiln__diagnose(&change->diagnostics, change->source, definition->name_span,
                   "built-in-name", "choose another name",
                   "`%s` is a part of the language and cannot be defined",
                   generic->name);
    return 0;
}

/* Makes a method of a definition, checks it, and adds it if there was no
   error. */
static void define_function(kiln__change *change,
                            const kiln__definition *definition)
{
    kiln__generic *generic;
    kiln__method *method;
    size_t faults = change->diagnostics.list.count;

    if (!check_counts(change, definition))
        return;
    generic = definition->package != NULL ? foreign_generic(change, definition)
                                          : named_generic(change, definition);
    if (generic == NULL || !check_definable(change, definition, generic))
        return;
    method = method_new(change, definition, generic);
    if (method == NULL) {
        change->status = KILN_ENOMEM;
        return;
    }
    if (kiln__define_signature(change, method, &change->diagnostics) != KILN_OK)
        return;
    check_result(change, method);
    check_type_parameters(change, method);
    check_piracy(change, method);
    if (change->diagnostics.list.count > faults)
        return;
    digest_method(change, method);
    if (change->status == KILN_OK)
        add_method(change, method);
}

static void define_functions(kiln__change *change)
{
    const kiln__source *source = change->source;

    for (size_t i = 0; i < source->definition_count; i++)
        if (source->definitions[i].kind == KILN__DEFINE_FUNCTION &&
            change->status == KILN_OK)
            define_function(change, &source->definitions[i]);
}

static void define_all(kiln__change *change)
{
    if (change->status == KILN_OK)
        kiln__define_imports(change);
    if (change->status == KILN_OK)
        kiln__define_constants(change);
    if (change->status == KILN_OK)
        kiln__define_types(change);
    if (change->status == KILN_OK)
        define_functions(change);
}

kiln_status kiln__define_first(kiln_package *package, kiln__source *source,
                               kiln_error **error)
{
    kiln__change change;
    kiln_status status;

    kiln__change_begin(&change, package->language, package, source);
    change.first = 1;
    define_all(&change);
    status = kiln__change_publish(&change, NULL, error);
    return kiln__change_end(&change, status, NULL, error);
}

/* Writes a text entry while the change still has its lists. It is kept later,
   when no lock is held. Returns false when memory runs out. */
static int write_entry(kiln__encoder *out, const kiln__change *change)
{
    return kiln__stores_mode(change->language->context) != KILN__CACHE_OFF &&
           kiln__text_entry_write(out, change);
}

kiln_status kiln__define(kiln_package *package, kiln__source *source,
                         const kiln__loading *loading,
                         kiln_change_report *report, kiln_error **error)
{
    kiln__text_entry_subject subject = {.package = package->name};
    int has_entry = 0;
    kiln__encoder encoded;
    kiln__change change;
    kiln_status status;

    kiln__encoder_init(&encoded, package->language->alloc);
    kiln__change_begin(&change, package->language, package, source);
    change.loading = loading;
    define_all(&change);
    status = kiln__change_publish(&change, report, error);
    if (status == KILN_OK) {
        subject.history = change.before;
        subject.text = change.text;
        has_entry = write_entry(&encoded, &change);
    }
    status = kiln__change_end(&change, status, report, error);
    if (has_entry)
        kiln__text_entry_keep(package->language, &subject, &encoded);
    kiln__encoder_dispose(&encoded);
    return status;
}

/* Notes whether the change did what the text entry said, and if not, which
   subjects it changed. */
static void compare_entry(kiln__lazy_text *lazy, kiln__change *change)
{
    const kiln__text_entry *expected = &lazy->entry;
    const kiln_alloc *alloc = change->language->alloc;
    kiln__encoder encoded;
    int is_same;

    change->before = lazy->subject.history;
    change->context = expected->context;
    kiln__encoder_init(&encoded, alloc);
    is_same = kiln__text_entry_write(&encoded, change) &&
              encoded.size == expected->size &&
              memcmp(encoded.bytes, expected->bytes, expected->size) == 0;
    lazy->is_wrong = !is_same && !encoded.failed;
    kiln__encoder_dispose(&encoded);
    if (lazy->is_wrong)
        for (size_t i = 0; i < change->subjects.count; i++)
            (void)kiln__array_push(alloc, &lazy->subjects,
                                   change->subjects.items[i]);
}

kiln_status kiln__define_lazy_text(kiln__lazy_text *lazy, kiln__source *source,
                                   kiln_error **error)
{
    kiln_package *package = lazy->package;
    kiln__change change;
    kiln_status status;

    kiln__change_begin(&change, package->language, package, source);
    change.world = change.facts.world = lazy->world;
    change.lazy_text = lazy;
    define_all(&change);
    status = kiln__change_publish(&change, NULL, error);
    if (status == KILN_OK)
        compare_entry(lazy, &change);
    return kiln__change_end(&change, status, NULL, error);
}
