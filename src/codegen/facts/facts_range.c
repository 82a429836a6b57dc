/* facts_range.c - what values of facts can be. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"

/*
 * A range is that of a signed number of 64 bits, or of an unsigned one of less.
 * An operation that may wrap gives everything that its width can hold.
 */

typedef struct range {
    int64_t least, most;
} range;

static range of(const kiln__facts_graph *g, uint32_t value)
{
    return (range){g->at[value].least, g->at[value].most};
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The least number of all ones that is not below a number, which is not
   negative. */
static int64_t ones_above(int64_t value)
{
    return value == 0 ? 0 : INT64_MAX >> (__builtin_clzll((uint64_t)value) - 1);
}

static range all_of(unsigned bits)
{
    if (bits == 64)
        return (range){INT64_MIN, INT64_MAX};
    return (range){0, (int64_t)(UINT64_MAX >> (64 - bits))};
}

/* ---- signed numbers of 64 bits ---- */

static range sum(range a, range b, range all)
{
    range out;

    if (__builtin_add_overflow(a.least, b.least, &out.least) ||
        __builtin_add_overflow(a.most, b.most, &out.most))
        return all;
    return out;
}

static range difference(range a, range b, range all)
{
    range out;

    if (__builtin_sub_overflow(a.least, b.most, &out.least) ||
        __builtin_sub_overflow(a.most, b.least, &out.most))
        return all;
    return out;
}

static range product(range a, range b, range all)
{
    int64_t parts[4];
    range out;

    if (__builtin_mul_overflow(a.least, b.least, &parts[0]) ||
        __builtin_mul_overflow(a.most, b.least, &parts[1]) ||
        __builtin_mul_overflow(a.least, b.most, &parts[2]) ||
        __builtin_mul_overflow(a.most, b.most, &parts[3]))
        return all;
    out = (range){parts[0], parts[0]};
    for (int i = 1; i < 4; i++) {
        out.least = lesser(out.least, parts[i]);
        out.most = greater(out.most, parts[i]);
    }
    return out;
}

static range masked(range a, range b, range all)
{
    range out = all;

    if (a.least < 0 && b.least < 0)
        return all;
    out.least = 0;
    if (a.least >= 0)
        out.most = a.most;
    if (b.least >= 0)
        out.most = lesser(out.most, b.most);
    return out;
}

static range united(range a, range b, range all)
{
    if (a.least < 0 || b.least < 0)
        return all;
    return (range){greater(a.least, b.least),
                   ones_above(greater(a.most, b.most))};
}

/* Of positive divisors only. The quotient is on the dividend's side of 0. */
static range quotient(range a, range b, range all)
{
    if (b.least <= 0)
        return all;
    return (range){a.least / (a.least < 0 ? b.least : b.most),
                   a.most / (a.most < 0 ? b.most : b.least)};
}

/* The remainder has the dividend's sign, and is less than the divisor. */
static range remainder_of(range a, range b, range all)
{
    if (b.least <= 0)
        return all;
    return (range){greater(lesser(a.least, 0), 1 - b.most),
                   lesser(greater(a.most, 0), b.most - 1)};
}

/* By a number that is known. */
static range shifted(unsigned operation, range a, range by, range all)
{
    if (by.least != by.most || by.least < 0 || by.least > 62)
        return all;
    if (operation == KILN__FACT_SHL)
        return product(
            a, (range){INT64_C(1) << by.least, INT64_C(1) << by.least}, all);
    if (operation == KILN__FACT_LSHR && a.least < 0)
        return by.least == 0 ? all
                             : (range){0, (int64_t)(UINT64_MAX >> by.least)};
    return (range){a.least >> by.least, a.most >> by.least};
}

static range whole(unsigned operation, range a, range b, range all)
{
    const int is_positive = a.least >= 0 && b.least >= 0;

    switch (operation) {
    case KILN__FACT_ADD:
        return sum(a, b, all);
    case KILN__FACT_SUB:
        return difference(a, b, all);
    case KILN__FACT_MUL:
        return product(a, b, all);
    case KILN__FACT_AND:
        return masked(a, b, all);
    case KILN__FACT_OR:
        return united(a, b, all);
    case KILN__FACT_SHL:
    case KILN__FACT_LSHR:
    case KILN__FACT_ASHR:
        return shifted(operation, a, b, all);
    case KILN__FACT_UDIV:
        return is_positive ? quotient(a, b, all) : all;
    case KILN__FACT_UREM:
        return is_positive ? remainder_of(a, b, all) : all;
    case KILN__FACT_SDIV:
        return quotient(a, b, all);
    case KILN__FACT_SREM:
        return remainder_of(a, b, all);
    case KILN__FACT_SMIN:
        return (range){lesser(a.least, b.least), lesser(a.most, b.most)};
    case KILN__FACT_SMAX:
        return (range){greater(a.least, b.least), greater(a.most, b.most)};
    default:
        return all;
    }
}

/* ---- any node ---- */

/* A number that fits does not change. */
static range converted(const kiln__facts_graph *g, const kiln__fact_node *n,
                       range all)
{
    const uint32_t bits = n->operands[1];
    const range a = of(g, n->operands[0]);

    if (n->operation == KILN__FACT_EXTEND) {
        if (n->width != 64 || bits >= 64 || bits == 0)
            return all;
        all.most = INT64_MAX >> (64 - bits);
        if (a.least >= 0 && a.most <= all.most)
            return a;
        all.least = -all.most - 1;
        return all;
    }
    return a.least >= all.least && a.most <= all.most ? a : all;
}

static range chosen(const kiln__facts_graph *g, const kiln__fact_node *n,
                    range all)
{
    const uint32_t a = n->operands[1], b = n->operands[2];

    if (kiln__graph_is_whole(g, a) != (n->width == 64) ||
        kiln__graph_is_whole(g, b) != (n->width == 64))
        return all;
    return (range){lesser(of(g, a).least, of(g, b).least),
                   greater(of(g, a).most, of(g, b).most)};
}

static int are_whole(const kiln__facts_graph *g, const kiln__fact_node *n)
{
    return n->width == 64 && kiln__graph_operands(n->operation) == 2 &&
           kiln__graph_is_whole(g, n->operands[0]) &&
           kiln__graph_is_whole(g, n->operands[1]);
}

void kiln__graph_find_range(const kiln__facts_graph *g, kiln__fact_node *n)
{
    const int is_truth =
        n->width == 1 || (n->operation >= KILN__FACT_EQ &&
                          n->operation <= KILN__FACT_SMUL_WRAPS);
    range found = all_of(is_truth ? 1 : n->width);

    if (n->operation == KILN__FACT_CONSTANT)
        found = (range){(int64_t)n->number, (int64_t)n->number};
    else if (!is_truth && n->operation == KILN__FACT_SELECT)
        found = chosen(g, n, found);
    else if (!is_truth && (n->operation == KILN__FACT_CUT ||
                           n->operation == KILN__FACT_EXTEND))
        found = converted(g, n, found);
    else if (!is_truth && n->operation == KILN__FACT_WORD &&
             n->operands[0] < 8 && n->width == 64)
        found = all_of(8 * n->operands[0]);
    else if (!is_truth && are_whole(g, n))
        found = whole(n->operation, of(g, n->operands[0]),
                      of(g, n->operands[1]), found);
    n->least = found.least;
    n->most = found.most;
}
