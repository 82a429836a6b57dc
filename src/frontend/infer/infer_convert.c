/* infer_convert.c - conversions between types that the language allows. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "frontend/infer/infer.h"

/*
 * Only two conversions are implicit: literals, operations on them that wait for
 * their type, and Static integers adapt to a type that holds them exactly
 * (floats are rounded), and arithmetic widens. All others are written as T(x),
 * wrap, trunc or bitcast.
 */

static kiln__value literal_of(kiln__wide integer)
{
    return (kiln__value){.kind = KILN__VALUE_LITERAL,
                         .constant = {.integer = integer}};
}

kiln__value kiln__infer_decay(kiln__infer *in, const kiln__value *value,
                              const kiln__ast *ast)
{
    if (!kiln__value_is_static(value))
        return *value;
    kiln__infer_discard(in, value, ast);
    return literal_of(value->type->value);
}

int kiln__infer_known_integer(const kiln__value *value, kiln__wide *out)
{
    if (kiln__value_is_static(value)) {
        *out = value->type->value;
        return 1;
    }
    if (value->constant.is_float ||
        (value->kind != KILN__VALUE_LITERAL &&
         (value->kind != KILN__VALUE_TYPED || !value->known ||
          !kiln__kind_is_integer(value->type->kind))))
        return 0;
    *out = value->constant.integer;
    return 1;
}

static int is_number(const kiln_type *type)
{
    return kiln__kind_is_number(type->kind);
}

int kiln__infer_adapts(const kiln__value *value, const kiln_type *type)
{
    kiln__constant constant = value->constant;

    if (value->kind == KILN__VALUE_TYPED && value->type == type)
        return 1;
    if (value->kind == KILN__VALUE_OPEN)
        return kiln__infer_open_adapts(value, type);
    if (kiln__value_is_static(value))
        constant = (kiln__constant){.integer = value->type->value};
    else if (value->kind != KILN__VALUE_LITERAL)
        return 0;
    return is_number(type) &&
           kiln__fold_convert(&constant, &constant, type->kind, 0);
}

static const char *constant_text(kiln__infer *in, const kiln__constant *c)
{
    char digits[KILN__FLOAT_TEXT], text[KILN__WIDE_TEXT];

    if (c->is_float)
        return kiln__infer_format(
            in, "%s", kiln__float_print(digits, KILN_TYPE_F64, c->real));
    return kiln__infer_format(in, "%s", kiln__wide_text(text, c->integer));
}

static kiln__value does_not_fit(kiln__infer *in, const kiln__constant *c,
                                const kiln_type *type, const kiln__ast *ast)
{
    const char *text = constant_text(in, c);
    const int fractional = c->is_float && kiln__kind_is_integer(type->kind);

    return kiln__infer_error(
        in, ast->span, "literal-range",
        fractional ? "a float literal adapts to float types only" : NULL,
        "the literal %s does not fit %s", text, kiln_type_text(type));
}

static kiln__value wrong_type(kiln__infer *in, const kiln__value *value,
                              const kiln_type *type, const kiln__ast *ast,
                              const char *what)
{
    const char *hint = NULL;

    if (value->kind == KILN__VALUE_TYPED && kiln__kind_is_integer(type->kind) &&
        kiln__kind_is_float(value->type->kind))
        hint = kiln__infer_format(in,
                                  "`trunc(%s, x)` cuts off and saturates, "
                                  "`%s(round(x))` raises where it does not fit",
                                  kiln_type_text(type), kiln_type_text(type));
    else if (is_number(type) && (value->kind == KILN__VALUE_OPEN ||
                                 (value->kind == KILN__VALUE_TYPED &&
                                  kiln__type_is_scalar(value->type))))
        hint =
            kiln__infer_format(in, "convert it: %s(...)", kiln_type_text(type));
    return kiln__infer_error(
        in, ast->span, "wrong-type", hint, "%s is %s, but this is %s", what,
        kiln_type_text(type), kiln__infer_describe(in, value));
}

kiln__value kiln__infer_adapt(kiln__infer *in, const kiln__value *given,
                              const kiln_type *type, const kiln__ast *ast,
                              const char *what)
{
    kiln__value value = *given;
    kiln__constant constant;

    if (kiln__value_is_vague(&value))
        return value;
    if (value.kind == KILN__VALUE_TYPED && value.type == type)
        return value;
    if (value.kind == KILN__VALUE_OPEN && is_number(type) &&
        !(kiln__kind_is_float(type->kind) &&
          kiln__infer_open_is_integral(&value)))
        return kiln__infer_open_build(in, &value, type);
    if (is_number(type))
        value = kiln__infer_decay(in, &value, ast);
    if (value.kind != KILN__VALUE_LITERAL || !is_number(type))
        return wrong_type(in, &value, type, ast, what);
    if (!kiln__fold_convert(&constant, &value.constant, type->kind, 0))
        return does_not_fit(in, &value.constant, type, ast);
    return kiln__infer_constant(type, &constant);
}

kiln__value kiln__infer_settle(kiln__infer *in, const kiln__value *value,
                               const kiln__ast *ast)
{
    const kiln_type *type = kiln__infer_scalar(
        in, value->constant.is_float ? KILN_TYPE_F64 : KILN_TYPE_I64);
    kiln__constant constant;

    if (value->kind == KILN__VALUE_OPEN)
        return kiln__infer_open_build(in, value, type);
    if (value->kind != KILN__VALUE_LITERAL)
        return *value;
    if (kiln__fold_convert(&constant, &value->constant, type->kind, 0))
        return kiln__infer_constant(type, &constant);
    if (ast == NULL)
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_error(
        in, ast->span, "literal-range",
        kiln__fold_fits(value->constant.integer, KILN_TYPE_U64)
            ? "alone a literal is i64; write u64(...)"
            : NULL,
        "the literal %s does not fit i64", constant_text(in, &value->constant));
}

/* True when every value of the integer kind or Bool is a value of `to`. */
static int is_lossless(int32_t from, int32_t to)
{
    if (from == KILN_TYPE_BOOL || from == to)
        return kiln__kind_is_integer(to) || from == to;
    return kiln__kind_is_integer(from) && kiln__kind_is_integer(to) &&
           kiln__fold_least(from) >= kiln__fold_least(to) &&
           kiln__fold_most(from) <= kiln__fold_most(to);
}

static kiln__value convert_node(kiln__infer *in, kiln__ir_op op,
                                const kiln_type *type, const kiln__value *value,
                                const kiln__ast *ast)
{
    const uint32_t node = kiln__infer_use(in, value, ast);

    return kiln__infer_made(in, op, type, ast, 0, (kiln__operands){&node, 1});
}

kiln__value kiln__infer_widen(kiln__infer *in, const kiln__value *value,
                              const kiln_type *type, const kiln__ast *ast)
{
    kiln__constant constant;

    if (kiln__value_is_vague(value) ||
        (value->kind == KILN__VALUE_TYPED && value->type == type))
        return *value;
    if (value->kind == KILN__VALUE_OPEN && kiln__kind_is_float(type->kind) &&
        kiln__infer_open_is_integral(value)) {
        const kiln__value integer = kiln__infer_settle(in, value, ast);

        return kiln__infer_widen(in, &integer, type, ast);
    }
    if (value->kind != KILN__VALUE_TYPED || kiln__value_is_static(value))
        return kiln__infer_adapt(in, value, type, ast, "the operand");
    if (value->known &&
        kiln__fold_convert(&constant, &value->constant, type->kind, 1))
        return kiln__infer_constant(type, &constant);
    return convert_node(in, KILN__IR_CONVERT, type, value, ast);
}

/* ---- explicit conversions ---- */

static kiln__constant saturate(const kiln__constant *from, int32_t kind)
{
    const kiln__wide least = kiln__fold_least(kind);
    const kiln__wide most = kiln__fold_most(kind);
    kiln__wide value = from->integer;

    if (from->is_float) {
        if (isnan(from->real))
            value = 0;
        else if (!kiln__fold_integral(trunc(from->real), &value))
            value = from->real < 0 ? least : most;
    }
    value = value < least ? least : value > most ? most : value;
    return (kiln__constant){.integer = value};
}

/* Constants are converted at once, except by bitcast. */
static kiln__value convert_constant(kiln__infer *in, kiln__ir_op op,
                                    const kiln_type *type,
                                    const kiln__constant *from,
                                    const kiln__ast *ast)
{
    kiln__constant constant;

    if (op == KILN__IR_SATURATE) {
        constant = saturate(from, type->kind);
    } else if (op == KILN__IR_WRAP) {
        constant = (kiln__constant){
            .integer = kiln__fold_wrap(from->integer, type->kind)};
    } else if (!kiln__fold_convert(&constant, from, type->kind, 1)) {
        return kiln__infer_error(in, ast->span, "literal-range",
                                 kiln__kind_is_integer(type->kind)
                                     ? "trunc(T, x) saturates, wrap(T, x) cuts"
                                     : NULL,
                                 "%s does not convert to %s exactly",
                                 constant_text(in, from), kiln_type_text(type));
    }
    return kiln__infer_constant(type, &constant);
}

static const char *operation_name(kiln__ir_op op)
{
    return op == KILN__IR_SATURATE  ? "trunc"
           : op == KILN__IR_WRAP    ? "wrap"
           : op == KILN__IR_BITCAST ? "bitcast"
                                    : "a conversion";
}

/* Returns why the operation cannot convert between these types, or NULL. */
static const char *refusal(kiln__ir_op op, const kiln_type *to,
                           const kiln_type *from)
{
    const int to_integer = kiln__kind_is_integer(to->kind);

    if (!kiln__type_is_scalar(from))
        return "converts scalars";
    if (op == KILN__IR_BITCAST) {
        if (from->size != to->size)
            return "needs types of one size";
        return from->kind == KILN_TYPE_BOOL && to != from ? "takes no Bool"
                                                          : NULL;
    }
    if (op == KILN__IR_SATURATE && !to_integer)
        return "converts to integers";
    if (op == KILN__IR_WRAP && (!to_integer || kiln__kind_is_float(from->kind)))
        return "is between integers";
    return NULL;
}

static kiln__ir_op conversion(kiln__ir_op op, int32_t to, int32_t from)
{
    if (op == KILN__IR_BITCAST)
        return op;
    if (is_lossless(from, to) || kiln__kind_is_float(to))
        return KILN__IR_CONVERT;
    return op;
}

kiln__value kiln__infer_convert(kiln__infer *in, kiln__ir_op op,
                                const kiln_type *type, const kiln__value *given,
                                const kiln__ast *ast)
{
    kiln__value value = kiln__infer_decay(in, given, ast);
    const kiln_type *from;
    const char *what;

    if (kiln__value_is_vague(&value))
        return value;
    if (value.kind == KILN__VALUE_OPEN && op != KILN__IR_BITCAST &&
        kiln__infer_open_adapts(&value, type))
        return kiln__infer_open_build(in, &value, type);
    if (op == KILN__IR_BITCAST || value.kind == KILN__VALUE_OPEN)
        value = kiln__infer_settle(in, &value, ast);
    if (kiln__value_is_vague(&value))
        return value;
    from =
        value.kind == KILN__VALUE_TYPED
            ? value.type
            : kiln__infer_scalar(in, value.constant.is_float ? KILN_TYPE_F64
                                                             : KILN_TYPE_I64);
    what = refusal(op, type, from);
    if (what != NULL)
        return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                                 "%s %s: this is from %s to %s",
                                 operation_name(op), what, kiln_type_text(from),
                                 kiln_type_text(type));
    if (value.kind == KILN__VALUE_TYPED && value.type == type)
        return value;
    if (op != KILN__IR_BITCAST &&
        (value.kind == KILN__VALUE_LITERAL || value.known))
        return convert_constant(in, op, type, &value.constant, ast);
    return convert_node(in, conversion(op, type->kind, from->kind), type,
                        &value, ast);
}

/* For messages: what is meant by an i64 that must not be negative. */
typedef struct counted {
    const char *noun;
    const char *fault; /* what is wrong with a number outside of the range */
    const char *range_hint;
    const char *hint;
} counted;

static const counted indices = {"index", "is out of bounds",
                                "the last index is `length(a) - 1`",
                                "an index is an integer"};
static const counted sizes = {"size", "is not from 0 to 9223372036854775807",
                              NULL, "a size is an integer"};

/* Returns the value as an i64; a known one that is negative or too large is
   refused. */
static kiln__value count_of(kiln__infer *in, const counted *what,
                            const kiln__value *given, const kiln__ast *ast)
{
    const kiln_type *i64 = kiln__infer_scalar(in, KILN_TYPE_I64);
    kiln__value value = kiln__infer_decay(in, given, ast);
    kiln__wide known;

    if (value.kind == KILN__VALUE_OPEN)
        value = kiln__infer_settle(in, &value, ast);
    if (kiln__value_is_vague(&value))
        return value;
    if (kiln__infer_known_integer(&value, &known)) {
        const kiln__constant constant = {.integer = known};

        if (known < 0 || !kiln__fold_fits(known, KILN_TYPE_I64))
            return kiln__infer_error(
                in, ast->span, "bad-index", what->range_hint, "the %s %s %s",
                what->noun, constant_text(in, &constant), what->fault);
        return kiln__infer_constant(i64, &constant);
    }
    if (value.kind != KILN__VALUE_TYPED ||
        !kiln__kind_is_integer(value.type->kind))
        return kiln__infer_error(in, ast->span, "bad-index", what->hint,
                                 "%s is no %s",
                                 kiln__infer_describe(in, &value), what->noun);
    if (value.type == i64)
        return value;
    /* A u64 that exceeds i64 becomes negative and so fails the check of
       bounds. */
    return convert_node(in,
                        is_lossless(value.type->kind, KILN_TYPE_I64)
                            ? KILN__IR_CONVERT
                            : KILN__IR_WRAP,
                        i64, &value, ast);
}

kiln__value kiln__infer_index(kiln__infer *in, const kiln__value *value,
                              const kiln__ast *ast)
{
    return count_of(in, &indices, value, ast);
}

kiln__value kiln__infer_size(kiln__infer *in, const kiln__value *value,
                             const kiln__ast *ast)
{
    return count_of(in, &sizes, value, ast);
}
