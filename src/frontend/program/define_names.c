/* define_names.c - defines the imports and constants of a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/program/outside.h"
#include "frontend/program/program_tables.h"

/*
 * Each definition gives a slot of the package a new meaning, unless the name is
 * taken or means the same already. An import by name refers to another
 * package's slot, so its meaning changes with that slot. A constant keeps its
 * tree; inference evaluates it where it is used.
 */

static const char *kind_text(const kiln__version *version)
{
    if (version->import != NULL)
        return "an imported name";
    switch (version->binding.kind) {
    case KILN__BINDING_FUNCTION:
        return "a function";
    case KILN__BINDING_TYPE:
    case KILN__BINDING_SCALAR:
        return "a type";
    case KILN__BINDING_CONST:
        return "a constant";
    case KILN__BINDING_OUTSIDE_FUNCTION:
        return "an imported name";
    case KILN__BINDING_PACKAGE:
    case KILN__BINDING_OUTSIDE:
        return "an imported package";
    case KILN__BINDING_NONE:
        break;
    }
    return "something else";
}

/* Names of built-in types are reserved in every package. */
static int is_reserved(const kiln__change *change, const char *name)
{
    const kiln_package *core = change->language->core;
    const kiln__version *version;

    version = kiln__slot_version(kiln__slot_get(core, name), change->world);
    return version != NULL && (version->binding.kind == KILN__BINDING_SCALAR ||
                               (version->binding.kind == KILN__BINDING_TYPE &&
                                version->binding.named->package == NULL));
}

/* Here, an import by name has the kind NONE, and packages of all frontends are
   of one kind. */
static kiln__binding_kind kind_of(const kiln__version *version)
{
    if (version->import != NULL ||
        version->binding.kind == KILN__BINDING_OUTSIDE_FUNCTION)
        return KILN__BINDING_NONE;
    return version->binding.kind == KILN__BINDING_OUTSIDE
               ? KILN__BINDING_PACKAGE
               : version->binding.kind;
}

int kiln__define_is_taken(kiln__change *change, const kiln__slot *slot,
                          kiln__span span, kiln__binding_kind kind)
{
    const kiln__version *version = kiln__slot_version(slot, change->world);

    if (is_reserved(change, slot->name)) {
        kiln__diagnose(&change->diagnostics, change->source, span,
                       "built-in-name", "choose another name",
                       "`%s` is a built-in type", slot->name);
        return 1;
    }
    if (version == NULL)
        return 0;
    if (slot->mark == change->language->change_number) {
        kiln__diagnose(&change->diagnostics, change->source, span,
                       "duplicate-definition", NULL,
                       "`%s` is defined twice in this text", slot->name);
        return 1;
    }
    if (kind_of(version) == kind)
        return 0;
    kiln__diagnose(&change->diagnostics, change->source, span,
                   "already-defined", "choose another name",
                   "`%s` is %s in %s already", slot->name, kind_text(version),
                   change->package->name);
    return 1;
}

/* Most definitions of a text replace those of one other text, so the result for
   the last one is kept. */
int kiln__define_is_moved(kiln__change *change, const kiln__source *old)
{
    const kiln__source *now = change->source;

    if (change->compared != old) {
        change->compared = old;
        change->compared_moved = old->size != now->size ||
                                 strcmp(old->file, now->file) != 0 ||
                                 memcmp(old->text, now->text, now->size) != 0;
    }
    return change->compared_moved;
}

/* ---- imports ---- */

/* True when the package's file is being read in an outer call, which will
   define its names. */
static int is_loading(const kiln__change *change, const kiln_package *package)
{
    const kiln__loading *loading = change->loading;

    while (loading != NULL && loading->package != package)
        loading = loading->importer;
    return loading != NULL;
}

static void diagnose_package(kiln__change *change,
                             const kiln__definition *definition)
{
    kiln__diagnose(&change->diagnostics, change->source, definition->name_span,
                   "unknown-package",
                   "load it first, or put its file beside this one or into a "
                   "folder of KILN_PATH",
                   "there is no package `%s`", definition->name);
}

static void import_package(kiln__change *change,
                           const kiln__definition *definition,
                           kiln_package *package)
{
    const kiln__version meaning = {
        .binding = {.kind = KILN__BINDING_PACKAGE, .package = package},
        .digest = kiln__digest_texts("package", package->name)};
    const kiln__version *version;
    kiln__slot *slot;

    if (kiln__slot_make(&slot, change->package, definition->name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return;
    }
    version = kiln__slot_version(slot, change->world);
    if (version != NULL && version->import == NULL &&
        version->binding.kind == KILN__BINDING_PACKAGE)
        return;
    if (kiln__define_is_taken(change, slot, definition->name_span,
                              KILN__BINDING_PACKAGE))
        return;
    if (kiln__change_name(change, slot, &meaning) != NULL)
        kiln__change_touch_name(change, slot);
}

static void diagnose_import(kiln__change *change,
                            const kiln__definition *definition,
                            const kiln_package *package, const char *name)
{
    kiln__arena *arena = &change->diagnostics.arena;
    size_t count = 0;
    const char *const *names =
        kiln__binding_names(arena, package, change->world, &count);
    const char *near =
        names == NULL ? NULL : kiln__nearest_name(name, names, count);
    const char *hint =
        near == NULL ? NULL
                     : kiln__arena_format(arena, "did you mean `%s`?", near);

    kiln__diagnose(&change->diagnostics, change->source, definition->span,
                   "unknown-name", hint, "package `%s` defines no `%s`",
                   package->name, name);
}

/* True for a function that every package sees under its own name, such as a
   built-in operator, with methods that any package has given it. */
static int is_everywhere(const kiln__change *change, const kiln__slot *slot)
{
    const kiln__version *version =
        kiln__name_meaning(slot->package, slot->name, change->world);

    return version != NULL && version->binding.kind == KILN__BINDING_FUNCTION &&
           version->binding.generic->builtin != 0;
}

/* Lets the name mean, in this package, what it means in `package`. */
static void import_name(kiln__change *change,
                        const kiln__definition *definition,
                        kiln_package *package, const char *name)
{
    kiln__version meaning = {0};
    const kiln__version *version;
    kiln__slot *slot;

    if (kiln__slot_make(&slot, change->package, name) != KILN_OK ||
        kiln__slot_make(&meaning.import, package, name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return;
    }
    if (is_everywhere(change, meaning.import))
        return;
    if (kiln__slot_meaning(meaning.import, change->world) == NULL &&
        !is_loading(change, package)) {
        diagnose_import(change, definition, package, name);
        return;
    }
    if (kiln__slot_meaning(meaning.import, change->world) == NULL)
        change->has_other_inputs = 1;
    version = kiln__slot_version(slot, change->world);
    if (version != NULL && version->import == meaning.import)
        return;
    if (kiln__define_is_taken(change, slot, definition->span,
                              KILN__BINDING_NONE))
        return;
    if (kiln__change_name(change, slot, &meaning) != NULL)
        kiln__change_touch_name(change, slot);
}

/* ---- imports of other frontends ---- */

/* Gives the slot that meaning, unless it has it. */
static void set_outside(kiln__change *change, kiln__slot *slot,
                        const kiln__version *meaning, kiln__span span,
                        kiln__binding_kind kind)
{
    const kiln__version *version = kiln__slot_version(slot, change->world);

    if (version != NULL && version->import == NULL &&
        version->binding.kind == meaning->binding.kind &&
        kiln__digest_equal(version->digest, meaning->digest))
        return;
    if (kiln__define_is_taken(change, slot, span, kind))
        return;
    if (kiln__change_name(change, slot, meaning) != NULL)
        kiln__change_touch_name(change, slot);
}

static void import_outside_name(kiln__change *change,
                                const kiln__definition *definition,
                                const kiln__outside *outside, const char *name)
{
    kiln__version meaning = {.binding = {.kind = KILN__BINDING_OUTSIDE_FUNCTION,
                                         .outside = *outside}};
    kiln__slot *slot;

    if (kiln__slot_make(&slot, change->package, name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return;
    }
    meaning.binding.outside.name = slot->name;
    meaning.digest = kiln__digest_combine(
        kiln__digest_texts(outside->frontend->name, outside->package),
        kiln__digest_text(name));
    set_outside(change, slot, &meaning, definition->span, KILN__BINDING_NONE);
}

/* True when another frontend has the package: the import is of that. */
static int import_outside(kiln__change *change,
                          const kiln__definition *definition)
{
    kiln__version meaning = {.binding = {.kind = KILN__BINDING_OUTSIDE}};
    kiln__outside *outside = &meaning.binding.outside;
    kiln__slot *slot;

    if (kiln__outside_find(&outside->frontend, change->language,
                           definition->name) != KILN_OK)
        return 0;
    /* The text alone does not say whose package it is. */
    change->has_other_inputs = 1;
    if (kiln__slot_make(&slot, change->package, definition->name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return 1;
    }
    outside->package = slot->name;
    meaning.digest =
        kiln__digest_texts(outside->frontend->name, definition->name);
    set_outside(change, slot, &meaning, definition->name_span,
                KILN__BINDING_PACKAGE);
    for (size_t i = 0; i < definition->name_count; i++)
        import_outside_name(change, definition, outside, definition->names[i]);
    return 1;
}

/* ---- all imports ---- */

static void define_import(kiln__change *change,
                          const kiln__definition *definition)
{
    kiln_package *package = kiln__package_get(
        change->language, definition->name, strlen(definition->name));

    if (package == NULL || !package->loaded) {
        if (!import_outside(change, definition))
            diagnose_package(change, definition);
        return;
    }
    if (package == change->package) {
        kiln__diagnose(&change->diagnostics, change->source, definition->span,
                       "self-import", NULL, "package `%s` imports itself",
                       package->name);
        return;
    }
    import_package(change, definition, package);
    for (size_t i = 0; i < definition->name_count; i++)
        import_name(change, definition, package, definition->names[i]);
}

void kiln__define_imports(kiln__change *change)
{
    const kiln__source *source = change->source;

    for (size_t i = 0; i < source->definition_count; i++)
        if (source->definitions[i].kind == KILN__DEFINE_IMPORT)
            define_import(change, &source->definitions[i]);
}

/* ---- constants ---- */

/* Gives the constant a new version, unless it is what it was, at the same
   place. */
static void define_constant(kiln__change *change,
                            const kiln__definition *definition)
{
    const kiln__version meaning = {
        .binding = {.kind = KILN__BINDING_CONST,
                    .definition = definition,
                    .source = change->source,
                    .package = change->package},
        .digest = kiln__digest_combine(kiln__digest_text(change->package->name),
                                       definition->digest)};
    const kiln__version *version;
    kiln__slot *slot;
    int same;

    if (kiln__slot_make(&slot, change->package, definition->name) != KILN_OK) {
        change->status = KILN_ENOMEM;
        return;
    }
    if (kiln__define_is_taken(change, slot, definition->name_span,
                              KILN__BINDING_CONST))
        return;
    version = kiln__slot_version(slot, change->world);
    same =
        version != NULL && kiln__digest_equal(version->digest, meaning.digest);
    change->has_other_inputs |= same;
    if (same && !kiln__define_is_moved(change, version->binding.source)) {
        slot->mark = change->language->change_number;
        return;
    }
    /* A constant that only moved means the same; its new version has the new
       place. */
    if (kiln__change_name(change, slot, &meaning) != NULL && !same)
        kiln__change_touch_name(change, slot);
}

void kiln__define_constants(kiln__change *change)
{
    const kiln__source *source = change->source;

    for (size_t i = 0; i < source->definition_count; i++)
        if (source->definitions[i].kind == KILN__DEFINE_CONST)
            define_constant(change, &source->definitions[i]);
}
