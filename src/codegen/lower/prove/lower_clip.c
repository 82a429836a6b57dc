/* lower_clip.c - turns a kernel's guards into bounds of the loops over
   items. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

#include <string.h>

/*
 * Most kernels begin by asking whether their item is in range:
 *
 *     i = global_id(0)                        i = global_id(0)
 *     if i < length(y) ... end                if i >= length(y) return end
 *
 * An item that is not in range does nothing. The loops over a group's items can
 * leave these items out on two conditions: everything before the guard has no
 * effect, and the guard compares ids, plus something small and uniform, with
 * something uniform. Then the body needs no guard. It is straight code for a
 * vectoriser, and a proof has to hold only for the items that are left.
 *
 * @ENTRY.clip computes the bounds once for each group. Sums and differences of
 * bounds saturate: an id is never so large that this matters.
 */

/* The most that something uniform adds to an id. */
#define MOVED_MAX ((int64_t)1 << 40)
#define GUARDS_MAX 8

typedef struct clip {
    kiln__prover *p;
    kiln__prove_path *path;
    LLVMValueRef from[3]; /* the items that are left */
    LLVMValueRef end[3];
    LLVMValueRef open; /* i1: some items may be left */
} clip;

/* ---- without effect ---- */

/* True when nobody can tell whether the node was evaluated. */
static int is_pure(const kiln__lowering *l, const kiln__lower_function *f,
                   uint32_t index)
{
    return (kiln__lower_effects(l, f, index) &
            (KILN__WRITES | KILN__RAISES | KILN__PRINTS | KILN__CONVERGENT |
             KILN__SHARES | KILN__LOOPS | KILN__RECURS)) == 0;
}

/* ---- bounds ---- */

static LLVMValueRef saturating(const clip *c, const char *name, LLVMValueRef a,
                               LLVMValueRef b)
{
    LLVMValueRef both[2] = {a, b};

    return kiln__lower_intrinsic(c->p->l, name, c->p->l->i64, both, 2);
}

static LLVMValueRef next(const clip *c, LLVMValueRef value)
{
    return saturating(c, "llvm.sadd.sat", value, kiln__prove_number(c->p, 1));
}

static void end_at(clip *c, uint32_t d, LLVMValueRef end)
{
    c->end[d] = saturating(c, "llvm.smin", c->end[d], end);
}

static void begin_at(clip *c, uint32_t d, LLVMValueRef from)
{
    c->from[d] = saturating(c, "llvm.smax", c->from[d], from);
}

/* Keeps only the items whose id compares so with the value. */
static int keep_items(clip *c, uint32_t op, uint32_t d, LLVMValueRef value)
{
    switch (op) {
    case KILN__IR_LT:
        end_at(c, d, value);
        return 1;
    case KILN__IR_LE:
        end_at(c, d, next(c, value));
        return 1;
    case KILN__IR_GT:
        begin_at(c, d, next(c, value));
        return 1;
    case KILN__IR_GE:
        begin_at(c, d, value);
        return 1;
    case KILN__IR_EQ:
        begin_at(c, d, value);
        end_at(c, d, next(c, value));
        return 1;
    default:
        return 0;
    }
}

/* ---- conditions ---- */

/* True for a number near zero, whatever the arguments are. */
static int is_small(const kiln__prove_symbol *s)
{
    return s != NULL && s->least >= -MOVED_MAX && s->greatest <= MOVED_MAX;
}

/* An id, and what was added to it. */
typedef struct moved {
    uint32_t dimension;
    LLVMValueRef by;
} moved;

static int move(const clip *c, const kiln__prove_symbol *s,
                const kiln__prove_symbol *by, int is_sum, moved *out);

static int is_moved_id(const clip *c, const kiln__prove_symbol *s, moved *out)
{
    /* A uniform symbol has no id in it, so only one of the two parts of a sum
       is searched. */
    if (s == NULL || s->kind != KILN_TYPE_I64 ||
        kiln__range_is_point(kiln__prove_path_range(c->p, c->path, s)))
        return 0;
    if (s->op == KILN__IR_QUERY && s->imm / 4 == KILN__QUERY_GLOBAL_ID) {
        *out = (moved){(uint32_t)(s->imm % 4), kiln__prove_number(c->p, 0)};
        return out->dimension < 3;
    }
    if (s->op == KILN__IR_ADD)
        return move(c, s->operands[0], s->operands[1], 1, out) ||
               move(c, s->operands[1], s->operands[0], 1, out);
    return s->op == KILN__IR_SUB &&
           move(c, s->operands[0], s->operands[1], 0, out);
}

static int move(const clip *c, const kiln__prove_symbol *s,
                const kiln__prove_symbol *by, int is_sum, moved *out)
{
    const LLVMBuilderRef builder = c->p->l->builder;
    const kiln__range range = kiln__prove_path_range(c->p, c->path, by);

    if (!is_small(by) || !kiln__range_is_point(range) ||
        !is_moved_id(c, s, out))
        return 0;
    out->by = is_sum ? LLVMBuildAdd(builder, out->by, range.low, "")
                     : LLVMBuildSub(builder, out->by, range.low, "");
    return 1;
}

static int compare(clip *c, uint32_t op, const kiln__prove_symbol *a,
                   const kiln__prove_symbol *b)
{
    const kiln__range bound = kiln__prove_path_range(c->p, c->path, b);
    moved id;

    return b != NULL && b->kind == KILN_TYPE_I64 &&
           kiln__range_is_point(bound) && is_moved_id(c, a, &id) &&
           keep_items(c, op, id.dimension,
                      saturating(c, "llvm.ssub.sat", bound.low, id.by));
}

static int comparison(clip *c, const kiln__prove_symbol *s, int truth)
{
    static const uint32_t opposites[] = {KILN__IR_NE, KILN__IR_EQ, KILN__IR_GE,
                                         KILN__IR_GT, KILN__IR_LE, KILN__IR_LT};
    static const uint32_t mirrored[] = {KILN__IR_EQ, KILN__IR_NE, KILN__IR_GT,
                                        KILN__IR_GE, KILN__IR_LT, KILN__IR_LE};
    const uint32_t op = truth ? s->op : opposites[s->op - KILN__IR_EQ];

    return compare(c, op, s->operands[0], s->operands[1]) ||
           compare(c, mirrored[op - KILN__IR_EQ], s->operands[1],
                   s->operands[0]);
}

/* True for a condition that is the same for all items. */
static int is_uniform(clip *c, const kiln__prove_symbol *s, int truth)
{
    const kiln__range range = kiln__prove_path_range(c->p, c->path, s);

    if (!kiln__range_is_point(range))
        return 0;
    c->open = kiln__prove_and(
        c->p, c->open, truth ? range.low : kiln__prove_not(c->p, range.low));
    return 1;
}

/* Keeps exactly the items for which the condition is `truth`. Returns false
   where that cannot be done. */
static int need(clip *c, const kiln__prove_symbol *s, int truth)
{
    if (s == NULL || s->kind != KILN_TYPE_BOOL || !kiln__prove_step(c->p))
        return 0;
    if (s->op == KILN__IR_INVERT)
        return need(c, s->operands[0], !truth);
    if (truth ? s->op == KILN__IR_AND || s->op == KILN__IR_ANDALSO
              : s->op == KILN__IR_OR || s->op == KILN__IR_ORELSE)
        return need(c, s->operands[0], truth) && need(c, s->operands[1], truth);
    if (s->op >= KILN__IR_EQ && s->op <= KILN__IR_GE && comparison(c, s, truth))
        return 1;
    return is_uniform(c, s, truth);
}

/* ---- guards ---- */

static const kiln__ir_node *statement_at(const kiln__ir *ir,
                                         const kiln__ir_node *block, uint32_t i)
{
    return kiln__ir_node_at(ir, kiln__ir_operand(ir, block, i));
}

/* True for `if ... return end`. */
static int is_way_out(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_node *block = kiln__ir_operand_at(ir, node, 1);

    return node->count == 2 && block->op == KILN__IR_BLOCK &&
           block->count == 1 &&
           statement_at(ir, block, 0)->op == KILN__IR_RETURN;
}

/* True when the guard is the last statement of the body. */
static int is_last(const kiln__ir *ir, const kiln__ir_node *body, uint32_t i)
{
    return statement_at(ir, body, i)->count == 2 &&
           (i + 1 == body->count ||
            statement_at(ir, body, i + 1)->op == KILN__IR_RETURN);
}

/* True when the statement is a guard that the loops can replace. Then notes
   which way it goes in the items that are left. */
static int take_guard(clip *c, kiln__frame *frame, const kiln__ir_node *body,
                      uint32_t i, unsigned char *known)
{
    const kiln__ir *ir = frame->ir;
    const uint32_t index = kiln__ir_operand(ir, body, i);
    const kiln__ir_node *node = kiln__ir_node_at(ir, index);
    const int truth = !is_way_out(ir, node);
    const uint32_t condition = kiln__ir_operand(ir, node, 0);

    if ((truth && !is_last(ir, body, i)) ||
        !is_pure(c->p->l, frame->f, condition) ||
        !need(c, kiln__prove_value(c->p, frame, c->path, condition), truth))
        return 0;
    known[index] = truth ? KILN__KNOWN_TRUE : KILN__KNOWN_FALSE;
    return 1;
}

/* Walks over the kernel's beginning; returns the number of its guards. */
static int find_guards(clip *c, kiln__frame *frame, unsigned char *known)
{
    const kiln__ir *ir = frame->ir;
    const kiln__ir_node *body = kiln__ir_node_at(ir, ir->body);
    int guards = 0;

    for (uint32_t i = 0; i < body->count && guards < GUARDS_MAX; i++) {
        const uint32_t index = kiln__ir_operand(ir, body, i);
        const uint32_t op = kiln__ir_node_at(ir, index)->op;

        if (op == KILN__IR_SET && is_pure(c->p->l, frame->f, index))
            (void)kiln__prove_statement(c->p, frame, c->path, index);
        else if (op == KILN__IR_IF && take_guard(c, frame, body, i, known))
            guards++;
        else
            break;
    }
    return guards;
}

/* ---- the function ---- */

static void give_back(clip *c)
{
    const kiln__lowering *l = c->p->l;
    LLVMValueRef all = LLVMGetPoison(LLVMArrayType2(l->i64, 6));

    c->end[2] = kiln__prove_select(c->p, c->open, c->end[2],
                                   kiln__prove_number(c->p, 0));
    for (unsigned d = 0; d < 3; d++) {
        /* The loops require that no bound is negative. */
        if (!LLVMIsAArgument(c->end[d]))
            c->end[d] = saturating(c, "llvm.smax", c->end[d],
                                   kiln__prove_number(c->p, 0));
        all = LLVMBuildInsertValue(l->builder, all, c->from[d], d, "");
        all = LLVMBuildInsertValue(l->builder, all, c->end[d], 3 + d, "");
    }
    LLVMBuildRet(l->builder, all);
}

static int interpret(kiln__prover *p, LLVMValueRef function,
                     unsigned char *known)
{
    kiln__prove_symbol **arguments = kiln__prove_begin(p, function);
    kiln__frame frame = {.f = p->l->f, .ir = p->l->ir};
    clip c = {.p = p, .open = kiln__prove_truth(p, 1)};
    int guards;

    c.path = kiln__prove_path_new(p, NULL, kiln__prove_truth(p, 0));
    if (arguments == NULL || c.path == NULL ||
        !kiln__prove_locals(p, &frame, arguments))
        return 0;
    frame.root = c.path;
    for (unsigned d = 0; d < 3; d++) {
        c.from[d] = p->first[d];
        c.end[d] = kiln__prove_plus(p, p->last[d], 1);
    }
    guards = find_guards(&c, &frame, known);
    if (guards > 0)
        give_back(&c);
    return guards;
}

kiln_status kiln__lower_clip(kiln__lowering *l)
{
    kiln__lower_function *f = &l->functions[0];
    kiln__prover p = {.l = l,
                      .arena = &l->job->arena,
                      .i1 = LLVMInt1TypeInContext(l->context),
                      .top = KILN__PROVE_HERE,
                      .budget = KILN__PROVE_STEPS_MAX};
    unsigned char *known =
        kiln__arena_allocate(&l->job->arena, f->ir.nodes.count);
    LLVMValueRef function =
        kiln__prove_function(l, "clip", LLVMArrayType2(l->i64, 6));
    int guards = 0;

    if (function != NULL && known != NULL) {
        memset(known, 0, f->ir.nodes.count);
        guards = interpret(&p, function, known);
    }
    if (function == NULL || known == NULL || p.failed)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    if (guards == 0 || p.budget < 0) {
        LLVMDeleteFunction(function);
        return KILN_OK;
    }
    l->job->clip_function = function;
    f->known = known;
    return KILN_OK;
}
