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
 */

struct kiln__open {
    kiln__ir_op op;
    int64_t imm;
    const kiln__ast *ast;
    uint32_t condition;  /* of CHOOSE and SELECT: a node */
    int32_t is_integral; /* for integers only: shifts and operations on bits */
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
                                .count = count};
    for (size_t i = 0; i < count; i++) {
        open->sides[i] = sides[i];
        open->places[i] = place_of(ast, i, count);
        value.constant.is_float |= is_open_float(&sides[i]);
        if (sides[i].kind == KILN__VALUE_OPEN)
            open->is_integral |= sides[i].open->is_integral;
    }
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

static int fits(const struct kiln__open *open, const kiln_type *type)
{
    if (kiln__stack_is_low() ||
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

const kiln_type *kiln__infer_open_type(const kiln__infer *in,
                                       const kiln__value *value)
{
    return kiln__infer_scalar(in, value->constant.is_float ? KILN_TYPE_F64
                                                           : KILN_TYPE_I64);
}

/* ---- building ---- */

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
    return kiln__infer_made(in, open->op, type, open->ast, open->imm,
                            (kiln__operands){nodes, first + open->count});
}

kiln__value kiln__infer_open_build(kiln__infer *in, const kiln__value *value,
                                   const kiln_type *type)
{
    return build(in, value->open, type);
}

/* ---- changing the type of what is built ---- */

static int has_shift(const struct kiln__open *open)
{
    if (is_shift(open->op) || kiln__stack_is_low())
        return 1;
    for (size_t i = 0; i < open->count; i++)
        if (open->sides[i].kind == KILN__VALUE_OPEN &&
            has_shift(open->sides[i].open))
            return 1;
    return 0;
}

int kiln__infer_open_can_change(const kiln__value *value)
{
    return !has_shift(value->open);
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
