/* infer_arithmetic.c - operators on scalars, vectors and constants. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "frontend/infer/infer.h"
#include "frontend/program/builtins.h"

/*
 * Constants without a type are folded. Otherwise both sides are converted to
 * one type (kiln__infer_unify): the wider one of the same signedness, the float
 * of an integer and a float, the vector of a vector and a scalar.
 *
 * These are the operators' own rules. An overlay may have a method in their
 * place. Whether any operand's type could get one is asked once for each
 * operator, so what nothing replaces is never dispatched.
 */

#define OPERATOR_ROW(text, least, most, operation, class) \
    {text, KILN__IR_##operation, KILN__OPERATOR_##class},
static const kiln__operator operators[] = {KILN__OPERATOR_MAP(OPERATOR_ROW)};

const kiln__operator *kiln__operator_find(const char *text)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].text[0] == text[0] &&
            strcmp(operators[i].text, text) == 0)
            return &operators[i];
    return NULL;
}

/* Index 0 belongs to no function. */
static uint32_t builtin_of(const kiln__operator *operator)
{
    return (uint32_t)(operator- operators) + 1;
}

static int is_comparison(const kiln__operator *operator)
{
    return operator->class == KILN__OPERATOR_EQUALITY || operator->class ==
        KILN__OPERATOR_ORDER;
}

static int is_name_of_something(const kiln__value *value)
{
    return value->kind == KILN__VALUE_TYPED &&
           (value->type->kind == KILN_TYPE_TYPE ||
            value->type->kind == KILN_TYPE_FUNCTION);
}

int kiln__infer_is_plain(const kiln__value *value)
{
    return value->kind != KILN__VALUE_TYPED ||
           kiln__type_is_scalar(value->type) ||
           value->type->kind == KILN_TYPE_VECTOR ||
           value->type->kind == KILN_TYPE_STATIC || is_name_of_something(value);
}

static int is_untyped(const kiln__value *value)
{
    return value->kind == KILN__VALUE_LITERAL || kiln__value_is_static(value);
}

/* True when no value has a type that a method could take. */
static int are_untyped(const kiln__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == KILN__VALUE_TYPED &&
            !kiln__value_is_static(&values[i]))
            return 0;
    return 1;
}

int kiln__infer_has_rule(const kiln__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!kiln__infer_is_plain(&values[i]))
            return 0;
    return 1;
}

int kiln__infer_is_replaced(kiln__infer *in, const kiln__operator *operator,
                            const kiln__value * values, size_t count)
{
    int replaced = 0;
    kiln_status status;

    if (kiln__facts_no_operator(&in->facts) || are_untyped(values, count))
        return 0;
    status = kiln__ask_operator(&replaced, &in->facts, builtin_of(operator));
    if (status != KILN_OK)
        (void)kiln__infer_fail(in, status);
    return replaced;
}

static const kiln_type *lane(const kiln_type *type)
{
    return type->kind == KILN_TYPE_VECTOR ? type->element : type;
}

static int is_numeric(const kiln_type *type)
{
    return kiln__kind_is_number(type->kind);
}

/* ---- constants ---- */

static kiln__value fold_failed(kiln__infer *in, kiln__fold fold,
                               const char *operator, const kiln__ast * ast)
{
    if (fold == KILN__FOLD_ZERO)
        return kiln__infer_error(in, ast->span, "constant-division", NULL,
                                 "a constant is divided by zero");
    if (fold == KILN__FOLD_RANGE)
        return kiln__infer_error(
            in, ast->span, "literal-range", NULL,
            "the result of `%s` is too large a constant", operator);
    if (strcmp(operator, "/") == 0)
        return kiln__infer_error(in, ast->span, "wrong-type",
                                 "write `//` for integers, or 1.0 for floats",
                                 "`/` is for floats, these are integers");
    if (strcmp(operator, "**") == 0)
        return kiln__infer_error(
            in, ast->span, "literal-range", "write 2.0 for a float",
            "an integer to a negative power is no integer");
    return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                             "`%s` is not for float literals", operator);
}

/* Returns the folded constant: a Static if one of the integers was a Static. */
static kiln__value folded(kiln__infer *in, const kiln__constant *constant,
                          int is_static, int is_bool, const kiln__ast *ast)
{
    if (is_bool)
        return kiln__infer_boolean(in, constant->integer != 0, is_static);
    if (is_static && !constant->is_float)
        return kiln__infer_static(in, constant->integer, ast->span);
    return (kiln__value){.kind = KILN__VALUE_LITERAL, .constant = *constant};
}

static kiln__value fold_untyped(kiln__infer *in, const kiln__operator *operator,
                                const kiln__value * a, const kiln__value *b,
                                const kiln__ast *ast)
{
    const int is_static = kiln__value_is_static(a) || kiln__value_is_static(b);
    const kiln_type *f64 = kiln__infer_scalar(in, KILN_TYPE_F64);
    kiln__value x = kiln__infer_decay(in, a, ast);
    kiln__value y = kiln__infer_decay(in, b, ast);
    kiln__constant out;
    kiln__fold fold;

    if (x.constant.is_float && !y.constant.is_float)
        y = kiln__infer_adapt(in, &y, f64, ast, operator->text);
    else if (y.constant.is_float && !x.constant.is_float)
        x = kiln__infer_adapt(in, &x, f64, ast, operator->text);
    if (kiln__value_is_vague(&x) || kiln__value_is_vague(&y))
        return kiln__value_of(KILN__VALUE_POISON);
    fold = kiln__fold_binary(&out, operator, & x.constant, &y.constant);
    if (fold != KILN__FOLD_OK)
        return fold_failed(in, fold, operator->text, ast);
    return folded(in, &out, is_static, is_comparison(operator), ast);
}

/* Folds two integers or Bools with known values of one type. Returns false if
   that is not possible; then the caller builds a node. */
static int fold_typed(kiln__infer *in, const kiln__operator *operator,
                      const kiln__value * a, const kiln__value *b,
                      kiln__value *out)
{
    const int32_t kind = a->type->kind;
    kiln__constant constant;

    if (!a->known || !b->known ||
        kiln__kind_is_float(kind) ||
        operator->class == KILN__OPERATOR_SHIFT || kiln__fold_binary(
            &constant, operator, & a->constant, &b->constant) != KILN__FOLD_OK)
        return 0;
    if (is_comparison(operator)) {
        *out = kiln__infer_boolean(in, constant.integer != 0,
                                   a->is_static && b->is_static);
        return 1;
    }
    if (kind != KILN_TYPE_BOOL)
        constant.integer = kiln__fold_wrap(constant.integer, kind);
    *out = kiln__infer_constant(a->type, &constant);
    out->is_static = a->is_static && b->is_static;
    return 1;
}

static kiln__value vague_of(const kiln__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == KILN__VALUE_POISON)
            return values[i];
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == KILN__VALUE_BOTTOM)
            return values[i];
    return kiln__value_of(KILN__VALUE_POISON);
}

/* ---- binary operators ---- */

static kiln__value operate(kiln__infer *in, kiln__ir_op op,
                           const kiln_type *type, const kiln__value *a,
                           const kiln__value *b, const kiln__ast *ast)
{
    const uint32_t nodes[2] = {kiln__infer_use(in, a, ast),
                               kiln__infer_use(in, b, ast)};

    return kiln__infer_made(in, op, type, ast,
                            op == KILN__IR_MATH ? KILN__MATH_FMOD : 0,
                            (kiln__operands){nodes, 2});
}

static kiln__value not_for(kiln__infer *in, const char *operator,
                           const kiln_type * type, const char *hint,
                           const kiln__ast *ast)
{
    return kiln__infer_error(in, ast->span, "wrong-type", hint,
                             "`%s` is not for %s", operator,
                             kiln_type_text(type));
}

/* Both operands have the same type of numbers. */
static kiln__value same_typed(kiln__infer *in, const kiln__operator *operator,
                              const kiln__value * a, const kiln__value *b,
                              const kiln__ast *ast)
{
    const kiln_type *type = a->type;
    const int is_float = kiln__kind_is_float(lane(type)->kind);
    kiln__value known;

    if (is_comparison(operator) && type->kind == KILN_TYPE_VECTOR)
        return not_for(in, operator->text, type, "compare elements", ast);
    if (operator->op == KILN__IR_DIV && !is_float)
        return not_for(in, "/", type,
                       "write `//` for integers, or convert to a float", ast);
    if (operator->op == KILN__IR_IDIV && is_float)
        return not_for(in, "//", type, "write trunc(a / b)", ast);
    if (operator->class == KILN__OPERATOR_BITS && is_float)
        return not_for(
            in, operator->text,
            type, operator->op == KILN__IR_XOR ? "a power is `x ** y`" : NULL,
            ast);
    if (fold_typed(in, operator, a, b, &known))
        return known;
    if (is_comparison(operator))
        type = kiln__infer_scalar(in, KILN_TYPE_BOOL);
    return operate(in,
                   operator->op == KILN__IR_IREM && is_float ? KILN__IR_MATH :
                                                             operator->op,
                   type, a, b, ast);
}

kiln__value kiln__infer_shift_count(kiln__infer *in, const kiln__value *given,
                                    const kiln_type *type, const kiln__ast *ast)
{
    const kiln__value count = kiln__infer_decay(in, given, ast);
    const kiln_type *element = lane(type);
    kiln__value value;
    kiln__wide known;
    uint32_t node;

    if (count.kind == KILN__VALUE_TYPED && count.type == type)
        return count;
    if (kiln__infer_known_integer(&count, &known)) {
        const kiln__wide width = (kiln__wide)element->size * 8;
        const kiln__constant constant = {.integer =
                                             (known % width + width) % width};

        value = kiln__infer_constant(element, &constant);
    } else {
        if (count.kind != KILN__VALUE_TYPED ||
            !kiln__kind_is_integer(count.type->kind))
            return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                                     "a shift count is an integer, not %s",
                                     kiln__infer_describe(in, &count));
        value = kiln__infer_convert(in, KILN__IR_WRAP, element, &count, ast);
    }
    if (type == element || kiln__value_is_vague(&value))
        return value;
    node = kiln__infer_use(in, &value, ast);
    return kiln__infer_made(in, KILN__IR_SPLAT, type, ast, 0,
                            (kiln__operands){&node, 1});
}

static int is_integer_count(const kiln__value *count)
{
    kiln__wide known;

    return kiln__infer_known_integer(count, &known) ||
           (count->kind == KILN__VALUE_TYPED &&
            kiln__kind_is_integer(count->type->kind));
}

/* A literal on the left waits for its type: that of the count says nothing
   about it. */
static kiln__value shift(kiln__infer *in, const kiln__operator *operator,
                         const kiln__value * a, const kiln__value *b,
                         const kiln__ast *ast)
{
    kiln__value given = kiln__infer_decay(in, a, ast);
    kiln__value sides[2] = {given}, left, count = *b;

    /* Bits that come back from above have to be there. */
    if (operator->op == KILN__IR_SHR && kiln__infer_open_has_shift(&given))
        given = kiln__infer_settle(in, &given, ast);
    if (kiln__value_is_vague(&given))
        return given;
    if (count.kind == KILN__VALUE_OPEN)
        count = kiln__infer_settle(in, &count, ast);
    if (kiln__value_is_vague(&count))
        return count;
    sides[1] = count;
    if (kiln__value_is_loose(&given) && !given.constant.is_float &&
        is_integer_count(&count))
        return kiln__infer_open(in, &(kiln__operation){.op = operator->op},
                                sides, 2, ast);
    left = kiln__infer_settle(in, &given, ast);
    if (kiln__value_is_vague(&left))
        return left;
    if (!kiln__kind_is_integer(lane(left.type)->kind))
        return not_for(in, operator->text, left.type, NULL, ast);
    count = kiln__infer_shift_count(in, &count, left.type, ast);
    if (kiln__value_is_vague(&count))
        return count;
    return operate(in, operator->op, left.type, &left, &count, ast);
}

/* Both operands are Bool, or vectors of Bool. */
static kiln__value booleans(kiln__infer *in, const kiln__operator *operator,
                            const kiln__value * a, const kiln__value *b,
                            const kiln__ast *ast)
{
    kiln__value known;

    if (operator->class !=
        KILN__OPERATOR_BITS &&(operator->class != KILN__OPERATOR_EQUALITY ||
                               a->type->kind == KILN_TYPE_VECTOR))
        return not_for(in, operator->text, a->type,
                       "Bool does no arithmetic; i32(b) gives 0 or 1", ast);
    if (a->type->kind == KILN_TYPE_BOOL &&
        fold_typed(in, operator, a, b, &known))
        return known;
    return operate(in, operator->op, a->type, a, b, ast);
}

/* Guesses that a value without a type will have the type of the other side. So
   in `n * f(n - 1)` the literal that ends the recursion adapts to n. */
static kiln__value guess(const kiln__value *values)
{
    kiln__value value = vague_of(values, 2);
    const kiln__value *other =
        values[0].kind == KILN__VALUE_BOTTOM ? &values[1] : &values[0];

    if (value.kind == KILN__VALUE_BOTTOM && value.type == NULL &&
        other->kind == KILN__VALUE_TYPED && is_numeric(other->type))
        value.type = other->type;
    return value;
}

static kiln__value power(kiln__infer *in, const kiln__value *a,
                         const kiln__value *b, const kiln__ast *ast)
{
    kiln__value sides[2] = {*a, *b};

    for (size_t i = 0; i < 2; i++) {
        if (sides[i].kind == KILN__VALUE_OPEN)
            sides[i] = kiln__infer_settle(in, &sides[i], ast);
        if (kiln__value_is_vague(&sides[i]))
            return sides[i];
    }
    return kiln__infer_power(in, &sides[0], &sides[1], ast);
}

/* The others are right in the low bits of their results, in any type. */
static int needs_exact(const kiln__operator *operator)
{
    return is_comparison(operator) || operator->op == KILN__IR_IDIV ||
                                      operator->op == KILN__IR_IREM;
}

/* Applies a binary operator by its own rule: folds constants, or brings both
   operands to one type. */
static kiln__value binary(kiln__infer *in, const kiln__operator *operator,
                          const kiln__value * a, const kiln__value *b,
                          const kiln__ast *ast)
{
    kiln__value sides[2] = {*a, *b}, open;

    if (kiln__value_is_vague(a) || kiln__value_is_vague(b))
        return operator->class == KILN__OPERATOR_ARITHMETIC
                   ? guess(sides)
                   : kiln__value_of(vague_of(sides, 2).kind);
    if (is_untyped(a) && is_untyped(b))
        return fold_untyped(in, operator, a, b, ast);
    if (kiln__infer_open_operator(in, operator->op, sides, 2, ast, &open))
        return open;
    if (operator->class == KILN__OPERATOR_EQUALITY && is_name_of_something(a) &&
        is_name_of_something(b)) {
        kiln__infer_discard(in, b, ast);
        kiln__infer_discard(in, a, ast);
        return kiln__infer_boolean(
            in, (a->type == b->type) == (operator->op == KILN__IR_EQ), 1);
    }
    if (operator->class == KILN__OPERATOR_SHIFT)
        return shift(in, operator, a, b, ast);
    if (operator->class == KILN__OPERATOR_POWER)
        return power(in, a, b, ast);
    if (a->kind == KILN__VALUE_TYPED && b->kind == KILN__VALUE_TYPED &&
        a->type == b->type && lane(a->type)->kind == KILN_TYPE_BOOL)
        return booleans(in, operator, a, b, ast);
    if (needs_exact(operator)) {
        sides[0] =
            kiln__infer_open_exact(in, a, b, is_comparison(operator), ast);
        sides[1] =
            kiln__infer_open_exact(in, b, a, is_comparison(operator), ast);
    }
    if (!kiln__infer_unify(in, sides, 2, ast, operator->text))
        return vague_of(sides, 2);
    return same_typed(in, operator, & sides[0], &sides[1], ast);
}

/* ---- unary operators ---- */

static kiln__value complement(kiln__infer *in, const kiln__value *a,
                              const kiln__ast *ast)
{
    const uint32_t node = a->known ? 0 : kiln__infer_use(in, a, ast);

    if (a->known)
        return kiln__infer_boolean(in, a->constant.integer == 0, a->is_static);
    return kiln__infer_made(in, KILN__IR_INVERT, a->type, ast, 0,
                            (kiln__operands){&node, 1});
}

static kiln__value negate(kiln__infer *in, const char *operator,
                          const kiln__value * a, const kiln__ast *ast)
{
    const int32_t kind = lane(a->type)->kind;
    const int is_negation = operator[0] == '-';
    kiln__constant constant;
    uint32_t node;

    if (!kiln__kind_is_integer(kind) &&
        !(is_negation && kiln__kind_is_float(kind)))
        return not_for(in, operator, a->type, NULL, ast);
    if (a->known && kiln__fold_unary(&constant, operator[0], &a->constant) ==
                        KILN__FOLD_OK) {
        if (!constant.is_float)
            constant.integer = kiln__fold_wrap(constant.integer, kind);
        return kiln__infer_constant(a->type, &constant);
    }
    node = kiln__infer_use(in, a, ast);
    return kiln__infer_made(in, is_negation ? KILN__IR_NEG : KILN__IR_INVERT,
                            a->type, ast, 0, (kiln__operands){&node, 1});
}

/* Applies `!`, `~` or a sign by its own rule. */
static kiln__value unary(kiln__infer *in, const char *operator,
                         const kiln__value * a, const kiln__ast *ast)
{
    kiln__value value;
    kiln__constant constant;
    kiln__fold fold;

    if (kiln__value_is_vague(a))
        return *a;
    if (operator[0] == '!') {
        if (a->kind == KILN__VALUE_TYPED &&
            lane(a->type)->kind == KILN_TYPE_BOOL)
            return complement(in, a, ast);
        return kiln__infer_error(in, ast->span, "wrong-type",
                                 "compare it with 0, or write `~` for bits",
                                 "`!` is for Bool, but this is %s",
                                 kiln__infer_describe(in, a));
    }
    value = *a;
    if (a->kind == KILN__VALUE_OPEN &&
        kiln__infer_open_operator(
            in, operator[0] == '-' ? KILN__IR_NEG : KILN__IR_INVERT, &value, 1,
            ast, &value))
        return value;
    if (a->kind == KILN__VALUE_OPEN)
        value = kiln__infer_settle(in, a, ast);
    if (kiln__value_is_vague(&value))
        return value;
    if (!is_untyped(&value))
        return negate(in, operator, & value, ast);
    value = kiln__infer_decay(in, a, ast);
    fold = kiln__fold_unary(&constant, operator[0], &value.constant);
    if (fold != KILN__FOLD_OK)
        return fold_failed(in, fold, operator, ast);
    return folded(in, &constant, kiln__value_is_static(a), 0, ast);
}

kiln__value kiln__infer_by_rule(kiln__infer *in, const kiln__operator *operator,
                                const kiln__value * values, size_t count,
                                const kiln__ast *ast)
{
    if (count == 1)
        return unary(in, operator->text, &values[0], ast);
    return binary(in, operator, & values[0], &values[1], ast);
}
