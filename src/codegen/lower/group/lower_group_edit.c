/* lower_group_edit.c - what passes that rewrite a kernel's loops share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

uint32_t kiln__group_copy(kiln__rewrite *r, const kiln__lowering *l,
                          uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(r->ir, index);
    uint32_t *operands = kiln__arena_allocate_array(
        &l->job->arena, (size_t)node.count + 1, sizeof *operands);

    if (operands == NULL) {
        r->no_memory = 1;
        return index;
    }
    for (size_t i = 0; i < node.count; i++)
        operands[i] = kiln__group_copy(r, l, kiln__ir_operand(r->ir, &node, i));
    return kiln__rewrite_add(r, node, operands, node.count);
}

static int sets(const kiln__ir *ir, uint32_t index, int64_t local)
{
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);

    if ((node->op == KILN__IR_SET || node->op == KILN__IR_FOR) &&
        node->imm == local)
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (sets(ir, kiln__ir_operand(ir, node, i), local))
            return 1;
    return 0;
}

int kiln__group_changes(const kiln__ir *ir, uint32_t statement, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);

    if (node->op == KILN__IR_LOCAL && sets(ir, statement, node->imm))
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (kiln__group_changes(ir, statement, kiln__ir_operand(ir, node, i)))
            return 1;
    return 0;
}
