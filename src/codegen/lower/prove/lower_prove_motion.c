/* lower_prove_motion.c - how locals move while a loop runs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/*
 * A local that a loop sets in one way only keeps bounds, if it moves in one
 * direction or to and fro. That is an assumption: each SET of such a local has
 * to be proved to leave it within its bounds.
 */

#define LOOKS_A_STEP 16 /* looks at nodes */

/* A local's only update in a loop: local = local OP amount. */
typedef struct motion {
    uint32_t local;
    const kiln__ir_node *update; /* NULL: none found yet */
    int is_other;                /* the loop also sets it in another way */
} motion;

static int is_constant_above(const kiln__ir_node *node, int64_t least)
{
    return node->op == KILN__IR_CONST && node->imm >= least;
}

/* True for an amount that is likely not negative; that it is not is proved
   later. */
static int is_amount(const kiln__ir_node *node)
{
    return is_constant_above(node, 0) || node->op == KILN__IR_QUERY ||
           node->op == KILN__IR_SIZE || node->op == KILN__IR_LENGTH;
}

/* How a local moves. */
enum { OTHERWISE, UP, DOWN, TOWARDS_ZERO, TO_AND_FRO };

/* True for local = c - local and local ^= 1, as of the number of a buffer. */
static int swaps(const kiln__ir *ir, const kiln__ir_node *update,
                 uint32_t local)
{
    const kiln__ir_node *a = kiln__ir_operand_at(ir, update, 0);
    const kiln__ir_node *b = kiln__ir_operand_at(ir, update, 1);

    if (update->op == KILN__IR_SUB)
        return a->op == KILN__IR_CONST && b->op == KILN__IR_LOCAL &&
               b->imm == (int64_t)local;
    return update->op == KILN__IR_XOR && a->op == KILN__IR_LOCAL &&
           a->imm == (int64_t)local && b->op == KILN__IR_CONST && b->imm == 1;
}

static int direction(const kiln__ir *ir, const kiln__ir_node *update,
                     uint32_t local)
{
    const kiln__ir_node *a, *b;

    if (update->count != 2)
        return OTHERWISE;
    if (swaps(ir, update, local))
        return TO_AND_FRO;
    a = kiln__ir_operand_at(ir, update, 0);
    b = kiln__ir_operand_at(ir, update, 1);
    if (update->op == KILN__IR_ADD && b->op == KILN__IR_LOCAL)
        return b->imm == (int64_t)local && is_amount(a) ? UP : OTHERWISE;
    if (a->op != KILN__IR_LOCAL || a->imm != (int64_t)local)
        return OTHERWISE;
    if (update->op == KILN__IR_ADD)
        return is_amount(b) ? UP : OTHERWISE;
    if (update->op == KILN__IR_SUB)
        return is_amount(b) ? DOWN : OTHERWISE;
    if (update->op == KILN__IR_MUL || update->op == KILN__IR_SHL)
        return is_constant_above(b, update->op == KILN__IR_MUL) ? UP
                                                                : OTHERWISE;
    if ((update->op == KILN__IR_SHR && is_constant_above(b, 0)) ||
        (update->op == KILN__IR_IDIV && is_constant_above(b, 1)))
        return TOWARDS_ZERO;
    return OTHERWISE;
}

/* True when the expression reads the local. */
static int reads(const kiln__ir *ir, uint32_t index, uint32_t local)
{
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);

    if (node->op == KILN__IR_LOCAL && node->imm == (int64_t)local)
        return 1;
    for (uint32_t i = 0; i < node->count; i++)
        if (reads(ir, kiln__ir_operand(ir, node, i), local))
            return 1;
    return 0;
}

static void find_motion(const kiln__ir *ir, uint32_t index, motion *out)
{
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    const int is_set = node->op == KILN__IR_SET || node->op == KILN__IR_FOR;

    if (is_set && node->imm == (int64_t)out->local) {
        const kiln__ir_node *update = kiln__ir_operand_at(ir, node, 0);

        if (node->op == KILN__IR_FOR || out->update != NULL ||
            direction(ir, update, out->local) == OTHERWISE)
            out->is_other = 1;
        out->update = update;
    }
    for (uint32_t i = 0; i < node->count; i++)
        find_motion(ir, kiln__ir_operand(ir, node, i), out);
}

/* Returns what the local may be at the start of any iteration. */
static kiln__range moved_range(kiln__prover *p, kiln__prove_path *path,
                               const kiln__prove_symbol *start, int way)
{
    const kiln__range full = kiln__range_full(p, start->kind);
    const kiln__range begin = kiln__prove_path_range(p, path, start);

    if (begin.low == NULL)
        return full;
    if (way == UP)
        return (kiln__range){begin.low, full.high};
    if (way == DOWN)
        return (kiln__range){full.low, begin.high};
    return kiln__range_join(p, begin,
                            kiln__range_point(kiln__prove_number(p, 0)));
}

/* Returns what a local may be that an update swaps for another number, and that
   for the first one. */
static kiln__range swapped_range(kiln__prover *p, kiln__prove_path *path,
                                 kiln__prove_symbol *start, const kiln__ir *ir,
                                 const kiln__ir_node *update)
{
    const int is_sub = update->op == KILN__IR_SUB;
    kiln__prove_symbol *number = kiln__prove_symbol_constant(
        p, start->kind, kiln__ir_operand_at(ir, update, is_sub ? 0 : 1)->imm);

    return kiln__range_join(
        p, kiln__prove_path_range(p, path, start),
        kiln__prove_path_range(
            p, path,
            kiln__prove_symbol_apply(p, update->op, start->kind,
                                     is_sub ? number : start,
                                     is_sub ? start : number)));
}

kiln__prove_symbol *kiln__prove_motion(kiln__prover *p,
                                       const kiln__frame *frame,
                                       kiln__prove_path *path, uint32_t loop,
                                       uint32_t local,
                                       kiln__prove_symbol *start)
{
    const kiln__ir *ir = frame->ir;
    const kiln__ir_node *node = kiln__ir_node_at(ir, loop);
    motion m = {.local = local};
    int way;

    p->budget -= (int64_t)(ir->nodes.count / LOOKS_A_STEP);
    if (p->budget < 0 || !kiln__kind_is_integer(start->kind))
        return NULL;
    find_motion(ir, loop, &m);
    if (m.is_other || m.update == NULL)
        return NULL;
    way = direction(ir, m.update, local);
    if (m.update->op != KILN__IR_ADD && way != DOWN && way != TOWARDS_ZERO &&
        p->assumes_motion < 2)
        return NULL;
    if (way == TO_AND_FRO)
        return kiln__prove_symbol_leaf(
            p, start->kind, swapped_range(p, path, start, ir, m.update));
    /* Others are known to end by a condition of theirs. */
    if (node->op != KILN__IR_WHILE ||
        !reads(ir, kiln__ir_operand(ir, node, 0), local))
        return NULL;
    return kiln__prove_symbol_leaf(p, start->kind,
                                   moved_range(p, path, start, way));
}
