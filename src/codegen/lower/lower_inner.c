/* lower_inner.c - along which dimension of the grid memory is read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/lower/lower.h"

/*
 * Where loops run over the items of a group, the innermost one should be that
 * of the dimension in which neighbours access neighbouring elements: it becomes
 * vectors. Nearly always this is dimension 0. Those who think in rows and
 * columns write `i = global_id(0)`, `j = global_id(1)` and `c[j, i]`; then it
 * is another one.
 *
 * For each expression the analysis computes how far apart its values are for
 * two neighbours along each dimension. It is a guess: conditions are not looked
 * at, and a wrong guess costs only time. What accesses cost in vectors along a
 * dimension is summed up, those in loops counting more.
 *
 * This is for kernels whose items work for themselves, of which a group may
 * have any shape.
 */

/* Nodes that are visited, those of callees once for each call. */
#define VISITS_MAX 40000
#define CALLS_MAX 8 /* of a chain */
#define LOOPS_MAX 4 /* around an access, that count */
#define LOOP_WEIGHT 8u
/* A larger stride is no better than elements that are anywhere. */
#define NEAR_MAX 4

enum distance {
    SAME,
    NEXT, /* by one, in either direction */
    NEAR,
    FAR
};

/* What an access costs by its distance, in accesses to neighbours. */
static const unsigned cost_of_load[] = {0, 1, 3, 16};
static const unsigned cost_of_store[] = {16, 1, 3, 16};
/* What a loop costs whose bounds differ by item. */
static const unsigned cost_of_bounds[] = {0, 2, 2, 2};

/* One for each dimension, lowest bits first. */
typedef struct distances {
    unsigned char along[3];
} distances;

typedef struct finder {
    const kiln__lowering *l;
    uint64_t costs[3];
    int uses[3]; /* the kernel asks for ids along this dimension */
    size_t visits;
    unsigned calls;
    int failed; /* no guess is made */
} finder;

/* A function with its arguments. */
typedef struct frame {
    finder *finder;
    const kiln__lower_function *f;
    distances *nodes;
    distances *locals;
    distances result;
    unsigned *loops; /* around each node */
    int counts;      /* costs are summed up */
    int changed;
} frame;

static distances none(void)
{
    return (distances){{SAME, SAME, SAME}};
}

static distances farther(distances a, distances b)
{
    for (int d = 0; d < 3; d++)
        if (b.along[d] > a.along[d])
            a.along[d] = b.along[d];
    return a;
}

static distances sum(distances a, distances b)
{
    for (int d = 0; d < 3; d++)
        if (a.along[d] == SAME)
            a.along[d] = b.along[d];
        else if (b.along[d] != SAME)
            a.along[d] = a.along[d] == NEXT && b.along[d] == NEXT ? NEAR : FAR;
    return a;
}

/* Returns the distances of a value times a number; 0: some number. */
static distances times(distances a, int64_t factor)
{
    for (int d = 0; d < 3; d++)
        if (a.along[d] != SAME && factor != 1 && factor != -1)
            a.along[d] = a.along[d] == NEXT && factor != 0 &&
                                 factor <= NEAR_MAX && factor >= -NEAR_MAX
                             ? NEAR
                             : FAR;
    return a;
}

/* Of what depends on numbers in some other way. */
static distances mixed(const frame *f, const kiln__ir_node *node)
{
    distances all = none();

    for (size_t i = 0; i < node->count; i++)
        all = farther(all,
                      times(f->nodes[kiln__ir_operand(&f->f->ir, node, i)], 0));
    return all;
}

static distances farthest(const frame *f, const kiln__ir_node *node,
                          size_t first)
{
    distances all = none();

    for (size_t i = first; i < node->count; i++)
        all = farther(all, f->nodes[kiln__ir_operand(&f->f->ir, node, i)]);
    return all;
}

static distances operand(const frame *f, const kiln__ir_node *node, size_t i)
{
    return f->nodes[kiln__ir_operand(&f->f->ir, node, i)];
}

static distances of_query(const frame *f, const kiln__ir_node *node)
{
    distances result = none();
    const int64_t d = node->imm % 4;

    if (node->imm / 4 != KILN__QUERY_GLOBAL_ID || d > 2)
        return result;
    f->finder->uses[d] = 1;
    result.along[d] = NEXT;
    return result;
}

static distances of_product(const frame *f, const kiln__ir_node *node)
{
    const kiln__ir_node *left = kiln__ir_operand_at(&f->f->ir, node, 0);
    const kiln__ir_node *right = kiln__ir_operand_at(&f->f->ir, node, 1);

    if (right->op == KILN__IR_CONST)
        return times(operand(f, node, 0), right->imm);
    if (left->op == KILN__IR_CONST)
        return times(operand(f, node, 1), left->imm);
    return mixed(f, node);
}

static distances of_call(const frame *f, const kiln__ir_node *node);

static distances of_value(const frame *f, const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_LOCAL:
        return f->locals[node->imm];
    case KILN__IR_QUERY:
        return of_query(f, node);
    case KILN__IR_ADD:
    case KILN__IR_SUB:
        return sum(operand(f, node, 0), operand(f, node, 1));
    case KILN__IR_MUL:
        return of_product(f, node);
    case KILN__IR_NEG:
    case KILN__IR_CONVERT:
    case KILN__IR_CHECKED:
    case KILN__IR_SATURATE:
    case KILN__IR_WRAP:
    case KILN__IR_TUPLE:
    case KILN__IR_FIELD:
    case KILN__IR_WITH_FIELD:
    case KILN__IR_SIZE:
    case KILN__IR_LENGTH:
        return farthest(f, node, 0);
    case KILN__IR_CHOOSE:
    case KILN__IR_SELECT:
        return farthest(f, node, 1);
    case KILN__IR_MATH:
        return node->imm == KILN__MATH_MIN || node->imm == KILN__MATH_MAX
                   ? farthest(f, node, 0)
                   : mixed(f, node);
    case KILN__IR_CALL:
        return of_call(f, node);
    default:
        return mixed(f, node);
    }
}

/* ---- costs ---- */

static void add_cost(const frame *f, uint32_t node, distances of,
                     const unsigned *costs)
{
    uint64_t weight = 1;

    if (!f->counts)
        return;
    for (unsigned i = 0; i < f->loops[node] && i < LOOPS_MAX; i++)
        weight *= LOOP_WEIGHT;
    for (int d = 0; d < 3; d++)
        f->finder->costs[d] += weight * costs[of.along[d]];
}

/* Elements are next to each other along the first dimension of an array. */
static distances of_access(const frame *f, const kiln__ir_node *node)
{
    const kiln__ir_node *array = kiln__ir_operand_at(&f->f->ir, node, 0);
    const uint32_t rank = kiln__ir_type_at(&f->f->ir, array->type)->length;
    distances all = farther(operand(f, node, 1), times(operand(f, node, 0), 0));

    for (size_t i = 2; i <= rank && i < node->count; i++)
        all = farther(all, times(operand(f, node, i), 0));
    return all;
}

/* ---- functions ---- */

static void set_local(frame *f, int64_t local, distances to)
{
    const distances before = f->locals[local];

    f->locals[local] = farther(before, to);
    for (int d = 0; d < 3; d++)
        f->changed |= f->locals[local].along[d] != before.along[d];
}

static void visit(frame *f, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(&f->f->ir, index);

    switch ((uint32_t)node->op) {
    case KILN__IR_SET:
        set_local(f, node->imm, operand(f, node, 0));
        break;
    case KILN__IR_FOR:
        set_local(f, node->imm,
                  farther(operand(f, node, 0), operand(f, node, 1)));
        add_cost(f, kiln__ir_operand(&f->f->ir, node, 3),
                 farther(operand(f, node, 0), operand(f, node, 1)),
                 cost_of_bounds);
        break;
    case KILN__IR_RETURN:
        f->result = farther(f->result, farthest(f, node, 0));
        break;
    case KILN__IR_LOAD:
        add_cost(f, index, of_access(f, node), cost_of_load);
        break;
    case KILN__IR_STORE:
        add_cost(f, index, of_access(f, node), cost_of_store);
        break;
    default:
        break;
    }
    f->nodes[index] = of_value(f, node);
}

/* Operands stand before what they are operands of. */
static void visit_all(frame *f)
{
    const size_t count = f->f->ir.nodes.count;

    f->changed = 0;
    f->finder->visits += count;
    f->finder->failed |= f->finder->visits > VISITS_MAX;
    for (uint32_t i = 1; i < count && !f->finder->failed; i++)
        visit(f, i);
}

static void count_loops(const frame *f, unsigned around)
{
    const kiln__ir *ir = &f->f->ir;

    f->loops[ir->body] = around;
    for (size_t i = ir->nodes.count; i-- > 1;) {
        const kiln__ir_node *node = &ir->nodes.items[i];
        const unsigned more =
            node->op == KILN__IR_FOR || node->op == KILN__IR_WHILE;

        for (size_t k = 0; k < node->count; k++)
            f->loops[kiln__ir_operand(ir, node, k)] = f->loops[i] + more;
    }
}

/* Returns the distances of what a function returns. */
static distances run(finder *to, const kiln__lower_function *f,
                     const distances *arguments, int counts, unsigned loops)
{
    kiln__arena *arena = &to->l->job->arena;
    const size_t nodes = f->ir.nodes.count, locals = f->ir.locals.count;
    frame own = {
        .finder = to,
        .f = f,
        .nodes = kiln__arena_allocate_array(arena, nodes, sizeof(distances)),
        .locals =
            kiln__arena_allocate_array(arena, locals + 1, sizeof(distances)),
        .loops = kiln__arena_allocate_array(arena, nodes, sizeof(unsigned)),
        .changed = 1};

    if (own.nodes == NULL || own.locals == NULL || own.loops == NULL) {
        to->failed = 1;
        return none();
    }
    memset(own.nodes, 0, nodes * sizeof *own.nodes);
    memset(own.locals, 0, locals * sizeof *own.locals);
    memset(own.loops, 0, nodes * sizeof *own.loops);
    for (uint32_t i = 0; arguments != NULL && i < f->ir.parameter_count; i++)
        own.locals[i] = arguments[i];
    count_loops(&own, loops);
    while (own.changed && !to->failed)
        visit_all(&own);
    own.counts = counts;
    if (counts)
        visit_all(&own);
    return own.result;
}

static distances of_call(const frame *f, const kiln__ir_node *node)
{
    finder *to = f->finder;
    const kiln__lower_function *callee =
        &to->l->functions[f->f->source->callees[node->imm]];
    distances *arguments = kiln__arena_allocate_array(
        &to->l->job->arena, node->count + 1, sizeof *arguments);
    distances result = none();

    to->failed |= arguments == NULL || to->calls == CALLS_MAX ||
                  node->count < callee->ir.parameter_count;
    if (to->failed)
        return result;
    for (size_t i = 0; i < node->count; i++)
        arguments[i] = operand(f, node, i);
    to->calls++;
    result = run(to, callee, arguments, f->counts,
                 f->loops[node - f->f->ir.nodes.items]);
    to->calls--;
    return result;
}

void kiln__lower_find_inner(kiln__lowering *l)
{
    finder to = {.l = l};
    uint32_t best = 0;

    (void)run(&to, &l->functions[0], NULL, 1, 0);
    for (uint32_t d = 1; d < 3; d++)
        if (to.uses[d] && to.costs[d] < to.costs[best])
            best = d;
    if (!to.failed && 2 * to.costs[best] < to.costs[0])
        l->job->inner_dimension = best;
}
