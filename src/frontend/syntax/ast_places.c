/* ast_places.c - numbers the expressions and statements of a definition. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "frontend/syntax/parse.h"

/*
 * Nodes are numbered from 1: parents before children, otherwise by where they
 * begin. Equal digests mean equal trees, and so equal numbers. Compiled code
 * refers to a place by its number, and the current text says where that is.
 */

typedef struct numbering {
    kiln__span *places;
    uint32_t count;
    kiln_status status;
} numbering;

static void number(numbering *n, kiln__ast *node)
{
    size_t first = 0;

    if (kiln__stack_is_low())
        n->status = KILN_ESTACK;
    if (node == NULL || n->status != KILN_OK)
        return;
    n->places[n->count] = node->span;
    node->ordinal = ++n->count;
    if (node->kind == KILN__AST_ASSIGN) { /* children are target, type, value */
        number(n, node->children[0]);
        number(n, node->children[2]);
        number(n, node->children[1]);
        return;
    }
    if (node->kind == KILN__AST_UNPACK)
        first = 1; /* the names are written before the value */
    for (size_t i = first; i < node->count; i++)
        number(n, node->children[i]);
    if (first == 1)
        number(n, node->children[0]);
}

kiln_status kiln__definition_number(kiln__definition *definition,
                                    kiln__arena *arena, uint32_t node_count)
{
    numbering n = {0};

    if (definition->body == NULL)
        return KILN_OK;
    n.places = kiln__arena_allocate_array(arena, node_count, sizeof *n.places);
    if (n.places == NULL)
        return KILN_ENOMEM;
    number(&n, definition->body);
    if (n.status != KILN_OK)
        return n.status;
    definition->places = n.places;
    definition->place_count = n.count;
    return KILN_OK;
}
