/* type_pattern.c - which types an annotation of a parameter takes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/sum.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * Patterns refer to structs and abstract types by their slots, not by a
 * version: a method for Complex still takes Complex after that is redefined. So
 * a struct is never an EXACT pattern, not even without parameters. Every other
 * annotation without free parameters is.
 */
#define PATTERN_DEPTH_MAX 64

typedef struct building {
    kiln__arena *arena;
    const kiln__type_scope *scope;
    int depth;
} building;

static kiln_status build(const kiln__pattern **out, building *b,
                         const kiln__ast *tree);

static kiln_status pattern_new(kiln__pattern **out, building *b,
                               kiln__pattern_kind kind, size_t count)
{
    kiln__pattern *pattern = kiln__arena_allocate(b->arena, sizeof *pattern);

    if (pattern != NULL)
        pattern->children = kiln__arena_allocate_array(
            b->arena, count + 1, sizeof *pattern->children);
    if (b->arena->failed)
        return KILN_ENOMEM;
    pattern->kind = kind;
    pattern->count = count;
    *out = pattern;
    return KILN_OK;
}

static kiln_status exact(const kiln__pattern **out, building *b,
                         const kiln_type *type)
{
    kiln__pattern *pattern;

    KILN_TRY(pattern_new(&pattern, b, KILN__PATTERN_EXACT, 0));
    pattern->type = type;
    *out = pattern;
    return KILN_OK;
}

static kiln_status refuse_type(const building *b, const kiln__ast *tree,
                               const char *code, const char *message,
                               const char *name)
{
    kiln__diagnose(b->scope->diagnostics, b->scope->source, tree->span, code,
                   NULL, "%s `%s`", message, name);
    return KILN_ECOMPILE;
}

/* ---- names ---- */

static kiln_status build_named(const kiln__pattern **out, building *b,
                               const kiln__named_type *named)
{
    kiln__pattern *pattern;

    KILN_TRY(pattern_new(
        &pattern, b,
        named->is_struct ? KILN__PATTERN_STRUCT : KILN__PATTERN_ABSTRACT, 0));
    if (named->package == NULL && strcmp(named->name, "Any") == 0)
        pattern->kind = KILN__PATTERN_ANY;
    pattern->named = named;
    *out = pattern;
    return KILN_OK;
}

static kiln_status build_name(const kiln__pattern **out, building *b,
                              const kiln__ast *tree)
{
    kiln__binding binding;
    kiln__pattern *pattern;
    uint32_t index;

    if (tree->kind == KILN__AST_NAME &&
        kiln__type_parameter_index(b->scope->definition, tree->text, &index)) {
        KILN_TRY(pattern_new(&pattern, b, KILN__PATTERN_PARAMETER, 0));
        pattern->index = index;
        *out = pattern;
        return KILN_OK;
    }
    KILN_TRY(kiln__tree_meaning(&binding, b->scope, tree));
    if (binding.kind == KILN__BINDING_SCALAR)
        return exact(out, b, binding.type);
    if (binding.kind == KILN__BINDING_TYPE)
        return build_named(out, b, binding.named);
    return kiln__not_a_type(b->scope, tree, &binding);
}

/* ---- types with parts ---- */

static int is_parameter(const building *b, const kiln__ast *tree)
{
    uint32_t index;

    return tree->kind == KILN__AST_NAME &&
           kiln__type_parameter_index(b->scope->definition, tree->text, &index);
}

/* Makes the pattern of a number, or of a type parameter that stands for one. */
static kiln_status build_number(const kiln__pattern **out, building *b,
                                const kiln__ast *tree)
{
    kiln__ast apply = *tree, name = *tree;
    kiln__ast *children[2] = {&name, NULL};
    const kiln_type *type;

    if (is_parameter(b, tree))
        return build_name(out, b, tree);
    /* Build Static{tree}, which resolves constants. */
    name.kind = KILN__AST_NAME;
    name.text = "Static";
    children[1] = (kiln__ast *)(uintptr_t)tree;
    apply.kind = KILN__AST_APPLY;
    apply.children = children;
    apply.count = 2;
    KILN_TRY(kiln__type_resolve(&type, b->scope, &apply));
    return exact(out, b, type);
}

static kiln_status build_parts(kiln__pattern *pattern, building *b,
                               kiln__ast *const *trees, size_t count)
{
    for (size_t i = 0; i < count; i++)
        KILN_TRY(build(&pattern->children[i], b, trees[i]));
    return KILN_OK;
}

/* Tells whether the tree is a literal, or a constant by name. */
static kiln_status is_number(int *out, const building *b, const kiln__ast *tree)
{
    kiln__binding binding = {0};

    *out = tree->kind == KILN__AST_INTEGER || tree->kind == KILN__AST_UNARY;
    if (!*out && !is_parameter(b, tree))
        KILN_TRY(kiln__tree_meaning(&binding, b->scope, tree));
    *out |= binding.kind == KILN__BINDING_CONST;
    return KILN_OK;
}

static kiln_status build_struct(kiln__pattern **out, building *b,
                                const kiln__ast *tree,
                                const kiln__named_type *named)
{
    const size_t count = tree->count - 1;

    if (count != named->definition->type_parameter_count)
        return refuse_type(b, tree, "type-parameters",
                           "wrong number of parameters for", named->name);
    KILN_TRY(pattern_new(out, b, KILN__PATTERN_STRUCT, count));
    (*out)->named = named;
    for (size_t i = 0; i < count; i++) {
        const kiln__ast *argument = tree->children[i + 1];
        int number;

        KILN_TRY(is_number(&number, b, argument));
        if (number)
            KILN_TRY(build_number(&(*out)->children[i], b, argument));
        else
            KILN_TRY(build(&(*out)->children[i], b, argument));
    }
    return KILN_OK;
}

static kiln_status build_vector(kiln__pattern **out, building *b,
                                const kiln__ast *tree)
{
    KILN_TRY(pattern_new(out, b, KILN__PATTERN_VECTOR, 2));
    KILN_TRY(build(&(*out)->children[0], b, tree->children[1]));
    return build_number(&(*out)->children[1], b, tree->children[2]);
}

static kiln_status build_apply(kiln__pattern **out, building *b,
                               const kiln__ast *tree)
{
    const size_t count = tree->count - 1;
    const kiln__named_type *named;
    kiln__binding binding;

    KILN_TRY(kiln__tree_meaning(&binding, b->scope, tree->children[0]));
    if (binding.kind != KILN__BINDING_TYPE)
        return kiln__not_a_type(b->scope, tree->children[0], &binding);
    named = binding.named;
    if (named->is_struct)
        return build_struct(out, b, tree, named);
    if (named->kinds == 1u << KILN_TYPE_VECTOR && count == 2)
        return build_vector(out, b, tree);
    if (named->kinds == 1u << KILN_TYPE_STATIC && count == 1) {
        KILN_TRY(pattern_new(out, b, KILN__PATTERN_STATIC, 1));
        return build_number(&(*out)->children[0], b, tree->children[1]);
    }
    if (named->kinds == 1u << KILN_TYPE_TYPE && count == 1) {
        KILN_TRY(pattern_new(out, b, KILN__PATTERN_TYPE, 1));
        return build(&(*out)->children[0], b, tree->children[1]);
    }
    return refuse_type(b, tree, "type-parameters",
                       "these are not the parameters of", named->name);
}

static kiln_status build_array(kiln__pattern **out, building *b,
                               const kiln__ast *tree)
{
    KILN_TRY(pattern_new(out, b, KILN__PATTERN_ARRAY, 1));
    (*out)->rank = tree->rank;
    (*out)->strided = tree->strided;
    return build(&(*out)->children[0], b, tree->children[0]);
}

/* True when nothing in the pattern depends on parameters, structs or abstract
   types. */
static int is_exact(const kiln__pattern *pattern)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->children[i]->kind != KILN__PATTERN_EXACT)
            return 0;
    return pattern->kind != KILN__PATTERN_STRUCT;
}

static kiln_status build_compound(const kiln__pattern **out, building *b,
                                  const kiln__ast *tree)
{
    kiln__pattern *pattern = NULL;
    const kiln_type *type;

    if (tree->kind == KILN__AST_APPLY) {
        KILN_TRY(build_apply(&pattern, b, tree));
    } else if (tree->kind == KILN__AST_ARRAY_TYPE && tree->count == 1) {
        KILN_TRY(build_array(&pattern, b, tree));
    } else if (tree->kind == KILN__AST_TUPLE) {
        KILN_TRY(pattern_new(&pattern, b, KILN__PATTERN_TUPLE, tree->count));
        KILN_TRY(build_parts(pattern, b, tree->children, tree->count));
    }
    if (pattern == NULL || is_exact(pattern)) {
        KILN_TRY(kiln__type_resolve(&type, b->scope, tree));
        return exact(out, b, type);
    }
    *out = pattern;
    return KILN_OK;
}

static kiln_status build(const kiln__pattern **out, building *b,
                         const kiln__ast *tree)
{
    kiln_status status;

    if (kiln__stack_is_low())
        return KILN_ESTACK;
    if (b->depth == PATTERN_DEPTH_MAX)
        return refuse_type(b, tree, "invalid-type",
                           "nested too deeply:", "type");
    b->depth++;
    if (tree->kind == KILN__AST_NAME || tree->kind == KILN__AST_MEMBER)
        status = build_name(out, b, tree);
    else
        status = build_compound(out, b, tree);
    b->depth--;
    return status;
}

kiln_status kiln__pattern_resolve(const kiln__pattern **out, kiln__arena *arena,
                                  const kiln__type_scope *scope,
                                  const kiln__ast *tree)
{
    static const kiln__pattern any = {.kind = KILN__PATTERN_ANY};
    building b = {.arena = arena, .scope = scope};

    if (tree == NULL) {
        *out = &any;
        return KILN_OK;
    }
    return build(out, &b, tree);
}

/* ---- questions about patterns ---- */

int kiln__pattern_is_own(const kiln__pattern *pattern)
{
    const kiln__named_type *named = pattern->named;

    if (named != NULL && named->package != NULL &&
        named->package != named->package->language->core)
        return 1;
    for (size_t i = 0; i < pattern->count; i++)
        if (kiln__pattern_is_own(pattern->children[i]))
            return 1;
    return 0;
}

int kiln__pattern_binds(const kiln__pattern *pattern, uint32_t index)
{
    if (pattern->kind == KILN__PATTERN_PARAMETER)
        return pattern->index == index;
    for (size_t i = 0; i < pattern->count; i++)
        if (kiln__pattern_binds(pattern->children[i], index))
            return 1;
    return 0;
}

int kiln__pattern_is_open(const kiln__pattern *pattern)
{
    if (pattern->kind == KILN__PATTERN_ABSTRACT &&
        pattern->named->package != NULL)
        return 1;
    for (size_t i = 0; i < pattern->count; i++)
        if (kiln__pattern_is_open(pattern->children[i]))
            return 1;
    return 0;
}

static uint64_t pattern_shape(const kiln__method *method,
                              const kiln__pattern *pattern);

/* A part that takes everything counts as missing. */
static uint64_t parts_shape(const kiln__method *method,
                            const kiln__pattern *pattern, uint64_t shape)
{
    uint64_t words[2] = {shape, 0};
    int is_any = 1;

    for (size_t i = 0; i < pattern->count; i++) {
        words[1] = pattern_shape(method, pattern->children[i]);
        is_any &= words[1] == 1;
        words[0] = kiln__hash_words(words, 2);
    }
    return is_any ? shape : words[0];
}

/* Returns a number that is the same, in every process, for two patterns each of
   which takes what the other does. `T` counts as its bound, and `Vec{T,N}` may
   count as `Vec`. 1: the pattern takes everything. */
static uint64_t pattern_shape(const kiln__method *method,
                              const kiln__pattern *pattern)
{
    for (int i = 0; i < KILN__TYPE_PARAMETERS_MAX &&
                    pattern->kind == KILN__PATTERN_PARAMETER;
         i++) {
        pattern = method->bounds[pattern->index];
        if (pattern == NULL)
            return 1;
    }
    switch (pattern->kind) {
    case KILN__PATTERN_ANY:
    case KILN__PATTERN_PARAMETER:
        return 1;
    case KILN__PATTERN_EXACT:
        return kiln__digest_word(pattern->type->id);
    case KILN__PATTERN_STRUCT:
        return parts_shape(method, pattern, pattern->named->slot->subject);
    case KILN__PATTERN_ABSTRACT:
        if (pattern->named->kinds == 1u << KILN_TYPE_VECTOR)
            return 2;
        if (pattern->named->kinds == 1u << KILN_TYPE_STATIC)
            return 3;
        if (pattern->named->kinds == 1u << KILN_TYPE_TYPE)
            return 4;
        return pattern->named->slot->subject;
    case KILN__PATTERN_VECTOR:
        return parts_shape(method, pattern, 2);
    case KILN__PATTERN_STATIC:
        return parts_shape(method, pattern, 3);
    case KILN__PATTERN_TYPE:
        return parts_shape(method, pattern, 4);
    case KILN__PATTERN_ARRAY:
        return parts_shape(method, pattern,
                           16 + 2 * (uint64_t)pattern->rank + pattern->strided);
    case KILN__PATTERN_TUPLE:
        return parts_shape(method, pattern, 64 + pattern->count);
    }
    return 0;
}

uint64_t kiln__method_shape(const kiln__method *method)
{
    uint64_t words[2] = {method->parameter_count, 0};

    for (size_t i = 0; i < method->parameter_count; i++) {
        words[1] = pattern_shape(method, method->parameters[i]);
        words[0] = kiln__hash_words(words, 2);
    }
    return words[0];
}

/* ---- as bytes and as text ---- */

void kiln__pattern_encode(kiln__encoder *encoder, const kiln__pattern *pattern)
{
    if (pattern == NULL) {
        kiln__encode_text(encoder, NULL);
        return;
    }
    kiln__encode_u64(encoder, (uint64_t)pattern->kind);
    kiln__encode_u64(encoder, pattern->index);
    kiln__encode_u64(encoder, pattern->rank);
    kiln__encode_u64(encoder, pattern->strided);
    kiln__encode_text(encoder,
                      pattern->type == NULL ? NULL : pattern->type->text);
    if (pattern->named != NULL) {
        kiln__encode_text(encoder, pattern->named->slot->package->name);
        kiln__encode_text(encoder, pattern->named->name);
    }
    kiln__encode_u64(encoder, pattern->count);
    for (size_t i = 0; i < pattern->count; i++)
        kiln__pattern_encode(encoder, pattern->children[i]);
}

/* Prints a part. Numbers in braces are printed as numbers. */
static void print_part(kiln__text *out, const kiln__pattern *part,
                       const kiln__definition *definition)
{
    if (part->kind == KILN__PATTERN_EXACT &&
        part->type->kind == KILN_TYPE_STATIC)
        kiln__text_format(out, "%lld", (long long)part->type->value);
    else
        kiln__pattern_print(out, part, definition);
}

static void print_list(kiln__text *out, const kiln__pattern *pattern,
                       const kiln__definition *definition, const char *open,
                       const char *close)
{
    kiln__text_add(out, open);
    for (size_t i = 0; i < pattern->count; i++) {
        if (i > 0)
            kiln__text_add(out, ", ");
        print_part(out, pattern->children[i], definition);
    }
    kiln__text_add(out, close);
}

static void print_array(kiln__text *out, const kiln__pattern *pattern,
                        const kiln__definition *definition)
{
    kiln__pattern_print(out, pattern->children[0], definition);
    kiln__text_add(out, pattern->strided ? "[strided :" : "[:");
    for (uint32_t i = 1; i < pattern->rank; i++)
        kiln__text_add(out, ",:");
    kiln__text_add(out, "]");
}

void kiln__pattern_print(kiln__text *out, const kiln__pattern *pattern,
                         const kiln__definition *definition)
{
    switch (pattern->kind) {
    case KILN__PATTERN_ANY:
        kiln__text_add(out, "Any");
        break;
    case KILN__PATTERN_ABSTRACT:
        kiln__text_add(out, pattern->named->name);
        break;
    case KILN__PATTERN_EXACT:
        kiln__text_add(out, pattern->type->text);
        break;
    case KILN__PATTERN_PARAMETER:
        kiln__text_add(out, definition->type_parameters[pattern->index].name);
        break;
    case KILN__PATTERN_ARRAY:
        print_array(out, pattern, definition);
        break;
    case KILN__PATTERN_VECTOR:
        print_list(out, pattern, definition, "Vec{", "}");
        break;
    case KILN__PATTERN_TUPLE:
        print_list(out, pattern, definition, "(",
                   pattern->count == 1 ? ",)" : ")");
        break;
    case KILN__PATTERN_STRUCT:
        kiln__text_add(out, pattern->named->name);
        if (pattern->count > 0)
            print_list(out, pattern, definition, "{", "}");
        break;
    case KILN__PATTERN_STATIC:
        print_list(out, pattern, definition, "Static{", "}");
        break;
    case KILN__PATTERN_TYPE:
        print_list(out, pattern, definition, "Type{", "}");
        break;
    }
}
