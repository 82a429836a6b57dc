/* lower_group_remat.c - rematerialises variables instead of storing them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

/*
 * A variable that several regions use would live in the group's memory. If a
 * single SET makes it in a few steps, of the item's ids and of values that do
 * not change while its frame runs, each region computes it again instead. That
 * saves memory. More important, LLVM sees that a computed index is the
 * neighbour of the next item's index; of a loaded one it cannot know that.
 */

#define NODES_MAX 32 /* in a value, with the values that it is made of */

typedef struct searcher {
    const kiln__lowering *l;
    size_t nodes;
} searcher;

/* True for operations that are quick and always return the same. */
static int is_quick(const searcher *s, const kiln__lower_function *f,
                    const kiln__ir_node *node)
{
    const kiln__lower_function *callee;

    if ((kiln__lower_effect(s->l, f, node) &
         (KILN__READS | KILN__WRITES | KILN__RAISES | KILN__PRINTS |
          KILN__CONVERGENT | KILN__RECURS | KILN__LOOPS | KILN__COSTS)) != 0)
        return 0;
    if (node->op != KILN__IR_CALL)
        return 1;
    callee = &s->l->functions[f->source->callees[node->imm]];
    return callee->ir.nodes.count <= NODES_MAX &&
           (callee->effects & (KILN__SHARES | KILN__CALLS)) == 0;
}

static int variable_repeats(searcher *s, const kiln__group_variable *v);

/* True when the expression has the same value at any time in the frame. */
static int value_repeats(searcher *s, const kiln__group_frame *frame,
                         uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(&frame->f.ir, index);

    if (++s->nodes > NODES_MAX || !is_quick(s, &frame->f, node))
        return 0;
    if (node->op == KILN__IR_LOCAL)
        return variable_repeats(s, frame->variables[node->imm]);
    for (size_t i = 0; i < node->count; i++)
        if (!value_repeats(s, frame, kiln__ir_operand(&frame->f.ir, node, i)))
            return 0;
    return 1;
}

static int variable_repeats(searcher *s, const kiln__group_variable *v)
{
    const kiln__group_frame *frame = v->frame;

    if (v->storage == KILN__STORAGE_SCALAR)
        return v->is_argument || (v->set != 0 && !v->is_in_loop);
    return v->set != 0 &&
           value_repeats(
               s, frame,
               kiln__ir_operand(&frame->f.ir,
                                kiln__ir_node_at(&frame->f.ir, v->set), 0));
}

int kiln__group_can_repeat(const kiln__lowering *l,
                           const kiln__group_variable *variable)
{
    searcher s = {.l = l};

    return variable_repeats(&s, variable);
}

static void compute_parts(kiln__lowering *l, const kiln__group_frame *frame,
                          uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(&frame->f.ir, index);

    if (node->op == KILN__IR_LOCAL &&
        frame->variables[node->imm]->storage != KILN__STORAGE_SCALAR)
        kiln__group_rematerialise(l, frame->variables[node->imm]);
    for (size_t i = 0; i < node->count; i++)
        compute_parts(l, frame, kiln__ir_operand(&frame->f.ir, node, i));
}

void kiln__group_rematerialise(kiln__lowering *l,
                               const kiln__group_variable *variable)
{
    const kiln__lowering outer = *l;
    kiln__group_frame *frame = variable->frame;
    kiln__group_frame *running = l->group->frame;
    const kiln__ir_node *set = kiln__ir_node_at(&frame->f.ir, variable->set);
    const uint32_t value = kiln__ir_operand(&frame->f.ir, set, 0);

    if (variable->place == NULL)
        return;
    compute_parts(l, frame, value);
    l->group->frame = frame;
    l->f = &frame->f;
    l->ir = &frame->f.ir;
    l->locals = frame->locals;
    l->fixed = frame->fixed;
    LLVMBuildStore(l->builder, kiln__lower_value(l, value), variable->place);
    l->group->frame = running;
    l->f = outer.f;
    l->ir = outer.ir;
    l->locals = outer.locals;
    l->fixed = outer.fixed;
}
