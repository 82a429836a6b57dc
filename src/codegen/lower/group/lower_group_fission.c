/* lower_group_fission.c - takes sums apart that go through memory otherwise. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower_rewrite.h"

/*
 *     for k in 0..n                    for k in 0..n
 *         row += a[k, i] * p[k]            column += a[i, k] * r[k]
 *         column += a[i, k] * r[k]  =>  end
 *     end                              for k in 0..n
 *                                          row += a[k, i] * p[k]
 *                                      end
 *
 * Items read neighbouring elements for one of the sums, and elements that are
 * far apart for the other one. The first loop is better outside of the items
 * (lower_group_loops.c), the second one inside.
 *
 * The loop's statements set locals, write nothing and cannot raise. Those that
 * share a local that is set stay together.
 */

#define STATEMENTS_MOST 16

typedef kiln__node_list list;

typedef struct divider {
    const kiln__lowering *l;
    const kiln__group_finder *finder;
    kiln__ir *ir;
    int changed;
    kiln__rewrite rewrite;
} divider;

static int has_effects(const divider *d, uint32_t index, uint32_t effects)
{
    return (kiln__lower_effects(d->l, &d->l->functions[0], index) & effects) !=
           0;
}

#define WRITES_OR_RAISES \
    (KILN__WRITES | KILN__CALLS | KILN__CONVERGENT | KILN__RAISES | \
     KILN__PRINTS)

/* ---- what may be taken apart ---- */

static int is_plain_bound(const divider *d, const kiln__ir_node *loop, size_t i)
{
    const uint32_t bound = kiln__ir_operand(d->ir, loop, i);

    return !has_effects(d, bound, WRITES_OR_RAISES | KILN__READS) &&
           !kiln__group_changes(d->ir, kiln__ir_operand(d->ir, loop, 3), bound);
}

/* True for a loop that only sets locals. */
static int is_divisible(const divider *d, uint32_t index)
{
    const kiln__ir_node *loop = kiln__ir_node_at(d->ir, index), *block;

    if (loop->op != KILN__IR_FOR || !is_plain_bound(d, loop, 0) ||
        !is_plain_bound(d, loop, 1))
        return 0;
    block = kiln__ir_operand_at(d->ir, loop, 3);
    if (block->count < 2 || block->count > STATEMENTS_MOST)
        return 0;
    for (size_t i = 0; i < block->count; i++) {
        const uint32_t statement = kiln__ir_operand(d->ir, block, i);

        if (kiln__ir_node_at(d->ir, statement)->op != KILN__IR_SET ||
            has_effects(d, statement, WRITES_OR_RAISES))
            return 0;
    }
    return 1;
}

/* True if one of the SETs changes what the other one reads, or both set the
   same local. */
static int share(const divider *d, uint32_t a, uint32_t b)
{
    return kiln__ir_node_at(d->ir, a)->imm == kiln__ir_node_at(d->ir, b)->imm ||
           kiln__group_changes(d->ir, a, b) || kiln__group_changes(d->ir, b, a);
}

/* Numbers statements by the first one that they belong to. */
static void find_parts(const divider *d, const kiln__ir_node *block,
                       uint8_t part[STATEMENTS_MOST])
{
    for (size_t i = 0; i < block->count; i++)
        part[i] = (uint8_t)i;
    for (size_t i = 0; i < block->count; i++)
        for (size_t j = 0; j < i; j++)
            if (part[i] != part[j] &&
                share(d, kiln__ir_operand(d->ir, block, i),
                      kiln__ir_operand(d->ir, block, j))) {
                const uint8_t from = part[i] > part[j] ? part[i] : part[j];
                const uint8_t to = part[i] > part[j] ? part[j] : part[i];

                for (size_t k = 0; k <= i; k++)
                    if (part[k] == from)
                        part[k] = to;
            }
}

/* ---- new loops ---- */

/* Returns the loop with these statements, to be looked at. */
static uint32_t loop_of(divider *d, const kiln__ir_node *loop,
                        const list *statements)
{
    const kiln__ir_node node = *loop;
    uint32_t parts[4];

    for (size_t i = 0; i < 3; i++)
        parts[i] = kiln__ir_operand(d->ir, &node, i);
    parts[3] = kiln__rewrite_block(&d->rewrite, statements);
    return kiln__rewrite_add(&d->rewrite, node, parts, 4);
}

/* Puts another local in the place of the counter. */
static void rename_counter(const divider *d, uint32_t index, int64_t from,
                           uint32_t to)
{
    kiln__ir_node *node = &d->ir->nodes.items[index];

    if (node->op == KILN__IR_LOCAL && node->imm == from)
        node->imm = to;
    for (size_t i = 0; i < node->count; i++)
        rename_counter(d, kiln__ir_operand(d->ir, node, i), from, to);
}

/* Returns a loop with a counter of its own. The old loop stays in the array of
   nodes, and two loops of one counter would say nothing of its bounds. */
static uint32_t own_loop(divider *d, const kiln__ir_node *loop,
                         const list *statements)
{
    const int64_t counter = loop->imm;
    const uint32_t type = d->ir->locals.items[counter].type;
    kiln__ir_node node = *loop;
    uint32_t parts[4], own = 0;

    for (size_t i = 0; i < 3; i++)
        parts[i] = kiln__group_copy(&d->rewrite, d->l,
                                    kiln__ir_operand(d->ir, &node, i));
    parts[3] = kiln__rewrite_block(&d->rewrite, statements);
    if (kiln__ir_add_local(d->ir, "", type, &own) != KILN_OK)
        d->rewrite.no_memory = 1;
    if (d->rewrite.no_memory)
        return 0;
    rename_counter(d, parts[3], counter, own);
    node.imm = own;
    return kiln__rewrite_add(&d->rewrite, node, parts, 4);
}

/* Adds the statements of a part to those of loops that are better outside of
   the items, or to the others. */
static void sort_part(divider *d, const kiln__ir_node *loop,
                      const kiln__ir_node *block, const uint8_t *part,
                      size_t which, list sorted[2])
{
    list statements = {NULL, 0, 0};
    int fits;

    for (size_t i = 0; i < block->count; i++)
        if (part[i] == which)
            kiln__rewrite_append(&d->rewrite, &statements,
                                 kiln__ir_operand(d->ir, block, i));
    if (statements.count > 0 && !d->rewrite.no_memory) {
        fits = kiln__group_loop_fits(d->finder, loop_of(d, loop, &statements));
        for (size_t i = 0; i < statements.count; i++)
            kiln__rewrite_append(&d->rewrite, &sorted[fits ? 0 : 1],
                                 statements.items[i]);
    }
    kiln__rewrite_dispose(&d->rewrite, &statements);
}

/* Adds the loop to `out`, in two parts if that is better. */
static void divide(divider *d, uint32_t index, list *out)
{
    const kiln__ir_node loop = *kiln__ir_node_at(d->ir, index);
    const kiln__ir_node block = *kiln__ir_operand_at(d->ir, &loop, 3);
    list sorted[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    uint8_t part[STATEMENTS_MOST];

    find_parts(d, &block, part);
    for (size_t i = 0; i < block.count && !d->rewrite.no_memory; i++)
        sort_part(d, &loop, &block, part, i, sorted);
    if (sorted[0].count > 0 && sorted[1].count > 0 && !d->rewrite.no_memory) {
        for (size_t i = 0; i < 2; i++)
            kiln__rewrite_append(&d->rewrite, out,
                                 own_loop(d, &loop, &sorted[i]));
        d->changed = 1;
    } else {
        kiln__rewrite_append(&d->rewrite, out, index);
    }
    for (size_t i = 0; i < 2; i++)
        kiln__rewrite_dispose(&d->rewrite, &sorted[i]);
}

/* ---- the kernel ---- */

static uint32_t divided(divider *d, uint32_t block);

/* Returns the IF with what is in it taken apart. */
static uint32_t divided_choice(divider *d, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(d->ir, index);
    uint32_t parts[3];
    int changed = 0;

    parts[0] = kiln__ir_operand(d->ir, &node, 0);
    for (size_t i = 1; i < node.count; i++) {
        const uint32_t before = kiln__ir_operand(d->ir, &node, i);

        parts[i] = divided(d, before);
        changed |= parts[i] != before;
    }
    return changed ? kiln__rewrite_add(&d->rewrite, node, parts, node.count)
                   : index;
}

static uint32_t divided(divider *d, uint32_t block)
{
    const kiln__ir_node node = *kiln__ir_node_at(d->ir, block);
    list out = {NULL, 0, 0};
    uint32_t made = block;
    int changed = 0;

    for (size_t i = 0; i < node.count && !d->rewrite.no_memory; i++) {
        const uint32_t index = kiln__ir_operand(d->ir, &node, i);

        if (is_divisible(d, index) && !kiln__group_loop_fits(d->finder, index))
            divide(d, index, &out);
        else
            kiln__rewrite_append(&d->rewrite, &out,
                                 kiln__ir_node_at(d->ir, index)->op ==
                                         KILN__IR_IF
                                     ? divided_choice(d, index)
                                     : index);
        changed |= out.count != i + 1 || out.items[i] != index;
    }
    if (changed && !d->rewrite.no_memory)
        made = kiln__rewrite_block(&d->rewrite, &out);
    kiln__rewrite_dispose(&d->rewrite, &out);
    return made;
}

kiln_status kiln__group_divide_loops(const kiln__group_finder *finder,
                                     int *changed)
{
    const kiln__lowering *l = finder->l;
    kiln__ir *ir = &l->functions[0].ir;
    divider d = {.l = l, .finder = finder, .ir = ir, .rewrite = {ir, 0}};
    const uint32_t body = divided(&d, ir->body);

    *changed = d.changed;
    if (d.rewrite.no_memory)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    if (d.changed)
        ir->body = body;
    return KILN_OK;
}
