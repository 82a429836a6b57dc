/* lower_group_flatten.c - moves collective operations out of expressions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower_rewrite.h"

#include <string.h>

/*
 * Rewrites typed IR so that a collective operation or call stands only in
 *
 *     (set %t (group ...))  (set %t (call ...))  (eval (call ...))
 *
 * Its operands are locals and constants, and every argument of a call is a
 * local of its own. What is evaluated before it goes into locals of the item.
 * An && || ?: with such an operand becomes IF, and a WHILE with such a
 * condition becomes a loop over true with a BREAK. In callees, parameters that
 * are set are copied to other locals, and so are the variables of loops: then
 * each of them is set in one place.
 */

typedef kiln__node_list list;

typedef struct flat {
    kiln__lowering *l;
    kiln__lower_function *f;
    kiln__ir *ir;
    const kiln__uniform_function *functions;
    uint8_t *carries;  /* by original node: contains a collective one */
    uint32_t original; /* number of the original nodes */
    list *out;         /* the statements of the block that is being rewritten */
    kiln__rewrite rewrite;
} flat;

/* ---- making nodes ---- */

static uint32_t add_local(flat *f, uint32_t type)
{
    uint32_t index = 0;

    if (kiln__ir_add_local(f->ir, "", type, &index) != KILN_OK)
        f->rewrite.no_memory = 1;
    return index;
}

static uint32_t read_local(flat *f, uint32_t local)
{
    const kiln__ir_node node = {.op = KILN__IR_LOCAL,
                                .type = f->ir->locals.items[local].type,
                                .imm = local};

    return kiln__rewrite_add(&f->rewrite, node, NULL, 0);
}

static uint32_t add_set(flat *f, uint32_t local, uint32_t value)
{
    const kiln__ir_node node = {.op = KILN__IR_SET,
                                .type = kiln__rewrite_nothing(&f->rewrite),
                                .imm = local};

    return kiln__rewrite_add(&f->rewrite, node, &value, 1);
}

/* Adds a local and a statement that sets it to the value. Returns the local. */
static uint32_t spill(flat *f, uint32_t value)
{
    const uint32_t local = add_local(f, kiln__ir_node_at(f->ir, value)->type);

    kiln__rewrite_append(&f->rewrite, f->out, add_set(f, local, value));
    return read_local(f, local);
}

/* ---- what expressions do ---- */

static int carries(const flat *f, uint32_t index)
{
    return index < f->original && f->carries[index];
}

static void find_carriers(flat *f)
{
    for (uint32_t i = 1; i < f->original; i++) {
        const kiln__ir_node *node = kiln__ir_node_at(f->ir, i);

        f->carries[i] = kiln__ir_collective(node) != KILN__COLLECTIVE_NONE;
        if (node->op == KILN__IR_CALL)
            f->carries[i] =
                f->functions[f->f->source->callees[node->imm]].collective !=
                KILN__COLLECTIVE_NONE;
        for (size_t j = 0; j < node->count; j++)
            f->carries[i] |= f->carries[kiln__ir_operand(f->ir, node, j)];
    }
}

/* True when the value is the same if evaluated later: it reads nothing that
   changes, and does not raise. */
static int is_stable(const flat *f, uint32_t index)
{
    return (kiln__lower_effects(f->l, f->f, index) &
            (KILN__READS | KILN__WRITES | KILN__CALLS | KILN__CONVERGENT |
             KILN__RAISES)) == 0;
}

/* ---- expressions ---- */

/* True when the expression nests too deeply; then the result is discarded. */
static int is_too_deep(flat *f)
{
    f->rewrite.no_memory |= kiln__lower_is_too_deep(f->l);
    return f->rewrite.no_memory;
}

static uint32_t value(flat *f, uint32_t index);

/* Returns the node's first `count` operands without collective operations, in
   the arena. What is evaluated before such an operation is kept in locals.
   NULL: out of memory. */
static uint32_t *operands(flat *f, uint32_t index, size_t count)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    uint32_t *out = kiln__arena_allocate_array(
        &f->l->job->arena, (size_t)node.count + 1, sizeof *out);
    size_t last = 0;

    if (out == NULL) {
        f->rewrite.no_memory = 1;
        return NULL;
    }
    for (size_t i = 0; i < node.count; i++) {
        out[i] = kiln__ir_operand(f->ir, &node, i);
        if (i < count && carries(f, out[i]))
            last = i;
    }
    for (size_t i = 0; i < count; i++) {
        if (carries(f, out[i]))
            out[i] = value(f, out[i]);
        if (i < last && !is_stable(f, out[i]))
            out[i] = spill(f, out[i]);
    }
    return out;
}

/* Copies the node with operands without collective operations. */
static uint32_t copy(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t *all = operands(f, index, node.count);

    return all == NULL ? 0
                       : kiln__rewrite_add(&f->rewrite, node, all, node.count);
}

/* Rewrites a collective operation or call: its operands go into locals, and so
   does its result. Returns the expression that reads the result. */
static uint32_t collective(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    uint32_t *all = operands(f, index, node.count);
    const kiln__ir_node unit = {.op = KILN__IR_UNIT, .type = node.type};
    const kiln__ir_node eval = {.op = KILN__IR_EVAL,
                                .type = kiln__rewrite_nothing(&f->rewrite)};
    uint32_t made;

    if (all == NULL)
        return 0;
    for (size_t i = 0; i < node.count; i++)
        if (node.op == KILN__IR_CALL ||
            kiln__ir_node_at(f->ir, all[i])->op != KILN__IR_CONST)
            all[i] = spill(f, all[i]);
    made = kiln__rewrite_add(&f->rewrite, node, all, node.count);
    if (!kiln__ir_type_is_empty(f->ir, node.type))
        return spill(f, made);
    kiln__rewrite_append(&f->rewrite, f->out,
                         kiln__rewrite_add(&f->rewrite, eval, &made, 1));
    return kiln__rewrite_add(&f->rewrite, unit, NULL, 0);
}

/* Makes a block that sets `local` to the value. */
static uint32_t block_that_sets(flat *f, uint32_t local, uint32_t index)
{
    list *outer = f->out;
    list inner = {NULL, 0, 0};
    uint32_t made;

    f->out = &inner;
    made = carries(f, index) ? value(f, index) : index;
    kiln__rewrite_append(&f->rewrite, &inner, add_set(f, local, made));
    made = kiln__rewrite_block(&f->rewrite, &inner);
    f->out = outer;
    kiln__rewrite_dispose(&f->rewrite, &inner);
    return made;
}

/* Rewrites && || ?: with a collective operand into an IF that sets a local.
   Returns the expression that reads the local. */
static uint32_t choice(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const kiln__ir_node branch = {.op = KILN__IR_IF,
                                  .type = kiln__rewrite_nothing(&f->rewrite),
                                  .ordinal = node.ordinal};
    const uint32_t local = add_local(f, node.type);
    uint32_t parts[3] = {0, 0, 0}, condition;

    condition = kiln__ir_operand(f->ir, &node, 0);
    condition =
        spill(f, carries(f, condition) ? value(f, condition) : condition);
    if (node.op == KILN__IR_CHOOSE) {
        parts[0] = condition;
        parts[1] = block_that_sets(f, local, kiln__ir_operand(f->ir, &node, 1));
        parts[2] = block_that_sets(f, local, kiln__ir_operand(f->ir, &node, 2));
        kiln__rewrite_append(&f->rewrite, f->out,
                             kiln__rewrite_add(&f->rewrite, branch, parts, 3));
        return read_local(f, local);
    }
    kiln__rewrite_append(&f->rewrite, f->out, add_set(f, local, condition));
    parts[0] = read_local(f, local);
    if (node.op == KILN__IR_ORELSE) {
        const kiln__ir_node invert = {.op = KILN__IR_INVERT, .type = node.type};

        parts[0] = kiln__rewrite_add(&f->rewrite, invert, &parts[0], 1);
    }
    parts[1] = block_that_sets(f, local, kiln__ir_operand(f->ir, &node, 1));
    kiln__rewrite_append(&f->rewrite, f->out,
                         kiln__rewrite_add(&f->rewrite, branch, parts, 2));
    return read_local(f, local);
}

/* Rewrites an expression that has a collective operation; returns its value. */
static uint32_t value(flat *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);
    int is_choice = 0;

    if (is_too_deep(f))
        return index;
    if (node->op == KILN__IR_CALL || node->op == KILN__IR_GROUP) {
        const kiln__ir_node own = *node;

        if (own.op == KILN__IR_GROUP ||
            f->functions[f->f->source->callees[own.imm]].collective)
            return collective(f, index);
    }
    if (node->op == KILN__IR_ANDALSO || node->op == KILN__IR_ORELSE ||
        node->op == KILN__IR_CHOOSE)
        for (size_t i = 1; i < node->count; i++)
            is_choice |= carries(f, kiln__ir_operand(f->ir, node, i));
    return is_choice ? choice(f, index) : copy(f, index);
}

/* ---- statements ---- */

static void statement(flat *f, uint32_t index);

/* Rewrites a block in its place. */
static void block(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    list *outer = f->out;
    list inner = {NULL, 0, 0};
    uint32_t made;

    if (is_too_deep(f))
        return;
    f->out = &inner;
    for (size_t i = 0; i < node.count; i++)
        statement(f, kiln__ir_operand(f->ir, &node, i));
    made = kiln__rewrite_block(&f->rewrite, &inner);
    if (!f->rewrite.no_memory) {
        f->ir->nodes.items[index].operands = f->ir->nodes.items[made].operands;
        f->ir->nodes.items[index].count = f->ir->nodes.items[made].count;
    }
    f->out = outer;
    kiln__rewrite_dispose(&f->rewrite, &inner);
}

/* Puts a statement before a block's others. */
static void prepend(flat *f, uint32_t index, uint32_t first)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    list all = {NULL, 0, 0};
    uint32_t made;

    kiln__rewrite_append(&f->rewrite, &all, first);
    for (size_t i = 0; i < node.count; i++)
        kiln__rewrite_append(&f->rewrite, &all,
                             kiln__ir_operand(f->ir, &node, i));
    made = kiln__rewrite_block(&f->rewrite, &all);
    if (!f->rewrite.no_memory) {
        f->ir->nodes.items[index].operands = f->ir->nodes.items[made].operands;
        f->ir->nodes.items[index].count = f->ir->nodes.items[made].count;
    }
    kiln__rewrite_dispose(&f->rewrite, &all);
}

/* Makes `while true if c else break end ... end` of `while c ... end`. */
static void repeat(flat *f, uint32_t index)
{
    kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t condition = kiln__ir_operand(f->ir, &node, 0);
    const uint32_t body = kiln__ir_operand(f->ir, &node, 1);
    const kiln__ir_node leave = {.op = KILN__IR_BREAK,
                                 .type = kiln__rewrite_nothing(&f->rewrite)};
    const kiln__ir_node branch = {.op = KILN__IR_IF,
                                  .type = kiln__rewrite_nothing(&f->rewrite),
                                  .ordinal = node.ordinal};
    const kiln__ir_node always = {.op = KILN__IR_CONST,
                                  .type =
                                      kiln__ir_node_at(f->ir, condition)->type,
                                  .imm = 1};
    list *outer = f->out;
    list inner = {NULL, 0, 0}, empty = {NULL, 0, 0}, exit = {NULL, 0, 0};
    uint32_t parts[3];

    block(f, body);
    f->out = &inner;
    parts[0] = value(f, condition);
    kiln__rewrite_append(&f->rewrite, &exit,
                         kiln__rewrite_add(&f->rewrite, leave, NULL, 0));
    parts[1] = kiln__rewrite_block(&f->rewrite, &empty);
    parts[2] = kiln__rewrite_block(&f->rewrite, &exit);
    kiln__rewrite_append(&f->rewrite, &inner,
                         kiln__rewrite_add(&f->rewrite, branch, parts, 3));
    kiln__rewrite_append(&f->rewrite, &inner, body);
    parts[0] = kiln__rewrite_add(&f->rewrite, always, NULL, 0);
    parts[1] = kiln__rewrite_block(&f->rewrite, &inner);
    f->out = outer;
    kiln__rewrite_append(&f->rewrite, f->out,
                         kiln__rewrite_add(&f->rewrite, node, parts, 2));
    kiln__rewrite_dispose(&f->rewrite, &exit);
    kiln__rewrite_dispose(&f->rewrite, &inner);
}

/* Gives a loop that counts a variable of its own. */
static void flatten_for(flat *f, uint32_t index)
{
    kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t old = (uint32_t)node.imm;
    uint32_t *all = operands(f, index, 3);

    if (all == NULL)
        return;
    block(f, all[3]);
    node.imm = add_local(f, f->ir->locals.items[old].type);
    prepend(f, all[3], add_set(f, old, read_local(f, (uint32_t)node.imm)));
    kiln__rewrite_append(&f->rewrite, f->out,
                         kiln__rewrite_add(&f->rewrite, node, all, 4));
}

static void with_blocks(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const size_t first = node.op == KILN__IR_IF ? 1 : 0;
    uint32_t *all = operands(f, index, first);

    if (all == NULL)
        return;
    for (size_t i = first; i < node.count; i++)
        block(f, all[i]);
    kiln__rewrite_append(&f->rewrite, f->out,
                         kiln__rewrite_add(&f->rewrite, node, all, node.count));
}

static void evaluate(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t left = value(f, kiln__ir_operand(f->ir, &node, 0));

    if (!is_stable(f, left)) /* it may still raise */
        kiln__rewrite_append(&f->rewrite, f->out,
                             kiln__rewrite_add(&f->rewrite, node, &left, 1));
}

/* Rewrites a statement and appends the result to `f->out`. */
static void statement(flat *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    switch ((uint32_t)node->op) {
    case KILN__IR_BLOCK:
        block(f, index);
        kiln__rewrite_append(&f->rewrite, f->out, index);
        return;
    case KILN__IR_FOR:
        flatten_for(f, index);
        return;
    case KILN__IR_WHILE:
        if (carries(f, kiln__ir_operand(f->ir, node, 0))) {
            repeat(f, index);
            return;
        }
        block(f, kiln__ir_operand(f->ir, node, 1));
        break;
    case KILN__IR_IF:
    case KILN__IR_UNROLLED:
        with_blocks(f, index);
        return;
    case KILN__IR_EVAL:
        if (carries(f, index)) {
            evaluate(f, index);
            return;
        }
        break;
    default:
        if (carries(f, index) && node->op != KILN__IR_BARRIER)
            index = copy(f, index);
        break;
    }
    kiln__rewrite_append(&f->rewrite, f->out, index);
}

/* ---- parameters, and locals that lowering needs ---- */

static int is_set(const kiln__ir *ir, uint32_t local)
{
    for (size_t i = 1; i < ir->nodes.count; i++) {
        const kiln__ir_node *node = &ir->nodes.items[i];

        if ((node->op == KILN__IR_SET || node->op == KILN__IR_FOR) &&
            node->imm == local)
            return 1;
    }
    return 0;
}

static void move_parameter(flat *f, uint32_t parameter)
{
    const uint32_t moved = add_local(f, f->ir->locals.items[parameter].type);

    for (size_t i = 1; i < f->ir->nodes.count; i++) {
        kiln__ir_node *node = &f->ir->nodes.items[i];

        if ((node->op == KILN__IR_SET || node->op == KILN__IR_FOR ||
             node->op == KILN__IR_LOCAL) &&
            node->imm == parameter)
            node->imm = moved;
    }
    prepend(f, f->ir->body, add_set(f, moved, read_local(f, parameter)));
}

/* Adds a flag for items that have returned, and for each loop one for items
   that have gone on to its next iteration. */
static void add_flags(flat *f)
{
    const size_t count = f->ir->nodes.count;
    uint32_t type = 0;

    f->f->skipped = kiln__arena_allocate_array(&f->l->job->arena, count,
                                               sizeof *f->f->skipped);
    if (f->f->skipped == NULL ||
        kiln__ir_scalar(f->ir, KILN_TYPE_BOOL, &type) != KILN_OK) {
        f->rewrite.no_memory = 1;
        return;
    }
    f->f->exited = add_local(f, type);
    for (size_t i = 0; i < count; i++) {
        const uint32_t op = f->ir->nodes.items[i].op;

        f->f->skipped[i] = op == KILN__IR_FOR || op == KILN__IR_WHILE ||
                                   op == KILN__IR_UNROLLED
                               ? add_local(f, type)
                               : 0;
    }
}

kiln_status kiln__group_flatten(kiln__lowering *l,
                                kiln__lower_function *function,
                                const kiln__uniform_function *functions)
{
    flat f = {.l = l,
              .f = function,
              .ir = &function->ir,
              .rewrite = {&function->ir, 0},
              .functions = functions,
              .original = (uint32_t)function->ir.nodes.count};

    f.carries = kiln__arena_allocate(&l->job->arena, f.original);
    if (f.carries == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    find_carriers(&f);
    block(&f, f.ir->body);
    for (uint32_t i = 0; i < f.ir->parameter_count; i++)
        if (is_set(f.ir, i))
            move_parameter(&f, i);
    add_flags(&f);
    if (f.rewrite.no_memory)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}
