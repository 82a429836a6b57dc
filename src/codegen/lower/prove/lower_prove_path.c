/* lower_prove_path.c - what is known of symbols at a place in the program. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/*
 * The range of a symbol on a path is that on the path's parent, with two
 * exceptions: the path's own fact is about the symbol, or the range of one of
 * its operands differs. Then it is computed again. Both results are remembered.
 *
 * A range may turn out empty, with low above high. Then no item comes here, and
 * anything that follows from the range is true.
 */

#define BUCKETS 4096

typedef struct kiln__known {
    uint32_t path;
    uint32_t symbol;
    kiln__range range;
    struct kiln__known *chain;
} kiln__known;

typedef struct kiln__prove_path_child {
    const kiln__prove_symbol *condition;
    int truth;
    kiln__prove_path *path;
    struct kiln__prove_path_child *next;
} kiln__prove_path_child;

kiln__prove_path *kiln__prove_path_new(kiln__prover *p,
                                       kiln__prove_path *parent,
                                       LLVMValueRef dead)
{
    kiln__prove_path *path = kiln__arena_allocate(p->arena, sizeof *path);

    if (path == NULL) {
        p->failed = 1;
        return NULL;
    }
    path->parent = parent;
    path->dead = dead;
    path->id = p->path_count++;
    return path;
}

/* ---- computing ---- */

/* Computes each side on its own path: i - 1 where i is not 0, for example. */
static kiln__range choice(kiln__prover *p, kiln__prove_path *path,
                          const kiln__prove_symbol *s)
{
    const kiln__range condition =
        kiln__prove_path_range(p, path, s->operands[0]);
    kiln__prove_path *yes = path, *no = path;
    kiln__range a, b, out;

    if (!kiln__range_is_point(condition)) {
        yes = kiln__prove_path_refine(p, path, s->operands[0], 1);
        no = kiln__prove_path_refine(p, path, s->operands[0], 0);
    }
    a = kiln__prove_path_range(p, yes, s->operands[1]);
    b = kiln__prove_path_range(p, no, s->operands[2]);
    if (kiln__range_is_point(condition))
        return kiln__range_select(p, condition.low, a, b);
    out = kiln__range_select(p, condition.high, kiln__range_join(p, a, b), b);
    return kiln__range_select(p, condition.low, a, out);
}

static kiln__range convert(kiln__prover *p, const kiln__prove_symbol *s,
                           kiln__range a)
{
    if (a.low == NULL || s->operands[0]->kind == KILN_TYPE_BOOL ||
        s->kind == KILN_TYPE_BOOL)
        return kiln__range_fit(p, a, s->kind);
    if (s->op == KILN__IR_CHECKED) /* otherwise it raises */
        return kiln__range_meet(p, kiln__range_full(p, s->kind), a);
    return s->op == KILN__IR_SATURATE ? kiln__range_clamp(p, a, s->kind)
                                      : kiln__range_fit(p, a, s->kind);
}

static kiln__range unary(kiln__prover *p, const kiln__prove_symbol *s,
                         kiln__range a)
{
    if (s->op == KILN__IR_MATH)
        return kiln__range_abs(p, s->kind, a);
    if (s->op == KILN__IR_INVERT) /* of a Bool */
        return kiln__range_is_point(a)
                   ? kiln__range_point(kiln__prove_not(p, a.low))
                   : (kiln__range){kiln__prove_not(p, a.high),
                                   kiln__prove_not(p, a.low)};
    return convert(p, s, a);
}

/* Limits a range to the bounds that hold for all arguments. A range that was
   computed for any number of the type may be wider, but exact sums rely on
   these bounds and are not tested for overflow. */
static kiln__range keep_bounds(kiln__prover *p, const kiln__prove_symbol *s,
                               kiln__range range)
{
    int64_t low, high;

    if (range.low == NULL || kiln__range_is_point(range) ||
        !kiln__kind_is_integer(s->kind) ||
        !kiln__prove_bounds(s->kind, &low, &high) ||
        (s->least == low && s->greatest == high))
        return range;
    return kiln__range_meet(p, range,
                            (kiln__range){
                                kiln__prove_number(p, s->least),
                                kiln__prove_number(p, s->greatest),
                            });
}

static kiln__range compute(kiln__prover *p, kiln__prove_path *path,
                           const kiln__prove_symbol *s)
{
    kiln__range a, b;

    if (s->op == KILN__SYMBOL_LEAF || s->op == KILN__IR_CONST ||
        s->op == KILN__IR_QUERY || s->op == KILN__SYMBOL_FIELDS)
        return s->range;
    if (s->op == KILN__IR_SELECT)
        return choice(p, path, s);
    a = kiln__prove_path_range(p, path, s->operands[0]);
    if (s->operands[1] == NULL)
        return keep_bounds(p, s, unary(p, s, a));
    b = kiln__prove_path_range(p, path, s->operands[1]);
    if (s->op == KILN__SYMBOL_INSIDE)
        return kiln__range_inside(p, a, b, s->operands[0]->least);
    if (s->op >= KILN__IR_EQ && s->op <= KILN__IR_GE)
        return kiln__range_compare(p, s->op, a, b);
    a = kiln__range_binary(p, s, a, b);
    return s->exact ? a : keep_bounds(p, s, a);
}

/* ---- remembering ---- */

static kiln__known **bucket(kiln__prover *p, uint32_t path, uint32_t symbol)
{
    if (p->known == NULL) {
        p->known =
            kiln__arena_allocate_array(p->arena, BUCKETS, sizeof *p->known);
        p->failed |= p->known == NULL;
    }
    return p->known == NULL
               ? NULL
               : &p->known[(path * 2654435761u ^ symbol) % BUCKETS];
}

static void remember(kiln__prover *p, kiln__known **head, uint32_t path,
                     uint32_t symbol, kiln__range range)
{
    kiln__known *known = kiln__arena_allocate(p->arena, sizeof *known);

    if (known == NULL) {
        p->failed = 1;
        return;
    }
    *known = (kiln__known){path, symbol, range, *head};
    *head = known;
}

static int operands_differ(kiln__prover *p, kiln__prove_path *path,
                           const kiln__prove_symbol *s)
{
    for (int i = 0; i < 3 && s->operands[i] != NULL; i++)
        if (!kiln__range_same(
                kiln__prove_path_range(p, path, s->operands[i]),
                kiln__prove_path_range(p, path->parent, s->operands[i])))
            return 1;
    return 0;
}

static kiln__range find_range(kiln__prover *p, kiln__prove_path *path,
                              const kiln__prove_symbol *s)
{
    kiln__range inherited, here;

    if (path->parent == NULL)
        return compute(p, path, s);
    if (path->about == s)
        return path->bound;
    inherited = kiln__prove_path_range(p, path->parent, s);
    if (inherited.low == NULL || !operands_differ(p, path, s))
        return inherited;
    here = compute(p, path, s);
    return s->has_facts ? kiln__range_meet(p, here, inherited) : here;
}

kiln__range kiln__prove_path_range(kiln__prover *p, kiln__prove_path *path,
                                   const kiln__prove_symbol *s)
{
    const kiln__range none = {NULL, NULL};
    kiln__known **head;
    kiln__range range;

    if (path == NULL || s == NULL || p->failed || !kiln__prove_step(p))
        return s == NULL ? none : kiln__range_full(p, s->kind);
    head = bucket(p, path->id, s->id);
    if (head == NULL)
        return kiln__range_full(p, s->kind);
    for (const kiln__known *k = *head; k != NULL; k = k->chain)
        if (k->path == path->id && k->symbol == s->id)
            return k->range;
    range = find_range(p, path, s);
    remember(p, head, path->id, s->id, range);
    return range;
}

/* ---- learning ---- */

static kiln__prove_path *learn(kiln__prover *p, kiln__prove_path *path,
                               kiln__prove_symbol *s, kiln__range bound);

/* Derives from the range of x + by what that says of x, unless the sum may have
   overflowed. */
static kiln__prove_path *learn_operand(kiln__prover *p, kiln__prove_path *path,
                                       kiln__prove_symbol *s, kiln__range bound)
{
    const int is_add = s->op == KILN__IR_ADD;
    const LLVMBuilderRef builder = p->l->builder;
    kiln__prove_symbol *x = s->operands[0], *by = s->operands[1];
    kiln__range range, old, moved;

    if (!is_add && s->op != KILN__IR_SUB)
        return path;
    if (is_add && kiln__range_is_point(kiln__prove_path_range(p, path, x))) {
        x = s->operands[1];
        by = s->operands[0];
    }
    old = kiln__prove_path_range(p, path, x);
    range = kiln__prove_path_range(p, path, by);
    if (!kiln__range_is_point(range) || old.low == NULL)
        return path;
    moved.low = is_add ? LLVMBuildSub(builder, bound.low, range.low, "")
                       : LLVMBuildAdd(builder, bound.low, range.low, "");
    moved.high = is_add ? LLVMBuildSub(builder, bound.high, range.low, "")
                        : LLVMBuildAdd(builder, bound.high, range.low, "");
    moved = kiln__range_select(p, kiln__range_can_move(p, s, old, range.low),
                               moved, old);
    return learn(p, path, x, moved);
}

/* Adds the fact that the symbol is within `bound`. */
static kiln__prove_path *learn(kiln__prover *p, kiln__prove_path *path,
                               kiln__prove_symbol *s, kiln__range bound)
{
    const kiln__range old = kiln__prove_path_range(p, path, s);
    kiln__range now;
    kiln__prove_path *next;

    if (old.low == NULL || kiln__range_is_point(old))
        return path;
    now = kiln__range_meet(p, old, bound);
    if (kiln__range_same(now, old))
        return path;
    next = kiln__prove_path_new(p, path, path->dead);
    if (next == NULL)
        return path;
    next->about = s;
    next->bound = now;
    s->has_facts = 1;
    return learn_operand(p, next, s, now);
}

/* Adds the fact that b - a is at least `distance`, for x[l - d] behind l >= d.
   Where a may be negative, the difference may wrap. */
static kiln__prove_path *learn_difference(kiln__prover *p,
                                          kiln__prove_path *path,
                                          kiln__prove_symbol *a,
                                          kiln__prove_symbol *b,
                                          int64_t distance)
{
    kiln__prove_symbol *difference;

    if (a->kind != b->kind || a->least < 0 || a->op == KILN__IR_CONST ||
        b->op == KILN__IR_CONST)
        return path;
    difference = kiln__prove_symbol_apply(p, KILN__IR_SUB, a->kind, b, a);
    return difference == NULL
               ? path
               : learn(p, path, difference,
                       (kiln__range){kiln__prove_number(p, distance),
                                     kiln__range_full(p, KILN_TYPE_I64).high});
}

/* Adds the fact a < b, or a <= b where `distance` is 0. At the greatest number
   the bound wraps to one that says nothing. */
static kiln__prove_path *learn_less(kiln__prover *p, kiln__prove_path *path,
                                    kiln__prove_symbol *a,
                                    kiln__prove_symbol *b, int64_t distance)
{
    const kiln__range full = kiln__range_full(p, KILN_TYPE_I64);
    const kiln__range from_a = kiln__prove_path_range(p, path, a);
    const kiln__range from_b = kiln__prove_path_range(p, path, b);

    path = learn(
        p, path, a,
        (kiln__range){full.low, kiln__prove_plus(p, from_b.high, -distance)});
    path = learn(
        p, path, b,
        (kiln__range){kiln__prove_plus(p, from_a.low, distance), full.high});
    return learn_difference(p, path, a, b, distance);
}

static kiln__prove_path *learn_equal(kiln__prover *p, kiln__prove_path *path,
                                     kiln__prove_symbol *a,
                                     kiln__prove_symbol *b)
{
    const kiln__range from_a = kiln__prove_path_range(p, path, a);

    path = learn(p, path, a, kiln__prove_path_range(p, path, b));
    return learn(p, path, b, from_a);
}

/* Removes a value from the end of a range. */
static kiln__prove_path *learn_other(kiln__prover *p, kiln__prove_path *path,
                                     kiln__prove_symbol *a,
                                     kiln__prove_symbol *b)
{
    const LLVMBuilderRef builder = p->l->builder;
    const kiln__range value = kiln__prove_path_range(p, path, b);
    kiln__range range = kiln__prove_path_range(p, path, a);

    if (!kiln__range_is_point(value) || kiln__range_is_point(range))
        return path;
    range.low = kiln__prove_select(
        p, LLVMBuildICmp(builder, LLVMIntEQ, range.low, value.low, ""),
        kiln__prove_plus(p, range.low, 1), range.low);
    range.high = kiln__prove_select(
        p, LLVMBuildICmp(builder, LLVMIntEQ, range.high, value.low, ""),
        kiln__prove_plus(p, range.high, -1), range.high);
    return learn(p, path, a, range);
}

/* Adds the facts that follow from a comparison being `truth`. */
static kiln__prove_path *learn_comparison(kiln__prover *p,
                                          kiln__prove_path *path,
                                          const kiln__prove_symbol *c,
                                          int truth)
{
    static const uint32_t opposites[] = {KILN__IR_NE, KILN__IR_EQ, KILN__IR_GE,
                                         KILN__IR_GT, KILN__IR_LE, KILN__IR_LT};
    const uint32_t op = truth ? c->op : opposites[c->op - KILN__IR_EQ];
    kiln__prove_symbol *a = c->operands[0], *b = c->operands[1];

    if (a->kind == KILN_TYPE_BOOL ||
        kiln__prove_path_range(p, path, a).low == NULL ||
        kiln__prove_path_range(p, path, b).low == NULL)
        return path;
    switch (op) {
    case KILN__IR_EQ:
        return learn_equal(p, path, a, b);
    case KILN__IR_NE:
        path = learn_other(p, path, a, b);
        return learn_other(p, path, b, a);
    case KILN__IR_LT:
        return learn_less(p, path, a, b, 1);
    case KILN__IR_LE:
        return learn_less(p, path, a, b, 0);
    case KILN__IR_GT:
        return learn_less(p, path, b, a, 1);
    default: /* GE */
        return learn_less(p, path, b, a, 0);
    }
}

/* Adds what the condition implies beyond itself. */
static kiln__prove_path *learn_more(kiln__prover *p, kiln__prove_path *path,
                                    const kiln__prove_symbol *c, int truth)
{
    const int is_all = c->op == KILN__IR_AND || c->op == KILN__IR_ANDALSO;
    const int is_any = c->op == KILN__IR_OR || c->op == KILN__IR_ORELSE;

    if ((is_all && truth) || (is_any && !truth)) {
        path = kiln__prove_path_refine(p, path, c->operands[0], truth);
        return kiln__prove_path_refine(p, path, c->operands[1], truth);
    }
    if (c->op == KILN__IR_INVERT)
        return kiln__prove_path_refine(p, path, c->operands[0], !truth);
    if (c->op >= KILN__IR_EQ && c->op <= KILN__IR_GE)
        return learn_comparison(p, path, c, truth);
    return path;
}

static kiln__prove_path *refine(kiln__prover *p, kiln__prove_path *path,
                                kiln__prove_symbol *c, int truth)
{
    const kiln__range range = kiln__prove_path_range(p, path, c);
    const LLVMValueRef never =
        truth ? kiln__prove_not(p, range.high) : range.low;
    kiln__prove_path *next;

    next = kiln__prove_path_new(p, path, kiln__prove_or(p, path->dead, never));
    if (next == NULL)
        return path;
    next->about = c;
    next->bound = kiln__range_point(kiln__prove_truth(p, truth));
    c->has_facts = 1;
    return learn_more(p, next, c, truth);
}

kiln__prove_path *kiln__prove_path_refine(kiln__prover *p,
                                          kiln__prove_path *path,
                                          kiln__prove_symbol *condition,
                                          int truth)
{
    kiln__prove_path_child *child;

    if (p->failed || !p->refines || condition == NULL || path == NULL ||
        !kiln__prove_step(p))
        return path;
    for (child = path->children; child != NULL; child = child->next)
        if (child->condition == condition && child->truth == truth)
            return child->path;
    child = kiln__arena_allocate(p->arena, sizeof *child);
    if (child == NULL) {
        p->failed = 1;
        return path;
    }
    *child = (kiln__prove_path_child){
        condition, truth, refine(p, path, condition, truth), path->children};
    path->children = child;
    return child->path;
}
