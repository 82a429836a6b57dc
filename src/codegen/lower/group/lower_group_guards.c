/* lower_group_guards.c - moves guards into the loops that they are around. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower_rewrite.h"

/*
 * Most kernels guard their whole body, and so no loop in it is under uniform
 * control:
 *
 *     if i < n                         if i < n a end
 *         a                            for k in 0..m
 *         for k in 0..m b end    =>        if i < n b end
 *         c                            end
 *     end                              if i < n c end
 *
 * In the form on the right, the loop may run once for the group. This is done
 * where its bounds are the same for all items and cannot raise, the condition
 * is cheap to evaluate again, and nothing inside changes it. A statement
 * `if i >= n return end` guards what follows it. Only guards around loops that
 * are then better outside of the items are split.
 */

typedef kiln__node_list list;

typedef struct splitter {
    const kiln__lowering *l;
    const kiln__lower_function *f;
    kiln__ir *ir;
    const kiln__group_finder *finder;
    uint32_t original; /* number of the original nodes */
    int changed;
    kiln__rewrite rewrite;
} splitter;

/* ---- what expressions do ---- */

/* True when the expression can be evaluated again, anywhere, with the same
   value and without harm, as long as its locals do not change. */
static int is_plain(const splitter *s, uint32_t index)
{
    return (kiln__lower_effects(s->l, s->f, index) &
            (KILN__READS | KILN__WRITES | KILN__CALLS | KILN__CONVERGENT |
             KILN__RAISES | KILN__COSTS)) == 0;
}

static int is_movable(const splitter *s, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    if (node->op != KILN__IR_FOR)
        return 0;
    if (index >= s->original) /* a node that was moved */
        return 1;
    return is_plain(s, kiln__ir_operand(s->ir, node, 0)) &&
           is_plain(s, kiln__ir_operand(s->ir, node, 1)) &&
           kiln__group_loop_fits(s->finder, index);
}

static int is_guard(const splitter *s, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    return node->op == KILN__IR_IF && node->count == 2 &&
           is_plain(s, kiln__ir_operand(s->ir, node, 0)) &&
           !kiln__group_changes(s->ir, kiln__ir_operand(s->ir, node, 1),
                                kiln__ir_operand(s->ir, node, 0));
}

static int has_movable(const splitter *s, uint32_t block);

static int leads_to_movable(const splitter *s, uint32_t index)
{
    return is_movable(s, index) ||
           (is_guard(s, index) &&
            has_movable(
                s, kiln__ir_operand(s->ir, kiln__ir_node_at(s->ir, index), 1)));
}

static int has_movable(const splitter *s, uint32_t block)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, block);

    for (size_t i = 0; i < node->count; i++)
        if (leads_to_movable(s, kiln__ir_operand(s->ir, node, i)))
            return 1;
    return 0;
}

static int has_return(const splitter *s, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    if (node->op == KILN__IR_RETURN)
        return 1;
    for (size_t i = 0; i < node->count; i++)
        if (has_return(s, kiln__ir_operand(s->ir, node, i)))
            return 1;
    return 0;
}

/* ---- splitting ---- */

static uint32_t guarded(splitter *s, uint32_t condition, uint32_t block)
{
    const kiln__ir_node node = {.op = KILN__IR_IF,
                                .type = kiln__ir_node_at(s->ir, block)->type};
    const uint32_t parts[2] = {kiln__group_copy(&s->rewrite, s->l, condition),
                               block};

    return kiln__rewrite_add(&s->rewrite, node, parts, 2);
}

/* Puts the collected statements under a guard of their own. */
static void flush(splitter *s, uint32_t condition, list *pending, list *out)
{
    if (pending->count > 0)
        kiln__rewrite_append(
            &s->rewrite, out,
            guarded(s, condition, kiln__rewrite_block(&s->rewrite, pending)));
    pending->count = 0;
}

static void split_statements(splitter *s, uint32_t block, list *out);
static void split_guard(splitter *s, uint32_t condition, uint32_t block,
                        list *out);

/* Loops in the loop get the guard inside of them, too. */
static uint32_t move_guard_in(splitter *s, uint32_t condition, uint32_t loop)
{
    const kiln__ir_node node = *kiln__ir_node_at(s->ir, loop);
    list body = {NULL, 0, 0};
    uint32_t parts[4];

    for (size_t i = 0; i < 4; i++)
        parts[i] = kiln__ir_operand(s->ir, &node, i);
    split_guard(s, condition, parts[3], &body);
    parts[3] = kiln__rewrite_block(&s->rewrite, &body);
    kiln__rewrite_dispose(&s->rewrite, &body);
    return kiln__rewrite_add(&s->rewrite, node, parts, 4);
}

/* Adds what the guard guards, with loops outside of it. */
static void split_guard(splitter *s, uint32_t condition, uint32_t block,
                        list *out)
{
    list inner = {NULL, 0, 0}, pending = {NULL, 0, 0};

    s->changed = 1;
    split_statements(s, block, &inner);
    for (size_t i = 0; i < inner.count && !s->rewrite.no_memory; i++) {
        if (!is_movable(s, inner.items[i])) {
            kiln__rewrite_append(&s->rewrite, &pending, inner.items[i]);
            continue;
        }
        flush(s, condition, &pending, out);
        kiln__rewrite_append(&s->rewrite, out,
                             move_guard_in(s, condition, inner.items[i]));
    }
    flush(s, condition, &pending, out);
    kiln__rewrite_dispose(&s->rewrite, &pending);
    kiln__rewrite_dispose(&s->rewrite, &inner);
}

static void split_statements(splitter *s, uint32_t block, list *out)
{
    const kiln__ir_node node = *kiln__ir_node_at(s->ir, block);

    for (size_t i = 0; i < node.count && !s->rewrite.no_memory; i++) {
        const uint32_t index = kiln__ir_operand(s->ir, &node, i);
        const kiln__ir_node *at = kiln__ir_node_at(s->ir, index);

        if (!is_movable(s, index) && leads_to_movable(s, index))
            split_guard(s, kiln__ir_operand(s->ir, at, 0),
                        kiln__ir_operand(s->ir, at, 1), out);
        else
            kiln__rewrite_append(&s->rewrite, out, index);
    }
}

int kiln__group_is_exit(const kiln__ir *ir, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    const kiln__ir_node *block;

    if (node->op != KILN__IR_IF || node->count != 2)
        return 0;
    block = kiln__ir_operand_at(ir, node, 1);
    return block->count == 1 &&
           kiln__ir_operand_at(ir, block, 0)->op == KILN__IR_RETURN;
}

/* At the kernel's own level: what follows is then under `not c`. */
static int is_exit(const splitter *s, uint32_t index)
{
    return is_guard(s, index) && kiln__group_is_exit(s->ir, index);
}

/* Turns the body's exits into guards, from the last to the first. */
static uint32_t without_exits(splitter *s, uint32_t body)
{
    const kiln__ir_node node = *kiln__ir_node_at(s->ir, body);
    list rest = {NULL, 0, 0}, all = {NULL, 0, 0};
    uint32_t made = body;
    size_t at = 0;

    while (at < node.count && !is_exit(s, kiln__ir_operand(s->ir, &node, at)))
        at++;
    if (at == node.count)
        return body;
    for (size_t i = at + 1; i < node.count; i++)
        kiln__rewrite_append(&s->rewrite, &rest,
                             kiln__ir_operand(s->ir, &node, i));
    made = without_exits(s, kiln__rewrite_block(&s->rewrite, &rest));
    if (!s->rewrite.no_memory) {
        const uint32_t exit = kiln__ir_operand(s->ir, &node, at);
        uint32_t condition =
            kiln__ir_operand(s->ir, kiln__ir_node_at(s->ir, exit), 0);
        const kiln__ir_node invert = {
            .op = KILN__IR_INVERT,
            .type = kiln__ir_node_at(s->ir, condition)->type};

        for (size_t i = 0; i < at; i++)
            kiln__rewrite_append(&s->rewrite, &all,
                                 kiln__ir_operand(s->ir, &node, i));
        condition = kiln__group_copy(&s->rewrite, s->l, condition);
        kiln__rewrite_append(
            &s->rewrite, &all,
            guarded(s, kiln__rewrite_add(&s->rewrite, invert, &condition, 1),
                    made));
        made = kiln__rewrite_block(&s->rewrite, &all);
    }
    kiln__rewrite_dispose(&s->rewrite, &all);
    kiln__rewrite_dispose(&s->rewrite, &rest);
    return made;
}

/* True when some loop would be better outside the items, but is not reached by
   all of them. */
static int is_worth_it(const splitter *s)
{
    for (uint32_t i = 1; i < s->original; i++)
        if (s->finder->view->controls[i] != KILN__UNIFORM_GROUP &&
            is_movable(s, i))
            return 1;
    return 0;
}

kiln_status kiln__group_split_guards(const kiln__group_finder *finder,
                                     int *changed)
{
    const kiln__lowering *l = finder->l;
    kiln__lower_function *root = &l->functions[0];
    splitter s = {.l = l,
                  .f = root,
                  .ir = &root->ir,
                  .rewrite = {&root->ir, 0},
                  .finder = finder,
                  .original = (uint32_t)root->ir.nodes.count};
    list out = {NULL, 0, 0};
    uint32_t body;

    *changed = 0;
    if (!is_worth_it(&s))
        return KILN_OK;
    body = without_exits(&s, root->ir.body);
    if (!s.rewrite.no_memory && !has_return(&s, body) && has_movable(&s, body))
        split_statements(&s, body, &out);
    if (s.changed && !s.rewrite.no_memory)
        root->ir.body = kiln__rewrite_block(&s.rewrite, &out);
    kiln__rewrite_dispose(&s.rewrite, &out);
    *changed = s.changed;
    return s.rewrite.no_memory
               ? kiln__job_fail(l->job, KILN_ENOMEM, "out of memory")
               : KILN_OK;
}
