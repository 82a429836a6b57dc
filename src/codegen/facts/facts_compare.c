/* facts_compare.c - comparisons, minima and maxima of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"

/*
 * Each comparison says x + distance < y, of integers that do not wrap: ranges
 * tell where a sum cannot. So i <= n - 1 is i < n, and whether min(i, n - 1) is
 * below n needs no launch: one of the two is. The instruction that is made is
 * always the same for the same x, y and distance, if only one of the two is
 * added to, so it is there once.
 */

#define DEPTH_MOST 5 /* minima in minima that are looked into */

kiln__fact_sum kiln__graph_sum_of(const kiln__facts_graph *g, uint32_t value)
{
    const kiln__fact_node *n = &g->at[value];
    uint64_t number;
    int64_t end;

    if (kiln__graph_constant_of(g, value, &number))
        return (kiln__fact_sum){KILN__FACT_NONE, (int64_t)number};
    for (unsigned k = 0; n->operation == KILN__FACT_ADD && k < 2; k++) {
        const kiln__fact_node *base = &g->at[n->operands[!k]];
        const int64_t plus = kiln__graph_constant_of(g, n->operands[k], &number)
                                 ? (int64_t)number
                                 : 0;

        if (plus != 0 && !__builtin_add_overflow(base->least, plus, &end) &&
            !__builtin_add_overflow(base->most, plus, &end))
            return (kiln__fact_sum){n->operands[!k], plus};
    }
    return (kiln__fact_sum){value, 0};
}

/* ---- deciding ---- */

static int64_t least_of(const kiln__facts_graph *g, uint32_t value)
{
    return value == KILN__FACT_NONE ? 0 : g->at[value].least;
}

static int64_t most_of(const kiln__facts_graph *g, uint32_t value)
{
    return value == KILN__FACT_NONE ? 0 : g->at[value].most;
}

static int is(const kiln__facts_graph *g, uint32_t value, unsigned operation)
{
    return value != KILN__FACT_NONE && g->at[value].operation == operation;
}

/* Replaces x or y by an operand of theirs; false where the distance is too
   large a number. */
static int with_x(const kiln__facts_graph *g, kiln__fact_less c, unsigned side,
                  kiln__fact_less *out)
{
    const kiln__fact_sum sum = kiln__graph_sum_of(g, g->at[c.x].operands[side]);

    *out = (kiln__fact_less){sum.base, c.y, 0};
    return !__builtin_add_overflow(c.distance, sum.plus, &out->distance);
}

static int with_y(const kiln__facts_graph *g, kiln__fact_less c, unsigned side,
                  kiln__fact_less *out)
{
    const kiln__fact_sum sum = kiln__graph_sum_of(g, g->at[c.y].operands[side]);

    *out = (kiln__fact_less){c.x, sum.base, 0};
    return !__builtin_sub_overflow(c.distance, sum.plus, &out->distance);
}

static int decide(const kiln__facts_graph *g, kiln__fact_less c,
                  unsigned depth);

static int decide_side(const kiln__facts_graph *g, kiln__fact_less c, int is_y,
                       unsigned side, unsigned depth)
{
    kiln__fact_less part;

    if (!(is_y ? with_y(g, c, side, &part) : with_x(g, c, side, &part)))
        return -1;
    return decide(g, part, depth - 1);
}

/* Of a minimum or a maximum one side may suffice, or both are needed. */
static int decide_by_sides(const kiln__facts_graph *g, kiln__fact_less c,
                           int is_y, unsigned depth)
{
    const int is_min = is(g, is_y ? c.y : c.x, KILN__FACT_SMIN);
    const int enough = is_min != is_y; /* the truth that one side decides */
    const int a = decide_side(g, c, is_y, 0, depth);
    const int b = a == enough ? a : decide_side(g, c, is_y, 1, depth);

    if (a == enough || b == enough)
        return enough;
    return a == b ? a : -1;
}

static int is_extreme(const kiln__facts_graph *g, uint32_t value)
{
    return is(g, value, KILN__FACT_SMIN) || is(g, value, KILN__FACT_SMAX);
}

/* Returns whether the comparison holds for all launches, 1, or for none, 0; or
   -1. */
static int decide(const kiln__facts_graph *g, kiln__fact_less c, unsigned depth)
{
    int64_t end;
    int found = -1;

    if (c.x == c.y)
        return c.distance < 0;
    if (!__builtin_add_overflow(most_of(g, c.x), c.distance, &end) &&
        end < least_of(g, c.y))
        return 1;
    if (!__builtin_add_overflow(least_of(g, c.x), c.distance, &end) &&
        end >= most_of(g, c.y))
        return 0;
    if (depth > 0 && is_extreme(g, c.x))
        found = decide_by_sides(g, c, 0, depth);
    if (depth > 0 && found < 0 && is_extreme(g, c.y))
        found = decide_by_sides(g, c, 1, depth);
    return found;
}

/* ---- making ---- */

/* Replaces a minimum or a maximum by the one side that matters. */
static void look_into(const kiln__facts_graph *g, kiln__fact_less *c, int is_y)
{
    const uint32_t at = is_y ? c->y : c->x;
    const int is_min = is(g, at, KILN__FACT_SMIN);
    /* The side of which this is known does not matter. */
    const int idle = is_min == is_y;

    for (unsigned side = 0; side < 2; side++) {
        kiln__fact_less part;

        if (decide_side(g, *c, is_y, side, DEPTH_MOST) != idle ||
            !(is_y ? with_y(g, *c, !side, &part) : with_x(g, *c, !side, &part)))
            continue;
        *c = part;
        return;
    }
}

static uint32_t number(kiln__facts_graph *g, int64_t value)
{
    return kiln__graph_constant(g, 64, (uint64_t)value);
}

static uint32_t put(kiln__facts_graph *g, unsigned operation, uint32_t a,
                    uint32_t b)
{
    return kiln__graph_add(g, operation, 64, (const uint32_t[]){a, b, 0});
}

/* Returns x plus a number; NONE if it may wrap. */
static uint32_t moved(kiln__facts_graph *g, uint32_t x, int64_t by)
{
    int64_t end;

    if (__builtin_add_overflow(g->at[x].least, by, &end) ||
        __builtin_add_overflow(g->at[x].most, by, &end))
        return KILN__FACT_NONE;
    return kiln__graph_binary(g, KILN__FACT_ADD, 64, x, number(g, by));
}

static uint32_t put_less(kiln__facts_graph *g, kiln__fact_less c)
{
    uint32_t x, y;

    if (c.distance == INT64_MIN)
        return KILN__FACT_NONE;
    if (c.x == KILN__FACT_NONE)
        return put(g, KILN__FACT_SLT, number(g, c.distance), c.y);
    if (c.y == KILN__FACT_NONE)
        return put(g, KILN__FACT_SLT, c.x, number(g, -c.distance));
    if (c.distance == 0 || c.distance == -1)
        return put(g, c.distance == 0 ? KILN__FACT_SLT : KILN__FACT_SLE, c.x,
                   c.y);
    x = moved(g, c.x, c.distance);
    if (x != KILN__FACT_NONE)
        return put(g, KILN__FACT_SLT, x, c.y);
    y = moved(g, c.y, -c.distance);
    return y == KILN__FACT_NONE ? y : put(g, KILN__FACT_SLT, c.x, y);
}

/* Tells what the comparison of two values says; false where the distance is too
   large a number. */
static int less_of(const kiln__facts_graph *g, unsigned operation, uint32_t a,
                   uint32_t b, kiln__fact_less *out)
{
    const kiln__fact_sum x = kiln__graph_sum_of(g, a);
    const kiln__fact_sum y = kiln__graph_sum_of(g, b);

    *out = (kiln__fact_less){x.base, y.base, 0};
    return !__builtin_sub_overflow(x.plus, y.plus, &out->distance) &&
           !__builtin_sub_overflow(out->distance, operation == KILN__FACT_SLE,
                                   &out->distance);
}

void kiln__graph_find_less(const kiln__facts_graph *g, kiln__fact_node *n)
{
    n->has_less =
        (n->operation == KILN__FACT_SLT || n->operation == KILN__FACT_SLE) &&
        kiln__graph_is_whole(g, n->operands[0]) &&
        kiln__graph_is_whole(g, n->operands[1]) &&
        less_of(g, n->operation, n->operands[0], n->operands[1], &n->less);
}

uint32_t kiln__graph_compare(kiln__facts_graph *g, unsigned operation,
                             uint32_t a, uint32_t b)
{
    kiln__fact_less c;
    int found;

    if (!less_of(g, operation, a, b, &c))
        return KILN__FACT_NONE;
    found = decide(g, c, DEPTH_MOST);
    for (unsigned i = 0; found < 0 && i < DEPTH_MOST; i++) {
        if (is_extreme(g, c.x))
            look_into(g, &c, 0);
        if (is_extreme(g, c.y))
            look_into(g, &c, 1);
    }
    if (found >= 0)
        return kiln__graph_constant(g, 1, (uint64_t)found);
    return put_less(g, c);
}

/* ---- minima and maxima ---- */

/* Returns whether a <= b always holds, or, for maxima, a >= b. */
static int comes_first(const kiln__facts_graph *g, unsigned operation,
                       uint32_t a, uint32_t b)
{
    const int is_min = operation == KILN__FACT_SMIN;
    kiln__fact_less c;

    return less_of(g, KILN__FACT_SLE, is_min ? a : b, is_min ? b : a, &c) &&
           decide(g, c, DEPTH_MOST) == 1;
}

/* Leaves out an operand of `a` that is never the result. */
static uint32_t without_part(kiln__facts_graph *g, unsigned operation,
                             uint32_t a, uint32_t b)
{
    if (!is(g, a, operation))
        return KILN__FACT_NONE;
    for (unsigned side = 0; side < 2; side++)
        if (comes_first(g, operation, b, g->at[a].operands[side]))
            return kiln__graph_binary(g, operation, 64,
                                      g->at[a].operands[!side], b);
    return KILN__FACT_NONE;
}

uint32_t kiln__graph_extreme(kiln__facts_graph *g, unsigned operation,
                             uint32_t a, uint32_t b)
{
    uint32_t found;

    if (comes_first(g, operation, a, b))
        return a;
    if (comes_first(g, operation, b, a))
        return b;
    found = without_part(g, operation, a, b);
    return found != KILN__FACT_NONE ? found : without_part(g, operation, b, a);
}
