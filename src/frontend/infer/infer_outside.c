/* infer_outside.c - calls of functions of other frontends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"
#include "frontend/program/outside.h"

/*
 * There is no dispatch: the arguments' types are the signature, and the other
 * frontend says whether they fit. Only literals and compile-time integers
 * adapt, to the parameter's type.
 */

kiln__value kiln__infer_outside_failed(kiln__infer *in, kiln_status status,
                                       kiln_error *error)
{
    return kiln__infer_callee_failed(
        in, status == KILN_ENOTFOUND ? KILN_ECOMPILE : status, error);
}

int kiln__infer_outside(kiln__infer *in, const kiln__ast *ast,
                        kiln__outside *out)
{
    const int is_member = ast->kind == KILN__AST_MEMBER &&
                          ast->children[0]->kind == KILN__AST_NAME;
    const kiln__ast *name = is_member ? ast->children[0] : ast;
    const kiln__binding *binding;
    kiln__symbol *symbol;

    if (name->kind != KILN__AST_NAME)
        return 0;
    symbol = kiln__infer_symbol(in, in->at.package, name->text);
    if (symbol == NULL || (symbol->variable != NULL && !in->at.in_constant))
        return 0;
    binding = kiln__infer_binding(in, symbol);
    *out = binding->outside;
    if (is_member)
        out->name = ast->text;
    return in->status == KILN_OK &&
           binding->kind == (is_member ? KILN__BINDING_OUTSIDE
                                       : KILN__BINDING_OUTSIDE_FUNCTION);
}

kiln__value kiln__infer_outside_value(kiln__infer *in, const kiln__ast *ast)
{
    return kiln__infer_error(
        in, ast->span, "unsupported", "write a function around it",
        "`%s` is a function of another language, and no value", ast->text);
}

/* ---- types that have no meaning outside ---- */

static int holds_array(const kiln_type *type)
{
    if (type->kind == KILN_TYPE_ARRAY)
        return 1;
    for (size_t i = 0; i < type->field_count; i++)
        if (holds_array(type->fields[i].type))
            return 1;
    return 0;
}

/* Only an argument of its own is passed as an array is. */
static int can_pass(const kiln_type *type)
{
    return type->kind == KILN_TYPE_ARRAY || !holds_array(type);
}

int kiln__infer_outside_result(kiln__infer *in, const kiln_signature *signature,
                               const kiln_type **type)
{
    if (*type == NULL) /* its frontend says nothing of it */
        *type = kiln__infer_scalar(in, KILN_TYPE_NONE);
    if ((*type)->kind != KILN_TYPE_FOREIGN && !holds_array(*type))
        return 1;
    (void)kiln__infer_error(in, in->walk.span, "unsupported", NULL,
                            "`%s` gives %s, which another language cannot take",
                            kiln_function_name(signature->function),
                            kiln_type_text(*type));
    return 0;
}

/* ---- calls ---- */

/* Adapts the arguments to the parameters, and stores their types and nodes. */
static int adapt_all(kiln__infer *in, const kiln_function *function,
                     const kiln__arguments *list, const kiln_type **types,
                     uint32_t *nodes, const kiln__ast *ast)
{
    const kiln_type *wanted[KILN_ARGUMENTS_MAX];
    kiln_error *error = NULL;
    size_t count = 0;
    const kiln_status status = kiln__ask_outside_parameters(
        wanted, &count, &in->facts, function, &error);

    if (status != KILN_OK) {
        (void)kiln__infer_outside_failed(in, status, error);
        return 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        kiln__value *value = &list->values[i];
        const kiln__ast *place = ast->children[i + 1];

        if (i < count && wanted[i] != NULL &&
            (kiln__value_is_loose(value) || kiln__value_is_static(value)))
            *value =
                kiln__infer_adapt(in, value, wanted[i], place, "the parameter");
        *value = kiln__infer_decay(in, value, place);
        *value = kiln__infer_settle(in, value, place);
        if (kiln__value_is_vague(value))
            return in->broken = 1, 0;
        if (!can_pass(value->type))
            return (void)kiln__infer_error(
                       in, place->span, "wrong-type",
                       "pass arrays as arguments of their own",
                       "%s cannot be passed to another language",
                       kiln_type_text(value->type)),
                   0;
        types[i] = value->type;
        nodes[i] = kiln__infer_use(in, value, place);
    }
    return in->status == KILN_OK;
}

static kiln__value call(kiln__infer *in, const kiln_function *function,
                        const kiln__arguments *list, const kiln__ast *ast)
{
    const kiln_type **types =
        kiln__arena_allocate_array(&in->arena, list->count + 1, sizeof *types);
    uint32_t *nodes =
        kiln__arena_allocate_array(&in->arena, list->count + 1, sizeof *nodes);
    const kiln_signature signature = {function, types, list->count};

    if (types == NULL || nodes == NULL)
        return kiln__infer_fail(in, KILN_ENOMEM);
    if (in->at.in_constant)
        return kiln__infer_error(in, ast->span, "not-constant", NULL,
                                 "a constant calls no function");
    if (list->count > KILN_ARGUMENTS_MAX)
        return kiln__infer_error(in, ast->span, "no-method", NULL,
                                 "a call with %zu arguments; it has at most %d",
                                 list->count, KILN_ARGUMENTS_MAX);
    if (!adapt_all(in, function, list, types, nodes, ast))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_callee(in, &signature, nodes, ast);
}

kiln__value kiln__infer_call_outside(kiln__infer *in,
                                     const kiln__outside *outside,
                                     const kiln__ast *ast)
{
    const kiln__arguments list = kiln__infer_arguments(in, NULL, ast);
    const kiln__span before = in->walk.span;
    const kiln_function *function = NULL;
    kiln_error *error = NULL;
    kiln__value result;
    kiln_status status;

    if (in->status != KILN_OK)
        return kiln__value_of(KILN__VALUE_POISON);
    in->walk.span = ast->span;
    status = kiln__ask_outside(&function, &in->facts, outside, &error);
    if (status == KILN_OK)
        result = call(in, function, &list, ast);
    else
        result = kiln__infer_outside_failed(in, status, error);
    in->walk.span = before;
    return result;
}
