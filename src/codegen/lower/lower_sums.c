/* lower_sums.c - elements that a loop keeps in a register. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/lower/group/lower_group.h"
#include "codegen/lower/lower.h"

/*
 * `for k ..  c[i] += a[k, i] * b[k]  end` writes c[i] to memory and reads it
 * again in each iteration, since c might overlap a or b. In a body that is only
 * for groups whose arrays do not, the element is loaded before the loop and
 * stored behind it. That they do not overlap is part of the proof
 * (lower_prove.h). The other body does as it is written.
 *
 * The array and all others that the loop accesses must be parameters without
 * strides. In the loop, the array is accessed at this one element only, which
 * is named in the same way everywhere and does not change. Nothing may leave
 * the loop early, or be seen by others while it runs.
 *
 * Nearly always the item writes the element just before, as in `c[i] = 0`. Then
 * that store begins the sum, and the loop's end writes the element.
 *
 * Where the loop writes the element under a condition, other items may write it
 * instead. So each iteration has to write it, or the item has to have written
 * it just before the loop: then nobody else may.
 */

#define SEVERAL UINT32_MAX
#define DEPTH_MAX 16 /* of locals that stand for expressions */

typedef struct finder {
    kiln__lowering *l;
    const kiln__lower_function *f;
    const kiln__ir *ir;
    uint32_t *parents; /* by node */
    uint32_t *sets;    /* by local: its only SET plus 1; 0: none; SEVERAL */
    /* the loop and the element that are being looked at */
    uint32_t loop;
    const kiln__ir_node *element;
} finder;

static uint32_t index_of(const finder *s, const kiln__ir_node *node)
{
    return (uint32_t)(node - s->ir->nodes.items);
}

/* ---- what is the same ---- */

/* True when the SET is done before whatever comes to the node. */
static int is_before(const finder *s, uint32_t set, uint32_t node)
{
    const uint32_t block = s->parents[set];
    const kiln__ir_node *around = kiln__ir_node_at(s->ir, block);

    while (node != s->ir->body && s->parents[node] != block)
        node = s->parents[node];
    if (node == s->ir->body || around->op != KILN__IR_BLOCK)
        return 0;
    for (size_t i = 0; i < around->count; i++) {
        if (kiln__ir_operand(s->ir, around, i) == node)
            return 0;
        if (kiln__ir_operand(s->ir, around, i) == set)
            return 1;
    }
    return 0;
}

static int is_stable(const finder *s, const kiln__ir_node *value, uint32_t at,
                     unsigned depth);

/* Returns what a local stands for at the node: the value of its only SET, which
   is the same whenever it is computed. Else the local itself. */
static const kiln__ir_node *resolve(const finder *s, const kiln__ir_node *value,
                                    uint32_t at, uint32_t *from, unsigned depth)
{
    const kiln__ir_node *stored;
    uint32_t set;

    *from = at;
    if (value->op != KILN__IR_LOCAL || depth == DEPTH_MAX ||
        s->sets[value->imm] == 0 || s->sets[value->imm] == SEVERAL)
        return value;
    set = s->sets[value->imm] - 1;
    stored = kiln__ir_operand_at(s->ir, kiln__ir_node_at(s->ir, set), 0);
    if (kiln__ir_node_at(s->ir, set)->op != KILN__IR_SET ||
        !is_before(s, set, at) || !is_stable(s, stored, set, depth + 1))
        return value;
    *from = set;
    return stored;
}

/* True for an expression of arguments, ids and counters. A counter is the same
   in all of an iteration. */
static int is_stable(const finder *s, const kiln__ir_node *value, uint32_t at,
                     unsigned depth)
{
    uint32_t from;

    value = resolve(s, value, at, &from, depth);
    switch ((uint32_t)value->op) {
    case KILN__IR_LOAD:
    case KILN__IR_CALL:
    case KILN__IR_ATOMIC:
        return 0;
    case KILN__IR_LOCAL:
        return s->sets[value->imm] == 0 ||
               (s->sets[value->imm] != SEVERAL &&
                kiln__ir_node_at(s->ir, s->sets[value->imm] - 1)->op ==
                    KILN__IR_FOR);
    default:
        break;
    }
    for (size_t i = 0; i < value->count; i++)
        if (!is_stable(s, kiln__ir_operand_at(s->ir, value, i), from, depth))
            return 0;
    return 1;
}

static int are_equal(const finder *s, const kiln__ir_node *a, uint32_t at_a,
                     const kiln__ir_node *b, uint32_t at_b)
{
    a = resolve(s, a, at_a, &at_a, 0);
    b = resolve(s, b, at_b, &at_b, 0);
    if (a->op != b->op || a->imm != b->imm || a->type != b->type ||
        a->count != b->count)
        return 0;
    for (size_t i = 0; i < a->count; i++)
        if (!are_equal(s, kiln__ir_operand_at(s->ir, a, i), at_a,
                       kiln__ir_operand_at(s->ir, b, i), at_b))
            return 0;
    return 1;
}

/* Returns the array's rank. */
static size_t rank_of(const kiln__ir *ir, const kiln__ir_node *access)
{
    return kiln__ir_type_at(ir, kiln__ir_operand_at(ir, access, 0)->type)
        ->length;
}

static int is_same_element(const finder *s, const kiln__ir_node *a,
                           const kiln__ir_node *b)
{
    const size_t rank = rank_of(s->ir, a);

    for (size_t i = 0; i <= rank; i++)
        if (!are_equal(s, kiln__ir_operand_at(s->ir, a, i), index_of(s, a),
                       kiln__ir_operand_at(s->ir, b, i), index_of(s, b)))
            return 0;
    return 1;
}

/* ---- arrays ---- */

static int is_parameter(const finder *s, const kiln__ir_node *array)
{
    return array->op == KILN__IR_LOCAL &&
           array->imm < (int64_t)s->ir->parameter_count &&
           !kiln__ir_type_at(s->ir, array->type)->strided &&
           s->sets[array->imm] == 0;
}

/* Notes that the arrays of the element and of this parameter must not overlap.
   Returns false where there is no room. */
static int keep_apart(const finder *s, const kiln__ir_node *array)
{
    kiln__lower_sums *sums = &s->l->sums;
    const kiln__lower_apart pair = {
        .a = (uint32_t)kiln__ir_operand_at(s->ir, s->element, 0)->imm,
        .b = (uint32_t)array->imm,
        .node = index_of(s, s->element)};

    for (size_t i = 0; i < sums->apart_count; i++)
        if (sums->apart[i].a == pair.a && sums->apart[i].b == pair.b)
            return 1;
    if (sums->apart_count == KILN__APART_MAX)
        return 0;
    sums->apart[sums->apart_count++] = pair;
    return 1;
}

/* True for an access to the element, or to another array. */
static int is_apart(const finder *s, const kiln__ir_node *access)
{
    const kiln__ir_node *array = kiln__ir_operand_at(s->ir, access, 0);

    if (!is_parameter(s, array))
        return 0;
    if (array->imm == kiln__ir_operand_at(s->ir, s->element, 0)->imm)
        return is_same_element(s, access, s->element);
    return keep_apart(s, array);
}

/* True for a call that reads other arrays only. */
static int call_is_apart(const finder *s, const kiln__ir_node *call)
{
    const uint32_t effects = kiln__lower_effect(s->l, s->f, call);
    const uint32_t allowed =
        KILN__READS | KILN__RAISES | KILN__CALLS | KILN__LOOPS | KILN__COSTS;

    if (effects & ~allowed)
        return 0;
    for (size_t i = 0; (effects & KILN__READS) && i < call->count; i++) {
        const kiln__ir_node *argument = kiln__ir_operand_at(s->ir, call, i);
        const int32_t kind = kiln__ir_kind(s->ir, argument->type);

        if (kind == KILN_TYPE_ARRAY
                ? !is_parameter(s, argument) ||
                      argument->imm ==
                          kiln__ir_operand_at(s->ir, s->element, 0)->imm ||
                      !keep_apart(s, argument)
                : !kiln__kind_is_scalar(kind))
            return 0;
    }
    return 1;
}

/* ---- the loop ---- */

/* True when the node and what is in it allow the element to be elsewhere. */
static int allows(const finder *s, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);
    int fine = 1;

    switch ((uint32_t)node->op) {
    case KILN__IR_LOAD:
    case KILN__IR_STORE:
        fine = is_apart(s, node);
        break;
    case KILN__IR_CALL:
        fine = call_is_apart(s, node);
        break;
    case KILN__IR_ATOMIC:
    case KILN__IR_FENCE:
    case KILN__IR_PRINT:
    case KILN__IR_EXTERNAL:
    case KILN__IR_HEAP:
    case KILN__IR_HEAP_OFFSET:
    case KILN__IR_HEAP_ARRAY:
    case KILN__IR_LOCAL_ARRAY:
    case KILN__IR_BREAK:
    case KILN__IR_CONTINUE:
    case KILN__IR_RETURN:
        return 0;
    default:
        break;
    }
    for (size_t i = 0; fine && i < node->count; i++)
        fine = allows(s, kiln__ir_operand(s->ir, node, i));
    return fine;
}

/* True when nothing in the loop changes the value. */
static int is_fixed(const finder *s, const kiln__ir_node *value, uint32_t at)
{
    uint32_t from;

    value = resolve(s, value, at, &from, 0);
    if (value->op == KILN__IR_LOAD || value->op == KILN__IR_CALL ||
        value->op == KILN__IR_ATOMIC ||
        (value->op == KILN__IR_LOCAL &&
         kiln__group_changes(s->ir, s->loop, index_of(s, value))))
        return 0;
    for (size_t i = 0; i < value->count; i++)
        if (!is_fixed(s, kiln__ir_operand_at(s->ir, value, i), from))
            return 0;
    return 1;
}

static int is_fixed_element(const finder *s)
{
    const size_t rank = rank_of(s->ir, s->element);

    for (size_t i = 1; i <= rank; i++)
        if (!is_fixed(s, kiln__ir_operand_at(s->ir, s->element, i),
                      index_of(s, s->element)))
            return 0;
    return 1;
}

static int is_store_of(const finder *s, const kiln__ir_node *node)
{
    return node->op == KILN__IR_STORE && is_same_element(s, node, s->element);
}

/* True for a FOR that certainly has an iteration. */
static int has_iteration(const finder *s, const kiln__ir_node *node)
{
    const kiln__ir_node *low = kiln__ir_operand_at(s->ir, node, 0);
    const kiln__ir_node *high = kiln__ir_operand_at(s->ir, node, 1);

    return low->op == KILN__IR_CONST && high->op == KILN__IR_CONST &&
           kiln__ir_operand_at(s->ir, node, 2)->imm > 0 && low->imm >= 0 &&
           low->imm < high->imm;
}

/* True when whoever comes to the statement writes the element. */
static int always_writes(const finder *s, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    if (node->op == KILN__IR_FOR)
        return has_iteration(s, node) &&
               always_writes(s, kiln__ir_operand(s->ir, node, 3));
    if (node->op != KILN__IR_BLOCK && node->op != KILN__IR_UNROLLED)
        return is_store_of(s, node);
    for (size_t i = 0; i < node->count; i++)
        if (always_writes(s, kiln__ir_operand(s->ir, node, i)))
            return 1;
    return 0;
}

/* True when the statement changes a local that the value, in the loop, is made
   of. */
static int changes(const finder *s, uint32_t statement,
                   const kiln__ir_node *value, uint32_t at)
{
    uint32_t from;

    value = resolve(s, value, at, &from, 0);
    if (value->op == KILN__IR_LOCAL &&
        kiln__group_changes(s->ir, statement, index_of(s, value)))
        return 1;
    for (size_t i = 0; i < value->count; i++)
        if (changes(s, statement, kiln__ir_operand_at(s->ir, value, i), from))
            return 1;
    return 0;
}

static int changes_element(const finder *s, uint32_t statement)
{
    const size_t rank = rank_of(s->ir, s->element);

    for (size_t i = 1; i <= rank; i++)
        if (changes(s, statement, kiln__ir_operand_at(s->ir, s->element, i),
                    index_of(s, s->element)))
            return 1;
    return 0;
}

/* True when the block writes the element before it comes to the loop, which is
   its statement `at`. */
static int has_written(const finder *s, const kiln__ir_node *block, size_t at)
{
    while (at-- > 0) {
        const uint32_t statement = kiln__ir_operand(s->ir, block, at);

        if (changes_element(s, statement))
            return 0;
        if (always_writes(s, statement))
            return 1;
    }
    return 0;
}

/* Returns the statement of the block that begins the sum, or 0: a STORE of the
   element with nothing but locals between it and the loop. */
static uint32_t find_start(const finder *s, const kiln__ir_node *block,
                           size_t at)
{
    const uint32_t allowed = KILN__RAISES | KILN__COSTS;

    while (block->op == KILN__IR_BLOCK && at-- > 0) {
        const uint32_t statement = kiln__ir_operand(s->ir, block, at);
        const kiln__ir_node *node = kiln__ir_node_at(s->ir, statement);

        if (is_store_of(s, node))
            return statement;
        if (node->op != KILN__IR_SET || changes_element(s, statement) ||
            (kiln__lower_effects(s->l, s->f, statement) & ~allowed))
            return 0;
    }
    return 0;
}

/* ---- all loops ---- */

static void mark(const finder *s, uint32_t index, uint8_t number)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    if ((node->op == KILN__IR_LOAD || node->op == KILN__IR_STORE) &&
        is_same_element(s, node, s->element))
        s->l->sums.of[index] = number;
    for (size_t i = 0; i < node->count; i++)
        mark(s, kiln__ir_operand(s->ir, node, i), number);
}

/* Keeps the element in a register where the loop allows that. */
static void try_element(const finder *s, const kiln__ir_node *block, size_t at)
{
    kiln__lower_sums *sums = &s->l->sums;
    const size_t apart = sums->apart_count;
    const kiln__ir_node *loop = kiln__ir_node_at(s->ir, s->loop);
    const uint32_t body = kiln__ir_operand(s->ir, loop, 3);

    if (sums->count == KILN__SUMS_MAX ||
        !is_parameter(s, kiln__ir_operand_at(s->ir, s->element, 0)) ||
        !kiln__kind_is_scalar(kiln__ir_kind(
            s->ir, kiln__ir_operand_at(s->ir, s->element, s->element->count - 1)
                       ->type)) ||
        !is_fixed_element(s) ||
        (!always_writes(s, body) && !has_written(s, block, at)))
        return;
    if (!allows(s, body)) {
        sums->apart_count = apart;
        return;
    }
    sums->all[sums->count++] =
        (kiln__lower_sum){.loop = s->loop,
                          .element = index_of(s, s->element),
                          .start = find_start(s, block, at)};
    mark(s, body, (uint8_t)sums->count);
    if (sums->all[sums->count - 1].start != 0)
        sums->of[sums->all[sums->count - 1].start] = (uint8_t)sums->count;
}

/* Tries what the loop writes, from this node on. */
static void try_elements(finder *s, uint32_t index, const kiln__ir_node *block,
                         size_t at)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    if (node->op == KILN__IR_STORE && s->l->sums.of[index] == 0) {
        s->element = node;
        try_element(s, block, at);
    }
    for (size_t i = 0; i < node->count; i++)
        try_elements(s, kiln__ir_operand(s->ir, node, i), block, at);
}

/* Outer loops come first. */
static void try_loops(finder *s, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(s->ir, index);

    for (size_t i = 0; i < node->count; i++) {
        const uint32_t operand = kiln__ir_operand(s->ir, node, i);

        if (kiln__ir_node_at(s->ir, operand)->op == KILN__IR_FOR) {
            s->loop = operand;
            try_elements(s, operand, node, i);
        }
        try_loops(s, operand);
    }
}

/* Notes who is whose operand, and what sets each local. */
static void examine(const finder *s)
{
    memset(s->sets, 0, s->ir->locals.count * sizeof *s->sets);
    for (uint32_t i = 1; i < s->ir->nodes.count; i++) {
        const kiln__ir_node *node = kiln__ir_node_at(s->ir, i);

        for (size_t k = 0; k < node->count; k++)
            s->parents[kiln__ir_operand(s->ir, node, k)] = i;
        if (node->op == KILN__IR_SET || node->op == KILN__IR_FOR)
            s->sets[node->imm] = s->sets[node->imm] == 0 ? i + 1 : SEVERAL;
    }
}

kiln_status kiln__lower_find_sums(kiln__lowering *l)
{
    kiln__arena *arena = &l->job->arena;
    finder s = {.l = l, .f = &l->functions[0], .ir = &l->functions[0].ir};
    const size_t count = s.ir->nodes.count;

    s.parents = kiln__arena_allocate_array(arena, count, sizeof *s.parents);
    s.sets = kiln__arena_allocate_array(arena, s.ir->locals.count + 1,
                                        sizeof *s.sets);
    l->sums.of = kiln__arena_allocate(arena, count);
    if (s.parents == NULL || s.sets == NULL || l->sums.of == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    memset(l->sums.of, 0, count);
    examine(&s);
    l->sums.sets = s.sets;
    try_loops(&s, s.ir->body);
    return KILN_OK;
}
