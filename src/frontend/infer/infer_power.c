/* infer_power.c - the operator `**`. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * Squares and cubes of variables become multiplications. Other integer powers
 * call core.ipow, which specialises on a compile-time exponent and multiplies
 * in turn. A power of two floats is `pow`.
 */

#define STATIC_EXPONENT_MAX 64

static const kiln_type *lane(const kiln_type *type)
{
    return type->kind == KILN_TYPE_VECTOR ? type->element : type;
}

static int is_variable(const kiln__infer *in, const kiln__value *value)
{
    return value->node != 0 &&
           in->body.ir.nodes.items[value->node].op == KILN__IR_LOCAL;
}

/* The multiplication is an ordinary one, so a method may replace it. */
static kiln__value multiply(kiln__infer *in, const kiln__value *a,
                            const kiln__value *b, const kiln__ast *ast)
{
    kiln__value sides[2] = {*a, *b};

    return kiln__infer_operate(in, "*", sides, 2, ast);
}

/* Returns x * x or x * (x * x), as repeated squaring does. */
static kiln__value multiply_out(kiln__infer *in, const kiln__value *x,
                                kiln__wide exponent, const kiln__ast *ast)
{
    const uint32_t local = (uint32_t)in->body.ir.nodes.items[x->node].imm;
    kiln__value square, more;

    more = kiln__infer_typed(x->type, kiln__infer_read(in, local, x->type));
    if (exponent == 2)
        return multiply(in, x, &more, ast);
    square = kiln__infer_typed(x->type, kiln__infer_read(in, local, x->type));
    square = multiply(in, &more, &square, ast);
    return multiply(in, x, &square, ast);
}

static kiln__value call_ipow(kiln__infer *in, const kiln__value *x,
                             const kiln__value *n, const kiln__ast *ast)
{
    kiln__value arguments[2] = {*x, *n};

    return kiln__infer_apply_name(in, "ipow", arguments, 2, ast);
}

static kiln__value by_constant(kiln__infer *in, const kiln__value *x,
                               const kiln__value *n, kiln__wide exponent,
                               const kiln__ast *ast)
{
    const int is_integer = kiln__kind_is_integer(lane(x->type)->kind);
    kiln__value value;

    if (exponent < 0 && is_integer)
        return kiln__infer_error(in, ast->span, "literal-range",
                                 "convert the base to a float",
                                 "an integer to a negative power is no "
                                 "integer");
    if (exponent == 1)
        return *x;
    if ((exponent == 2 || exponent == 3) && is_variable(in, x))
        return multiply_out(in, x, exponent, ast);
    if (exponent < -STATIC_EXPONENT_MAX || exponent > STATIC_EXPONENT_MAX)
        return call_ipow(in, x, n, ast);
    value = kiln__infer_static(in, exponent, ast->span);
    return kiln__value_is_vague(&value) ? value : call_ipow(in, x, &value, ast);
}

static int is_integer_value(const kiln__value *value)
{
    return value->kind == KILN__VALUE_LITERAL
               ? !value->constant.is_float
               : kiln__kind_is_integer(value->type->kind);
}

static kiln__value float_power(kiln__infer *in, kiln__value *sides,
                               const kiln__ast *ast)
{
    uint32_t nodes[2];

    if (!kiln__infer_unify(in, sides, 2, ast, "**"))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    nodes[0] = kiln__infer_use(in, &sides[0], ast);
    nodes[1] = kiln__infer_use(in, &sides[1], ast);
    return kiln__infer_made(in, KILN__IR_MATH, sides[0].type, ast,
                            KILN__MATH_POW, (kiln__operands){nodes, 2});
}

kiln__value kiln__infer_power(kiln__infer *in, const kiln__value *a,
                              const kiln__value *b, const kiln__ast *ast)
{
    kiln__value sides[2];
    kiln__wide exponent;

    sides[0] = kiln__infer_decay(in, a, ast);
    sides[1] = kiln__infer_decay(in, b, ast);
    if (!is_integer_value(&sides[1]))
        return float_power(in, sides, ast);
    if (sides[0].kind == KILN__VALUE_LITERAL)
        /* The exponent has a type here, since two literals were folded. */
        sides[0] = sides[0].constant.is_float
                       ? kiln__infer_settle(in, &sides[0], ast)
                       : kiln__infer_adapt(in, &sides[0], sides[1].type, ast,
                                           "the exponent");
    if (kiln__value_is_vague(&sides[0]))
        return sides[0];
    if (!kiln__kind_is_integer(lane(sides[0].type)->kind) &&
        !kiln__kind_is_float(lane(sides[0].type)->kind))
        return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                                 "`**` is not for %s",
                                 kiln_type_text(sides[0].type));
    if (kiln__infer_known_integer(&sides[1], &exponent))
        return by_constant(in, &sides[0], &sides[1], exponent, ast);
    return call_ipow(in, &sides[0], &sides[1], ast);
}
