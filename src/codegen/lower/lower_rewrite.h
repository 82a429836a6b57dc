/* lower_rewrite.h - makes new nodes of typed IR, for passes that rewrite it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOWER_REWRITE_H
#define KILN_LOWER_REWRITE_H

#include "ir/ir.h"

/*
 * New nodes stand after the old ones, contrary to the order that ir.h demands
 * of stored functions; a walk from the body still meets them in the right
 * order. `no_memory` notes that memory ran out; callers look at it at the end.
 */
typedef struct kiln__rewrite {
    kiln__ir *ir;
    int no_memory;
} kiln__rewrite;

typedef struct kiln__node_list {
    uint32_t *items;
    size_t count;
    size_t capacity;
} kiln__node_list;

void kiln__rewrite_append(kiln__rewrite *r, kiln__node_list *to, uint32_t node);
void kiln__rewrite_dispose(const kiln__rewrite *r, kiln__node_list *list);
uint32_t kiln__rewrite_add(kiln__rewrite *r, kiln__ir_node node,
                           const uint32_t *operands, size_t count);
/* Returns the type of statements. */
uint32_t kiln__rewrite_nothing(kiln__rewrite *r);
uint32_t kiln__rewrite_block(kiln__rewrite *r,
                             const kiln__node_list *statements);

#endif /* KILN_LOWER_REWRITE_H */
