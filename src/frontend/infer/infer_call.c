/* infer_call.c - calls of methods, types, and functions that are values. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"
#include "frontend/program/builtins.h"

/*
 * Methods come first, then the built-in rule. Dispatch is asked by a query, so
 * that a method that is added later is noticed.
 */

/* ---- methods ---- */

/* The answer of dispatch, without the memory that finding it takes. */
typedef struct target {
    kiln_status status;
    const kiln_type **types;
} target;

static void refuse_call(kiln__infer *in, kiln_status status,
                        const kiln__match *match,
                        const kiln__dispatch_call *call, const kiln__ast *ast)
{
    kiln__refusal refusal = {0};
    const kiln_status explained =
        kiln__dispatch_explain(&refusal, &in->arena, status, match, call);

    if (explained != KILN_OK)
        (void)kiln__infer_fail(in, explained);
    else
        (void)kiln__infer_error(in, ast->span, refusal.code, refusal.hint, "%s",
                                refusal.message);
}

/* Asks dispatch. With `report`, a refusal is reported. This is not inlined, so
   that the match is not on the stack while callees are inferred. */
__attribute__((noinline)) static target find_method(
    kiln__infer *in, const kiln__generic *generic,
    const kiln__argument *arguments, size_t count, int report,
    const kiln__ast *ast)
{
    target found = {0};
    kiln__match match = {0};

    found.status =
        kiln__ask_method(&match, &in->facts, generic, arguments, count);
    if (found.status == KILN_OK) {
        found.types = kiln__arena_copy(&in->arena, match.types,
                                       (count + 1) * sizeof *found.types);
        if (found.types == NULL)
            (void)kiln__infer_fail(in, KILN_ENOMEM);
    } else if (found.status == KILN_ECOMPILE ||
               (found.status == KILN_ENOTFOUND && report)) {
        refuse_call(in, found.status, &match,
                    &(kiln__dispatch_call){generic, arguments, count,
                                           in->facts.overlays, in->facts.world},
                    ast);
    } else if (found.status != KILN_ENOTFOUND) {
        (void)kiln__infer_fail(in, found.status);
    }
    return found;
}

static const kiln__ast *argument_place(const kiln__ast *ast, size_t i,
                                       size_t count)
{
    if (ast->kind == KILN__AST_CALL && ast->count == count + 1)
        return ast->children[i + 1];
    return ast->kind == KILN__AST_BINARY && count == 2 ? ast->children[i] : ast;
}

/* Reports recursion of types. A call that makes a new type each time never
   ends. If each call makes two such calls, the limit on depth is reached too
   late. */
static int goes_too_far(kiln__infer *in, const kiln__generic *generic,
                        const kiln__ast *ast)
{
    static const char hint[] =
        "does each call make a new type or compile-time integer?";
    const char *name = kiln__generic_name(generic);

    if (in->chain.depth + 1 >= KILN__INFER_CHAIN_MAX)
        (void)kiln__infer_error(in, ast->span, "too-deep", hint,
                                "calls nest too deeply to infer: %d before "
                                "`%s`",
                                KILN__INFER_CHAIN_MAX, name);
    else if (in->chain.root->chain.inferred >= KILN__INFER_METHODS_MAX)
        (void)kiln__infer_error(in, ast->span, "too-large", hint,
                                "calls lead to too much to infer: %d methods "
                                "before `%s`",
                                KILN__INFER_METHODS_MAX, name);
    else
        return 0;
    return 1;
}

/* Calls the method that dispatch has found, with arguments adapted to
   `types`. */
static kiln__value call_method(kiln__infer *in, const kiln__generic *generic,
                               const kiln_type *const *types,
                               kiln__value *arguments, size_t count,
                               const kiln__ast *ast)
{
    const kiln_signature signature = {kiln__generic_function(generic), types,
                                      count};
    const kiln__span before = in->walk.span;
    uint32_t *nodes =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *nodes);
    kiln__value result;

    if (nodes == NULL)
        return kiln__infer_fail(in, KILN_ENOMEM);
    if (in->at.in_constant)
        return kiln__infer_error(in, ast->span, "not-constant", NULL,
                                 "a constant calls no method");
    if (goes_too_far(in, generic, ast))
        return kiln__value_of(KILN__VALUE_POISON);
    for (size_t i = 0; i < count; i++) {
        const kiln__ast *place = argument_place(ast, i, count);

        arguments[i] = kiln__infer_adapt(in, &arguments[i], types[i], place,
                                         "the parameter");
        if (kiln__value_is_vague(&arguments[i]))
            return arguments[i];
        nodes[i] = kiln__infer_use(in, &arguments[i], place);
    }
    in->walk.span = ast->span;
    result = kiln__infer_callee(in, &signature, nodes, ast);
    in->walk.span = before;
    return result;
}

/* ---- generic functions ---- */

static void fill_arguments(kiln__infer *in, kiln__argument *out,
                           const kiln__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int is_float = values[i].constant.is_float;

        if (values[i].kind == KILN__VALUE_TYPED)
            out[i] = (kiln__argument){values[i].type, KILN__LITERAL_NONE};
        else
            out[i] = (kiln__argument){
                kiln__infer_scalar(in,
                                   is_float ? KILN_TYPE_F64 : KILN_TYPE_I64),
                is_float ? KILN__LITERAL_FLOAT : KILN__LITERAL_INTEGER};
    }
}

static int any_static(const kiln__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kiln__value_is_static(&values[i]))
            return 1;
    return 0;
}

static const kiln__value *first_vague(const kiln__value *values, size_t count)
{
    const kiln__value *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (kiln__value_is_vague(&values[i]) &&
            (found == NULL || values[i].kind == KILN__VALUE_POISON))
            found = &values[i];
    return found;
}

/* True when there is a built-in rule for these arguments, if no method takes
   them. */
static int has_rule(const kiln__builtin *builtin, const kiln__value *values,
                    size_t count)
{
    return builtin != NULL && (builtin->rule != KILN__RULE_OPERATOR ||
                               kiln__infer_has_rule(values, count));
}

/* True for an operator's rule that nothing replaces: it needs no dispatch. */
static int is_settled(kiln__infer *in, const kiln__builtin *builtin,
                      const kiln__value *values, size_t count)
{
    return builtin != NULL && builtin->rule == KILN__RULE_OPERATOR &&
           kiln__infer_has_rule(values, count) &&
           !kiln__infer_is_replaced(in, kiln__operator_find(builtin->name),
                                    values, count);
}

/* Finds a method. Compile-time integers are passed as such if a method takes
   them, and otherwise as plain integers. */
static target find_any_method(kiln__infer *in, const kiln__generic *generic,
                              kiln__value *arguments, size_t count, int report,
                              const kiln__ast *ast)
{
    const int has_static = any_static(arguments, count);
    kiln__argument *asked =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *asked);
    target found = {.status = KILN_ENOMEM};

    if (asked == NULL)
        return (void)kiln__infer_fail(in, KILN_ENOMEM), found;
    fill_arguments(in, asked, arguments, count);
    found = find_method(in, generic, asked, count, report && !has_static, ast);
    if (found.status != KILN_ENOTFOUND || !has_static)
        return found;
    for (size_t i = 0; i < count; i++)
        if (kiln__value_is_static(&arguments[i]))
            asked[i] = (kiln__argument){kiln__infer_scalar(in, KILN_TYPE_I64),
                                        KILN__LITERAL_INTEGER};
    return find_method(in, generic, asked, count, report, ast);
}

kiln__value kiln__infer_apply(kiln__infer *in, const kiln__generic *generic,
                              kiln__value *arguments, size_t count,
                              const kiln__ast *ast)
{
    const kiln__builtin *builtin =
        kiln__builtin_at(kiln__generic_builtin(generic));
    const kiln__value *vague = first_vague(arguments, count);
    target found;
    int rule;

    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    if (vague != NULL)
        return in->broken = 1, kiln__value_of(vague->kind);
    if (count > KILN_ARGUMENTS_MAX)
        return kiln__infer_error(in, ast->span, "no-method", NULL,
                                 "a call with %zu arguments; it has at most %d",
                                 count, KILN_ARGUMENTS_MAX);
    rule = has_rule(builtin, arguments, count);
    if (is_settled(in, builtin, arguments, count))
        return kiln__infer_builtin(in, builtin, arguments, count, ast);
    found = find_any_method(in, generic, arguments, count, !rule, ast);
    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    if (found.status == KILN_OK)
        return call_method(in, generic, found.types, arguments, count, ast);
    if (found.status == KILN_ENOTFOUND && rule)
        return kiln__infer_builtin(in, builtin, arguments, count, ast);
    return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
}

kiln__value kiln__infer_apply_name(kiln__infer *in, const char *name,
                                   kiln__value *arguments, size_t count,
                                   const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, kiln__infer_core(in), name);
    const kiln__binding *binding;

    if (symbol == NULL)
        return kiln__value_of(KILN__VALUE_POISON);
    binding = kiln__infer_binding(in, symbol);
    if (in->status == KILN_OK && binding->kind != KILN__BINDING_FUNCTION)
        return kiln__infer_error(in, ast->span, "unknown-name", NULL,
                                 "the runtime library has no `%s`", name);
    return kiln__infer_apply(in, binding->generic, arguments, count, ast);
}

/* ---- what a call's tree refers to ---- */

/* A tuple of indices is split for an atomic operation, and for methods that
   replace it. */
static int is_index_list(const kiln__builtin *builtin, size_t i,
                         const kiln__ast *argument)
{
    return builtin != NULL && builtin->rule == KILN__RULE_ATOMIC && i == 2 &&
           argument->kind == KILN__AST_TUPLE;
}

kiln__arguments kiln__infer_arguments(kiln__infer *in,
                                      const kiln__builtin *builtin,
                                      const kiln__ast *ast)
{
    kiln__arguments list = {0};
    size_t count = ast->count - 1;

    for (size_t i = 1; i < ast->count; i++)
        if (is_index_list(builtin, i, ast->children[i]))
            count += ast->children[i]->count;
    list.values =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *list.values);
    if (list.values == NULL)
        return (void)kiln__infer_fail(in, KILN_ENOMEM), list;
    for (size_t i = 1; i < ast->count; i++) {
        const kiln__ast *argument = ast->children[i];

        if (!is_index_list(builtin, i, argument)) {
            list.values[list.count++] = kiln__infer_loose_operand(in, argument);
            continue;
        }
        for (size_t k = 0; k < argument->count; k++)
            list.values[list.count++] =
                kiln__infer_operand(in, argument->children[k]);
    }
    return list;
}

static kiln__value call_generic(kiln__infer *in, const kiln__generic *generic,
                                const kiln__ast *ast)
{
    const kiln__builtin *builtin =
        kiln__builtin_at(kiln__generic_builtin(generic));
    kiln__arguments list;

    if (builtin != NULL && builtin->rule == KILN__RULE_TYPEOF &&
        ast->count == 2)
        return kiln__infer_typeof(in, ast->children[1]);
    list = kiln__infer_arguments(in, builtin, ast);
    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_apply(in, generic, list.values, list.count, ast);
}

static kiln__value call_type(kiln__infer *in, const kiln_type *type,
                             const kiln__ast *ast)
{
    const kiln__arguments list = kiln__infer_arguments(in, NULL, ast);

    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_construct(in, type, list.values, list.count, ast);
}

/* Reports that the fields do not determine the parameters. */
static kiln__value no_parameters(kiln__infer *in, const kiln__named_type *named,
                                 const kiln__arguments *list,
                                 const kiln__ast *ast)
{
    const size_t fields = kiln__named_struct(named)->parameter_count;

    for (size_t i = 0; i < list->count; i++)
        if (list->values[i].kind == KILN__VALUE_TYPED &&
            list->values[i].type->kind == KILN_TYPE_ARRAY)
            return kiln__infer_error(in, ast->span, "wrong-type",
                                     "pass arrays as arguments of their own",
                                     "an array (%s) cannot be part of a struct",
                                     kiln_type_text(list->values[i].type));
    return kiln__infer_error(
        in, ast->span, "wrong-type",
        list->count != fields
            ? NULL
            : kiln__infer_format(in, "name the parameters: %s{...}(...)",
                                 kiln__named_name(named)),
        "these %zu values do not make a %s of %zu fields", list->count,
        kiln__named_name(named), fields);
}

/* Complex(a, b): the fields determine the parameters. */
static kiln__value call_parametric(kiln__infer *in,
                                   const kiln__named_type *named,
                                   const kiln__ast *ast)
{
    const kiln__arguments list = kiln__infer_arguments(in, NULL, ast);
    const kiln__value *vague = first_vague(list.values, list.count);
    kiln__argument *fields =
        kiln__arena_allocate_array(&in->arena, list.count + 1, sizeof *fields);
    const kiln_type *type = NULL;
    kiln_status status;

    if (in->status != KILN_OK || vague != NULL)
        return in->broken = 1,
               vague != NULL ? *vague : kiln__value_of(KILN__VALUE_POISON);
    if (fields == NULL)
        return kiln__infer_fail(in, KILN_ENOMEM);
    fill_arguments(in, fields, list.values, list.count);
    status = kiln__ask_fields(&type, &in->facts, named, fields, list.count);
    if (status == KILN_ENOTFOUND || status == KILN_ECOMPILE)
        return no_parameters(in, named, &list, ast);
    if (status != KILN_OK)
        return kiln__infer_fail(in, status);
    return kiln__infer_construct(in, type, list.values, list.count, ast);
}

/* Makes a value by the name of a type: a struct or a vector. */
static kiln__value call_named_type(kiln__infer *in,
                                   const kiln__named_type *named,
                                   const kiln__ast *ast)
{
    const kiln__definition *definition = kiln__named_struct(named);
    const kiln_type *type;
    kiln__arguments list;

    if (definition != NULL && definition->type_parameter_count > 0)
        return call_parametric(in, named, ast);
    if (kiln__named_is_kind(named, KILN_TYPE_VECTOR)) {
        list = kiln__infer_arguments(in, NULL, ast);
        return in->status == KILN_OK
                   ? kiln__infer_vector(in, list.values, list.count, ast)
                   : kiln__value_of(KILN__VALUE_POISON);
    }
    if (definition == NULL)
        return kiln__infer_error(in, ast->children[0]->span, "not-callable",
                                 "an abstract type has no values of its own",
                                 "`%s` makes no values",
                                 kiln__named_name(named));
    type = kiln__infer_resolve(in, ast->children[0]);
    return type == NULL ? kiln__value_of(KILN__VALUE_POISON)
                        : call_type(in, type, ast);
}

/* The callee is a value: its type says which function is called. */
static kiln__value call_value(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *callee = ast->children[0];
    const kiln__value value = kiln__infer_operand(in, callee);
    const kiln_type *type = value.type;

    if (kiln__value_is_vague(&value)) {
        (void)kiln__infer_arguments(in, NULL, ast);
        return value;
    }
    if (value.kind == KILN__VALUE_TYPED && type->kind == KILN_TYPE_TYPE) {
        kiln__infer_discard(in, &value, callee);
        return call_type(in, type->element, ast);
    }
    if (value.kind == KILN__VALUE_TYPED && type->kind == KILN_TYPE_FUNCTION &&
        type->function->frontend == kiln_context_language(in->context)) {
        kiln__infer_discard(in, &value, callee);
        return call_generic(in, kiln_function_data(type->function), ast);
    }
    return kiln__infer_error(
        in, callee->span, "not-callable",
        value.kind == KILN__VALUE_TYPED && type->kind == KILN_TYPE_ARRAY
            ? "an element is `a[i]`"
            : NULL,
        "%s cannot be called", kiln__infer_describe(in, &value));
}

kiln__value kiln__infer_call(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *callee = ast->children[0];
    const kiln__symbol *symbol = kiln__infer_bound(in, callee);
    kiln__outside outside;

    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    if (symbol != NULL && symbol->binding.kind == KILN__BINDING_FUNCTION)
        return call_generic(in, symbol->binding.generic, ast);
    if (symbol != NULL && symbol->binding.kind == KILN__BINDING_TYPE)
        return call_named_type(in, symbol->binding.named, ast);
    if (kiln__infer_outside(in, callee, &outside))
        return kiln__infer_call_outside(in, &outside, ast);
    return call_value(in, ast);
}
