/* define_types.c - defines the structs and abstract types of a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/scalars.h"
#include "frontend/program/defining.h"

/*
 * All types of the text are linked first, so that they can refer to each other.
 * Then parents, cycles, fields and digests are checked. define_structs.c knows
 * what structs contain.
 */

kiln__type_scope kiln__defining_scope(const kiln__defining *d,
                                      const kiln__named_type *named)
{
    return (kiln__type_scope){.facts = &d->change->facts,
                              .package = named->package,
                              .definition = named->definition,
                              .diagnostics = &d->change->diagnostics,
                              .source = named->source};
}

/* ---- linking ---- */

void kiln__defining_link(kiln__defining *d, kiln__slot *slot,
                         const kiln__named_type *model, int follows)
{
    kiln__arena *arena = &d->change->source->arena;
    kiln__version meaning = {.binding = {.kind = KILN__BINDING_TYPE}};
    const kiln__version *older = kiln__slot_version(slot, d->change->world);
    kiln__defined *p = kiln__arena_allocate(arena, sizeof *p);
    kiln__named_type *named = kiln__arena_allocate(arena, sizeof *named);

    if (arena->failed) {
        d->change->status = KILN_ENOMEM;
        return;
    }
    *named = *model;
    named->slot = slot;
    named->min_world = d->change->world;
    named->max_world = UINT64_MAX;
    meaning.binding.named = named;
    p->version = kiln__change_name(d->change, slot, &meaning);
    if (p->version == NULL)
        return;
    p->named = named;
    p->older = older;
    p->follows = follows;
    slot->work = p;
    *d->last = p;
    d->last = &p->next;
}

static void link_definition(kiln__defining *d,
                            const kiln__definition *definition)
{
    kiln__change *change = d->change;
    const kiln__named_type model = {.package = change->package,
                                    .name = definition->name,
                                    .definition = definition,
                                    .source = change->source,
                                    .is_struct = definition->kind ==
                                                 KILN__DEFINE_STRUCT};
    kiln__slot *slot;

    if (kiln__slot_make(&slot, change->package, definition->name) != KILN_OK)
        change->status = KILN_ENOMEM;
    else if (!kiln__define_is_taken(change, slot, definition->name_span,
                                    KILN__BINDING_TYPE))
        kiln__defining_link(d, slot, &model, 0);
}

/* ---- parents ---- */

static int may_be_parent(const kiln__named_type *named)
{
    if (named->is_struct)
        return 0;
    if (named->package != NULL || strcmp(named->name, "Any") == 0)
        return 1;
    return (named->kinds & ~kiln__scalar_kinds()) == 0 && named->kinds != 0;
}

static void find_parent(kiln__defining *d, kiln__defined *p)
{
    const kiln__type_scope scope = kiln__defining_scope(d, p->named);
    const kiln__ast *tree = p->named->definition->result;
    kiln__binding binding;

    if (tree == NULL || p->follows)
        return;
    if (kiln__tree_meaning(&binding, &scope, tree) != KILN_OK) {
        d->change->status = KILN_ENOMEM;
        return;
    }
    if (binding.kind != KILN__BINDING_TYPE &&
        binding.kind != KILN__BINDING_SCALAR) {
        (void)kiln__not_a_type(&scope, tree, &binding);
        return;
    }
    if (binding.named == NULL || !may_be_parent(binding.named)) {
        kiln__diagnose(
            scope.diagnostics, scope.source, tree->span, "not-abstract",
            "only abstract types have types below them",
            "`%s` cannot be the parent of `%s`",
            tree->text == NULL ? "this" : tree->text, p->named->name);
        return;
    }
    p->named->parent = binding.named;
}

/* An old version of a parent stands for its newest one. */
static const kiln__named_type *parent_of(const kiln__defining *d,
                                         const kiln__named_type *named)
{
    return named->parent == NULL
               ? NULL
               : kiln__slot_type(named->parent->slot, d->change->world);
}

/* Returns the type that the slot had last: values of it may still exist. */
static const kiln__named_type *last_type(const kiln__defined *p)
{
    const kiln__version *version = p->version->next;

    while (version != NULL && version->binding.kind != KILN__BINDING_TYPE)
        version = version->next;
    return version == NULL ? NULL : version->binding.named;
}

static void check_parents(kiln__defining *d, kiln__defined *p)
{
    const kiln__named_type *named = parent_of(d, p->named), *older;
    int steps = 0;

    while (named != NULL && named->slot != p->named->slot &&
           steps++ < KILN__TYPE_TREE_MAX)
        named = parent_of(d, named);
    if (named != NULL && !p->follows)
        kiln__diagnose(&d->change->diagnostics, p->named->source,
                       p->named->definition->name_span, "abstract-cycle", NULL,
                       steps < KILN__TYPE_TREE_MAX
                           ? "`%s` is above itself"
                           : "`%s` has more than %d types above it",
                       p->named->name, KILN__TYPE_TREE_MAX);
    older = last_type(p);
    if (older != NULL && (older->parent == NULL) != (p->named->parent == NULL))
        d->change->hierarchy = 1;
    else if (older != NULL && older->parent != NULL &&
             older->parent->slot != p->named->parent->slot)
        d->change->hierarchy = 1;
}

/* ---- all types of a text ---- */

/* Drops the new version of a type that means the same as before. */
static void drop_unchanged(kiln__defining *d, kiln__defined *p)
{
    kiln__slot *slot = kiln__slot_get(p->named->package, p->named->name);

    slot->work = NULL;
    if (p->older != NULL && p->older->import == NULL &&
        kiln__digest_equal(p->older->digest, p->named->digest))
        kiln__change_drop_name(d->change, slot);
    else
        kiln__change_touch_name(d->change, slot);
}

static void check_types(kiln__defining *d)
{
    kiln__defined *p;
    int finite = 1;

    for (p = d->first; p != NULL; p = p->next)
        find_parent(d, p);
    for (p = d->first; p != NULL; p = p->next)
        check_parents(d, p);
    for (p = d->first; p != NULL; p = p->next)
        finite &= kiln__defining_check_size(d, p);
    for (p = d->first; finite && p != NULL; p = p->next)
        kiln__defining_construct(d, p);
    for (p = d->first; finite && p != NULL; p = p->next)
        kiln__defining_digest(d, p);
}

/* True when some name, such as a constant's, gets another meaning. */
static int changes_names(const kiln__change *change)
{
    const kiln_package *core = change->language->core;

    for (size_t i = 0; !change->first && i < change->slots.count; i++)
        if (change->slots.items[i]->versions->next != NULL ||
            kiln__slot_get(core, change->slots.items[i]->name) != NULL)
            return 1;
    return 0;
}

void kiln__define_types(kiln__change *change)
{
    const kiln__source *source = change->source;
    kiln__defining d = {
        .change = change,
        .before = {.language = change->language, .world = change->world - 1}};

    d.last = &d.first;
    for (size_t i = 0; i < source->definition_count; i++)
        if (source->definitions[i].kind == KILN__DEFINE_STRUCT ||
            source->definitions[i].kind == KILN__DEFINE_ABSTRACT)
            link_definition(&d, &source->definitions[i]);
    if (change->status == KILN_OK && changes_names(change))
        kiln__defining_follow(&d);
    if (change->status == KILN_OK)
        check_types(&d);
    for (kiln__defined *p = d.first; p != NULL; p = p->next)
        drop_unchanged(&d, p);
}
