/* lower_flat.c - collective operations out of expressions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lower_group.h"

#include <string.h>

/*
 * Rewrites typed IR so that a collective operation or call stands only in
 *
 *     (set %t (group ...))  (set %t (call ...))  (eval (call ...))
 *
 * with locals and constants as operands, every argument of a call a local of
 * its own. What is evaluated before it goes into locals of the item, && || ?:
 * with such an operand become IF, and WHILE with such a condition a loop over
 * true with a BREAK. For the callee's side, parameters that are set become
 * other locals, and so do the variables of loops: both then have one place
 * that sets them.
 *
 * New nodes stand behind the old ones, against the order that ir.h asks of
 * stored functions; a walk from the body meets them in their order.
 */

typedef struct list {
    uint32_t *items;
    size_t count;
    size_t capacity;
} list;

typedef struct flat {
    kiln__lowering *l;
    kiln__lower_function *f;
    kiln__ir *ir;
    const kiln__uniform_function *functions;
    uint8_t *carries;  /* by node of the original: has a collective one */
    uint32_t original; /* number of those */
    list *out;         /* the statements of the block under way */
    int no_memory;
} flat;

/* ---- making nodes ---- */

static void append(flat *f, list *to, uint32_t item)
{
    if (!kiln__array_push(f->ir->alloc, to, item))
        f->no_memory = 1;
}

static uint32_t add(flat *f, kiln__ir_node node, const uint32_t *operands,
                    size_t count)
{
    uint32_t index = 0;

    if (kiln__ir_add_node(f->ir, &node, operands, count, &index) != KILN_OK)
        f->no_memory = 1;
    return index;
}

static uint32_t add_local(flat *f, uint32_t type)
{
    uint32_t index = 0;

    if (kiln__ir_add_local(f->ir, "", type, &index) != KILN_OK)
        f->no_memory = 1;
    return index;
}

static uint32_t nothing(flat *f)
{
    uint32_t type = 0;

    if (kiln__ir_scalar(f->ir, KILN_TYPE_NONE, &type) != KILN_OK)
        f->no_memory = 1;
    return type;
}

static uint32_t read_local(flat *f, uint32_t local)
{
    const kiln__ir_node node = {.op = KILN__IR_LOCAL,
                                .type = f->ir->locals.items[local].type,
                                .imm = local};

    return add(f, node, NULL, 0);
}

static uint32_t add_set(flat *f, uint32_t local, uint32_t value)
{
    const kiln__ir_node node = {
        .op = KILN__IR_SET, .type = nothing(f), .imm = local};

    return add(f, node, &value, 1);
}

static uint32_t add_block(flat *f, const list *statements)
{
    const kiln__ir_node node = {.op = KILN__IR_BLOCK, .type = nothing(f)};

    return add(f, node, statements->items, statements->count);
}

/* A local with the value, set here. */
static uint32_t spill(flat *f, uint32_t value)
{
    const uint32_t local = add_local(f, kiln__ir_node_at(f->ir, value)->type);

    append(f, f->out, add_set(f, local, value));
    return read_local(f, local);
}

/* ---- what there is ---- */

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

/* Values that are the same when they are evaluated later: they read nothing
   that changes, and do not raise. */
static int is_stable(const flat *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    if (node->op == KILN__IR_LOAD || node->op == KILN__IR_ATOMIC ||
        node->op == KILN__IR_CALL || node->op == KILN__IR_GROUP ||
        kiln__lower_raises(f->l, f->f, node))
        return 0;
    for (size_t i = 0; i < node->count; i++)
        if (!is_stable(f, kiln__ir_operand(f->ir, node, i)))
            return 0;
    return 1;
}

/* ---- expressions ---- */

static uint32_t value(flat *f, uint32_t index);

/* The node's first `count` operands without collective ones, in the arena;
   what is evaluated before one of these is kept. NULL when out of memory. */
static uint32_t *operands(flat *f, uint32_t index, size_t count)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    uint32_t *out = kiln__arena_allocate_array(
        &f->l->job->arena, (size_t)node.count + 1, sizeof *out);
    size_t last = 0;

    if (out == NULL) {
        f->no_memory = 1;
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

/* The node over operands without collective ones. */
static uint32_t copy(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t *all = operands(f, index, node.count);

    return all == NULL ? 0 : add(f, node, all, node.count);
}

static uint32_t collective(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    uint32_t *all = operands(f, index, node.count);
    const kiln__ir_node unit = {.op = KILN__IR_UNIT, .type = node.type};
    const kiln__ir_node eval = {.op = KILN__IR_EVAL, .type = nothing(f)};
    uint32_t made;

    if (all == NULL)
        return 0;
    for (size_t i = 0; i < node.count; i++)
        if (node.op == KILN__IR_CALL ||
            kiln__ir_node_at(f->ir, all[i])->op != KILN__IR_CONST)
            all[i] = spill(f, all[i]);
    made = add(f, node, all, node.count);
    if (!kiln__ir_type_is_empty(f->ir, node.type))
        return spill(f, made);
    append(f, f->out, add(f, eval, &made, 1));
    return add(f, unit, NULL, 0);
}

/* A block that sets `local` to the value. */
static uint32_t block_that_sets(flat *f, uint32_t local, uint32_t index)
{
    list *outer = f->out;
    list inner = {NULL, 0, 0};
    uint32_t made;

    f->out = &inner;
    made = carries(f, index) ? value(f, index) : index;
    append(f, &inner, add_set(f, local, made));
    made = add_block(f, &inner);
    f->out = outer;
    kiln__array_dispose(f->ir->alloc, &inner);
    return made;
}

static uint32_t choice(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const kiln__ir_node branch = {
        .op = KILN__IR_IF, .type = nothing(f), .ordinal = node.ordinal};
    const uint32_t local = add_local(f, node.type);
    uint32_t parts[3] = {0, 0, 0}, condition;

    condition = kiln__ir_operand(f->ir, &node, 0);
    condition =
        spill(f, carries(f, condition) ? value(f, condition) : condition);
    if (node.op == KILN__IR_CHOOSE) {
        parts[0] = condition;
        parts[1] = block_that_sets(f, local, kiln__ir_operand(f->ir, &node, 1));
        parts[2] = block_that_sets(f, local, kiln__ir_operand(f->ir, &node, 2));
        append(f, f->out, add(f, branch, parts, 3));
        return read_local(f, local);
    }
    append(f, f->out, add_set(f, local, condition));
    parts[0] = read_local(f, local);
    if (node.op == KILN__IR_ORELSE) {
        const kiln__ir_node invert = {.op = KILN__IR_INVERT, .type = node.type};

        parts[0] = add(f, invert, &parts[0], 1);
    }
    parts[1] = block_that_sets(f, local, kiln__ir_operand(f->ir, &node, 1));
    append(f, f->out, add(f, branch, parts, 2));
    return read_local(f, local);
}

/* The value of an expression that has a collective one. */
static uint32_t value(flat *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);
    int is_choice = 0;

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

/* Rewrites a block where it is. */
static void block(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    list *outer = f->out;
    list inner = {NULL, 0, 0};
    uint32_t made;

    f->out = &inner;
    for (size_t i = 0; i < node.count; i++)
        statement(f, kiln__ir_operand(f->ir, &node, i));
    made = add_block(f, &inner);
    if (!f->no_memory) {
        f->ir->nodes.items[index].operands = f->ir->nodes.items[made].operands;
        f->ir->nodes.items[index].count = f->ir->nodes.items[made].count;
    }
    f->out = outer;
    kiln__array_dispose(f->ir->alloc, &inner);
}

/* Puts a statement in front of a block's others. */
static void prepend(flat *f, uint32_t index, uint32_t first)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    list all = {NULL, 0, 0};
    uint32_t made;

    append(f, &all, first);
    for (size_t i = 0; i < node.count; i++)
        append(f, &all, kiln__ir_operand(f->ir, &node, i));
    made = add_block(f, &all);
    if (!f->no_memory) {
        f->ir->nodes.items[index].operands = f->ir->nodes.items[made].operands;
        f->ir->nodes.items[index].count = f->ir->nodes.items[made].count;
    }
    kiln__array_dispose(f->ir->alloc, &all);
}

/* while c ... end: while true if c else break end ... end */
static void repeat(flat *f, uint32_t index)
{
    kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t condition = kiln__ir_operand(f->ir, &node, 0);
    const uint32_t body = kiln__ir_operand(f->ir, &node, 1);
    const kiln__ir_node leave = {.op = KILN__IR_BREAK, .type = nothing(f)};
    const kiln__ir_node branch = {
        .op = KILN__IR_IF, .type = nothing(f), .ordinal = node.ordinal};
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
    append(f, &exit, add(f, leave, NULL, 0));
    parts[1] = add_block(f, &empty);
    parts[2] = add_block(f, &exit);
    append(f, &inner, add(f, branch, parts, 3));
    append(f, &inner, body);
    parts[0] = add(f, always, NULL, 0);
    parts[1] = add_block(f, &inner);
    f->out = outer;
    append(f, f->out, add(f, node, parts, 2));
    kiln__array_dispose(f->ir->alloc, &exit);
    kiln__array_dispose(f->ir->alloc, &inner);
}

/* A loop that counts gets a variable of its own. */
static void count(flat *f, uint32_t index)
{
    kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t old = (uint32_t)node.imm;
    uint32_t *all = operands(f, index, 3);

    if (all == NULL)
        return;
    block(f, all[3]);
    node.imm = add_local(f, f->ir->locals.items[old].type);
    prepend(f, all[3], add_set(f, old, read_local(f, (uint32_t)node.imm)));
    append(f, f->out, add(f, node, all, 4));
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
    append(f, f->out, add(f, node, all, node.count));
}

static void evaluate(flat *f, uint32_t index)
{
    const kiln__ir_node node = *kiln__ir_node_at(f->ir, index);
    const uint32_t left = value(f, kiln__ir_operand(f->ir, &node, 0));

    if (!is_stable(f, left)) /* may still raise */
        append(f, f->out, add(f, node, &left, 1));
}

static void statement(flat *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(f->ir, index);

    switch ((uint32_t)node->op) {
    case KILN__IR_BLOCK:
        block(f, index);
        append(f, f->out, index);
        return;
    case KILN__IR_FOR:
        count(f, index);
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
    append(f, f->out, index);
}

/* ---- parameters, and the locals that lowering wants ---- */

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

/* A flag for those who have returned, and one for each loop for those who
   have gone to its next turn. */
static void add_flags(flat *f)
{
    const size_t count = f->ir->nodes.count;
    uint32_t type = 0;

    f->f->skipped = kiln__arena_allocate_array(&f->l->job->arena, count,
                                               sizeof *f->f->skipped);
    if (f->f->skipped == NULL ||
        kiln__ir_scalar(f->ir, KILN_TYPE_BOOL, &type) != KILN_OK) {
        f->no_memory = 1;
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
    if (f.no_memory)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}
