/* facts_fold.c - finds simpler instructions of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"

/*
 * Each function here gets an instruction whose operands are simple already, and
 * returns a value that is the same, or NONE. Those for truths and comparisons
 * have files of their own.
 */

typedef struct instruction {
    unsigned operation, width;
    uint32_t a, b, c;
} instruction;

static uint32_t remake(kiln__facts_graph *g, const instruction *i, uint32_t a,
                       uint32_t b)
{
    return kiln__graph_binary(g, i->operation, i->width, a, b);
}

static int is_constant(const kiln__facts_graph *g, uint32_t value,
                       uint64_t number)
{
    uint64_t found;

    return kiln__graph_constant_of(g, value, &found) && found == number;
}

static uint64_t ones(unsigned width)
{
    return UINT64_MAX >> (64 - width);
}

static int64_t with_sign(uint64_t value, unsigned width)
{
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

/* ---- constants ---- */

static uint64_t compare_constants(unsigned operation, uint64_t a, uint64_t b,
                                  unsigned width)
{
    const int64_t x = with_sign(a, width), y = with_sign(b, width);

    switch (operation) {
    case KILN__FACT_EQ:
        return a == b;
    case KILN__FACT_NE:
        return a != b;
    case KILN__FACT_ULT:
        return a < b;
    case KILN__FACT_ULE:
        return a <= b;
    case KILN__FACT_SLT:
        return x < y;
    default:
        return x <= y;
    }
}

/* Computes the operation; false for one that is left to the launch. */
static int compute(unsigned operation, unsigned width, uint64_t a, uint64_t b,
                   uint64_t *out)
{
    const int64_t x = with_sign(a, width), y = with_sign(b, width);

    switch (operation) {
    case KILN__FACT_ADD:
        *out = a + b;
        return 1;
    case KILN__FACT_SUB:
        *out = a - b;
        return 1;
    case KILN__FACT_MUL:
        *out = a * b;
        return 1;
    case KILN__FACT_AND:
        *out = a & b;
        return 1;
    case KILN__FACT_OR:
        *out = a | b;
        return 1;
    case KILN__FACT_XOR:
        *out = a ^ b;
        return 1;
    case KILN__FACT_UMIN:
        *out = a < b ? a : b;
        return 1;
    case KILN__FACT_UMAX:
        *out = a < b ? b : a;
        return 1;
    case KILN__FACT_SMIN:
        *out = x < y ? a : b;
        return 1;
    case KILN__FACT_SMAX:
        *out = x < y ? b : a;
        return 1;
    default:
        if (operation < KILN__FACT_EQ || operation > KILN__FACT_SLE)
            return 0;
        *out = compare_constants(operation, a, b, width);
        return 1;
    }
}

static uint32_t of_constants(kiln__facts_graph *g, const instruction *i)
{
    const int is_compare = i->operation >= KILN__FACT_EQ;
    uint64_t a, b, result;

    if (kiln__graph_operands(i->operation) != 2 ||
        !kiln__graph_constant_of(g, i->a, &a) ||
        !kiln__graph_constant_of(g, i->b, &b) ||
        !compute(i->operation, i->width, a, b, &result))
        return KILN__FACT_NONE;
    return kiln__graph_constant(g, is_compare ? 1 : i->width, result);
}

/* ---- sums ---- */

/* Tells whether the value is x plus a constant, which may wrap. */
static int is_plus(const kiln__facts_graph *g, uint32_t value, uint32_t *x,
                   uint64_t *plus)
{
    const kiln__fact_node *n = &g->at[value];
    uint64_t number;

    for (unsigned k = 0; n->operation == KILN__FACT_ADD && k < 2; k++) {
        if (!kiln__graph_constant_of(g, n->operands[k], &number))
            continue;
        *x = n->operands[!k];
        *plus = number;
        return 1;
    }
    return 0;
}

static uint32_t add_constant(kiln__facts_graph *g, unsigned width, uint32_t a,
                             uint64_t number)
{
    uint32_t x;
    uint64_t plus;

    if (is_plus(g, a, &x, &plus) && g->at[a].width == width)
        return add_constant(g, width, x, plus + number);
    if ((number & ones(width)) == 0)
        return a;
    return kiln__graph_add(
        g, KILN__FACT_ADD, width,
        (const uint32_t[]){a, kiln__graph_constant(g, width, number), 0});
}

static uint32_t sum(kiln__facts_graph *g, const instruction *i)
{
    const uint32_t both[2] = {i->a, i->b};
    uint64_t number;

    for (unsigned k = 0; k < 2; k++) {
        const kiln__fact_node *n = &g->at[both[k]];

        if (kiln__graph_constant_of(g, both[k], &number))
            return add_constant(g, i->width, both[!k], number);
        if (n->operation == KILN__FACT_SUB && n->operands[1] == both[!k])
            return n->operands[0];
    }
    return KILN__FACT_NONE;
}

static uint32_t difference(kiln__facts_graph *g, const instruction *i)
{
    const kiln__fact_node *n = &g->at[i->a];
    uint32_t x = i->a, y = i->b;
    uint64_t number, plus_x = 0, plus_y = 0;

    if (kiln__graph_constant_of(g, i->b, &number))
        return add_constant(g, i->width, i->a, 0 - number);
    (void)is_plus(g, i->a, &x, &plus_x);
    (void)is_plus(g, i->b, &y, &plus_y);
    if (x == y)
        return kiln__graph_constant(g, i->width, plus_x - plus_y);
    if (n->operation == KILN__FACT_ADD && n->operands[0] == i->b)
        return n->operands[1];
    if (n->operation == KILN__FACT_ADD && n->operands[1] == i->b)
        return n->operands[0];
    return KILN__FACT_NONE;
}

/* ---- products and bits ---- */

static uint32_t product(kiln__facts_graph *g, const instruction *i)
{
    const uint32_t both[2] = {i->a, i->b};

    for (unsigned k = 0; k < 2; k++) {
        if (is_constant(g, both[k], 1))
            return both[!k];
        if (is_constant(g, both[k], 0))
            return both[k];
    }
    return KILN__FACT_NONE;
}

/* True where all bits that the value may have are among those of the mask. */
static int is_within(const kiln__facts_graph *g, uint32_t value, uint64_t mask)
{
    const kiln__fact_node *n = &g->at[value];

    return n->least >= 0 && (mask & (mask + 1)) == 0 &&
           (uint64_t)n->most <= mask;
}

static uint32_t bits(kiln__facts_graph *g, const instruction *i)
{
    const uint32_t both[2] = {i->a, i->b};
    const int is_and = i->operation == KILN__FACT_AND;
    uint64_t number;

    if (i->a == i->b)
        return i->operation == KILN__FACT_XOR
                   ? kiln__graph_constant(g, i->width, 0)
                   : i->a;
    for (unsigned k = 0; k < 2; k++) {
        if (!kiln__graph_constant_of(g, both[k], &number))
            continue;
        if (number == 0)
            return is_and ? both[k] : both[!k];
        if (number == ones(i->width) && i->operation != KILN__FACT_XOR)
            return is_and ? both[!k] : both[k];
        if (is_and && is_within(g, both[!k], number))
            return both[!k];
    }
    return KILN__FACT_NONE;
}

static uint32_t shifted(kiln__facts_graph *g, const instruction *i)
{
    return is_constant(g, i->b, 0) ? i->a : KILN__FACT_NONE;
}

static uint32_t divided(kiln__facts_graph *g, const instruction *i)
{
    const int is_quotient =
        i->operation == KILN__FACT_UDIV || i->operation == KILN__FACT_SDIV;
    const kiln__fact_node *a = &g->at[i->a], *b = &g->at[i->b];

    if (is_constant(g, i->b, 1) && i->width > 1)
        return is_quotient ? i->a : kiln__graph_constant(g, i->width, 0);
    if (kiln__graph_is_whole(g, i->a) && kiln__graph_is_whole(g, i->b) &&
        a->least >= 0 && a->most < b->least)
        return is_quotient ? kiln__graph_constant(g, i->width, 0) : i->a;
    return KILN__FACT_NONE;
}

/* ---- comparisons ---- */

static uint32_t equality(kiln__facts_graph *g, const instruction *i)
{
    const int is_ne = i->operation == KILN__FACT_NE;
    const kiln__fact_node *a = &g->at[i->a], *b = &g->at[i->b];
    const uint32_t both[2] = {i->a, i->b};
    uint64_t number, plus;
    uint32_t x;

    if (i->a == i->b)
        return kiln__graph_constant(g, 1, !is_ne);
    if (a->width == b->width && (a->most < b->least || b->most < a->least))
        return kiln__graph_constant(g, 1, (uint64_t)is_ne);
    for (unsigned k = 0; k < 2; k++) {
        if (!kiln__graph_constant_of(g, both[k], &number))
            continue;
        if (i->width == 1)
            return (number == 0) == is_ne ? both[!k]
                                          : kiln__graph_not(g, both[!k]);
        if (is_plus(g, both[!k], &x, &plus) &&
            g->at[both[!k]].width == i->width)
            return remake(g, i, x,
                          kiln__graph_constant(g, i->width, number - plus));
    }
    return KILN__FACT_NONE;
}

/* Numbers that are not negative are compared as signed ones. */
static uint32_t ordered(kiln__facts_graph *g, const instruction *i)
{
    const int is_signed =
        i->operation == KILN__FACT_SLT || i->operation == KILN__FACT_SLE;
    const int is_less =
        i->operation == KILN__FACT_SLT || i->operation == KILN__FACT_ULT;
    uint64_t most;

    if (i->a == i->b)
        return kiln__graph_constant(g, 1, !is_less);
    if (kiln__graph_is_whole(g, i->a) && kiln__graph_is_whole(g, i->b) &&
        (is_signed || (g->at[i->a].least >= 0 && g->at[i->b].least >= 0)))
        return kiln__graph_compare(g, is_less ? KILN__FACT_SLT : KILN__FACT_SLE,
                                   i->a, i->b);
    if (i->operation == KILN__FACT_ULE &&
        kiln__graph_constant_of(g, i->b, &most) && most != ones(i->width))
        return kiln__graph_binary(g, KILN__FACT_ULT, i->width, i->a,
                                  kiln__graph_constant(g, i->width, most + 1));
    return KILN__FACT_NONE;
}

static uint32_t extreme(kiln__facts_graph *g, const instruction *i)
{
    if (i->a == i->b)
        return i->a;
    if ((i->operation == KILN__FACT_SMIN || i->operation == KILN__FACT_SMAX) &&
        kiln__graph_is_whole(g, i->a) && kiln__graph_is_whole(g, i->b))
        return kiln__graph_extreme(g, i->operation, i->a, i->b);
    return KILN__FACT_NONE;
}

/* Whether an operation on two numbers wraps: their ranges may exclude that. */
static uint32_t asked(kiln__facts_graph *g, const instruction *i)
{
    static const uint8_t operations[] = {KILN__FACT_ADD, KILN__FACT_SUB,
                                         KILN__FACT_MUL};
    const int is_signed = i->operation >= KILN__FACT_SADD_WRAPS;
    const unsigned first =
        is_signed ? KILN__FACT_SADD_WRAPS : KILN__FACT_UADD_WRAPS;
    kiln__fact_node n = {.operation = operations[i->operation - first],
                         .width = (uint8_t)i->width,
                         .operands = {i->a, i->b}};

    if (i->width != 64 || !kiln__graph_is_whole(g, i->a) ||
        !kiln__graph_is_whole(g, i->b))
        return KILN__FACT_NONE;
    kiln__graph_find_range(g, &n);
    if (n.least == INT64_MIN && n.most == INT64_MAX)
        return KILN__FACT_NONE;
    if (!is_signed &&
        (g->at[i->a].least < 0 || g->at[i->b].least < 0 || n.least < 0))
        return KILN__FACT_NONE;
    return kiln__graph_constant(g, 1, 0);
}

/* ---- choices and conversions ---- */

static uint32_t choose_truth(kiln__facts_graph *g, const instruction *i)
{
    const uint32_t otherwise = kiln__graph_not(g, i->a);

    if (is_constant(g, i->b, 1))
        return kiln__graph_join(g, KILN__FACT_OR, i->a, i->c);
    if (is_constant(g, i->b, 0))
        return kiln__graph_join(g, KILN__FACT_AND, otherwise, i->c);
    if (is_constant(g, i->c, 0))
        return kiln__graph_join(g, KILN__FACT_AND, i->a, i->b);
    if (is_constant(g, i->c, 1))
        return kiln__graph_join(g, KILN__FACT_OR, otherwise, i->b);
    return KILN__FACT_NONE;
}

/* Returns the side of a choice by the same condition, or the value. */
static uint32_t side_of(const kiln__facts_graph *g, uint32_t value,
                        uint32_t condition, unsigned side)
{
    const kiln__fact_node *n = &g->at[value];

    return n->operation == KILN__FACT_SELECT && n->operands[0] == condition
               ? n->operands[side]
               : value;
}

static uint32_t chosen(kiln__facts_graph *g, const instruction *i)
{
    const uint32_t a = side_of(g, i->b, i->a, 1), b = side_of(g, i->c, i->a, 2);
    const kiln__fact_node *n = &g->at[i->a];
    uint64_t truth;

    if (kiln__graph_constant_of(g, i->a, &truth))
        return truth != 0 ? i->b : i->c;
    if (a == b)
        return a;
    if (a != i->b || b != i->c)
        return kiln__graph_make(g, i->operation, i->width,
                                (const uint32_t[]){i->a, a, b});
    if (i->width == 1 && kiln__graph_is_truth(g, i->a))
        return choose_truth(g, i);
    if ((n->operation != KILN__FACT_SLT && n->operation != KILN__FACT_SLE) ||
        n->width != 64 || i->width != 64)
        return KILN__FACT_NONE;
    if (n->operands[0] == a && n->operands[1] == b)
        return kiln__graph_binary(g, KILN__FACT_SMIN, 64, a, b);
    if (n->operands[0] == b && n->operands[1] == a)
        return kiln__graph_binary(g, KILN__FACT_SMAX, 64, a, b);
    return KILN__FACT_NONE;
}

/* A number that was cut and fits is what it was before. */
static uint32_t converted(kiln__facts_graph *g, const instruction *i)
{
    const kiln__fact_node *n = &g->at[i->a];
    const int is_cut = i->operation == KILN__FACT_CUT;
    const uint32_t from = n->operands[0];
    uint64_t number;

    if (kiln__graph_constant_of(g, i->a, &number))
        return kiln__graph_constant(
            g, i->width, is_cut ? number : (uint64_t)with_sign(number, i->b));
    if (is_cut && (i->width == 1 ? kiln__graph_is_truth(g, i->a)
                                 : n->width == i->width &&
                                       !kiln__graph_is_truth(g, i->a)))
        return i->a;
    if (n->operation != KILN__FACT_CUT || i->width != 64 || n->width == 1 ||
        !kiln__graph_is_whole(g, from))
        return KILN__FACT_NONE;
    if (is_cut)
        return is_within(g, from, ones(n->width)) ? from : KILN__FACT_NONE;
    return i->b == n->width &&
                   g->at[from].most <= (int64_t)(ones(n->width) >> 1) &&
                   g->at[from].least >= -(int64_t)(ones(n->width) >> 1) - 1
               ? from
               : KILN__FACT_NONE;
}

/* ---- any instruction ---- */

static int are_truths(const kiln__facts_graph *g, const instruction *i)
{
    return kiln__graph_is_truth(g, i->a) && kiln__graph_is_truth(g, i->b);
}

static uint32_t binary(kiln__facts_graph *g, const instruction *i)
{
    const unsigned operation = i->operation;
    const uint32_t found = of_constants(g, i);

    if (found != KILN__FACT_NONE)
        return found;
    if (i->width == 1 && are_truths(g, i)) {
        if (operation == KILN__FACT_AND || operation == KILN__FACT_OR)
            return kiln__graph_join(g, operation, i->a, i->b);
        if (operation == KILN__FACT_XOR && is_constant(g, i->a, 1))
            return kiln__graph_not(g, i->b);
        if (operation == KILN__FACT_XOR && is_constant(g, i->b, 1))
            return kiln__graph_not(g, i->a);
    }
    if (operation == KILN__FACT_ADD)
        return sum(g, i);
    if (operation == KILN__FACT_SUB)
        return difference(g, i);
    if (operation == KILN__FACT_MUL)
        return product(g, i);
    if (operation <= KILN__FACT_XOR)
        return bits(g, i);
    if (operation <= KILN__FACT_ASHR)
        return shifted(g, i);
    if (operation <= KILN__FACT_SREM)
        return divided(g, i);
    if (operation <= KILN__FACT_SMAX)
        return extreme(g, i);
    if (operation <= KILN__FACT_NE)
        return equality(g, i);
    return operation <= KILN__FACT_SLE ? ordered(g, i) : asked(g, i);
}

uint32_t kiln__graph_make(kiln__facts_graph *g, unsigned operation,
                          unsigned width, const uint32_t operands[3])
{
    const instruction i = {operation, width, operands[0], operands[1],
                           operands[2]};
    const unsigned count = kiln__graph_operands(operation);
    uint32_t found = KILN__FACT_NONE;

    for (unsigned k = 0; k < count; k++)
        if (operands[k] == KILN__FACT_NONE)
            return KILN__FACT_NONE;
    if (g->failed || width == 0 || width > 64)
        return KILN__FACT_NONE;
    if (operation == KILN__FACT_SELECT)
        found = chosen(g, &i);
    else if (operation == KILN__FACT_CUT || operation == KILN__FACT_EXTEND)
        found = converted(g, &i);
    else if (count == 2)
        found = binary(g, &i);
    if (found != KILN__FACT_NONE || g->failed)
        return found;
    return kiln__graph_add(g, operation, width, operands);
}
