/* runtime_separable.c - finds runtime functions that are the same in every
 * kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/keys/settings.h"
#include "ir/ir.h"
#include "ir/ir_tables.h"
#include "pipeline/runtime_separable.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

/*
 * A runtime function is compiled apart from its callers, unless that gives
 * other code than compiling it together with them:
 *
 *   operations of a group or sub-group are emitted where they are called, on
 *   backends without barriers checks that the ranges of a tile have a second
 *   body without them can prove: bounds, divisors,
 *   (codegen/lower/prove/lower_prove.h) conversions, asserts ids, sizes,
 *   printing depend on the kernel's settings recursion is visible only in the
 *   whole closure
 *
 * A function is separable only if all that it calls is. What remains is
 * arithmetic and control flow, which cannot fail.
 */

/* True if lowering emits a check for the node (lower_plan.c). */
static int is_checked(const kiln__ir_node *node, const kiln_config *config)
{
    if (node->flags & KILN__IR_BOUNDS_ON)
        return 1;
    return !(node->flags & KILN__IR_BOUNDS_OFF) &&
           config->bounds_checks == KILN_SWITCH_ON;
}

static int has_constant(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_node *second = kiln__ir_operand_at(ir, node, 1);

    if (second->op == KILN__IR_SPLAT)
        second = kiln__ir_operand_at(ir, second, 0);
    return second->op == KILN__IR_CONST && second->imm != 0;
}

static int is_plain(const kiln__ir *ir, const kiln__ir_node *node,
                    const kiln_config *config)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_LOCAL_ARRAY:
    case KILN__IR_BARRIER:
    case KILN__IR_GROUP:
    case KILN__IR_QUERY:
    case KILN__IR_PRINT:
    case KILN__IR_CHECKED:
    case KILN__IR_ASSERT:
    case KILN__IR_HEAP_ARRAY:
        return 0;
    case KILN__IR_LOAD:
    case KILN__IR_STORE:
    case KILN__IR_ATOMIC:
    case KILN__IR_ELEMENT:
    case KILN__IR_WITH_ELEMENT:
        return !is_checked(node, config);
    case KILN__IR_IDIV:
    case KILN__IR_IREM:
        return has_constant(ir, node);
    default:
        return 1;
    }
}

static kiln_status is_plain_code(uint8_t *out, const kiln_code *code,
                                 const kiln_config *config)
{
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_status status;
    kiln__ir ir;

    *out = 0;
    if (!kiln__code_is_runtime(code) ||
        kiln__code_frontend(code)->ops.lower != NULL)
        return KILN_OK;
    status = kiln__ir_decode(&ir, &config->context->alloc, bytes, size, NULL);
    if (status != KILN_OK) /* lowering reports what is wrong */
        return status == KILN_ENOMEM ? status : KILN_OK;
    *out = !ir.kernel;
    for (size_t i = 1; *out && i < ir.nodes.count; i++)
        *out = (uint8_t)is_plain(&ir, &ir.nodes.items[i], config);
    kiln__ir_dispose(&ir);
    return KILN_OK;
}

static int is_settled(const uint8_t *settled, const kiln_code *const *closure,
                      size_t count, const kiln_code *code)
{
    size_t callee_count;
    const kiln_code *const *callees = kiln__code_callees(code, &callee_count);

    for (size_t i = 0; i < callee_count; i++) {
        size_t at = 0;

        while (at < count && !kiln__codes_are_one(closure[at], callees[i]))
            at++;
        if (at == count || settled[at] != 2)
            return 0;
    }
    return 1;
}

/* Starts at the leaves, so that members of cycles are never marked. */
static void mark_separable(uint8_t *marks, const kiln_code *const *closure,
                           size_t count)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = count; i-- > 0;)
            if (marks[i] == 1 && is_settled(marks, closure, count, closure[i]))
                marks[i] = 2, changed = 1;
    }
    for (size_t i = 0; i < count; i++)
        marks[i] = marks[i] == 2;
}

kiln_status kiln__separable_find(uint8_t *out, const kiln_code *const *closure,
                                 size_t count, const kiln_config *config)
{
    memset(out, 0, count);
    for (size_t i = 1; i < count; i++)
        KILN_TRY(is_plain_code(&out[i], closure[i], config));
    mark_separable(out, closure, count);
    return KILN_OK;
}
