/* infer_unify.c - finds the common type of operands. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"

/*
 * The common type is the wider one of the same signedness, the wider of two
 * floats, which holds all values of the narrower, the float of an integer and a
 * float, the vector of a vector and a scalar. Literals adapt to it; literals
 * alone are i64 and f64.
 */

static const kiln_type *lane(const kiln_type *type)
{
    return type->kind == KILN_TYPE_VECTOR ? type->element : type;
}

/* Reports that no type follows from the two. */
static int mixed(kiln__infer *in, const kiln_type *a, const kiln_type *b,
                 const kiln__ast *ast, const char *code, const char *differ)
{
    (void)kiln__infer_error(
        in, ast->span, code,
        kiln__infer_format(in, "convert one of them: %s(...) or %s(...)",
                           kiln_type_text(a), kiln_type_text(b)),
        "%s and %s %s", kiln_type_text(a), kiln_type_text(b), differ);
    return 0;
}

/* Stores the type of arithmetic on two scalar types; false after an error. */
static int common_scalar(kiln__infer *in, const kiln_type **common,
                         const kiln_type *type, const kiln__ast *ast)
{
    const kiln_type *a = *common;
    const int a_float = a != NULL && kiln__kind_is_float(a->kind);
    const int b_float = kiln__kind_is_float(type->kind);

    if (a == NULL || a == type) {
        *common = type;
        return 1;
    }
    if (!a_float && !b_float &&
        kiln__kind_is_signed(a->kind) != kiln__kind_is_signed(type->kind))
        return mixed(in, a, type, ast, "mixed-signedness",
                     "differ in signedness");
    if (a_float && b_float && a->size == type->size)
        return mixed(in, a, type, ast, "mixed-floats",
                     "do not hold each other's values");
    if (a_float != b_float)
        *common = a_float ? a : type;
    else if (type->size > a->size)
        *common = type;
    return 1;
}

/* What the operands have in common, apart from literals. */
typedef struct common {
    const kiln_type *vector;
    const kiln_type *scalar;
    int float_literal;
    int literal;
} common;

static int is_numeric(const kiln_type *type)
{
    return kiln__kind_is_number(type->kind);
}

static int not_a_number(kiln__infer *in, const kiln__value *value,
                        const kiln__ast *ast, const char *what)
{
    const int is_bool =
        value->kind == KILN__VALUE_TYPED && value->type->kind == KILN_TYPE_BOOL;
    const int is_array = value->kind == KILN__VALUE_TYPED &&
                         value->type->kind == KILN_TYPE_ARRAY;

    (void)kiln__infer_error(
        in, ast->span, "wrong-type",
        is_bool    ? "Bool does no arithmetic; i32(b) gives 0 or 1"
        : is_array ? "functions and operators take elements: `a[i]`, in a loop"
                   : NULL,
        "`%s` takes numbers, but this is %s", what,
        kiln__infer_describe(in, value));
    return 0;
}

static int add_to_common(kiln__infer *in, common *c, const kiln__value *value,
                         const kiln__ast *ast, const char *what)
{
    if (kiln__value_is_loose(value)) {
        c->literal = 1;
        c->float_literal |= value->constant.is_float;
        return 1;
    }
    if (!is_numeric(lane(value->type)))
        return not_a_number(in, value, ast, what);
    if (value->type->kind != KILN_TYPE_VECTOR)
        return common_scalar(in, &c->scalar, value->type, ast);
    if (c->vector != NULL && c->vector != value->type) {
        (void)kiln__infer_error(in, ast->span, "wrong-type", NULL,
                                "`%s` takes vectors of one type, these are "
                                "%s and %s",
                                what, kiln_type_text(c->vector),
                                kiln_type_text(value->type));
        return 0;
    }
    c->vector = value->type;
    return 1;
}

/* Returns the common type of all scalars; NULL after an error. */
static const kiln_type *scalar_of_common(kiln__infer *in, common *c,
                                         const kiln__ast *ast, const char *what)
{
    const kiln_type *f64 = kiln__infer_scalar(in, KILN_TYPE_F64);
    const kiln_type *scalar = c->scalar;

    if (c->vector != NULL) {
        if (scalar != NULL &&
            (!common_scalar(in, &scalar, c->vector->element, ast)))
            return NULL;
        if (scalar == NULL || scalar == c->vector->element)
            return c->vector->element;
        (void)kiln__infer_error(
            in, ast->span, "wrong-type",
            kiln__infer_format(in, "convert it: %s(...)",
                               kiln_type_text(c->vector->element)),
            "`%s` takes %s and a scalar of its elements' "
            "type, but this is %s",
            what, kiln_type_text(c->vector), kiln_type_text(c->scalar));
        return NULL;
    }
    if (scalar == NULL)
        return c->float_literal ? f64 : kiln__infer_scalar(in, KILN_TYPE_I64);
    return c->float_literal && !kiln__kind_is_float(scalar->kind) ? f64
                                                                  : scalar;
}

/* Returns the operand's own place if the tree shows it. */
static const kiln__ast *operand_place(const kiln__ast *ast, size_t i,
                                      size_t count)
{
    const size_t first = ast->count > count ? ast->count - count : 0;

    return first + i < ast->count && ast->children[first + i] != NULL &&
                   (ast->kind == KILN__AST_BINARY ||
                    ast->kind == KILN__AST_CALL)
               ? ast->children[first + i]
               : ast;
}

int kiln__infer_unify(kiln__infer *in, kiln__value *values, size_t count,
                      const kiln__ast *ast, const char *what)
{
    common c = {0};
    const kiln_type *scalar;

    for (size_t i = 0; i < count; i++)
        if (kiln__value_is_vague(&values[i]))
            return in->broken = 1, 0;
    for (size_t i = 0; i < count; i++) {
        const kiln__ast *place = operand_place(ast, i, count);

        values[i] = kiln__infer_decay(in, &values[i], ast);
        if (!add_to_common(in, &c, &values[i],
                           values[i].kind == KILN__VALUE_TYPED &&
                                   !is_numeric(lane(values[i].type))
                               ? place
                               : ast,
                           what))
            return 0;
    }
    scalar = scalar_of_common(in, &c, ast, what);
    if (scalar == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t node;

        if (values[i].kind == KILN__VALUE_TYPED &&
            values[i].type->kind == KILN_TYPE_VECTOR)
            continue;
        values[i] = kiln__infer_widen(in, &values[i], scalar,
                                      operand_place(ast, i, count));
        if (kiln__value_is_vague(&values[i]))
            return 0;
        if (c.vector == NULL)
            continue;
        node = kiln__infer_use(in, &values[i], ast);
        values[i] = kiln__infer_made(in, KILN__IR_SPLAT, c.vector, ast, 0,
                                     (kiln__operands){&node, 1});
    }
    return 1;
}
