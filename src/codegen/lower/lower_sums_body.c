/* lower_sums_body.c - keeps the elements of sums in registers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower.h"

/*
 * lower_sums.c has found the loops and their elements. Here a loop loads its
 * elements before the first iteration, or where the sum begins, and stores them
 * behind the last one. In between they are in allocas, which LLVM makes
 * registers.
 */

kiln__lower_sum *kiln__lower_sum_of(kiln__lowering *l,
                                    const kiln__ir_node *access)
{
    uint8_t number;

    if (!l->sums.are_in_use || l->f != &l->functions[0])
        return NULL;
    number = l->sums.of[access - l->ir->nodes.items];
    return number == 0 ? NULL : &l->sums.all[number - 1];
}

/* Makes an alloca in the function's first block. */
static LLVMValueRef make_place(kiln__lowering *l, LLVMTypeRef type)
{
    const LLVMBasicBlockRef here = LLVMGetInsertBlock(l->builder);
    const LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(l->f->value);
    LLVMValueRef place;

    LLVMPositionBuilderBefore(l->builder, LLVMGetFirstInstruction(entry));
    place = LLVMBuildAlloca(l->builder, type, "");
    LLVMPositionBuilderAtEnd(l->builder, here);
    return place;
}

/* Sets locals that the loop will set to what it always sets them to. */
static void set_locals(kiln__lowering *l, uint32_t loop, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(l->ir, index);
    uint32_t set;

    for (size_t i = 0; i < node->count; i++)
        set_locals(l, loop, kiln__ir_operand(l->ir, node, i));
    if (node->op != KILN__IR_LOCAL || !kiln__group_changes(l->ir, loop, index))
        return;
    set = l->sums.sets[node->imm] - 1;
    set_locals(l, loop,
               kiln__ir_operand(l->ir, kiln__ir_node_at(l->ir, set), 0));
    kiln__lower_statement(l, set);
}

static void begin_sum(kiln__lowering *l, kiln__lower_sum *sum)
{
    const kiln__ir_node *element = kiln__ir_node_at(l->ir, sum->element);
    uint32_t type;

    for (size_t i = 1; i + 1 < element->count; i++)
        set_locals(l, sum->loop, kiln__ir_operand(l->ir, element, i));
    sum->address = kiln__lower_address(l, element, &type);
    sum->place = make_place(l, kiln__lower_type_of(l, type));
    LLVMBuildStore(l->builder, kiln__lower_read(l, type, sum->address),
                   sum->place);
}

static void end_sum(kiln__lowering *l, const kiln__lower_sum *sum)
{
    const kiln__ir_node *element = kiln__ir_node_at(l->ir, sum->element);
    const uint32_t type =
        kiln__ir_operand_at(l->ir, element, element->count - 1)->type;

    kiln__lower_write(l, type, sum->address,
                      LLVMBuildLoad2(l->builder, kiln__lower_type_of(l, type),
                                     sum->place, ""));
}

/* True for a sum of the loop, in a body that has it in a register. */
static int is_of(const kiln__lowering *l, const kiln__lower_sum *sum,
                 const kiln__ir_node *loop)
{
    return l->sums.are_in_use && l->f == &l->functions[0] &&
           sum->loop == (uint32_t)(loop - l->ir->nodes.items);
}

void kiln__lower_start_sum(kiln__lowering *l, kiln__lower_sum *sum,
                           LLVMValueRef value)
{
    uint32_t type;

    sum->address =
        kiln__lower_address(l, kiln__ir_node_at(l->ir, sum->start), &type);
    sum->place = make_place(l, kiln__lower_type_of(l, type));
    LLVMBuildStore(l->builder, value, sum->place);
}

size_t kiln__lower_begin_sums(kiln__lowering *l, const kiln__ir_node *loop)
{
    size_t count = 0;

    for (size_t i = 0; i < l->sums.count; i++)
        if (is_of(l, &l->sums.all[i], loop) && l->sums.all[i].start == 0) {
            begin_sum(l, &l->sums.all[i]);
            count++;
        }
    return count;
}

void kiln__lower_end_sums(kiln__lowering *l, const kiln__ir_node *loop,
                          int have_start)
{
    for (size_t i = 0; i < l->sums.count; i++)
        if (is_of(l, &l->sums.all[i], loop) &&
            (l->sums.all[i].start != 0) == have_start)
            end_sum(l, &l->sums.all[i]);
}
