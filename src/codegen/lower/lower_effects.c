/* lower_effects.c - the effects of evaluating typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

/*
 * Each function is examined once, callees before callers as far as recursion
 * allows. Following calls instead could take exponential time, since a program
 * may have exponentially many paths of calls.
 */

static int costs(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (node->op != KILN__IR_MATH)
        return node->op == KILN__IR_DIV || node->op == KILN__IR_IDIV ||
               node->op == KILN__IR_IREM;
    return kiln__kind_is_float(kiln__ir_kind(ir, node->type)) &&
           node->imm != KILN__MATH_MIN && node->imm != KILN__MATH_MAX &&
           node->imm != KILN__MATH_ABS;
}

/* Returns the effects of the operation alone, without those of callees and
   without exceptions. */
static uint32_t own_effects(const kiln__ir *ir, const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_LOAD:
        return KILN__READS;
    case KILN__IR_STORE:
        return KILN__WRITES;
    case KILN__IR_ATOMIC:
        return KILN__READS | KILN__WRITES;
    case KILN__IR_PRINT:
        return KILN__PRINTS;
    case KILN__IR_GROUP:
    case KILN__IR_BARRIER:
        return KILN__CONVERGENT;
    case KILN__IR_LOCAL_ARRAY:
        return KILN__SHARES;
    case KILN__IR_FENCE:
        return KILN__READS | KILN__WRITES;
    case KILN__IR_HEAP:
    case KILN__IR_HEAP_OFFSET:
    case KILN__IR_HEAP_ARRAY:
        return KILN__HEAPS;
    case KILN__IR_CALL:
        return KILN__CALLS;
    case KILN__IR_EXTERNAL:
        return KILN__READS | KILN__WRITES | KILN__PRINTS | KILN__CALLS |
               KILN__LOOPS | KILN__COSTS;
    case KILN__IR_FOR:
    case KILN__IR_WHILE:
    case KILN__IR_UNROLLED:
        return KILN__LOOPS;
    default:
        return costs(ir, node) ? KILN__COSTS : 0;
    }
}

/* Finds the least fixpoint, as kiln__lower_find_failures() does. */
void kiln__lower_find_effects(kiln__lowering *l)
{
    int changed = 1;

    for (size_t i = 0; i < l->count; i++) {
        kiln__lower_function *f = &l->functions[i];

        for (size_t k = 1; k < f->ir.nodes.count; k++) {
            f->effects |= own_effects(&f->ir, &f->ir.nodes.items[k]);
            f->has_heap |= f->ir.nodes.items[k].op == KILN__IR_HEAP;
        }
        if (f->recursive)
            f->effects |= KILN__RECURS;
    }
    while (changed) {
        changed = 0;
        for (size_t i = l->count; i-- > 0;) {
            kiln__lower_function *f = &l->functions[i];
            const uint32_t before = f->effects;

            for (size_t k = 0; k < f->source->callee_count; k++)
                f->effects |= l->functions[f->source->callees[k]].effects;
            changed |= f->effects != before;
        }
    }
}

uint32_t kiln__lower_effect(const kiln__lowering *l,
                            const kiln__lower_function *f,
                            const kiln__ir_node *node)
{
    uint32_t effects = own_effects(&f->ir, node);

    if (node->op == KILN__IR_CALL)
        effects |= l->functions[f->source->callees[node->imm]].effects;
    if (kiln__lower_raises(l, f, node))
        effects |= KILN__RAISES;
    return effects;
}

uint32_t kiln__lower_effects(const kiln__lowering *l,
                             const kiln__lower_function *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(&f->ir, index);
    uint32_t effects = kiln__lower_effect(l, f, node);

    for (size_t i = 0; i < node->count; i++)
        effects |= kiln__lower_effects(l, f, kiln__ir_operand(&f->ir, node, i));
    return effects;
}
