/* infer_result.c - what a method returns, and the type of that. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * All returns have one type. A literal takes the type of the others, which may
 * come later, so its node is filled in after the walk. Likewise, compile-time
 * integers that differ become i64.
 */

static void emit_return(kiln__infer *in, const kiln__ast *ast,
                        const uint32_t *node)
{
    kiln__infer_emit(
        in, kiln__infer_node(in, KILN__IR_RETURN, NULL, ast, 0,
                             (kiln__operands){node, node == NULL ? 0 : 1}));
}

static void return_nothing(kiln__infer *in, const kiln__ast *ast,
                           const kiln__value *value)
{
    if (value != NULL && value->node != 0)
        kiln__infer_emit(in,
                         kiln__infer_node(in, KILN__IR_EVAL, NULL, ast, 0,
                                          (kiln__operands){&value->node, 1}));
    if (!in->returns_nothing)
        in->returned_nothing = ast->span;
    in->returns_nothing = 1;
    emit_return(in, ast, NULL);
}

/* Notes a literal or compile-time integer that has to wait for its type. */
static void return_later(kiln__infer *in, const kiln__ast *ast,
                         const kiln__value *given)
{
    kiln__pending pending = {.value = *given, .ast = ast->children[0]};

    kiln__infer_discard(in, given, ast);
    pending.value.node = 0;
    pending.node = kiln__infer_node(in, KILN__IR_CONST,
                                    kiln__infer_scalar(in, KILN_TYPE_I64), NULL,
                                    0, KILN__NO_OPERANDS);
    if (pending.node != 0 &&
        !kiln__array_push(in->alloc, &in->pending, pending))
        (void)kiln__infer_fail(in, KILN_ENOMEM);
    emit_return(in, ast, &pending.node);
}

static void return_typed(kiln__infer *in, const kiln__ast *ast,
                         const kiln__value *value)
{
    const uint32_t node = kiln__infer_use(in, value, ast);

    if (in->returned == NULL) {
        in->returned = value->type;
        in->returned_at = ast->span;
    } else if (in->returned != value->type) {
        (void)kiln__infer_error(in, ast->children[0]->span, "unstable-result",
                                "all returns of a function have one type",
                                "this returns %s, but %s returns %s",
                                kiln_type_text(value->type),
                                kiln__infer_place(in, in->returned_at),
                                kiln_type_text(in->returned));
    }
    emit_return(in, ast, &node);
}

/* Infers a return of a value: emits it if its type is certain, or lets it
   wait. */
static void return_value(kiln__infer *in, const kiln__ast *ast,
                         const kiln__value *given)
{
    kiln__value value = *given;
    uint32_t node;

    if (in->declared != NULL && !kiln__value_is_vague(&value)) {
        value = kiln__infer_adapt(in, &value, in->declared, ast->children[0],
                                  "the result");
        node = kiln__infer_use(in, &value, ast);
        emit_return(in, ast, &node);
    } else if (value.kind == KILN__VALUE_BOTTOM) {
        in->returns_bottom = in->broken = 1;
        if (in->guessed == NULL)
            in->guessed = value.type;
    } else if (value.kind == KILN__VALUE_POISON) {
        in->returns_poison = in->broken = 1;
    } else if (value.kind == KILN__VALUE_LITERAL ||
               kiln__value_is_static(&value)) {
        return_later(in, ast, &value);
    } else {
        return_typed(in, ast, &value);
    }
}

static void infer_return(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *tree = ast->count > 0 ? ast->children[0] : NULL;
    kiln__value value;

    if (tree == NULL) {
        return_nothing(in, ast, NULL);
        return;
    }
    value = kiln__infer_expression(in, tree);
    if (!in->reachable)
        return; /* checked, and it has no effect */
    if (value.kind == KILN__VALUE_NOTHING && in->declared == NULL)
        return_nothing(in, ast, &value);
    else if (value.kind == KILN__VALUE_NOTHING)
        (void)kiln__infer_error(in, tree->span, "no-value", NULL,
                                "this call gives no value");
    else if (in->definition->kernel && value.kind != KILN__VALUE_POISON)
        (void)kiln__infer_error(in, tree->span, "kernel-returns-value",
                                "store the value in an array",
                                "a kernel returns nothing");
    else
        return_value(in, ast, &value);
}

void kiln__infer_return(kiln__infer *in, const kiln__ast *ast)
{
    infer_return(in, ast);
    in->reachable = in->cut = 0;
}

/* ---- after the walk ---- */

static int all_one_static(const kiln__infer *in)
{
    const kiln_type *type = in->pending.items[0].value.type;

    for (size_t i = 0; i < in->pending.count; i++)
        if (!kiln__value_is_static(&in->pending.items[i].value) ||
            in->pending.items[i].value.type != type)
            return 0;
    return 1;
}

/* Returns the type of literals if nothing else is returned. */
static const kiln_type *type_of_pending(const kiln__infer *in)
{
    if (all_one_static(in))
        return in->pending.items[0].value.type;
    for (size_t i = 0; i < in->pending.count; i++)
        if (in->pending.items[i].value.kind == KILN__VALUE_LITERAL &&
            in->pending.items[i].value.constant.is_float)
            return kiln__infer_scalar(in, KILN_TYPE_F64);
    return kiln__infer_scalar(in, KILN_TYPE_I64);
}

static void fill_pending(kiln__infer *in, const kiln_type *type)
{
    for (size_t i = 0; i < in->pending.count; i++) {
        const kiln__pending *p = &in->pending.items[i];
        const uint32_t index = kiln__infer_type(in, type);
        const kiln__value value =
            kiln__infer_adapt(in, &p->value, type, p->ast, "the result");
        kiln__ir_node *node;

        if (kiln__value_is_vague(&value) || in->status != KILN_OK)
            continue;
        node = &in->ir.nodes.items[p->node];
        node->type = index;
        if (value.known)
            node->imm = kiln__fold_bits(&value.constant, type->kind);
        else
            node->op = KILN__IR_UNIT;
    }
}

static int pending_adapt(const kiln__infer *in, const kiln_type *type)
{
    for (size_t i = 0; i < in->pending.count; i++)
        if (!kiln__infer_adapts(&in->pending.items[i].value, type))
            return 0;
    return 1;
}

static void missing_return(kiln__infer *in)
{
    (void)kiln__infer_error(in, in->definition->name_span, "missing-return",
                            "return a value on every path",
                            "`%s` may end without returning a value",
                            in->definition->name);
}

/* Returns the type that all returns have in common, and completes those that
   wait for it. */
static const kiln_type *inferred_result(kiln__infer *in)
{
    const int has_value = in->returned != NULL || in->pending.count > 0;
    const kiln_type *type = in->returned;

    if (!has_value && (in->reachable || in->returns_nothing))
        return kiln__infer_scalar(in, KILN_TYPE_NONE);
    if (!has_value)
        /* Without any return, the end is never reached: the method loops for
           ever. */
        return in->returns_bottom || in->returns_poison
                   ? NULL
                   : kiln__infer_scalar(in, KILN_TYPE_NONE);
    if (in->reachable)
        missing_return(in);
    else if (in->returns_nothing)
        (void)kiln__infer_error(in, in->returned_nothing, "missing-return",
                                "return a value on every path",
                                "this returns nothing, but other returns of "
                                "`%s` give a value",
                                in->definition->name);
    if (type == NULL && in->guessed != NULL && in->bottom &&
        pending_adapt(in, in->guessed))
        return in->guessed;
    if (type == NULL)
        type = type_of_pending(in);
    fill_pending(in, type);
    return type;
}

const kiln_type *kiln__infer_result(kiln__infer *in)
{
    if (in->definition->kernel)
        return kiln__infer_scalar(in, KILN_TYPE_NONE);
    if (in->declared == NULL)
        return inferred_result(in);
    if (in->reachable)
        missing_return(in);
    else if (in->returns_nothing)
        (void)kiln__infer_error(in, in->returned_nothing, "missing-return",
                                NULL, "`%s` returns %s", in->definition->name,
                                kiln_type_text(in->declared));
    return in->declared;
}
