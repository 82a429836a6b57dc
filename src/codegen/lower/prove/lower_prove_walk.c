/* lower_prove_walk.c - interprets statements, loops and calls along paths. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/lower/prove/lower_prove.h"

/*
 * The body of a loop is interpreted once for all of its iterations: what it
 * sets may have any value when an iteration begins and after the loop. A
 * counter of a FOR is bounded by the loop's bounds, and some locals by how they
 * move (lower_prove_motion.c).
 */

#define DEPTH_MAX 64     /* of calls */
#define COPIES_A_STEP 16 /* copies of locals */

static kiln__prove_symbol *value(kiln__prover *p, kiln__frame *frame,
                                 kiln__prove_path *path,
                                 const kiln__ir_node *node, size_t i)
{
    return kiln__prove_value(p, frame, path,
                             kiln__ir_operand(frame->ir, node, i));
}

/* Checks that are never reached never fail. */
static void skip(kiln__prover *p, const kiln__frame *frame, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);

    p->seen[frame->f - p->l->functions][index] = 1;
    for (uint32_t i = 0; i < node->count; i++)
        skip(p, frame, kiln__ir_operand(frame->ir, node, i));
}

static kiln__prove_symbol **copy_locals(kiln__prover *p,
                                        const kiln__frame *frame)
{
    const size_t count = frame->ir->locals.count;
    kiln__prove_symbol **copy;

    p->budget -= (int64_t)(count / COPIES_A_STEP);
    if (p->budget < 0)
        return frame->locals; /* the result is unused from now on */
    copy = kiln__arena_copy(p->arena, frame->locals, count * sizeof *copy);
    if (copy == NULL)
        p->failed = 1;
    return copy;
}

/* ---- branches ---- */

static kiln__prove_path *join_paths(kiln__prover *p, kiln__frame *frame,
                                    kiln__prove_path *before,
                                    kiln__prove_path *a,
                                    kiln__prove_symbol **locals_a,
                                    kiln__prove_path *b)
{
    if (a == NULL)
        return b;
    if (b == NULL) {
        frame->locals = locals_a;
        return a;
    }
    for (size_t i = 0; i < frame->ir->locals.count; i++)
        frame->locals[i] =
            kiln__prove_symbol_join(p, a, locals_a[i], b, frame->locals[i]);
    return kiln__prove_path_new(p, before,
                                kiln__prove_and(p, a->dead, b->dead));
}

/* Interprets a guard that stops no item of the tile. */
static kiln__prove_path *pass(kiln__prover *p, kiln__frame *frame,
                              kiln__prove_path *path, const kiln__ir_node *node,
                              int truth)
{
    const uint32_t block = kiln__ir_operand(frame->ir, node, 1);

    (void)value(p, frame, path, node, 0);
    if (truth == KILN__KNOWN_TRUE)
        return kiln__prove_statement(p, frame, path, block);
    skip(p, frame, block);
    return path;
}

/* Interprets an IF: each side on its own path, which are then joined. */
static kiln__prove_path *branch(kiln__prover *p, kiln__frame *frame,
                                kiln__prove_path *path,
                                const kiln__ir_node *node)
{
    const size_t locals_size = frame->ir->locals.count * sizeof *frame->locals;
    kiln__prove_symbol *condition = value(p, frame, path, node, 0);
    kiln__prove_symbol **before = copy_locals(p, frame), **locals_a;
    kiln__prove_path *a = kiln__prove_path_refine(p, path, condition, 1),
                     *b = path;

    if (p->failed)
        return path;
    a = kiln__prove_statement(p, frame, a,
                              kiln__ir_operand(frame->ir, node, 1));
    locals_a = frame->locals;
    frame->locals = before;
    /* The path around the block matters only if something differs on it. */
    if (p->failed || a == NULL || node->count == 3 ||
        memcmp(before, locals_a, locals_size) != 0)
        b = kiln__prove_path_refine(p, path, condition, 0);
    if (node->count == 3)
        b = kiln__prove_statement(p, frame, b,
                                  kiln__ir_operand(frame->ir, node, 2));
    return p->failed ? path : join_paths(p, frame, path, a, locals_a, b);
}

/* ---- loops ---- */

/* Forgets every local that is set below the node. */
static void forget(kiln__prover *p, kiln__frame *frame, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    const int sets = node->op == KILN__IR_SET || node->op == KILN__IR_FOR;

    if (!kiln__prove_step(p))
        return;
    if (sets)
        frame->locals[node->imm] = kiln__prove_symbol_unknown(
            p, frame->ir, frame->ir->locals.items[node->imm].type);
    for (uint32_t i = 0; i < node->count; i++)
        forget(p, frame, kiln__ir_operand(frame->ir, node, i));
}

/* Forgets what the loop sets. Locals that move in one direction, or to and fro,
   keep bounds, which are noted in `moving`: their own, or those that an outer
   loop gave them. */
static int enter_loop(kiln__prover *p, kiln__frame *frame,
                      kiln__prove_path *path, uint32_t loop,
                      kiln__prove_symbol **moving)
{
    kiln__prove_symbol **before = copy_locals(p, frame);

    if (before == NULL || moving == NULL)
        return 0;
    forget(p, frame, loop);
    if (!p->assumes_motion)
        return 1;
    for (uint32_t i = 0; i < frame->ir->locals.count; i++) {
        if (before[i] == frame->locals[i] || before[i] == NULL)
            continue;
        moving[i] = kiln__prove_motion(p, frame, path, loop, i, before[i]);
        if (moving[i] == NULL && frame->moving != NULL)
            moving[i] = frame->moving[i];
        if (moving[i] != NULL)
            frame->locals[i] =
                kiln__prove_symbol_leaf(p, moving[i]->kind, moving[i]->range);
    }
    return 1;
}

/* Requires that each SET of a moving local leaves it within its bounds. */
static void require_bounds(kiln__prover *p, kiln__frame *frame,
                           kiln__prove_path *path, uint32_t index,
                           kiln__prove_symbol *next,
                           const kiln__prove_symbol *bounds)
{
    kiln__range range;
    kiln__prove_symbol *low, *high;

    if (next == NULL || next->kind != bounds->kind)
        return;
    range = bounds->range;
    if (range.low == NULL)
        return;
    low = kiln__prove_symbol_leaf(p, next->kind, kiln__range_point(range.low));
    high =
        kiln__prove_symbol_leaf(p, next->kind, kiln__range_point(range.high));
    kiln__prove_require(
        p, frame, path, index,
        kiln__prove_symbol_apply(
            p, KILN__IR_AND, KILN_TYPE_BOOL,
            kiln__prove_symbol_apply(p, KILN__IR_GE, KILN_TYPE_BOOL, next, low),
            kiln__prove_symbol_apply(p, KILN__IR_LE, KILN_TYPE_BOOL, next,
                                     high)));
}

static kiln__prove_symbol **moving_locals(kiln__prover *p,
                                          const kiln__frame *frame)
{
    kiln__prove_symbol **moving = kiln__arena_allocate_array(
        p->arena, frame->ir->locals.count, sizeof *moving);

    p->failed |= moving == NULL;
    return moving;
}

/* Interprets the block as one iteration of a loop. Bounds of an outer loop hold
   in the inner one, whose own bounds lie within them. */
static void interpret_iteration(kiln__prover *p, kiln__frame *frame,
                                kiln__prove_path *path, uint32_t block,
                                kiln__prove_symbol **moving)
{
    kiln__prove_symbol **outer = frame->moving;

    for (size_t i = 0; outer != NULL && i < frame->ir->locals.count; i++)
        if (moving[i] == NULL)
            moving[i] = outer[i];
    frame->moving = moving;
    p->loops++;
    (void)kiln__prove_statement(p, frame, path, block);
    p->loops--;
    frame->moving = outer;
}

/* Forgets what the loop sets, but for the bounds of what moved in it. */
static void leave_loop(kiln__prover *p, kiln__frame *frame, uint32_t loop,
                       kiln__prove_symbol **moving)
{
    kiln__prove_symbol **before = copy_locals(p, frame);

    forget(p, frame, loop);
    for (uint32_t i = 0; before != NULL && i < frame->ir->locals.count; i++)
        if (moving[i] != NULL && frame->locals[i] != before[i])
            frame->locals[i] =
                kiln__prove_symbol_leaf(p, moving[i]->kind, moving[i]->range);
}

static kiln__prove_path *repeat(kiln__prover *p, kiln__frame *frame,
                                kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    kiln__prove_symbol **moving = moving_locals(p, frame), *condition;

    if (!enter_loop(p, frame, path, index, moving))
        return path;
    condition = value(p, frame, path, node, 0);
    interpret_iteration(p, frame,
                        kiln__prove_path_refine(p, path, condition, 1),
                        kiln__ir_operand(frame->ir, node, 1), moving);
    leave_loop(p, frame, index, moving);
    return path;
}

/* Returns the last number that counting by `step` from `low` meets, up to
   `high`. */
static LLVMValueRef last_met(kiln__prover *p, LLVMValueRef low,
                             LLVMValueRef high, int64_t step)
{
    const LLVMBuilderRef builder = p->l->builder;
    const LLVMValueRef way = LLVMBuildSub(builder, high, low, "");

    return LLVMBuildSub(
        builder, high,
        LLVMBuildSRem(builder, way, kiln__prove_number(p, step), ""), "");
}

/* Returns the local's range: from `low` up to before `high`, or down. */
static kiln__prove_symbol *counter(kiln__prover *p, kiln__prove_path *path,
                                   const kiln__prove_symbol *low,
                                   const kiln__prove_symbol *high, int64_t step)
{
    const int is_up = step > 0;
    const kiln__range a = kiln__prove_path_range(p, path, low);
    const kiln__range b = kiln__prove_path_range(p, path, high);
    kiln__range range = {NULL, NULL};
    kiln__prove_symbol *s;

    if (a.low != NULL && b.low != NULL)
        range = is_up ? (kiln__range){a.low, kiln__prove_plus(p, b.high, -1)}
                      : (kiln__range){kiln__prove_plus(p, b.low, 1), a.high};
    if (range.low != NULL && step > 1 && kiln__range_is_point(a) &&
        low->least >= 0) /* no way is longer than the numbers are many */
        range.high = last_met(p, range.low, range.high, step);
    s = kiln__prove_symbol_leaf(p, low->kind, range);
    if (s != NULL && is_up) {
        s->least = low->least;
        s->greatest = high->greatest - (high->greatest > INT64_MIN);
    }
    return s;
}

static kiln__prove_path *walk_for(kiln__prover *p, kiln__frame *frame,
                                  kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    const kiln__ir_node *step = kiln__ir_operand_at(frame->ir, node, 2);
    kiln__prove_symbol *low = value(p, frame, path, node, 0);
    kiln__prove_symbol *high = value(p, frame, path, node, 1);
    kiln__prove_symbol **moving = moving_locals(p, frame), *any;
    kiln__prove_path *inside;
    int64_t by;

    (void)value(p, frame, path, node, 2);
    if (low == NULL || high == NULL ||
        !enter_loop(p, frame, path, index, moving))
        return path;
    by = step->imm < 0 && !kiln__kind_is_signed(low->kind) ? 1 : step->imm;
    any = kiln__prove_symbol_apply(p, by > 0 ? KILN__IR_LT : KILN__IR_GT,
                                   KILN_TYPE_BOOL, low, high);
    inside = kiln__prove_path_refine(p, path, any, 1);
    frame->locals[node->imm] = counter(p, inside, low, high, by);
    interpret_iteration(p, frame, inside, kiln__ir_operand(frame->ir, node, 3),
                        moving);
    leave_loop(p, frame, index, moving);
    return path;
}

/* True when a BREAK or CONTINUE below the node leaves the node. */
static int jumps(const kiln__ir *ir, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);

    if (node->op == KILN__IR_BREAK || node->op == KILN__IR_CONTINUE)
        return 1;
    if (node->op == KILN__IR_WHILE || node->op == KILN__IR_FOR ||
        node->op == KILN__IR_UNROLLED)
        return 0;
    for (uint32_t i = 0; i < node->count; i++)
        if (jumps(ir, kiln__ir_operand(ir, node, i)))
            return 1;
    return 0;
}

/* Interprets the blocks of an UNROLLED one after the other. If any of them
   jumps, what they set is forgotten before each. */
static kiln__prove_path *unroll(kiln__prover *p, kiln__frame *frame,
                                kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    kiln__prove_path *at = path;
    int jump = 0;

    for (uint32_t i = 0; i < node->count; i++)
        jump |= jumps(frame->ir, kiln__ir_operand(frame->ir, node, i));
    for (uint32_t i = 0; i < node->count; i++) {
        const uint32_t block = kiln__ir_operand(frame->ir, node, i);

        if (jump)
            forget(p, frame, index);
        if (at == NULL) {
            skip(p, frame, block);
            continue;
        }
        at = kiln__prove_statement(p, frame, at, block);
        if (jump)
            at = path;
    }
    if (jump)
        forget(p, frame, index);
    return at;
}

/* ---- calls ---- */

static void give_back(kiln__prover *p, kiln__frame *frame,
                      kiln__prove_path *path, const kiln__ir_node *node)
{
    kiln__prove_symbol *result =
        node->count > 0 ? value(p, frame, path, node, 0) : NULL;

    if (frame->returned == NULL) {
        frame->returned = path;
        frame->result = result;
        return;
    }
    if (result != NULL && frame->result != NULL)
        frame->result = kiln__prove_symbol_join(p, frame->returned,
                                                frame->result, path, result);
    frame->returned = kiln__prove_path_new(
        p, frame->root, kiln__prove_and(p, frame->returned->dead, path->dead));
}

int kiln__prove_locals(kiln__prover *p, kiln__frame *frame,
                       kiln__prove_symbol **arguments)
{
    const kiln__ir *ir = frame->ir;

    frame->locals = kiln__arena_allocate_array(p->arena, ir->locals.count,
                                               sizeof *frame->locals);
    if (frame->locals == NULL) {
        p->failed = 1;
        return 0;
    }
    for (uint32_t i = 0; i < ir->locals.count; i++)
        frame->locals[i] =
            i < ir->parameter_count
                ? arguments[i]
                : kiln__prove_symbol_zero(p, ir, ir->locals.items[i].type);
    return 1;
}

kiln__prove_symbol *kiln__prove_call(kiln__prover *p, const kiln__frame *caller,
                                     kiln__prove_path *path,
                                     const kiln__lower_function *f,
                                     kiln__prove_symbol **arguments)
{
    kiln__frame frame = {.f = f,
                         .ir = &f->ir,
                         .root = path,
                         .depth = caller == NULL ? 0 : caller->depth + 1};

    if (f->recursive || frame.depth > DEPTH_MAX)
        return kiln__prove_symbol_unknown(p, &f->ir, f->ir.result);
    if (!kiln__prove_locals(p, &frame, arguments))
        return NULL;
    (void)kiln__prove_statement(p, &frame, path, f->ir.body);
    return frame.result != NULL
               ? frame.result
               : kiln__prove_symbol_unknown(p, &f->ir, f->ir.result);
}

/* ---- statements ---- */

static kiln__prove_path *block(kiln__prover *p, kiln__frame *frame,
                               kiln__prove_path *path,
                               const kiln__ir_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const uint32_t statement = kiln__ir_operand(frame->ir, node, i);

        if (path == NULL)
            skip(p, frame, statement);
        else
            path = kiln__prove_statement(p, frame, path, statement);
    }
    return path;
}

static void set(kiln__prover *p, kiln__frame *frame, kiln__prove_path *path,
                uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);
    kiln__prove_symbol *next = value(p, frame, path, node, 0);

    if (frame->moving != NULL && frame->moving[node->imm] != NULL)
        require_bounds(p, frame, path, index, next, frame->moving[node->imm]);
    frame->locals[node->imm] = next;
}

static kiln__prove_path *assert_true(kiln__prover *p, kiln__frame *frame,
                                     kiln__prove_path *path, uint32_t index)
{
    kiln__prove_symbol *condition =
        value(p, frame, path, kiln__ir_node_at(frame->ir, index), 0);

    kiln__prove_require(p, frame, path, index, condition);
    return kiln__prove_path_refine(p, path, condition, 1);
}

kiln__prove_path *kiln__prove_statement(kiln__prover *p, kiln__frame *frame,
                                        kiln__prove_path *path, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(frame->ir, index);

    if (p->failed || path == NULL || !kiln__prove_step(p))
        return NULL;
    p->seen[frame->f - p->l->functions][index] = 1;
    switch ((uint32_t)node->op) {
    case KILN__IR_BLOCK:
        return block(p, frame, path, node);
    case KILN__IR_SET:
        set(p, frame, path, index);
        return path;
    case KILN__IR_STORE:
        kiln__prove_access(p, frame, path, index);
        return path;
    case KILN__IR_IF:
        return kiln__lower_known(frame->f, index) != 0
                   ? pass(p, frame, path, node,
                          kiln__lower_known(frame->f, index))
                   : branch(p, frame, path, node);
    case KILN__IR_WHILE:
        return repeat(p, frame, path, index);
    case KILN__IR_FOR:
        return walk_for(p, frame, path, index);
    case KILN__IR_UNROLLED:
        return unroll(p, frame, path, index);
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
        return NULL;
    case KILN__IR_RETURN:
        give_back(p, frame, path, node);
        return NULL;
    case KILN__IR_ASSERT:
        return assert_true(p, frame, path, index);
    default: /* EVAL, PRINT, BARRIER */
        for (uint32_t i = 0; i < node->count; i++)
            (void)value(p, frame, path, node, i);
        return path;
    }
}
