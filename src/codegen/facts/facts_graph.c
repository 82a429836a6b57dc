/* facts_graph.c - the nodes of a graph of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"

#include <string.h>

#define BUCKETS 1024u
#define NODES_FIRST 256u
#define NODES_MOST (1u << 15) /* a launch evaluates a fraction of it */

kiln__facts_graph kiln__graph_new(kiln__arena *arena)
{
    kiln__facts_graph g = {.arena = arena};

    g.buckets = kiln__arena_allocate_array(arena, BUCKETS, sizeof *g.buckets);
    g.failed = g.buckets == NULL;
    if (!g.failed)
        memset(g.buckets, 0xff, BUCKETS * sizeof *g.buckets);
    return g;
}

unsigned kiln__graph_operands(unsigned operation)
{
    static const uint8_t counts[] = {
#define OPERANDS(name, operands) operands,
        KILN__FACT_MAP(OPERANDS)
#undef OPERANDS
    };

    return counts[operation];
}

static int is_compare(unsigned operation)
{
    return operation >= KILN__FACT_EQ && operation <= KILN__FACT_SMUL_WRAPS;
}

int kiln__graph_is_truth(const kiln__facts_graph *g, uint32_t value)
{
    const kiln__fact_node *n = &g->at[value];

    return n->width == 1 || is_compare(n->operation);
}

int kiln__graph_is_whole(const kiln__facts_graph *g, uint32_t value)
{
    return g->at[value].width == 64 && !is_compare(g->at[value].operation);
}

int kiln__graph_constant_of(const kiln__facts_graph *g, uint32_t value,
                            uint64_t *out)
{
    *out = g->at[value].number;
    return g->at[value].operation == KILN__FACT_CONSTANT;
}

/* ---- each node once ---- */

static int is_same(const kiln__fact_node *a, const kiln__fact_node *b)
{
    return a->operation == b->operation && a->width == b->width &&
           a->number == b->number &&
           memcmp(a->operands, b->operands, sizeof a->operands) == 0;
}

static uint32_t hash_of(const kiln__fact_node *n)
{
    uint64_t hash = n->number + ((uint64_t)n->operation << 8) + n->width;

    for (unsigned i = 0; i < 3; i++)
        hash = (hash ^ n->operands[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32) % BUCKETS;
}

/* Makes room for one node more. */
static int make_room(kiln__facts_graph *g)
{
    const uint32_t room = g->room == 0 ? NODES_FIRST : 2 * g->room;
    kiln__fact_node *at;

    if (g->failed || g->count < g->room)
        return !g->failed;
    at = room > NODES_MOST
             ? NULL
             : kiln__arena_allocate_array(g->arena, room, sizeof *at);
    g->failed = at == NULL;
    if (g->failed)
        return 0;
    if (g->count > 0)
        memcpy(at, g->at, g->count * sizeof *at);
    g->at = at;
    g->room = room;
    return 1;
}

static uint32_t find_or_put(kiln__facts_graph *g, kiln__fact_node *n)
{
    uint32_t *bucket, at;

    if (!make_room(g))
        return KILN__FACT_NONE;
    bucket = &g->buckets[hash_of(n)];
    for (at = *bucket; at != KILN__FACT_NONE; at = g->at[at].chain)
        if (is_same(&g->at[at], n))
            return at;
    kiln__graph_find_range(g, n);
    kiln__graph_find_less(g, n);
    n->opposite = KILN__FACT_NONE;
    n->chain = *bucket;
    g->at[g->count] = *n;
    *bucket = g->count;
    return g->count++;
}

/* ---- leaves ---- */

uint32_t kiln__graph_constant(kiln__facts_graph *g, unsigned width,
                              uint64_t number)
{
    kiln__fact_node n = {.operation = KILN__FACT_CONSTANT,
                         .width = (uint8_t)width,
                         .number = number & (UINT64_MAX >> (64 - width))};

    return find_or_put(g, &n);
}

uint32_t kiln__graph_word(kiln__facts_graph *g, unsigned width, uint32_t size,
                          uint32_t offset)
{
    kiln__fact_node n = {.operation = KILN__FACT_WORD,
                         .width = (uint8_t)width,
                         .operands = {size},
                         .number = offset};

    return find_or_put(g, &n);
}

uint32_t kiln__graph_shape(kiln__facts_graph *g, unsigned width,
                           uint32_t number)
{
    kiln__fact_node n = {.operation = KILN__FACT_SHAPE,
                         .width = (uint8_t)width,
                         .number = number};

    return find_or_put(g, &n);
}

/* ---- instructions ---- */

static int commutes(unsigned operation)
{
    return operation == KILN__FACT_ADD || operation == KILN__FACT_MUL ||
           operation == KILN__FACT_AND || operation == KILN__FACT_OR ||
           operation == KILN__FACT_XOR || operation == KILN__FACT_EQ ||
           operation == KILN__FACT_NE ||
           (operation >= KILN__FACT_UMIN && operation <= KILN__FACT_SMAX);
}

uint32_t kiln__graph_add(kiln__facts_graph *g, unsigned operation,
                         unsigned width, const uint32_t operands[3])
{
    kiln__fact_node n = {.operation = (uint8_t)operation,
                         .width = (uint8_t)width};

    for (unsigned i = 0; i < kiln__graph_operands(operation); i++)
        n.operands[i] = operands[i];
    if (operation == KILN__FACT_EXTEND) /* a number of bits */
        n.operands[1] = operands[1];
    if (commutes(operation) && n.operands[0] > n.operands[1]) {
        n.operands[0] = operands[1];
        n.operands[1] = operands[0];
    }
    return find_or_put(g, &n);
}

void kiln__graph_limit(kiln__facts_graph *g, uint32_t value, int64_t least,
                       int64_t most)
{
    kiln__fact_node *n = &g->at[value];

    if (least < n->least)
        least = n->least;
    if (most > n->most)
        most = n->most;
    if (least > most) /* no launch is like that */
        return;
    n->least = least;
    n->most = most;
}
