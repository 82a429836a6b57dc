/* infer_open.c - operations on literals that wait for their type. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "frontend/infer/infer.h"

/*
 * In `y[i] = c ? 1 : -1` and `mask & (1 << n)` the literals cannot be folded,
 * since something about them is known only at run time. Such an operation is
 * OPEN: it remembers its literals, and its nodes are built when the context
 * says which type they have. So literals adapt in it as they do alone. The
 * nodes of conditions and counts are built before, where they stand.
 *
 * Of integers the least and the greatest result are known, unless there is a
 * shift. Like a literal, the operation adapts to types that hold both. A shift
 * is one of the type that it gets.
 */

struct kiln__open {
    kiln__ir_op op;
    int64_t imm;
    const kiln__ast *ast;
    uint32_t condition;  /* of CHOOSE and SELECT: a node */
    int32_t is_integral; /* for integers only: shifts and operations on bits */
    int32_t has_shift;
    int32_t is_huge;        /* a bound exceeds what constants can be */
    kiln__wide least, most; /* of integers without a shift */
    size_t count;
    kiln__value sides[2]; /* LITERAL or OPEN; a shift's second: its count */
    const kiln__ast *places[2];
};

static int is_shift(kiln__ir_op op)
{
    return op == KILN__IR_SHL || op == KILN__IR_SHR;
}

static int is_choice(kiln__ir_op op)
{
    return op == KILN__IR_CHOOSE || op == KILN__IR_SELECT;
}

static int is_of_bits(kiln__ir_op op)
{
    return is_shift(op) || op == KILN__IR_AND || op == KILN__IR_OR ||
           op == KILN__IR_XOR || op == KILN__IR_INVERT;
}

int kiln__value_is_loose(const kiln__value *value)
{
    return value->kind == KILN__VALUE_LITERAL ||
           value->kind == KILN__VALUE_OPEN;
}

static int is_open_float(const kiln__value *value)
{
    return kiln__value_is_loose(value) && value->constant.is_float;
}

/* ---- bounds ---- */

typedef struct bounds {
    kiln__wide least, most;
} bounds;

static bounds bounds_of(const kiln__value *value)
{
    if (value->kind == KILN__VALUE_OPEN)
        return (bounds){value->open->least, value->open->most};
    return (bounds){value->constant.integer, value->constant.integer};
}

static kiln__wide lesser(kiln__wide a, kiln__wide b)
{
    return a < b ? a : b;
}

static kiln__wide greater(kiln__wide a, kiln__wide b)
{
    return a > b ? a : b;
}

/* False: a product is out of the range of constants. */
static int product(bounds *out, bounds a, bounds b)
{
    kiln__wide p[4];

    if (__builtin_mul_overflow(a.least, b.least, &p[0]) ||
        __builtin_mul_overflow(a.least, b.most, &p[1]) ||
        __builtin_mul_overflow(a.most, b.least, &p[2]) ||
        __builtin_mul_overflow(a.most, b.most, &p[3]))
        return 0;
    out->least = lesser(lesser(p[0], p[1]), lesser(p[2], p[3]));
    out->most = greater(greater(p[0], p[1]), greater(p[2], p[3]));
    return 1;
}

/* The results of `& | ^` have no more bits than the longer operand. */
static bounds bits(bounds a, bounds b)
{
    const kiln__wide least = lesser(a.least, b.least);
    kiln__wide most = 0;

    while (most < greater(a.most, b.most) || -most - 1 > least)
        most = 2 * most + 1;
    return (bounds){least < 0 ? -most - 1 : 0, most};
}

static bounds mathematics(int64_t math, bounds a, bounds b)
{
    if (math == KILN__MATH_MIN)
        return (bounds){lesser(a.least, b.least), lesser(a.most, b.most)};
    if (math == KILN__MATH_MAX)
        return (bounds){greater(a.least, b.least), greater(a.most, b.most)};
    return (bounds){a.least > 0  ? a.least
                    : a.most < 0 ? -a.most
                                 : 0,
                    greater(-a.least, a.most)};
}

/* Stores the least and the greatest result; false beyond what constants can
   be. */
static int find_bounds(bounds *out, const struct kiln__open *open)
{
    const bounds a = bounds_of(&open->sides[0]);
    const bounds b = bounds_of(&open->sides[open->count - 1]);

    switch ((uint32_t)open->op) {
    case KILN__IR_ADD:
        return !__builtin_add_overflow(a.least, b.least, &out->least) &&
               !__builtin_add_overflow(a.most, b.most, &out->most);
    case KILN__IR_SUB:
        return !__builtin_sub_overflow(a.least, b.most, &out->least) &&
               !__builtin_sub_overflow(a.most, b.least, &out->most);
    case KILN__IR_MUL:
        return product(out, a, b);
    case KILN__IR_NEG:
        *out = (bounds){-a.most, -a.least};
        return 1;
    case KILN__IR_INVERT:
        *out = (bounds){-a.most - 1, -a.least - 1};
        return 1;
    case KILN__IR_AND:
    case KILN__IR_OR:
    case KILN__IR_XOR:
        *out = bits(a, b);
        return 1;
    case KILN__IR_MATH:
        *out = mathematics(open->imm, a, b);
        return 1;
    default: /* CHOOSE, SELECT */
        *out = (bounds){lesser(a.least, b.least), greater(a.most, b.most)};
        return 1;
    }
}

/* Beyond this no type holds it, and the bounds of what is made of it could
   exceed their own type. */
#define HUGE_BOUND ((kiln__wide)1 << 120)

static void set_bounds(struct kiln__open *open, int is_float)
{
    bounds b = {0, 0};

    for (size_t i = 0; i < open->count; i++)
        if (open->sides[i].kind == KILN__VALUE_OPEN) {
            open->has_shift |= open->sides[i].open->has_shift;
            open->is_huge |= open->sides[i].open->is_huge;
        }
    if (is_float || open->has_shift || open->is_huge)
        return;
    open->is_huge =
        !find_bounds(&b, open) || b.least < -HUGE_BOUND || b.most > HUGE_BOUND;
    open->least = b.least;
    open->most = b.most;
}

/* ---- making ---- */

/* Returns the place of an operand if the tree shows it. */
static const kiln__ast *place_of(const kiln__ast *ast, size_t i, size_t count)
{
    const size_t first = ast->count > count ? ast->count - count : 0;

    return first + i < ast->count && ast->children[first + i] != NULL
               ? ast->children[first + i]
               : ast;
}

kiln__value kiln__infer_open(kiln__infer *in, const kiln__operation *operation,
                             const kiln__value *sides, size_t count,
                             const kiln__ast *ast)
{
    struct kiln__open *open = kiln__arena_allocate(&in->arena, sizeof *open);
    kiln__value value = kiln__value_of(KILN__VALUE_OPEN);

    if (open == NULL)
        return kiln__infer_fail(in, KILN_ENOMEM);
    *open = (struct kiln__open){.op = operation->op,
                                .imm = operation->imm,
                                .ast = ast,
                                .condition = operation->condition,
                                .is_integral = is_of_bits(operation->op),
                                .has_shift = is_shift(operation->op),
                                .count = count};
    for (size_t i = 0; i < count; i++) {
        open->sides[i] = sides[i];
        open->places[i] = place_of(ast, i, count);
        value.constant.is_float |= is_open_float(&sides[i]);
        if (sides[i].kind == KILN__VALUE_OPEN)
            open->is_integral |= sides[i].open->is_integral;
    }
    set_bounds(open, value.constant.is_float);
    value.open = open;
    return value;
}

/* True for operations that literals can wait in: those that are defined for
   every number, and raise no exception. */
static int can_wait(kiln__ir_op op, int is_float)
{
    if (op == KILN__IR_DIV)
        return is_float;
    if (is_of_bits(op))
        return !is_float;
    return op == KILN__IR_ADD || op == KILN__IR_SUB || op == KILN__IR_MUL ||
           op == KILN__IR_NEG;
}

int kiln__infer_open_operator(kiln__infer *in, kiln__ir_op op,
                              kiln__value *sides, size_t count,
                              const kiln__ast *ast, kiln__value *out)
{
    int is_float = 0, is_open = 0;

    for (size_t i = 0; i < count; i++) {
        if (!kiln__value_is_loose(&sides[i]) &&
            !kiln__value_is_static(&sides[i]))
            return 0;
        is_open |= sides[i].kind == KILN__VALUE_OPEN;
        is_float |= is_open_float(&sides[i]);
    }
    if (!is_open || is_shift(op) || !can_wait(op, is_float))
        return 0;
    for (size_t i = 0; i < count; i++)
        sides[i] = kiln__infer_decay(in, &sides[i], ast);
    *out =
        kiln__infer_open(in, &(kiln__operation){.op = op}, sides, count, ast);
    return 1;
}

/* ---- which types fit ---- */

static int has_float(const struct kiln__open *open)
{
    for (size_t i = 0; i < open->count; i++)
        if (is_open_float(&open->sides[i]))
            return 1;
    return 0;
}

/* True when the type holds both bounds, where there are any. */
static int bounds_fit(const struct kiln__open *open, const kiln_type *type)
{
    kiln__constant least = {.integer = open->least};
    kiln__constant most = {.integer = open->most};

    if (open->has_shift || has_float(open))
        return 1;
    return !open->is_huge &&
           kiln__fold_convert(&least, &least, type->kind, 0) &&
           kiln__fold_convert(&most, &most, type->kind, 0);
}

static int fits(const struct kiln__open *open, const kiln_type *type)
{
    if (kiln__stack_is_low() || !bounds_fit(open, type) ||
        (open->is_integral && !kiln__kind_is_integer(type->kind)))
        return 0;
    for (size_t i = 0; i < (is_shift(open->op) ? 1 : open->count); i++)
        if (!kiln__infer_adapts(&open->sides[i], type))
            return 0;
    return 1;
}

int kiln__infer_open_adapts(const kiln__value *value, const kiln_type *type)
{
    return kiln__kind_is_number(type->kind) && fits(value->open, type);
}

int kiln__infer_open_is_integral(const kiln__value *value)
{
    return value->open->is_integral;
}

int kiln__infer_open_has_shift(const kiln__value *value)
{
    return value->kind == KILN__VALUE_OPEN && value->open->has_shift;
}

/* A shift in a narrow type could lose bits that the comparison, quotient or
   minimum is about. */
kiln__value kiln__infer_open_exact(kiln__infer *in, const kiln__value *value,
                                   const kiln__value *other, int is_comparison,
                                   const kiln__ast *ast)
{
    const kiln_type *type =
        other->kind == KILN__VALUE_TYPED ? other->type : NULL;

    if (type != NULL && type->kind == KILN_TYPE_VECTOR)
        type = type->element;
    if (!kiln__infer_open_has_shift(value) || type == NULL ||
        !kiln__kind_is_integer(type->kind) ||
        (type->size >= 4 &&
         !(is_comparison && kiln__kind_is_signed(type->kind))))
        return *value;
    return kiln__infer_settle(in, value, ast);
}

const kiln_type *kiln__infer_open_type(const kiln__infer *in,
                                       const kiln__value *value)
{
    return kiln__infer_scalar(in, value->constant.is_float ? KILN_TYPE_F64
                                                           : KILN_TYPE_I64);
}

/* ---- building ---- */

static kiln__value too_large(kiln__infer *in, const struct kiln__open *open,
                             const kiln_type *type)
{
    kiln__constant most = {.integer = open->most};
    char text[KILN__WIDE_TEXT];

    if (open->is_huge)
        return kiln__infer_error(in, open->ast->span, "literal-range", NULL,
                                 "the result may be too large a constant");
    return kiln__infer_error(
        in, open->ast->span, "literal-range", NULL,
        "the result may be %s, which does not fit %s",
        kiln__wide_text(text, kiln__fold_convert(&most, &most, type->kind, 0)
                                  ? open->least
                                  : open->most),
        kiln_type_text(type));
}

static kiln__value build(kiln__infer *in, const struct kiln__open *open,
                         const kiln_type *type)
{
    const size_t first = is_choice(open->op) ? 1 : 0;
    uint32_t nodes[3] = {open->condition, 0, 0};

    if (kiln__stack_is_low())
        return kiln__infer_fail(in, KILN_ESTACK);
    for (size_t i = 0; i < open->count; i++) {
        const kiln__value value =
            is_shift(open->op) && i == 1
                ? kiln__infer_shift_count(in, &open->sides[1], type, open->ast)
                : kiln__infer_adapt(in, &open->sides[i], type, open->places[i],
                                    "the operand");

        if (kiln__value_is_vague(&value))
            return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
        nodes[first + i] = kiln__infer_use(in, &value, open->ast);
    }
    if (!bounds_fit(open, type))
        return too_large(in, open, type);
    return kiln__infer_made(in, open->op, type, open->ast, open->imm,
                            (kiln__operands){nodes, first + open->count});
}

kiln__value kiln__infer_open_build(kiln__infer *in, const kiln__value *value,
                                   const kiln_type *type)
{
    return build(in, value->open, type);
}

/* ---- changing the type of what is built ---- */

int kiln__infer_open_can_change(const kiln__value *value)
{
    return !value->open->has_shift;
}

static void retype(kiln__infer *in, const struct kiln__open *open,
                   const kiln_type *type, uint32_t *node)
{
    const uint32_t index = kiln__infer_type(in, type);

    for (size_t i = 0; i < open->count && in->status == KILN_OK; i++) {
        kiln__constant constant = open->sides[i].constant;

        if (open->sides[i].kind == KILN__VALUE_OPEN) {
            retype(in, open->sides[i].open, type, node);
            continue;
        }
        (void)kiln__fold_convert(&constant, &constant, type->kind, 0);
        in->body.ir.nodes.items[*node].imm =
            kiln__fold_bits(&constant, type->kind);
        in->body.ir.nodes.items[(*node)++].type = index;
    }
    if (in->status == KILN_OK)
        in->body.ir.nodes.items[(*node)++].type = index;
}

void kiln__infer_open_change(kiln__infer *in, const kiln__value *value,
                             const kiln_type *type, uint32_t first)
{
    retype(in, value->open, type, &first);
}
