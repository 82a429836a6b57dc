/* resolve_type.c - makes types of the trees of annotations. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/* Constants may refer to each other; at most so many steps are followed. */
#define CONSTANT_CHAIN_MAX 32
/* How deep types may be nested in types. */
#define RESOLVE_DEPTH_MAX 64

/* A resolution under way. */
typedef struct resolving {
    const kiln__type_scope *scope;
    int depth;
} resolving;

static kiln_status resolve(const kiln_type **out, resolving *r,
                           const kiln__ast *tree);

/* ---- names ---- */

int kiln__type_parameter_index(const kiln__definition *definition,
                               const char *name, uint32_t *out)
{
    size_t count = definition == NULL ? 0 : definition->type_parameter_count;

    for (size_t i = 0; i < count; i++)
        if (strcmp(definition->type_parameters[i].name, name) == 0) {
            *out = (uint32_t)i;
            return 1;
        }
    return 0;
}

/* Canonical texts refer to packages that nothing has imported. */
static kiln_status find_package(kiln__binding *out,
                                const kiln__type_scope *scope, const char *name)
{
    kiln__language *language = scope->facts->language;
    kiln_status status =
        kiln__ask_binding(out, scope->facts, scope->package, name);

    if (status != KILN_ENOTFOUND || scope->source != NULL)
        return status;
    kiln__language_read(language);
    out->package = kiln__package_get(language, name, strlen(name));
    kiln__language_unlock(language);
    if (out->package == NULL)
        return KILN_ENOTFOUND;
    out->kind = KILN__BINDING_PACKAGE;
    return KILN_OK;
}

kiln_status kiln__tree_meaning(kiln__binding *out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree)
{
    kiln__binding package;
    kiln_status status;

    *out = (kiln__binding){0};
    if (tree->kind == KILN__AST_NAME) {
        status =
            kiln__ask_binding(out, scope->facts, scope->package, tree->text);
    } else if (tree->kind == KILN__AST_MEMBER &&
               tree->children[0]->kind == KILN__AST_NAME) {
        status = find_package(&package, scope, tree->children[0]->text);
        if (status == KILN_OK && package.kind == KILN__BINDING_PACKAGE)
            status = kiln__ask_binding(out, scope->facts, package.package,
                                       tree->text);
    } else {
        return KILN_OK;
    }
    return status == KILN_ENOTFOUND ? KILN_OK : status;
}

/* ---- diagnostics ---- */

static kiln_status diagnose(const kiln__type_scope *scope,
                            const kiln__ast *tree, const char *code,
                            const char *hint, const char *message,
                            const char *name)
{
    kiln__diagnose(scope->diagnostics, scope->source, tree->span, code, hint,
                   "%s%s%s%s", message, name == NULL ? "" : " `",
                   name == NULL ? "" : name, name == NULL ? "" : "`");
    return KILN_ECOMPILE;
}

/* `name` (may be NULL) is the type or function that has them. */
static kiln_status too_many(const kiln__type_scope *scope,
                            const kiln__ast *tree, const char *code,
                            const char *name, size_t count, size_t most)
{
    if (scope->diagnostics == NULL)
        return KILN_ENOTFOUND;
    if (name != NULL)
        kiln__diagnose(scope->diagnostics, scope->source, tree->span, code,
                       NULL, "`%s` with %zu parameters; a type has at most %zu",
                       name, count, most);
    else
        kiln__diagnose(scope->diagnostics, scope->source, tree->span, code,
                       NULL, "a tuple type of %zu elements; it has at most %zu",
                       count, most);
    return KILN_ECOMPILE;
}

static const char *tree_name(const kiln__ast *tree)
{
    return tree->kind == KILN__AST_NAME || tree->kind == KILN__AST_MEMBER
               ? tree->text
               : NULL;
}

kiln_status kiln__not_a_type(const kiln__type_scope *scope,
                             const kiln__ast *tree,
                             const kiln__binding *binding)
{
    const char *name = tree_name(tree), *hint = NULL;
    kiln__arena arena;
    kiln_status status;

    if (name == NULL || binding->kind != KILN__BINDING_NONE)
        return diagnose(scope, tree, "not-a-type", NULL,
                        "this is not a type:", name);
    kiln__arena_init(&arena, scope->facts->language->alloc);
    if (tree->kind == KILN__AST_NAME)
        hint = kiln__other_type_hint(&arena, name);
    if (tree->kind == KILN__AST_NAME && hint == NULL)
        hint =
            kiln__name_hint(&arena, scope->package, name, scope->facts->world);
    status =
        diagnose(scope, tree, "unknown-type", hint, "there is no type", name);
    if (arena.failed)
        status = KILN_ENOMEM;
    kiln__arena_dispose(&arena);
    return status;
}

/* Passes on the error of making a type. */
static kiln_status made(const kiln__type_scope *scope, const kiln__ast *tree,
                        kiln_status status, kiln_error *error)
{
    if (status != KILN_OK && !kiln__is_shortage(status))
        status = diagnose(scope, tree, "invalid-type", NULL,
                          error == NULL ? "this is not a valid type"
                                        : kiln_error_message(error),
                          NULL);
    kiln_error_free(error);
    return status;
}

/* ---- numbers in types ---- */

kiln_status kiln__type_number(int64_t *out, const kiln__type_scope *scope,
                              const kiln__ast *tree)
{
    kiln__type_scope inner = *scope;
    kiln__binding binding;
    int negative = 0;

    for (int i = 0; i < CONSTANT_CHAIN_MAX; i++) {
        while (tree->kind == KILN__AST_UNARY && strcmp(tree->text, "-") == 0) {
            negative = !negative;
            tree = tree->children[0];
        }
        if (tree->kind == KILN__AST_INTEGER && tree->integer <= INT64_MAX) {
            *out = negative ? -(int64_t)tree->integer : (int64_t)tree->integer;
            return KILN_OK;
        }
        KILN_TRY(kiln__tree_meaning(&binding, &inner, tree));
        if (binding.kind != KILN__BINDING_CONST)
            return KILN_ENOTFOUND;
        inner.package = binding.package;
        inner.source = binding.source;
        tree = binding.definition->body;
    }
    return KILN_ENOTFOUND;
}

static int is_number(const kiln__ast *tree)
{
    return tree->kind == KILN__AST_INTEGER || tree->kind == KILN__AST_UNARY;
}

static kiln_status resolve_number(const kiln_type **out, resolving *r,
                                  const kiln__ast *tree)
{
    kiln_error *error = NULL;
    kiln_status status;
    int64_t value;

    status = kiln__type_number(&value, r->scope, tree);
    if (status == KILN_ENOTFOUND)
        return diagnose(r->scope, tree, "not-a-number",
                        "use an integer, or a const that is one",
                        "a type's number must be known here", NULL);
    KILN_TRY(status);
    status = kiln_type_static(out, r->scope->facts->language->context, value,
                              &error);
    return made(r->scope, tree, status, error);
}

/* ---- types with parts ---- */

/* Resolves a parameter of a type: a type, or a number as its Static type. */
static kiln_status resolve_argument(const kiln_type **out, resolving *r,
                                    const kiln__ast *tree)
{
    kiln__binding binding;
    uint32_t index;

    if (is_number(tree))
        return resolve_number(out, r, tree);
    if ((tree->kind == KILN__AST_NAME &&
         !kiln__type_parameter_index(r->scope->definition, tree->text,
                                     &index)) ||
        tree->kind == KILN__AST_MEMBER) {
        KILN_TRY(kiln__tree_meaning(&binding, r->scope, tree));
        if (binding.kind == KILN__BINDING_CONST)
            return resolve_number(out, r, tree);
    }
    return resolve(out, r, tree);
}

static kiln_status resolve_array(const kiln_type **out, resolving *r,
                                 const kiln__ast *tree)
{
    const kiln_type *element;
    kiln_error *error = NULL;
    kiln_status status;

    if (tree->count != 1)
        return diagnose(r->scope, tree, "sized-array",
                        "sizes stand in `local t = f32[16, 16]` only",
                        "an array type has no sizes", NULL);
    KILN_TRY(resolve(&element, r, tree->children[0]));
    status = kiln_type_array(out, r->scope->facts->language->context, element,
                             tree->rank, (int32_t)tree->strided, &error);
    return made(r->scope, tree, status, error);
}

static kiln_status resolve_tuple(const kiln_type **out, resolving *r,
                                 const kiln__ast *tree)
{
    const kiln_type *elements[KILN_ARGUMENTS_MAX];
    kiln_error *error = NULL;
    kiln_status status;

    if (tree->count > KILN_ARGUMENTS_MAX)
        return too_many(r->scope, tree, "invalid-type", NULL, tree->count,
                        KILN_ARGUMENTS_MAX);
    for (size_t i = 0; i < tree->count; i++)
        KILN_TRY(resolve(&elements[i], r, tree->children[i]));
    status = kiln_type_tuple(out, r->scope->facts->language->context, elements,
                             tree->count, &error);
    return made(r->scope, tree, status, error);
}

static kiln_status resolve_typeof(const kiln_type **out, resolving *r,
                                  const kiln__ast *tree)
{
    kiln__binding binding;
    kiln_error *error = NULL;
    kiln_status status;

    KILN_TRY(kiln__tree_meaning(&binding, r->scope, tree->children[0]));
    if (binding.kind != KILN__BINDING_FUNCTION)
        return diagnose(r->scope, tree, "not-a-type",
                        "here typeof() takes the name of a function",
                        "this is not a type", NULL);
    status = kiln_type_function(out, r->scope->facts->language->context,
                                binding.generic->function, &error);
    return made(r->scope, tree, status, error);
}

static kiln_status make_vector(const kiln_type **out, resolving *r,
                               const kiln__ast *tree,
                               const kiln_type *const *arguments)
{
    kiln_error *error = NULL;
    kiln_status status;

    if (arguments[1]->kind != KILN_TYPE_STATIC || arguments[1]->value < 1 ||
        arguments[1]->value > UINT32_MAX)
        return diagnose(r->scope, tree, "invalid-type", "as in Vec{f32, 4}",
                        "the length of a vector is a positive number", NULL);
    status =
        kiln_type_vector(out, r->scope->facts->language->context, arguments[0],
                         (uint32_t)arguments[1]->value, &error);
    return made(r->scope, tree, status, error);
}

/* Makes Vec{...}, Static{...} and Type{...}. */
static kiln_status apply_builtin(const kiln_type **out, resolving *r,
                                 const kiln__ast *tree,
                                 const kiln__named_type *named,
                                 const kiln_type *const *arguments,
                                 size_t count)
{
    kiln_error *error = NULL;
    kiln_status status;

    if (named->kinds == 1u << KILN_TYPE_VECTOR && count == 2)
        return make_vector(out, r, tree, arguments);
    if (named->kinds == 1u << KILN_TYPE_STATIC && count == 1 &&
        arguments[0]->kind == KILN_TYPE_STATIC) {
        *out = arguments[0];
        return KILN_OK;
    }
    if (named->kinds == 1u << KILN_TYPE_TYPE && count == 1) {
        status = kiln__type_type(out, r->scope->facts->language->context,
                                 arguments[0], &error);
        return made(r->scope, tree, status, error);
    }
    return diagnose(r->scope, tree, "type-parameters", NULL,
                    "these are not the parameters of", named->name);
}

static kiln_status resolve_apply(const kiln_type **out, resolving *r,
                                 const kiln__ast *tree)
{
    const kiln_type *arguments[KILN__TYPE_PARAMETERS_MAX];
    const size_t count = tree->count - 1;
    kiln__binding binding;
    kiln_error *error = NULL;
    kiln_status status;

    KILN_TRY(kiln__tree_meaning(&binding, r->scope, tree->children[0]));
    if (binding.kind != KILN__BINDING_TYPE)
        return kiln__not_a_type(r->scope, tree->children[0], &binding);
    if (count > KILN__TYPE_PARAMETERS_MAX)
        return too_many(r->scope, tree, "type-parameters", binding.named->name,
                        count, KILN__TYPE_PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++)
        KILN_TRY(resolve_argument(&arguments[i], r, tree->children[i + 1]));
    if (!binding.named->is_struct)
        return apply_builtin(out, r, tree, binding.named, arguments, count);
    status = kiln__ask_struct(out, r->scope->facts, binding.named, arguments,
                              count, &error);
    return made(r->scope, tree, status, error);
}

static kiln_status resolve_name(const kiln_type **out, resolving *r,
                                const kiln__ast *tree)
{
    const kiln__type_scope *scope = r->scope;
    kiln__binding binding;
    kiln_error *error = NULL;
    kiln_status status;
    uint32_t index;

    if (tree->kind == KILN__AST_NAME && scope->parameters != NULL &&
        kiln__type_parameter_index(scope->definition, tree->text, &index)) {
        *out = scope->parameters[index];
        return *out != NULL
                   ? KILN_OK
                   : diagnose(scope, tree, "unbound-type-parameter", NULL,
                              "nothing says what type this is:", tree->text);
    }
    KILN_TRY(kiln__tree_meaning(&binding, scope, tree));
    if (binding.kind == KILN__BINDING_SCALAR) {
        *out = binding.type;
        return KILN_OK;
    }
    if (binding.kind != KILN__BINDING_TYPE)
        return kiln__not_a_type(scope, tree, &binding);
    if (!binding.named->is_struct)
        return diagnose(scope, tree, "not-concrete",
                        "an abstract type has no values of its own",
                        "a concrete type is needed here, not", tree->text);
    if (binding.named->definition->type_parameter_count > 0)
        return diagnose(scope, tree, "not-concrete",
                        "give its parameters in braces",
                        "a concrete type is needed here, not", tree->text);
    status =
        kiln__ask_struct(out, scope->facts, binding.named, NULL, 0, &error);
    return made(scope, tree, status, error);
}

static kiln_status resolve_tree(const kiln_type **out, resolving *r,
                                const kiln__ast *tree)
{
    static const kiln__binding no_binding = {.kind = KILN__BINDING_CONST};

    if (tree->kind == KILN__AST_NAME || tree->kind == KILN__AST_MEMBER)
        return resolve_name(out, r, tree);
    if (tree->kind == KILN__AST_APPLY)
        return resolve_apply(out, r, tree);
    if (tree->kind == KILN__AST_ARRAY_TYPE)
        return resolve_array(out, r, tree);
    if (tree->kind == KILN__AST_TUPLE)
        return resolve_tuple(out, r, tree);
    if (tree->kind == KILN__AST_TYPEOF)
        return resolve_typeof(out, r, tree);
    return kiln__not_a_type(r->scope, tree, &no_binding);
}

static kiln_status resolve(const kiln_type **out, resolving *r,
                           const kiln__ast *tree)
{
    kiln_status status;

    if (kiln__stack_is_low())
        return KILN_ESTACK;
    if (r->depth == RESOLVE_DEPTH_MAX)
        return diagnose(r->scope, tree, "invalid-type", NULL,
                        "this type is nested too deeply", NULL);
    r->depth++;
    status = resolve_tree(out, r, tree);
    r->depth--;
    return status;
}

kiln_status kiln__type_resolve(const kiln_type **out,
                               const kiln__type_scope *scope,
                               const kiln__ast *tree)
{
    resolving r = {.scope = scope};

    return resolve(out, &r, tree);
}
