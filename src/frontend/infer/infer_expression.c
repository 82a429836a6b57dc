/* infer_expression.c - expressions other than calls and parts of values. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/system/stack.h"
#include "frontend/infer/infer.h"

/*
 * Each kind of expression has a function that returns its value; by_kind()
 * selects it. kiln__infer_enter() and kiln__infer_leave() surround each level
 * and limit depth. Operators go through dispatch only where something may
 * replace their own rule.
 */

int kiln__infer_enter(kiln__infer *in, const kiln__ast *ast)
{
    uint32_t around = 0;

    if (in->status != KILN_OK)
        return 0;
    in->walk.here = ast;
    if (in->chain.parent != NULL)
        around = in->chain.parent->walk.nesting_all;
    if (kiln__stack_is_low()) {
        (void)kiln__infer_fail(in, KILN_ESTACK);
        return 0;
    }
    if (in->walk.nesting < KILN__INFER_NESTING_MAX &&
        around + in->walk.nesting < KILN__INFER_STACK_MAX) {
        in->walk.nesting++;
        in->walk.nesting_all = around + in->walk.nesting;
        return 1;
    }
    if (!in->walk.too_deep)
        (void)kiln__infer_error(in, ast->span, "too-deep",
                                "split it into several statements",
                                "the method is nested too deeply here");
    in->walk.too_deep = 1;
    return 0;
}

void kiln__infer_leave(kiln__infer *in)
{
    in->walk.nesting--;
    in->walk.nesting_all--;
}

static kiln__value literal(const kiln__ast *ast)
{
    kiln__value value = kiln__value_of(KILN__VALUE_LITERAL);

    value.constant.is_float = ast->kind == KILN__AST_FLOAT;
    if (value.constant.is_float) {
        value.constant.real = ast->real;
        value.constant.rest = ast->rest;
    } else {
        value.constant.integer = ast->integer;
    }
    return value;
}

kiln__value kiln__infer_loose_operand(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__value value = kiln__infer_expression(in, ast);

    if (value.kind == KILN__VALUE_NOTHING)
        return kiln__infer_error(in, ast->span, "no-value", NULL,
                                 "this call gives no value");
    return value;
}

kiln__value kiln__infer_operand(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__value value = kiln__infer_loose_operand(in, ast);

    return value.kind == KILN__VALUE_OPEN ? kiln__infer_settle(in, &value, ast)
                                          : value;
}

kiln__value kiln__infer_condition(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__value value = kiln__infer_operand(in, ast);
    const int is_number = value.kind == KILN__VALUE_LITERAL ||
                          (value.kind == KILN__VALUE_TYPED &&
                           (kiln__type_is_scalar(value.type) ||
                            value.type->kind == KILN_TYPE_STATIC));

    if (kiln__value_is_vague(&value) ||
        (value.kind == KILN__VALUE_TYPED && value.type->kind == KILN_TYPE_BOOL))
        return value;
    return kiln__infer_error(in, ast->span, "condition-not-bool",
                             is_number ? "compare it: x != 0" : NULL,
                             "a condition is Bool, but this is %s",
                             kiln__infer_describe(in, &value));
}

/* ---- operators ---- */

/* Calls the operator's function, with all methods that it has. */
static kiln__value call_operator(kiln__infer *in, const char *name,
                                 kiln__value *values, size_t count,
                                 const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_symbol(in, in->at.package, name);
    const kiln__binding *binding;

    if (symbol == NULL)
        return kiln__value_of(KILN__VALUE_POISON);
    binding = kiln__infer_binding(in, symbol);
    if (in->status != KILN_OK || binding->kind != KILN__BINDING_FUNCTION)
        return kiln__infer_unknown_name(in, ast);
    return kiln__infer_apply(in, binding->generic, values, count, ast);
}

kiln__value kiln__infer_operate(kiln__infer *in, const char *name,
                                kiln__value *values, size_t count,
                                const kiln__ast *ast)
{
    const kiln__operator *operator= kiln__operator_find(name);

    if (operator!= NULL && kiln__infer_has_rule(values, count) &&
        !kiln__infer_is_replaced(in, operator, values, count))
        return kiln__infer_by_rule(in, operator, values, count, ast);
    return call_operator(in, name, values, count, ast);
}

/* Expressions recurse. So the functions for kinds that do are not inlined into
   by_kind(), and a level of recursion needs only the stack of its own kind. */
#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static kiln__value unary(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value value = kiln__infer_loose_operand(in, ast->children[0]);

    return kiln__infer_operate(in, ast->text, &value, 1, ast);
}

OUT_OF_LINE static kiln__value binary(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value sides[2];

    sides[0] = kiln__infer_loose_operand(in, ast->children[0]);
    sides[1] = kiln__infer_loose_operand(in, ast->children[1]);
    return kiln__infer_operate(in, ast->text, sides, 2, ast);
}

/* && and ||: a left side that is known at compile time decides whether the
   right side exists. */
OUT_OF_LINE static kiln__value logic(kiln__infer *in, const kiln__ast *ast)
{
    const int is_and = ast->text[0] == '&';
    const kiln_type *boolean = kiln__infer_scalar(in, KILN_TYPE_BOOL);
    kiln__value left = kiln__infer_condition(in, ast->children[0]);
    kiln__value right;
    uint32_t nodes[2];

    if (left.kind == KILN__VALUE_TYPED && left.is_static) {
        if ((left.constant.integer != 0) != is_and)
            return left;
        return kiln__infer_condition(in, ast->children[1]);
    }
    nodes[0] = kiln__infer_use(in, &left, ast);
    in->walk.conditional++;
    right = kiln__infer_condition(in, ast->children[1]);
    in->walk.conditional--;
    if (kiln__value_is_vague(&left))
        return left;
    nodes[1] = kiln__infer_use(in, &right, ast);
    if (kiln__value_is_vague(&right))
        return right;
    return kiln__infer_made(in, is_and ? KILN__IR_ANDALSO : KILN__IR_ORELSE,
                            boolean, ast, 0, (kiln__operands){nodes, 2});
}

/* ---- choices ---- */

static const kiln_type *type_or_null(const kiln__value *value)
{
    return value->kind == KILN__VALUE_TYPED ? value->type : NULL;
}

static kiln__value no_common_type(kiln__infer *in, const kiln__value *a,
                                  const kiln__value *b, const kiln__ast *ast)
{
    const int scalars = kiln__infer_is_plain(a) && kiln__infer_is_plain(b) &&
                        type_or_null(a) != NULL;
    const int b_holds_a = scalars && type_or_null(b) != NULL &&
                          kiln_type_size(b->type) > kiln_type_size(a->type);
    const char *hint =
        scalars
            ? kiln__infer_format(in, "convert one: %s(...)",
                                 kiln_type_text(b_holds_a ? b->type : a->type))
            : NULL;

    return kiln__infer_error(in, ast->span, "wrong-type", hint,
                             "both sides need one type, these are %s and %s",
                             kiln__infer_describe(in, a),
                             kiln__infer_describe(in, b));
}

/* Converts two values to one type, without converting typed ones. Two loose
   ones stay so. */
static int merge(kiln__infer *in, kiln__value *a, kiln__value *b,
                 const kiln__ast *ast)
{
    if (a->kind == KILN__VALUE_TYPED && b->kind == KILN__VALUE_TYPED &&
        a->type == b->type)
        return 1;
    *a = kiln__infer_decay(in, a, ast);
    *b = kiln__infer_decay(in, b, ast);
    if (kiln__value_is_loose(a) && kiln__value_is_loose(b))
        return 1;
    if (kiln__value_is_loose(a)) {
        *a = kiln__infer_adapt(in, a, b->type, ast, "the other side");
    } else if (kiln__value_is_loose(b)) {
        *b = kiln__infer_adapt(in, b, a->type, ast, "the other side");
    } else {
        (void)no_common_type(in, a, b, ast);
        return 0;
    }
    return !kiln__value_is_vague(a) && !kiln__value_is_vague(b);
}

kiln__value kiln__infer_choose(kiln__infer *in, kiln__ir_op op,
                               uint32_t condition, kiln__value *a,
                               kiln__value *b, const kiln__ast *ast)
{
    const kiln__operation operation = {.op = op, .condition = condition};
    uint32_t nodes[3] = {condition, 0, 0};

    if (a->kind == KILN__VALUE_POISON || b->kind == KILN__VALUE_POISON)
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    if (a->kind == KILN__VALUE_BOTTOM || b->kind == KILN__VALUE_BOTTOM) {
        in->broken = 1;
        if (in->returns.guess == NULL && a->kind != b->kind)
            in->returns.guess =
                a->kind == KILN__VALUE_BOTTOM ? a->type : b->type;
        return a->kind == KILN__VALUE_BOTTOM ? *b : *a;
    }
    if (!merge(in, a, b, ast))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    if (kiln__value_is_loose(a)) {
        const kiln__value sides[2] = {*a, *b};

        return kiln__infer_open(in, &operation, sides, 2, ast);
    }
    nodes[1] = kiln__infer_use(in, a, ast);
    nodes[2] = kiln__infer_use(in, b, ast);
    return kiln__infer_made(in, op, a->type, ast, 0,
                            (kiln__operands){nodes, 3});
}

OUT_OF_LINE static kiln__value choice(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value condition = kiln__infer_condition(in, ast->children[0]);
    kiln__value sides[2];
    uint32_t node;

    if (condition.kind == KILN__VALUE_TYPED && condition.is_static)
        return kiln__infer_loose_operand(
            in, ast->children[condition.constant.integer != 0 ? 1 : 2]);
    node = kiln__infer_use(in, &condition, ast);
    in->walk.conditional++;
    sides[0] = kiln__infer_loose_operand(in, ast->children[1]);
    sides[1] = kiln__infer_loose_operand(in, ast->children[2]);
    in->walk.conditional--;
    return kiln__infer_choose(in, KILN__IR_CHOOSE, node, &sides[0], &sides[1],
                              ast);
}

/* ---- any expression ---- */

kiln__value kiln__infer_typeof(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ir_mark mark = kiln__infer_mark(in);
    kiln__value value = kiln__infer_operand(in, ast);

    value = kiln__infer_settle(in, &value, ast);
    if (in->status == KILN_OK)
        kiln__infer_rollback(in, mark);
    return kiln__value_is_vague(&value)
               ? value
               : kiln__infer_type_value(in, value.type);
}

static kiln__value type_value(kiln__infer *in, const kiln__ast *ast)
{
    const kiln_type *type;

    if (ast->kind == KILN__AST_ARRAY_TYPE &&
        ast->children[0]->kind == KILN__AST_NAME &&
        kiln__infer_is_variable(in, ast->children[0]->text))
        return kiln__infer_error(in, ast->span, "bad-index",
                                 "`a` itself is the whole array; a loop copies",
                                 "an array has no slices");
    type = kiln__infer_resolve(in, ast);
    return type == NULL ? kiln__value_of(KILN__VALUE_POISON)
                        : kiln__infer_type_value(in, type);
}

static kiln__value by_kind(kiln__infer *in, const kiln__ast *ast)
{
    switch ((uint32_t)ast->kind) {
    case KILN__AST_INTEGER:
    case KILN__AST_FLOAT:
        return literal(ast);
    case KILN__AST_BOOLEAN:
        return kiln__infer_boolean(in, ast->integer != 0, 0);
    case KILN__AST_NAME:
        return kiln__infer_name(in, ast);
    case KILN__AST_MEMBER:
        return kiln__infer_member(in, ast);
    case KILN__AST_CALL:
        return kiln__infer_call(in, ast);
    case KILN__AST_UNARY:
        return unary(in, ast);
    case KILN__AST_BINARY:
        return binary(in, ast);
    case KILN__AST_LOGIC:
        return logic(in, ast);
    case KILN__AST_CHOICE:
        return choice(in, ast);
    case KILN__AST_INDEX:
        return kiln__infer_indexed(in, ast);
    case KILN__AST_TUPLE:
        return kiln__infer_tuple(in, ast);
    case KILN__AST_TYPEOF:
        return kiln__infer_typeof(in, ast->children[0]);
    case KILN__AST_APPLY:
    case KILN__AST_ARRAY_TYPE:
        return type_value(in, ast);
    case KILN__AST_STRING:
        return kiln__infer_error(in, ast->span, "string-value",
                                 "texts stand in print and assert only",
                                 "a text is no value");
    default:
        return kiln__infer_error(in, ast->span, "not-an-expression", NULL,
                                 "this is no expression");
    }
}

kiln__value kiln__infer_expression(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value value;

    if (!kiln__infer_enter(in, ast))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    value = by_kind(in, ast);
    kiln__infer_leave(in);
    return in->status == KILN_OK ? value : kiln__value_of(KILN__VALUE_POISON);
}
