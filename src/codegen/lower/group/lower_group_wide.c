/* lower_group_wide.c - kernels whose items go through loops as vectors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

/*
 * A loop that is done once for the group (lower_group_loops.c) has what it sums
 * up in memory, item by item. A vector of items that goes through the loop has
 * it in registers (codegen/module/wide/wide.h), which is two or three times as
 * fast. That is done behind lowering, where all loops of the kernel allow it.
 * Here it is foreseen, so that such kernels keep their loops inside of items.
 * Where it is foreseen wrongly, only time is lost.
 */

/* What evaluating the node does that vectors of items cannot. */
static int is_foreign(const kiln__group_finder *f, const kiln__ir_node *node)
{
    const uint32_t not_wide = KILN__CONVERGENT | KILN__PRINTS | KILN__SHARES |
                              KILN__RECURS | KILN__HEAPS;

    switch ((uint32_t)node->op) {
    case KILN__IR_WHILE:
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
    case KILN__IR_FENCE:
    case KILN__IR_ATOMIC:
    case KILN__IR_EXTERNAL:
    case KILN__IR_ASSERT:
        return 1;
    case KILN__IR_CALL:
        return (kiln__lower_effect(f->l, &f->l->functions[0], node) &
                (not_wide | KILN__LOOPS | KILN__READS | KILN__WRITES)) != 0;
    case KILN__IR_IDIV:
    case KILN__IR_IREM:
        return kiln__ir_operand_at(f->ir, node, 1)->op != KILN__IR_CONST;
    default:
        return (kiln__lower_effect(f->l, &f->l->functions[0], node) &
                not_wide) != 0;
    }
}

/* True for a value whose range a proof is likely to know: of ids and arguments,
   set once. */
static int is_known(const kiln__group_finder *f, uint32_t index, unsigned depth)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    if (node->op == KILN__IR_LOCAL && node->imm >= f->ir->parameter_count &&
        f->loops[node->imm] == 0)
        return f->sets[node->imm] != 0 && depth < 16 &&
               is_known(f,
                        kiln__ir_operand(
                            f->ir,
                            kiln__ir_node_at(f->ir, f->sets[node->imm] - 1), 0),
                        depth + 1);
    if (node->op == KILN__IR_LOAD || node->op == KILN__IR_CALL || depth >= 16)
        return 0;
    for (size_t i = 0; i < node->count; i++)
        if (!is_known(f, kiln__ir_operand(f->ir, node, i), depth + 1))
            return 0;
    return 1;
}

static int has_loop(const kiln__group_finder *f, uint32_t index)
{
    return (kiln__lower_effects(f->l, &f->l->functions[0], index) &
            KILN__LOOPS) != 0;
}

/* Items that go to a loop part only at the guard of a kernel, which becomes the
   bounds of the loop over items. */
static int parts_before_loop(const kiln__group_finder *f,
                             const kiln__ir_node *node, int in_loop)
{
    uint32_t condition;

    if (node->op != KILN__IR_IF)
        return 0;
    condition = kiln__ir_operand(f->ir, node, 0);
    if (f->view->values[condition] == KILN__UNIFORM_GROUP ||
        (!in_loop && is_known(f, condition, 0)))
        return 0;
    for (size_t i = 1; i < node->count; i++)
        if (has_loop(f, kiln__ir_operand(f->ir, node, i)))
            return 1;
    return 0;
}

static int is_wide(const kiln__group_finder *f, uint32_t index, int in_loop)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);
    const int is_loop = node->op == KILN__IR_FOR;

    if (is_foreign(f, node) || parts_before_loop(f, node, in_loop) ||
        (is_loop && !kiln__group_loop_is_wide(f, index)) ||
        (node->op == KILN__IR_RETURN && in_loop) ||
        (node->op == KILN__IR_CHECKED &&
         !is_known(f, kiln__ir_operand(f->ir, node, 0), 0)))
        return 0;
    for (size_t i = 0; i < node->count; i++)
        if (!is_wide(f, kiln__ir_operand(f->ir, node, i), in_loop || is_loop))
            return 0;
    return 1;
}

int kiln__group_is_wide(const kiln__group_finder *f)
{
    return f->l->functions[0].collective == 0 && is_wide(f, f->ir->body, 0);
}
