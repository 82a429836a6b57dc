/* lower_cut.c - which kernels may run in groups of which sizes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

/*
 * A device's last groups then have items that do nothing. That is right for
 * kernels of which each item works for itself. Where items wait for each other,
 * share memory, or ask how large their group is, as those do that share work
 * among a group's items, the missing ones would be missed. What other frontends
 * made of a function is not looked into.
 *
 * A kernel whose items do not ask for their group at all computes the same in
 * groups of any size. The host then chooses them by how long its launches take.
 */

static int needs_whole_groups(const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_GROUP:
    case KILN__IR_BARRIER:
    case KILN__IR_LOCAL_ARRAY:
    case KILN__IR_EXTERNAL:
        return 1;
    case KILN__IR_QUERY:
        return node->imm / 4 == KILN__QUERY_LOCAL_SIZE ||
               node->imm / 4 >= KILN__QUERY_SUB_GROUP_SIZE;
    default:
        return 0;
    }
}

static int asks_for_group(const kiln__ir_node *node)
{
    return node->op == KILN__IR_QUERY &&
           node->imm / 4 != KILN__QUERY_GLOBAL_ID &&
           node->imm / 4 != KILN__QUERY_GLOBAL_SIZE;
}

static int asks_for_grid(const kiln__ir_node *node)
{
    return node->op == KILN__IR_QUERY &&
           node->imm / 4 == KILN__QUERY_GLOBAL_SIZE;
}

void kiln__lower_find_cuts(kiln__lowering *l)
{
    kiln__codegen_job *job = l->job;

    job->any_block = 1;
    job->asks_no_grid = 1;
    job->asks_no_group = 1;
    for (size_t i = 0; i < l->count; i++) {
        const kiln__ir *ir = &l->functions[i].ir;

        for (size_t k = 1; k < ir->nodes.count; k++) {
            const kiln__ir_node *node = &ir->nodes.items[k];

            job->any_block &= !needs_whole_groups(node);
            job->asks_no_group &=
                !needs_whole_groups(node) && !asks_for_group(node);
            job->asks_no_grid &=
                !asks_for_grid(node) && node->op != KILN__IR_EXTERNAL;
        }
    }
}
