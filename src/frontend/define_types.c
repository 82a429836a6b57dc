/* define_types.c - structs and abstract types of a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "tables.h"
#include "types.h"

/*
 * All types of the text are linked first, so that they can name each other;
 * then parents, cycles, digests, fields. A struct's digest covers the digests
 * of the structs that its fields name: when one of those is redefined, the
 * structs around it get a new version too, in whatever package they stand.
 */

/* A type that the change defines, or defines again. */
typedef struct pending pending;
struct pending {
    kiln__named_type *named;
    kiln__version *version;
    const kiln__version *older; /* visible before, or NULL */
    int digested;
    int follows; /* not in the text: it contains a redefined struct */
    pending *next;
};

typedef struct defining {
    kiln__change *change;
    pending *first;
    pending **last;
    int redefines; /* some slot had a meaning before */
} defining;

static const kiln__source *source_of(const kiln__named_type *named)
{
    return named->source;
}

static kiln__type_scope scope_of(const defining *d,
                                 const kiln__named_type *named)
{
    return (kiln__type_scope){.package = named->package,
                              .world = d->change->world,
                              .definition = named->definition,
                              .diagnostics = &d->change->diagnostics,
                              .source = source_of(named)};
}

/* ---- linking ---- */

static void link_type(defining *d, kiln__slot *slot,
                      const kiln__named_type *model, int follows)
{
    kiln__arena *arena = &d->change->source->arena;
    kiln__version meaning = {.binding = {.kind = KILN__BINDING_TYPE}};
    const kiln__version *older = kiln__slot_version(slot, d->change->world);
    pending *p = kiln__arena_allocate(arena, sizeof *p);
    kiln__named_type *named = kiln__arena_allocate(arena, sizeof *named);

    if (arena->failed) {
        d->change->status = KILN_ENOMEM;
        return;
    }
    *named = *model;
    named->slot = slot;
    named->min_world = d->change->world;
    named->max_world = UINT64_MAX;
    d->redefines |= slot->versions != NULL;
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

static void link_definition(defining *d, const kiln__definition *definition)
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
        link_type(d, slot, &model, 0);
}

/* The pending definition of a type, or NULL. */
static pending *pending_of(const kiln__slot *slot)
{
    return slot->work;
}

/* ---- parents ---- */

static int may_be_parent(const kiln__named_type *named)
{
    const uint32_t numbers = (1u << (KILN_TYPE_F64 + 1)) - 1;

    if (named->is_struct)
        return 0;
    if (named->package != NULL || strcmp(named->name, "Any") == 0)
        return 1;
    return (named->kinds & ~numbers) == 0 && named->kinds != 0;
}

static void find_parent(defining *d, pending *p)
{
    const kiln__type_scope scope = scope_of(d, p->named);
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

/* Old versions of a parent stand for its newest one. */
static const kiln__named_type *parent_of(const defining *d,
                                         const kiln__named_type *named)
{
    return named->parent == NULL
               ? NULL
               : kiln__slot_type(named->parent->slot, d->change->world);
}

static void check_parents(defining *d, pending *p)
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
                           : "`%s` has too many types above it",
                       p->named->name);
    older = p->older == NULL ? NULL : p->older->binding.named;
    if (older != NULL && (older->parent == NULL) != (p->named->parent == NULL))
        d->change->hierarchy = 1;
    else if (older != NULL && older->parent != NULL &&
             older->parent->slot != p->named->parent->slot)
        d->change->hierarchy = 1;
}

/* ---- what a struct's fields name ---- */

typedef int (*visit_fn)(defining *d, const kiln__binding *binding, void *env);

/* Visits the meaning of each name in a type's tree; stops at non-zero. */
static int visit_tree(defining *d, const kiln__type_scope *scope,
                      const kiln__ast *tree, visit_fn visit, void *env)
{
    kiln__binding binding;
    uint32_t index;
    int result = 0;

    if (tree == NULL)
        return 0;
    if (tree->kind != KILN__AST_NAME && tree->kind != KILN__AST_MEMBER) {
        for (size_t i = 0; result == 0 && i < tree->count; i++)
            result = visit_tree(d, scope, tree->children[i], visit, env);
        return result;
    }
    if (tree->kind == KILN__AST_NAME &&
        kiln__type_parameter_index(scope->definition, tree->text, &index))
        return 0;
    if (kiln__tree_meaning(&binding, scope, tree) != KILN_OK) {
        d->change->status = KILN_ENOMEM;
        return 1;
    }
    return visit(d, &binding, env);
}

static int visit_names(defining *d, const kiln__named_type *named,
                       visit_fn visit, void *env)
{
    const kiln__definition *definition = named->definition;
    const kiln__type_scope scope = scope_of(d, named);
    int result = 0;

    for (size_t i = 0; result == 0 && i < definition->parameter_count; i++)
        result =
            visit_tree(d, &scope, definition->parameters[i].type, visit, env);
    for (size_t i = 0; result == 0 && i < definition->type_parameter_count; i++)
        result = visit_tree(d, &scope, definition->type_parameters[i].bound,
                            visit, env);
    return result;
}

static int is_own_struct(const kiln__binding *binding)
{
    return binding->kind == KILN__BINDING_TYPE && binding->named->is_struct;
}

/* ---- a struct that contains itself ---- */

typedef struct search {
    const kiln__slot *slot;
    uint64_t visit;
    int depth;
} search;

static int reaches(defining *d, const kiln__binding *binding, void *env)
{
    search *s = env, inner = *s;
    kiln__slot *slot;
    int found;

    if (!is_own_struct(binding))
        return 0;
    if (binding->named->slot == s->slot)
        return 1;
    slot = kiln__slot_get(binding->named->package, binding->named->name);
    if (slot == NULL || slot->visit == s->visit)
        return 0;
    slot->visit = s->visit;
    /* Deeper than any chain of structs that a person writes. */
    if (++inner.depth > 256)
        return 1;
    found = visit_names(d, binding->named, reaches, &inner);
    return found;
}

static int check_containment(defining *d, const pending *p)
{
    search s = {.slot = p->named->slot,
                .visit = ++d->change->language->visit_number};

    if (!p->named->is_struct || !visit_names(d, p->named, reaches, &s))
        return 1;
    if (d->change->status == KILN_OK && !p->follows)
        kiln__diagnose(&d->change->diagnostics, p->named->source,
                       p->named->definition->name_span, "struct-cycle",
                       "a struct is a value: it cannot hold one of its kind",
                       "struct `%s` contains itself", p->named->name);
    return 0;
}

/* ---- structs around a redefined one ---- */

static int is_pending(defining *d, const kiln__binding *binding, void *env)
{
    (void)d;
    (void)env;
    return is_own_struct(binding) && pending_of(binding->named->slot) != NULL;
}

static void follow_slot(kiln_digest key, void *value, void *env)
{
    kiln__slot *slot = value;
    defining *d = env;
    const kiln__version *version = kiln__slot_version(slot, d->change->world);

    (void)key;
    if (d->change->status != KILN_OK || version == NULL ||
        version->import != NULL || !is_own_struct(&version->binding) ||
        pending_of(slot) != NULL)
        return;
    if (visit_names(d, version->binding.named, is_pending, NULL) &&
        d->change->status == KILN_OK)
        link_type(d, slot, version->binding.named, 1);
}

static void follow(defining *d)
{
    pending **before;

    do {
        const kiln_package *package = d->change->language->packages;

        before = d->last;
        for (; package != NULL; package = package->next)
            kiln__map_each(&package->bindings->slots, follow_slot, d);
    } while (d->last != before && d->change->status == KILN_OK);
}

/* ---- digests ---- */

static void digest_type(defining *d, pending *p);

static int encode_name(defining *d, const kiln__binding *binding, void *env)
{
    kiln__encoder *encoder = env;
    const kiln__named_type *named = binding->named;

    kiln__encode_u64(encoder, (uint64_t)binding->kind);
    if (binding->kind == KILN__BINDING_SCALAR)
        kiln__encode_text(encoder, binding->type->text);
    if (binding->kind == KILN__BINDING_CONST)
        kiln__encode_digest(encoder, binding->definition->digest);
    if (binding->kind != KILN__BINDING_TYPE)
        return 0;
    kiln__encode_text(encoder, named->slot->package->name);
    kiln__encode_text(encoder, named->name);
    if (named->is_struct) {
        if (pending_of(named->slot) != NULL)
            digest_type(d, pending_of(named->slot));
        kiln__encode_digest(encoder, named->digest);
    }
    return 0;
}

/* Containment was checked: the recursion ends. */
static void digest_type(defining *d, pending *p)
{
    const kiln__named_type *parent = p->named->parent;
    kiln__encoder encoder;

    if (p->digested)
        return;
    p->digested = 1;
    kiln__encoder_init(&encoder, d->change->language->alloc);
    kiln__encode_text(&encoder, p->named->package->name);
    kiln__encode_digest(&encoder, p->named->definition->digest);
    kiln__encode_text(&encoder,
                      parent == NULL ? NULL : parent->slot->package->name);
    kiln__encode_text(&encoder, parent == NULL ? NULL : parent->name);
    (void)visit_names(d, p->named, encode_name, &encoder);
    p->named->digest = kiln__encoder_digest(&encoder);
    p->version->digest = p->named->digest;
    if (encoder.failed)
        d->change->status = KILN_ENOMEM;
    kiln__encoder_dispose(&encoder);
}

/* ---- fields ---- */

static int has_layout(const kiln__pattern *pattern);

static int type_has_layout(const kiln_type *type)
{
    if (type->kind == KILN_TYPE_ARRAY)
        return 0;
    for (size_t i = 0; type->kind == KILN_TYPE_TUPLE && i < type->field_count;
         i++)
        if (!type_has_layout(type->fields[i].type))
            return 0;
    return 1;
}

static int parts_have_layout(const kiln__pattern *pattern)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (!has_layout(pattern->children[i]))
            return 0;
    return 1;
}

/* Is it one type, as soon as the struct's parameters are known? */
static int has_layout(const kiln__pattern *pattern)
{
    switch (pattern->kind) {
    case KILN__PATTERN_ANY:
    case KILN__PATTERN_ABSTRACT:
    case KILN__PATTERN_ARRAY:
        return 0;
    case KILN__PATTERN_EXACT:
        return type_has_layout(pattern->type);
    case KILN__PATTERN_STRUCT:
        return pattern->count ==
                   pattern->named->definition->type_parameter_count &&
               parts_have_layout(pattern);
    case KILN__PATTERN_PARAMETER:
    case KILN__PATTERN_VECTOR:
    case KILN__PATTERN_TUPLE:
    case KILN__PATTERN_STATIC:
    case KILN__PATTERN_TYPE:
        return parts_have_layout(pattern);
    }
    return 0;
}

static void check_field(defining *d, const kiln__named_type *named,
                        const kiln__ast_parameter *field,
                        const kiln__pattern *pattern)
{
    kiln__text text;

    if (has_layout(pattern))
        return;
    kiln__text_init(&text, d->change->language->alloc);
    kiln__pattern_print(&text, pattern, named->definition);
    kiln__diagnose(&d->change->diagnostics, named->source, field->span,
                   "field-not-concrete",
                   pattern->kind == KILN__PATTERN_ARRAY
                       ? "pass arrays as arguments of their own"
                       : "give the struct a type parameter for it",
                   "field `%s` cannot be %s: values of a struct have one size",
                   field->name, text.failed ? "this" : text.bytes);
    if (text.failed)
        d->change->status = KILN_ENOMEM;
    kiln__text_dispose(&text);
}

static kiln__method *constructor_new(defining *d, pending *p)
{
    const kiln__definition *definition = p->named->definition;
    kiln__arena *arena = &d->change->source->arena;
    kiln__method *method = kiln__arena_allocate(arena, sizeof *method);

    if (method == NULL)
        return NULL;
    method->definition = definition;
    method->source = d->change->source;
    method->package = p->named->package;
    method->parameter_count = definition->parameter_count;
    method->type_parameter_count = definition->type_parameter_count;
    method->parameters = kiln__arena_allocate_array(
        arena, method->parameter_count + 1, sizeof *method->parameters);
    method->bounds = kiln__arena_allocate_array(
        arena, method->type_parameter_count + 1, sizeof *method->bounds);
    return arena->failed ? NULL : method;
}

/* A struct that only follows keeps its constructor: patterns name slots. */
static void make_constructor(defining *d, pending *p)
{
    const kiln__definition *definition = p->named->definition;
    kiln__method *constructor;

    if (!p->named->is_struct || p->follows)
        return;
    if (definition->type_parameter_count > KILN__TYPE_PARAMETERS_MAX) {
        kiln__diagnose(&d->change->diagnostics, p->named->source,
                       definition->name_span, "too-many-parameters", NULL,
                       "a definition has at most %d type parameters",
                       KILN__TYPE_PARAMETERS_MAX);
        return;
    }
    constructor = constructor_new(d, p);
    if (constructor == NULL) {
        d->change->status = KILN_ENOMEM;
        return;
    }
    p->named->constructor = constructor;
    if (kiln__define_signature(d->change, constructor) != KILN_OK)
        return;
    for (size_t i = 0; i < constructor->parameter_count; i++)
        check_field(d, p->named, &definition->parameters[i],
                    constructor->parameters[i]);
}

/* ---- the whole ---- */

/* What means the same as before stays as it was. */
static void settle(defining *d, pending *p)
{
    kiln__slot *slot = kiln__slot_get(p->named->package, p->named->name);

    slot->work = NULL;
    if (p->older != NULL && p->older->import == NULL &&
        kiln__digest_equal(p->older->digest, p->named->digest))
        kiln__change_drop_name(d->change, slot);
    else
        kiln__change_touch_name(d->change, slot);
}

static void check_types(defining *d)
{
    pending *p;
    int finite = 1;

    for (p = d->first; p != NULL; p = p->next)
        find_parent(d, p);
    for (p = d->first; p != NULL; p = p->next)
        check_parents(d, p);
    for (p = d->first; p != NULL; p = p->next)
        finite &= check_containment(d, p);
    for (p = d->first; finite && p != NULL; p = p->next)
        make_constructor(d, p);
    for (p = d->first; finite && p != NULL; p = p->next)
        digest_type(d, p);
}

void kiln__define_types(kiln__change *change)
{
    const kiln__source *source = change->source;
    defining d = {.change = change};

    d.last = &d.first;
    for (size_t i = 0; i < source->definition_count; i++)
        if (source->definitions[i].kind == KILN__DEFINE_STRUCT ||
            source->definitions[i].kind == KILN__DEFINE_ABSTRACT)
            link_definition(&d, &source->definitions[i]);
    if (d.redefines && change->status == KILN_OK)
        follow(&d);
    if (change->status == KILN_OK)
        check_types(&d);
    for (pending *p = d.first; p != NULL; p = p->next)
        settle(&d, p);
}
