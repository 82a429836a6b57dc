/* lower_group_hoist.c - takes out of guards what is the same for all items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower_rewrite.h"

/*
 *     if i < size(x, 0)                n = size(x, 1)
 *         n = size(x, 1)         =>    if i < size(x, 0)
 *         for k in 0..n a end              for k in 0..n a end
 *     end                              end
 *
 * Items that the guard turns away have no n on the left side, so the loop's
 * bounds are not the same for all, and the loop could not run once for the
 * group. The same goes for what follows `if i >= n return end`.
 *
 * A local is taken out if it is set once, by an expression that only computes,
 * cannot raise, gives the same value for all items, and reads no local that is
 * set later than where it then stands.
 */

typedef kiln__node_list list;

/* Where a local that an expression reads has its value. */
enum { UNKNOWN, NEVER_SET, SET_BEFORE, TAKEN_OUT };

typedef struct hoister {
    const kiln__lowering *l;
    const kiln__group_finder *finder;
    kiln__ir *ir;
    uint8_t *state; /* by local, of its only SET */
    int changed;
    kiln__rewrite rewrite;
} hoister;

/* True when the expression has the same value for all items, also where what is
   taken out stands. */
static int is_of_group(const hoister *h, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(h->ir, index);
    const int is_uniform =
        h->finder->view->values[index] == KILN__UNIFORM_GROUP;

    if (node->op == KILN__IR_LOCAL)
        return h->state[node->imm] == TAKEN_OUT ||
               (is_uniform && h->state[node->imm] != UNKNOWN);
    for (size_t i = 0; i < node->count; i++)
        if (!is_of_group(h, kiln__ir_operand(h->ir, node, i)))
            return 0;
    return is_uniform || (node->count > 0 && node->op != KILN__IR_QUERY);
}

static int is_only_set(const hoister *h, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(h->ir, index);

    return node->op == KILN__IR_SET && h->finder->sets[node->imm] == index + 1;
}

static int can_go_out(const hoister *h, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(h->ir, index);
    uint32_t value;

    if (!is_only_set(h, index))
        return 0;
    value = kiln__ir_operand(h->ir, node, 0);
    return (kiln__lower_effects(h->l, &h->l->functions[0], value) &
            (KILN__READS | KILN__WRITES | KILN__CALLS | KILN__CONVERGENT |
             KILN__RAISES | KILN__COSTS)) == 0 &&
           is_of_group(h, value);
}

static void take_out(hoister *h, uint32_t index, list *out)
{
    h->state[kiln__ir_node_at(h->ir, index)->imm] = TAKEN_OUT;
    h->changed = 1;
    kiln__rewrite_append(&h->rewrite, out, index);
}

static int is_guard(const hoister *h, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(h->ir, index);

    return node->op == KILN__IR_IF && node->count == 2;
}

static uint32_t without_sets(hoister *h, uint32_t guard, list *out);

/* Adds the block's statement to `kept`, or what goes out of it to `out`. */
static void sort(hoister *h, uint32_t index, list *kept, list *out)
{
    if (can_go_out(h, index))
        take_out(h, index, out);
    else
        kiln__rewrite_append(&h->rewrite, kept,
                             is_guard(h, index) ? without_sets(h, index, out)
                                                : index);
}

/* Returns the guard without what is added to `out`. */
static uint32_t without_sets(hoister *h, uint32_t guard, list *out)
{
    const kiln__ir_node node = *kiln__ir_node_at(h->ir, guard);
    const kiln__ir_node block = *kiln__ir_operand_at(h->ir, &node, 1);
    const size_t before = out->count;
    list kept = {NULL, 0, 0};
    uint32_t made = guard;

    for (size_t i = 0; i < block.count && !h->rewrite.no_memory; i++)
        sort(h, kiln__ir_operand(h->ir, &block, i), &kept, out);
    if (out->count > before && !h->rewrite.no_memory) {
        const uint32_t parts[2] = {kiln__ir_operand(h->ir, &node, 0),
                                   kiln__rewrite_block(&h->rewrite, &kept)};

        made = kiln__rewrite_add(&h->rewrite, node, parts, 2);
    }
    kiln__rewrite_dispose(&h->rewrite, &kept);
    return made;
}

/* Adds a statement that all items come to, behind what goes out of it. */
static void keep(hoister *h, uint32_t index, list *out)
{
    if (is_only_set(h, index))
        h->state[kiln__ir_node_at(h->ir, index)->imm] = SET_BEFORE;
    kiln__rewrite_append(&h->rewrite, out,
                         is_guard(h, index) ? without_sets(h, index, out)
                                            : index);
}

/* What goes out of guards stands before them, and before the first exit. */
static uint32_t rewritten(hoister *h, uint32_t body)
{
    const kiln__ir_node node = *kiln__ir_node_at(h->ir, body);
    list head = {NULL, 0, 0}, rest = {NULL, 0, 0};
    uint32_t made = body;
    int has_exit = 0;

    for (size_t i = 0; i < node.count && !h->rewrite.no_memory; i++) {
        const uint32_t index = kiln__ir_operand(h->ir, &node, i);

        has_exit |= kiln__group_is_exit(h->ir, index);
        if (has_exit)
            sort(h, index, &rest, &head);
        else
            keep(h, index, &head);
    }
    for (size_t i = 0; i < rest.count; i++)
        kiln__rewrite_append(&h->rewrite, &head, rest.items[i]);
    if (h->changed && !h->rewrite.no_memory)
        made = kiln__rewrite_block(&h->rewrite, &head);
    kiln__rewrite_dispose(&h->rewrite, &head);
    kiln__rewrite_dispose(&h->rewrite, &rest);
    return made;
}

/* True if not all items come to some loop. */
static int has_guarded_loop(const hoister *h)
{
    for (uint32_t i = 1; i < h->ir->nodes.count; i++)
        if (h->ir->nodes.items[i].op == KILN__IR_FOR &&
            h->finder->view->controls[i] != KILN__UNIFORM_GROUP)
            return 1;
    return 0;
}

static void find_what_is_set(hoister *h)
{
    for (uint32_t i = 0; i < h->ir->locals.count; i++)
        h->state[i] = NEVER_SET;
    for (uint32_t i = 1; i < h->ir->nodes.count; i++) {
        const kiln__ir_node *node = &h->ir->nodes.items[i];

        if (node->op == KILN__IR_SET || node->op == KILN__IR_FOR)
            h->state[node->imm] = UNKNOWN;
    }
}

kiln_status kiln__group_hoist_sets(const kiln__group_finder *finder,
                                   int *changed)
{
    const kiln__lowering *l = finder->l;
    kiln__ir *ir = &l->functions[0].ir;
    hoister h = {.l = l, .finder = finder, .ir = ir, .rewrite = {ir, 0}};
    uint32_t body;

    *changed = 0;
    if (!has_guarded_loop(&h))
        return KILN_OK;
    h.state =
        kiln__arena_allocate_array(&l->job->arena, ir->locals.count + 1, 1);
    if (h.state == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    find_what_is_set(&h);
    body = rewritten(&h, ir->body);
    if (h.rewrite.no_memory)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    ir->body = body;
    *changed = h.changed;
    return KILN_OK;
}
