/* facts_truth.c - conjunctions and disjunctions of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"

/*
 * Guards in guards give a | b, a | b | c, and so on. So an OR is taken for the
 * set of all that is joined by OR in it, and an AND likewise. A part that
 * another one implies is left out. A part that is new is added to the node that
 * is there, so that longer sets share what shorter ones compute.
 */

#define PARTS_MOST 64

/* ---- not ---- */

static uint32_t opposite_of(kiln__facts_graph *g, uint32_t truth)
{
    static const struct {
        uint8_t operation, opposite, swaps;
    } known[] = {
        {KILN__FACT_SLT, KILN__FACT_SLE, 1},
        {KILN__FACT_SLE, KILN__FACT_SLT, 1},
        {KILN__FACT_ULT, KILN__FACT_ULE, 1},
        {KILN__FACT_ULE, KILN__FACT_ULT, 1},
        {KILN__FACT_EQ, KILN__FACT_NE, 0},
        {KILN__FACT_NE, KILN__FACT_EQ, 0},
    };
    const kiln__fact_node n = g->at[truth];
    const uint32_t a = n.operands[0], b = n.operands[1];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].operation == n.operation)
            return kiln__graph_binary(g, known[i].opposite, n.width,
                                      known[i].swaps ? b : a,
                                      known[i].swaps ? a : b);
    if ((n.operation == KILN__FACT_AND || n.operation == KILN__FACT_OR) &&
        kiln__graph_is_truth(g, a) && kiln__graph_is_truth(g, b))
        return kiln__graph_join(
            g, n.operation == KILN__FACT_AND ? KILN__FACT_OR : KILN__FACT_AND,
            kiln__graph_not(g, a), kiln__graph_not(g, b));
    return kiln__graph_add(
        g, KILN__FACT_XOR, 1,
        (const uint32_t[]){truth, kiln__graph_constant(g, 1, 1), 0});
}

uint32_t kiln__graph_not(kiln__facts_graph *g, uint32_t truth)
{
    uint32_t opposite;
    uint64_t number;

    if (truth == KILN__FACT_NONE || g->failed)
        return KILN__FACT_NONE;
    if (kiln__graph_constant_of(g, truth, &number))
        return kiln__graph_constant(g, 1, number == 0);
    if (g->at[truth].opposite != KILN__FACT_NONE)
        return g->at[truth].opposite;
    opposite = opposite_of(g, truth);
    if (opposite == KILN__FACT_NONE)
        return opposite;
    g->at[truth].opposite = opposite;
    if (g->at[opposite].opposite == KILN__FACT_NONE)
        g->at[opposite].opposite = truth;
    return opposite;
}

/* ---- sets ---- */

typedef struct part_set {
    uint32_t at[PARTS_MOST];
    unsigned count;
    int is_full;
} part_set;

static void list_parts(const kiln__facts_graph *g, unsigned operation,
                       uint32_t value, part_set *out)
{
    const kiln__fact_node *n = &g->at[value];

    if (out->is_full)
        return;
    if (n->operation == operation && n->width == 1 &&
        kiln__graph_is_truth(g, n->operands[0]) &&
        kiln__graph_is_truth(g, n->operands[1])) {
        list_parts(g, operation, n->operands[0], out);
        list_parts(g, operation, n->operands[1], out);
        return;
    }
    for (unsigned i = 0; i < out->count; i++)
        if (out->at[i] == value)
            return;
    out->is_full |= out->count == PARTS_MOST;
    if (!out->is_full)
        out->at[out->count++] = value;
}

/* What two parts are to each other. */
typedef enum relation {
    UNRELATED,
    IMPLIES,    /* the first one implies the second */
    IS_IMPLIED, /* the other way round */
    ONE_HOLDS,  /* at least one of them holds */
    ONE_FAILS,  /* at least one of them does not */
    OPPOSITE    /* exactly one of them holds */
} relation;

static relation relate_less(const kiln__fact_less *p, const kiln__fact_less *q)
{
    if (p->x == q->x && p->y == q->y)
        return p->distance >= q->distance ? IMPLIES : IS_IMPLIED;
    if (p->x != q->y || p->y != q->x)
        return UNRELATED;
    /* The opposite of p is y - distance - 1 < x. It wraps for no number that a
       comparison can have. */
    if (-1 - p->distance == q->distance)
        return OPPOSITE;
    return -1 - p->distance > q->distance ? ONE_HOLDS : ONE_FAILS;
}

static relation relate(const kiln__facts_graph *g, uint32_t a, uint32_t b)
{
    const kiln__fact_node *p = &g->at[a], *q = &g->at[b];

    if (a == b)
        return IMPLIES;
    if (p->opposite == b || q->opposite == a)
        return OPPOSITE;
    return p->has_less && q->has_less ? relate_less(&p->less, &q->less)
                                      : UNRELATED;
}

/* Adds a part to a set of parts of which none implies another. Returns false
   where that decides the whole. `changes` tells that others were left out. */
static int add_part(const kiln__facts_graph *g, int is_and, uint32_t part,
                    part_set *set, int *changes)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < set->count; i++) {
        const relation found = relate(g, set->at[i], part);

        if (found == (is_and ? ONE_FAILS : ONE_HOLDS) || found == OPPOSITE)
            return 0;
        if (found == (is_and ? IMPLIES : IS_IMPLIED) || set->at[i] == part)
            return 1;
    }
    for (unsigned i = 0; i < set->count; i++)
        if (relate(g, set->at[i], part) != (is_and ? IS_IMPLIED : IMPLIES))
            set->at[kept++] = set->at[i];
    *changes |= kept < set->count;
    set->count = kept;
    set->is_full |= set->count == PARTS_MOST;
    if (!set->is_full)
        set->at[set->count++] = part;
    return 1;
}

/* ---- joining ---- */

static uint32_t put(kiln__facts_graph *g, unsigned operation, uint32_t a,
                    uint32_t b)
{
    return kiln__graph_add(g, operation, 1, (const uint32_t[]){a, b, 0});
}

static uint32_t put_all(kiln__facts_graph *g, unsigned operation,
                        const part_set *set, unsigned from, uint32_t all)
{
    for (unsigned i = from; i < set->count && all != KILN__FACT_NONE; i++)
        all = put(g, operation, all, set->at[i]);
    return all;
}

static int is_trivial(const kiln__facts_graph *g, uint32_t value, int is_and)
{
    uint64_t number;

    return kiln__graph_constant_of(g, value, &number) &&
           (number != 0) == is_and;
}

uint32_t kiln__graph_join(kiln__facts_graph *g, unsigned operation, uint32_t a,
                          uint32_t b)
{
    const int is_and = operation == KILN__FACT_AND;
    part_set all = {.count = 0}, more = {.count = 0};
    int changes = 0;
    unsigned first;

    if (g->failed || a == KILN__FACT_NONE || b == KILN__FACT_NONE)
        return KILN__FACT_NONE;
    if (a == b || is_trivial(g, b, is_and) || is_trivial(g, a, !is_and))
        return a;
    if (is_trivial(g, a, is_and) || is_trivial(g, b, !is_and))
        return b;
    list_parts(g, operation, a, &all);
    list_parts(g, operation, b, &more);
    first = all.count;
    for (unsigned i = 0; i < more.count; i++)
        if (!add_part(g, is_and, more.at[i], &all, &changes))
            return kiln__graph_constant(g, 1, !is_and);
    if (all.is_full || more.is_full)
        return put(g, operation, a, b);
    if (changes)
        return put_all(g, operation, &all, 1, all.at[0]);
    if (all.count == first + more.count)
        return put(g, operation, a, b);
    return put_all(g, operation, &all, first, a);
}
