/* lower_converge.c - items that fail meet the others at the next barrier. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include "base/error.h"
#include "codegen/module/codegen_stages.h"

/*
 * Some targets give no meaning to a barrier that some items of a group never
 * reach. There, an item that fails does not leave the kernel but goes to the
 * next *convergence point*. From there on the group is *over* for all its
 * items: they still go through the barriers that are left, but do nothing
 * between them, and every condition that leads to a barrier is taken for false.
 * So loops end, items stay together, and nothing is ever evaluated on behalf of
 * an item that failed. No barrier becomes conditional that was not, and no loop
 * gets another exit; drivers that compile groups into loops over items need
 * that. A return of the entry that leads past barriers is done in the same way.
 *
 * A convergence point is a barrier after which each item asks whether any item
 * came because it failed. A node *converges* when others may wait in it: a
 * barrier, a call of a function that has one, or a node that contains such a
 * node. A jump converges when it leads past a node that does. All items take
 * the same path through what converges, or the kernel would have been refused.
 * So a convergence point can be put before it, and is put there if any item may
 * have failed since the last one.
 *
 * Items that failed since the last convergence point arrive at
 * `l->waiting.failing`, and items for which the group is over at
 * `l->waiting.skipping`; NULL: there are none. Both wait for the next place
 * where the group is together. Where paths join, these blocks join, too. A
 * value that a skipped path would have made does not dominate its uses after
 * it; this is mended at the end of the function, by moving such values into
 * memory.
 */

/* ---- which nodes converge ---- */

static int calls_converging(const kiln__lowering *l,
                            const kiln__lower_function *f,
                            const kiln__ir_node *node)
{
    return node->op == KILN__IR_CALL &&
           l->functions[f->source->callees[node->imm]].converges != NULL;
}

static int has_convergence(const kiln__lowering *l,
                           const kiln__lower_function *f)
{
    for (size_t i = 1; i < f->ir.nodes.count; i++) {
        const kiln__ir_node *node = &f->ir.nodes.items[i];

        if (node->op == KILN__IR_BARRIER || calls_converging(l, f, node))
            return 1;
    }
    return 0;
}

static uint8_t mark(const kiln__lowering *l, kiln__lower_function *f,
                    uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(&f->ir, index);
    uint8_t converges =
        node->op == KILN__IR_BARRIER || calls_converging(l, f, node);

    for (size_t i = 0; i < node->count; i++)
        converges |= mark(l, f, kiln__ir_operand(&f->ir, node, i));
    f->converges[index] = converges;
    return converges;
}

/* What may converge after a statement: in this iteration of the innermost loop,
   in its later iterations, and after that loop. */
typedef struct continuation {
    uint8_t iteration;
    uint8_t loop;
    uint8_t rest;
} continuation;

static int mark_jumps(kiln__lower_function *f, uint32_t index, continuation b);

/* Marks the operands of a node. What follows an operand in a block is added to
   `b`. */
static int mark_operands(kiln__lower_function *f, const kiln__ir_node *node,
                         continuation b)
{
    int changed = 0;

    for (size_t i = node->count; i-- > 0;) {
        const uint32_t operand = kiln__ir_operand(&f->ir, node, i);

        changed |= mark_jumps(f, operand, b);
        f->converges[node - f->ir.nodes.items] |= f->converges[operand];
        if (node->op == KILN__IR_BLOCK)
            b.iteration |= f->converges[operand];
    }
    return changed;
}

/* Marks the jumps below a node; true when any mark is new. */
static int mark_jumps(kiln__lower_function *f, uint32_t index, continuation b)
{
    const kiln__ir_node *node = kiln__ir_node_at(&f->ir, index);
    const uint8_t own = f->converges[index];
    int changed = 0;

    switch ((uint32_t)node->op) {
    case KILN__IR_FOR:
    case KILN__IR_WHILE:
    case KILN__IR_UNROLLED:
        b = (continuation){0, own, b.iteration | b.loop | b.rest};
        changed = mark_operands(f, node, b);
        break;
    case KILN__IR_BLOCK:
    case KILN__IR_IF:
        changed = mark_operands(f, node, b);
        break;
    case KILN__IR_CONTINUE:
        f->converges[index] = b.iteration;
        break;
    case KILN__IR_BREAK:
        f->converges[index] = b.iteration | b.loop;
        break;
    case KILN__IR_RETURN:
        f->converges[index] |= b.iteration | b.loop | b.rest;
        break;
    default:
        break;
    }
    return changed || f->converges[index] != own;
}

static kiln_status plan(kiln__lowering *l, kiln__lower_function *f)
{
    f->converges = kiln__arena_allocate(&l->job->arena, f->ir.nodes.count);
    if (f->converges == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}

/* True when the entry has a return that skips something that converges. */
static int ends_early(const kiln__lower_function *f)
{
    for (size_t i = 1; f->converges != NULL && i < f->ir.nodes.count; i++)
        if (f->ir.nodes.items[i].op == KILN__IR_RETURN && f->converges[i])
            return 1;
    return 0;
}

/* Drops all marks of a kernel whose items cannot end early: they need not
   converge. */
static void forget_if_needless(kiln__lowering *l)
{
    if (ends_early(&l->functions[0]))
        return;
    for (size_t i = 0; i < l->count; i++)
        if (l->functions[i].converges != NULL && l->functions[i].can_fail)
            return;
    for (size_t i = 0; i < l->count; i++)
        l->functions[i].converges = NULL;
}

static kiln_status find_converging(kiln__lowering *l)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = l->count; i-- > 0;) {
            kiln__lower_function *f = &l->functions[i];

            if (f->converges != NULL || !has_convergence(l, f))
                continue;
            KILN_TRY(plan(l, f));
            changed = 1;
        }
    }
    return KILN_OK;
}

kiln_status kiln__lower_plan_convergence(kiln__lowering *l)
{
    KILN_TRY(find_converging(l));
    for (size_t i = 0; i < l->count; i++) {
        kiln__lower_function *f = &l->functions[i];

        if (f->converges == NULL)
            continue;
        (void)mark(l, f, f->ir.body);
        while (mark_jumps(f, f->ir.body, (continuation){0, 0, 0})) {
        }
    }
    forget_if_needless(l);
    return KILN_OK;
}

/* ---- blocks where items wait ---- */

int kiln__lower_converges(const kiln__lowering *l, const kiln__ir_node *node)
{
    return l->f->converges != NULL &&
           l->f->converges[node - l->ir->nodes.items] != 0;
}

void kiln__lower_fail(kiln__lowering *l)
{
    if (l->waiting.failing == NULL)
        l->waiting.failing = kiln__lower_block(l);
    LLVMBuildBr(l->builder, l->waiting.failing);
}

static LLVMBasicBlockRef join(kiln__lowering *l, LLVMBasicBlockRef a,
                              LLVMBasicBlockRef b)
{
    const LLVMBasicBlockRef here = LLVMGetInsertBlock(l->builder);
    const LLVMBasicBlockRef from[2] = {a, b};
    LLVMBasicBlockRef both;

    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    both = kiln__lower_block(l);
    for (size_t i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(l->builder, from[i]);
        LLVMBuildBr(l->builder, both);
    }
    LLVMPositionBuilderAtEnd(l->builder, here);
    return both;
}

void kiln__lower_join(kiln__lowering *l, kiln__lower_waiting other)
{
    l->waiting.failing = join(l, l->waiting.failing, other.failing);
    l->waiting.skipping = join(l, l->waiting.skipping, other.skipping);
}

/* Brings the items for which the group is over here, where all items do the
   same. */
static void assemble(kiln__lowering *l)
{
    const LLVMBasicBlockRef all = kiln__lower_block(l);

    LLVMBuildBr(l->builder, all);
    if (l->waiting.skipping != NULL) {
        LLVMPositionBuilderAtEnd(l->builder, l->waiting.skipping);
        LLVMBuildBr(l->builder, all);
    }
    l->waiting.skipping = NULL;
    LLVMPositionBuilderAtEnd(l->builder, all);
}

void kiln__lower_part(kiln__lowering *l)
{
    LLVMBasicBlockRef fine, over;
    LLVMValueRef jump;

    if (l->f->converges == NULL)
        return;
    fine = kiln__lower_block(l);
    over = kiln__lower_block(l);
    jump = LLVMBuildCondBr(
        l->builder,
        l->job->backend->device->group_failed(l->job, l->builder, l->item),
        over, fine);
    LLVMSetMetadata(jump, l->prof_kind, l->cold);
    l->waiting.skipping = over;
    LLVMPositionBuilderAtEnd(l->builder, fine);
}

/* ---- convergence points ---- */

/* Builds a convergence point: all items come here, the failed ones, too. */
static void converge_here(kiln__lowering *l)
{
    const kiln__codegen_device *device = l->job->backend->device;
    LLVMBasicBlockRef all;

    assemble(l);
    all = LLVMGetInsertBlock(l->builder);
    LLVMPositionBuilderAtEnd(l->builder, l->waiting.failing);
    device->fail(l->job, l->builder, l->item);
    LLVMBuildBr(l->builder, all);
    LLVMPositionBuilderAtEnd(l->builder, all);
    device->converge(l->job, l->builder, l->item);
    l->waiting.failing = NULL;
}

void kiln__lower_assemble(kiln__lowering *l)
{
    if (l->waiting.failing != NULL)
        converge_here(l);
    else if (l->waiting.skipping != NULL)
        assemble(l);
}

void kiln__lower_barrier(kiln__lowering *l)
{
    const int converges = l->waiting.failing != NULL;

    if (l->f->converges != NULL)
        kiln__lower_assemble(l);
    if (!converges)
        l->job->backend->device->barrier(l->job, l->builder, l->item);
    kiln__lower_part(l);
}

void kiln__lower_settle(kiln__lowering *l)
{
    if (l->waiting.failing == NULL)
        return;
    converge_here(l);
    kiln__lower_part(l);
}

/* A return of the entry ends the group's work as a failure does. */
void kiln__lower_end(kiln__lowering *l, LLVMValueRef value)
{
    LLVMBasicBlockRef over;

    kiln__lower_settle(l);
    if (l->f != &l->functions[0]) {
        kiln__lower_return(l, value);
        return;
    }
    over = kiln__lower_block(l);
    l->job->backend->device->end(l->job, l->builder, l->item);
    LLVMBuildBr(l->builder, over);
    l->waiting.skipping = join(l, l->waiting.skipping, over);
}

LLVMValueRef kiln__lower_decide(kiln__lowering *l, LLVMValueRef condition,
                                int otherwise)
{
    const LLVMTypeRef type = LLVMInt1TypeInContext(l->context);
    LLVMValueRef values[2] = {
        condition, LLVMConstInt(type, (unsigned long long)otherwise, 0)};
    LLVMBasicBlockRef blocks[2];
    LLVMValueRef phi;

    kiln__lower_settle(l);
    if (l->waiting.skipping == NULL)
        return condition;
    blocks[0] = LLVMGetInsertBlock(l->builder);
    blocks[1] = l->waiting.skipping;
    assemble(l);
    phi = LLVMBuildPhi(l->builder, type, "");
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

void kiln__lower_end_waiting(kiln__lowering *l)
{
    const kiln__lower_waiting waiting = l->waiting;

    l->waiting = (kiln__lower_waiting){NULL, NULL};
    if (waiting.failing != NULL) {
        LLVMPositionBuilderAtEnd(l->builder, waiting.failing);
        kiln__lower_leave(l, 1);
    }
    if (waiting.skipping != NULL) {
        LLVMPositionBuilderAtEnd(l->builder, waiting.skipping);
        kiln__lower_leave(l, 0);
    }
    if (l->f->converges != NULL)
        kiln__llvm_restore_dominance(l->f->value);
}
