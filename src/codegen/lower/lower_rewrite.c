/* lower_rewrite.c - makes new nodes of typed IR, for passes that rewrite it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower_rewrite.h"

/*
 * Passes that rewrite a function collect statements in lists and append nodes
 * to the function's arrays; old nodes keep their indices. No function here
 * returns a status: `no_memory` is set instead (lower_rewrite.h).
 */

void kiln__rewrite_append(kiln__rewrite *r, kiln__node_list *to, uint32_t node)
{
    if (!kiln__array_push(r->ir->alloc, to, node))
        r->no_memory = 1;
}

void kiln__rewrite_dispose(const kiln__rewrite *r, kiln__node_list *list)
{
    kiln__array_dispose(r->ir->alloc, list);
}

uint32_t kiln__rewrite_add(kiln__rewrite *r, kiln__ir_node node,
                           const uint32_t *operands, size_t count)
{
    uint32_t index = 0;

    if (kiln__ir_add_node(r->ir, &node, operands, count, &index) != KILN_OK)
        r->no_memory = 1;
    return index;
}

uint32_t kiln__rewrite_nothing(kiln__rewrite *r)
{
    uint32_t type = 0;

    if (kiln__ir_scalar(r->ir, KILN_TYPE_NONE, &type) != KILN_OK)
        r->no_memory = 1;
    return type;
}

uint32_t kiln__rewrite_block(kiln__rewrite *r,
                             const kiln__node_list *statements)
{
    const kiln__ir_node node = {.op = KILN__IR_BLOCK,
                                .type = kiln__rewrite_nothing(r)};

    return kiln__rewrite_add(r, node, statements->items, statements->count);
}
