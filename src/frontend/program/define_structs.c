/* define_structs.c - the contents of structs: names, digests, fields. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "context/types/types.h"
#include "frontend/program/defining.h"

/*
 * The digest of a struct covers what its fields refer to: digests of structs,
 * values of constants, functions. When one of these changes its meaning, every
 * struct that refers to it gets a new version, too, in whatever package it is.
 */

/* ---- names in a struct's fields ---- */

/* A name in the tree of a type, and what it means. */
typedef struct mention {
    const kiln__type_scope *scope;
    const kiln__ast *tree;
    kiln__binding binding;
} mention;

typedef int (*visit_fn)(kiln__defining *d, const mention *name, void *env);

/* Visits each name in the tree of a type; stops when a visit returns
   non-zero. */
static int visit_tree(kiln__defining *d, const kiln__type_scope *scope,
                      const kiln__ast *tree, visit_fn visit, void *env)
{
    mention name = {.scope = scope, .tree = tree};
    uint32_t index;
    int result = 0;

    if (tree == NULL)
        return 0;
    if (kiln__stack_is_low()) {
        d->change->status = KILN_ESTACK;
        return 1;
    }
    if (tree->kind != KILN__AST_NAME && tree->kind != KILN__AST_MEMBER) {
        for (size_t i = 0; result == 0 && i < tree->count; i++)
            result = visit_tree(d, scope, tree->children[i], visit, env);
        return result;
    }
    if (tree->kind == KILN__AST_NAME &&
        kiln__type_parameter_index(scope->definition, tree->text, &index))
        return 0;
    if (kiln__tree_meaning(&name.binding, scope, tree) != KILN_OK) {
        d->change->status = KILN_ENOMEM;
        return 1;
    }
    return visit(d, &name, env);
}

static int visit_names(kiln__defining *d, const kiln__named_type *named,
                       visit_fn visit, void *env)
{
    const kiln__definition *definition = named->definition;
    const kiln__type_scope scope = kiln__defining_scope(d, named);
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

/* ---- structs that contain themselves ---- */

typedef struct search {
    const kiln__slot *slot;
    uint64_t visit;
    int depth;
} search;

/* Visits a name: non-zero when it is the struct that is searched for, or a
   struct that contains that one. */
static int reaches(kiln__defining *d, const mention *name, void *env)
{
    const kiln__binding *binding = &name->binding;
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
    /* This is deeper than any chain of structs that people write. */
    if (++inner.depth > 256)
        return 1;
    found = visit_names(d, binding->named, reaches, &inner);
    return found;
}

int kiln__defining_check_size(kiln__defining *d, const kiln__defined *p)
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

/* ---- structs that refer to what changes ---- */

/* Stores the number that a constant is; returns 0 if it is none. */
static int number_of(int64_t *out, const kiln__type_scope *scope,
                     const kiln__ast *tree)
{
    return kiln__type_number(out, scope, tree) == KILN_OK;
}

/* True when both mean the same for a type. */
static int is_same_meaning(const mention *a, const mention *b)
{
    int64_t x = 0, y = 0;

    if (a->binding.kind != b->binding.kind ||
        a->binding.generic != b->binding.generic ||
        a->binding.type != b->binding.type ||
        (a->binding.named == NULL ? NULL : a->binding.named->slot) !=
            (b->binding.named == NULL ? NULL : b->binding.named->slot))
        return 0;
    return a->binding.kind != KILN__BINDING_CONST ||
           (number_of(&x, a->scope, a->tree) ==
                number_of(&y, b->scope, b->tree) &&
            x == y);
}

static int changes(kiln__defining *d, const mention *name, void *env)
{
    kiln__type_scope scope = *name->scope;
    mention before = {.scope = &scope, .tree = name->tree};

    (void)env;
    if (is_own_struct(&name->binding) &&
        kiln__defined_of(name->binding.named->slot) != NULL)
        return 1;
    scope.facts = &d->before;
    if (kiln__tree_meaning(&before.binding, &scope, name->tree) != KILN_OK) {
        d->change->status = KILN_ENOMEM;
        return 1;
    }
    return !is_same_meaning(name, &before);
}

static void follow_slot(kiln_digest key, void *value, void *env)
{
    kiln__slot *slot = value;
    kiln__defining *d = env;
    const kiln__version *version = kiln__slot_version(slot, d->change->world);

    (void)key;
    if (d->change->status != KILN_OK || version == NULL ||
        version->import != NULL || !is_own_struct(&version->binding) ||
        kiln__defined_of(slot) != NULL)
        return;
    if (visit_names(d, version->binding.named, changes, NULL) &&
        d->change->status == KILN_OK)
        kiln__defining_link(d, slot, version->binding.named, 1);
}

void kiln__defining_follow(kiln__defining *d)
{
    kiln__defined **before;

    do {
        const kiln_package *package = d->change->language->packages;

        before = d->last;
        for (; package != NULL; package = package->next)
            kiln__map_each(&package->bindings->slots, follow_slot, d);
    } while (d->last != before && d->change->status == KILN_OK);
}

/* ---- digests ---- */

/* The digest has a constant's value, not how it is written. */
static void encode_constant(kiln__encoder *encoder, const mention *name)
{
    int64_t number = 0;

    if (number_of(&number, name->scope, name->tree))
        kiln__encode_i64(encoder, number);
    else
        kiln__encode_digest(encoder, name->binding.definition->digest);
}

/* Visits a name: adds what it means to the digest. */
static int encode_name(kiln__defining *d, const mention *name, void *env)
{
    kiln__encoder *encoder = env;
    const kiln__binding *binding = &name->binding;
    const kiln__named_type *named = binding->named;

    kiln__encode_u64(encoder, (uint64_t)binding->kind);
    if (binding->kind == KILN__BINDING_SCALAR)
        kiln__encode_text(encoder, binding->type->text);
    if (binding->kind == KILN__BINDING_FUNCTION)
        kiln__encode_text(encoder,
                          kiln_function_name(binding->generic->function));
    if (binding->kind == KILN__BINDING_CONST)
        encode_constant(encoder, name);
    if (binding->kind != KILN__BINDING_TYPE)
        return 0;
    kiln__encode_text(encoder, named->slot->package->name);
    kiln__encode_text(encoder, named->name);
    if (named->is_struct) {
        if (kiln__defined_of(named->slot) != NULL)
            kiln__defining_digest(d, kiln__defined_of(named->slot));
        kiln__encode_digest(encoder, named->digest);
    }
    return 0;
}

/* The recursion ends, since containment was checked. */
void kiln__defining_digest(kiln__defining *d, kiln__defined *p)
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

/* True when it is one type as soon as the struct's parameters are known. */
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

/* A type parameter cannot stand for an array then: a struct contains no
   arrays. */
static int holds_array(const kiln__pattern *pattern)
{
    if (pattern->kind == KILN__PATTERN_ARRAY)
        return 1;
    if (pattern->kind == KILN__PATTERN_EXACT)
        return !type_has_layout(pattern->type);
    if (pattern->kind == KILN__PATTERN_ABSTRACT)
        return pattern->named->kinds == UINT32_C(1) << KILN_TYPE_ARRAY;
    for (size_t i = 0; i < pattern->count; i++)
        if (holds_array(pattern->children[i]))
            return 1;
    return 0;
}

static void check_field(kiln__defining *d, const kiln__named_type *named,
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
                   holds_array(pattern)
                       ? "pass arrays as arguments of their own"
                       : "give the struct a type parameter for it",
                   "field `%s` cannot be %s: values of a struct have one size",
                   field->name, text.failed ? "this" : text.bytes);
    if (text.failed)
        d->change->status = KILN_ENOMEM;
    kiln__text_dispose(&text);
}

static kiln__method *constructor_new(kiln__defining *d, kiln__defined *p)
{
    const kiln__definition *definition = p->named->definition;
    kiln__arena *arena = &d->change->source->arena;
    kiln__method *method = kiln__arena_allocate(arena, sizeof *method);

    if (method == NULL)
        return NULL;
    method->definition = definition;
    method->source = (kiln__source *)(uintptr_t)p->named->source;
    method->package = p->named->package;
    method->parameter_count = definition->parameter_count;
    method->type_parameter_count = definition->type_parameter_count;
    method->parameters = kiln__arena_allocate_array(
        arena, method->parameter_count + 1, sizeof *method->parameters);
    method->bounds = kiln__arena_allocate_array(
        arena, method->type_parameter_count + 1, sizeof *method->bounds);
    return arena->failed ? NULL : method;
}

/* A struct that only follows another change is not refused here. If the types
   of its fields are gone, code that makes a value of it gets the error. */
static void renew_constructor(kiln__defining *d, kiln__defined *p)
{
    kiln__method *constructor = constructor_new(d, p);
    kiln__diagnostics quiet;

    if (constructor == NULL) {
        d->change->status = KILN_ENOMEM;
        return;
    }
    kiln__diagnostics_init(&quiet, d->change->language->alloc);
    if (kiln__define_signature(d->change, constructor, &quiet) == KILN_OK)
        p->named->constructor = constructor;
    kiln__diagnostics_dispose(&quiet);
}

void kiln__defining_construct(kiln__defining *d, kiln__defined *p)
{
    const kiln__definition *definition = p->named->definition;
    kiln__method *constructor;

    if (!p->named->is_struct)
        return;
    if (p->follows) {
        renew_constructor(d, p);
        return;
    }
    if (definition->type_parameter_count > KILN__TYPE_PARAMETERS_MAX) {
        kiln__diagnose(&d->change->diagnostics, p->named->source,
                       definition->name_span, "too-many-parameters", NULL,
                       "a definition with %zu type parameters; it has at most "
                       "%d",
                       definition->type_parameter_count,
                       KILN__TYPE_PARAMETERS_MAX);
        return;
    }
    constructor = constructor_new(d, p);
    if (constructor == NULL) {
        d->change->status = KILN_ENOMEM;
        return;
    }
    p->named->constructor = constructor;
    if (kiln__define_signature(d->change, constructor,
                               &d->change->diagnostics) != KILN_OK)
        return;
    for (size_t i = 0; i < constructor->parameter_count; i++)
        check_field(d, p->named, &definition->parameters[i],
                    constructor->parameters[i]);
}
