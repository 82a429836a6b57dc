/* infer_result.c - what a method returns, and the type of that. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * All returns have one type. A literal takes the type of the others, which may
 * come later, so its node is filled in after the walk. So do operations on
 * literals, whose nodes get another type. Likewise, compile-time
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
    if (!in->returns.nothing)
        in->returns.nothing_at = ast->span;
    in->returns.nothing = 1;
    emit_return(in, ast, NULL);
}

static void wait_for_type(kiln__infer *in, const kiln__pending *pending)
{
    if (!kiln__array_push(in->alloc, &in->returns.pending, *pending))
        (void)kiln__infer_fail(in, KILN_ENOMEM);
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
    if (pending.node != 0)
        wait_for_type(in, &pending);
    emit_return(in, ast, &pending.node);
}

/* The nodes are built at once and get their type later, since those of a
   statement come before it. */
static void return_open(kiln__infer *in, const kiln__ast *ast,
                        const kiln__value *given)
{
    const kiln__pending pending = {.value = *given,
                                   .ast = ast->children[0],
                                   .node = (uint32_t)in->body.ir.nodes.count};
    const kiln__value built = kiln__infer_settle(in, given, ast->children[0]);

    if (kiln__value_is_vague(&built)) {
        in->returns.poison = in->broken = 1;
        return;
    }
    wait_for_type(in, &pending);
    emit_return(in, ast, &built.node);
}

static void return_typed(kiln__infer *in, const kiln__ast *ast,
                         const kiln__value *value)
{
    const uint32_t node = kiln__infer_use(in, value, ast);

    if (in->returns.type == NULL) {
        in->returns.type = value->type;
        in->returns.type_at = ast->span;
    } else if (in->returns.type != value->type) {
        (void)kiln__infer_error(in, ast->children[0]->span, "unstable-result",
                                "all returns of a function have one type",
                                "this returns %s, but %s returns %s",
                                kiln_type_text(value->type),
                                kiln__infer_place(in, in->returns.type_at),
                                kiln_type_text(in->returns.type));
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

    if (in->returns.declared != NULL && !kiln__value_is_vague(&value)) {
        value = kiln__infer_adapt(in, &value, in->returns.declared,
                                  ast->children[0], "the result");
        node = kiln__infer_use(in, &value, ast);
        emit_return(in, ast, &node);
    } else if (value.kind == KILN__VALUE_BOTTOM) {
        in->returns.bottom = in->broken = 1;
        if (in->returns.guess == NULL)
            in->returns.guess = value.type;
    } else if (value.kind == KILN__VALUE_POISON) {
        in->returns.poison = in->broken = 1;
    } else if (value.kind == KILN__VALUE_LITERAL ||
               kiln__value_is_static(&value)) {
        return_later(in, ast, &value);
    } else if (value.kind == KILN__VALUE_OPEN &&
               kiln__infer_open_can_change(&value)) {
        return_open(in, ast, &value);
    } else {
        value = kiln__infer_settle(in, &value, ast->children[0]);
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
    if (!in->flow.reachable)
        return; /* checked, and it has no effect */
    if (value.kind == KILN__VALUE_NOTHING && in->returns.declared == NULL)
        return_nothing(in, ast, &value);
    else if (value.kind == KILN__VALUE_NOTHING)
        (void)kiln__infer_error(in, tree->span, "no-value", NULL,
                                "this call gives no value");
    else if (in->task.definition->kernel && value.kind != KILN__VALUE_POISON)
        (void)kiln__infer_error(in, tree->span, "kernel-returns-value",
                                "store the value in an array",
                                "a kernel returns nothing");
    else
        return_value(in, ast, &value);
}

void kiln__infer_return(kiln__infer *in, const kiln__ast *ast)
{
    infer_return(in, ast);
    in->flow.reachable = in->flow.cut = 0;
}

/* ---- after the walk ---- */

static int all_one_static(const kiln__infer *in)
{
    const kiln_type *type = in->returns.pending.items[0].value.type;

    for (size_t i = 0; i < in->returns.pending.count; i++)
        if (!kiln__value_is_static(&in->returns.pending.items[i].value) ||
            in->returns.pending.items[i].value.type != type)
            return 0;
    return 1;
}

/* Returns the type of literals if nothing else is returned. */
static const kiln_type *type_of_pending(const kiln__infer *in)
{
    if (all_one_static(in))
        return in->returns.pending.items[0].value.type;
    for (size_t i = 0; i < in->returns.pending.count; i++)
        if (kiln__value_is_loose(&in->returns.pending.items[i].value) &&
            in->returns.pending.items[i].value.constant.is_float)
            return kiln__infer_scalar(in, KILN_TYPE_F64);
    return kiln__infer_scalar(in, KILN_TYPE_I64);
}

static void fill_pending(kiln__infer *in, const kiln_type *type)
{
    for (size_t i = 0; i < in->returns.pending.count; i++) {
        const kiln__pending *p = &in->returns.pending.items[i];
        const uint32_t index = kiln__infer_type(in, type);
        kiln__value value;
        kiln__ir_node *node;

        if (p->value.kind == KILN__VALUE_OPEN &&
            kiln__infer_adapts(&p->value, type)) {
            if (!in->broken) /* all of its nodes are there */
                kiln__infer_open_change(in, &p->value, type, p->node);
            continue;
        }
        value = kiln__infer_adapt(in, &p->value, type, p->ast, "the result");

        if (kiln__value_is_vague(&value) || in->status != KILN_OK)
            continue;
        node = &in->body.ir.nodes.items[p->node];
        node->type = index;
        if (value.known)
            node->imm = kiln__fold_bits(&value.constant, type->kind);
        else
            node->op = KILN__IR_UNIT;
    }
}

static int pending_adapt(const kiln__infer *in, const kiln_type *type)
{
    for (size_t i = 0; i < in->returns.pending.count; i++)
        if (!kiln__infer_adapts(&in->returns.pending.items[i].value, type))
            return 0;
    return 1;
}

static void missing_return(kiln__infer *in)
{
    (void)kiln__infer_error(in, in->task.definition->name_span,
                            "missing-return", "return a value on every path",
                            "`%s` may end without returning a value",
                            in->task.definition->name);
}

/* Returns the type that all returns have in common, and completes those that
   wait for it. */
static const kiln_type *inferred_result(kiln__infer *in)
{
    const int has_value =
        in->returns.type != NULL || in->returns.pending.count > 0;
    const kiln_type *type = in->returns.type;

    if (!has_value && (in->flow.reachable || in->returns.nothing))
        return kiln__infer_scalar(in, KILN_TYPE_NONE);
    if (!has_value)
        /* Without any return, the end is never reached: the method loops for
           ever. */
        return in->returns.bottom || in->returns.poison
                   ? NULL
                   : kiln__infer_scalar(in, KILN_TYPE_NONE);
    if (in->flow.reachable)
        missing_return(in);
    else if (in->returns.nothing)
        (void)kiln__infer_error(in, in->returns.nothing_at, "missing-return",
                                "return a value on every path",
                                "this returns nothing, but other returns of "
                                "`%s` give a value",
                                in->task.definition->name);
    if (type == NULL && in->returns.guess != NULL && in->bottom &&
        pending_adapt(in, in->returns.guess))
        return in->returns.guess;
    if (type == NULL)
        type = type_of_pending(in);
    fill_pending(in, type);
    return type;
}

const kiln_type *kiln__infer_result(kiln__infer *in)
{
    if (in->task.definition->kernel)
        return kiln__infer_scalar(in, KILN_TYPE_NONE);
    if (in->returns.declared == NULL)
        return inferred_result(in);
    if (in->flow.reachable)
        missing_return(in);
    else if (in->returns.nothing)
        (void)kiln__infer_error(in, in->returns.nothing_at, "missing-return",
                                NULL, "`%s` returns %s",
                                in->task.definition->name,
                                kiln_type_text(in->returns.declared));
    return in->returns.declared;
}
