/* group_programs.h - random programs of groups, and an interpreter of them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GROUP_PROGRAMS_H
#define KILN_TESTS_GROUP_PROGRAMS_H

#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * A program is a graph of blocks whose branches go anywhere, backwards and into
 * loops, too. What a branch depends on is the same for all items; for some of
 * the variables (`h`) only this file knows that. Inside blocks, items differ:
 * in branches, in short loops with breaks, and in where they return. They
 * exchange values through the group's memory and by reductions, scans and
 * shuffles. The interpreter runs each item to its next barrier, one after the
 * other.
 *
 * Some programs have barriers that not all items come to. That is right only
 * where it is known that all items come to the branch before. So these programs
 * have no `h` in branches, and the general form promises nothing of them.
 */

#define BLOCKS 7
#define OPERATIONS 5
#define FUEL 24
#define OUTPUTS 16 /* elements of each item */
#define INPUTS 8   /* before them */
#define ITEMS_MAX 64
#define LANES 16

enum {
    UNIFORM,
    HIDDEN,
    DIVERGENT,
    IDS,
    CHOOSE,
    LOOP,
    BREAKS,
    BARRIER,
    CALL,
    EXCHANGE,
    REDUCE,
    SCAN,
    SHUFFLE,
    VOTE,
    PRIVATE,
    LEAVE,
    INPUT,
    STORE,
    KINDS,
    /* with barriers that not all items come to */
    APART,
    TURNS,
    ALL_KINDS
};

typedef struct operation {
    uint32_t kind;
    uint32_t to, a, b;
    int32_t c;
} operation;

typedef struct block {
    operation operations[OPERATIONS];
    int is_hidden; /* its branch depends on an h */
    uint32_t by;
    uint32_t bit;
    uint32_t next[2];
} block;

typedef struct program {
    block blocks[BLOCKS];
    int is_apart; /* not all items come to each barrier */
} program;

/* ---- making ---- */

static uint32_t seed;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

/* Barriers are rarer than what is between them, returns rarer still. */
static uint32_t pick_kind(const program *p)
{
    uint32_t kind = pick(p->is_apart ? ALL_KINDS : KINDS);

    if (kind == KINDS)
        kind = TURNS;

    return kind == LEAVE && pick(3) != 0 ? DIVERGENT : kind;
}

static void make_program(program *p)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block *b = &p->blocks[i];

        for (uint32_t k = 0; k < OPERATIONS; k++)
            b->operations[k] = (operation){pick_kind(p), pick(4), pick(4),
                                           pick(4), (int32_t)pick(100)};
        b->is_hidden = !p->is_apart && pick(4) == 0;
        b->by = pick(4);
        b->bit = pick(4);
        b->next[0] = pick(BLOCKS + 1);
        b->next[1] = pick(BLOCKS + 1);
    }
}

/* ---- interpreting ---- */

typedef struct item {
    int32_t u[4], h[4], d[4], a[4];
    int32_t fuel;
    uint32_t block, operation;
    int32_t part, turns;
    int has_ended;
    int64_t global, local;
} item;

typedef struct group {
    const program *p;
    int32_t *data;
    int32_t shared[ITEMS_MAX];
    int32_t given[ITEMS_MAX]; /* to the others, by items that take part */
    int takes_part[ITEMS_MAX];
    int64_t size, grid;
} group;

static int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t times(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

static int32_t *output_of(const group *g, const item *i)
{
    return g->data + INPUTS + OUTPUTS * i->global;
}

static void end(const group *g, item *i)
{
    int32_t *out = output_of(g, i);

    for (int k = 0; k < 4; k++) {
        out[k] = add(i->d[k], i->a[k]);
        out[4 + k] = add(i->u[k], i->h[k]);
    }
    i->has_ended = 1;
}

static void exchange(const group *g, item *i, const operation *op)
{
    const int64_t other = (i->local + op->c) % g->size;

    if (i->global - i->local + other < g->grid)
        i->d[op->to] = g->shared[other];
}

/* Returns the sum of what items gave, from `first` to before `end`. */
static int32_t sum_of(const group *g, int64_t first, int64_t end)
{
    int32_t sum = 0;

    for (int64_t k = first; k < end; k++)
        sum = add(sum, g->takes_part[k] ? g->given[k] : 0);
    return sum;
}

static int32_t result_of(const group *g, const item *i, const operation *op)
{
    const int64_t sub_group = i->local / LANES * LANES;
    const int64_t from = sub_group + ((i->local - sub_group) ^ (op->c & 15));
    int32_t any = 0;

    switch (op->kind) {
    case REDUCE:
        return sum_of(g, 0, ITEMS_MAX);
    case SCAN:
        return (op->c & 1) != 0 ? sum_of(g, sub_group, i->local + 1)
                                : sum_of(g, 0, i->local);
    case SHUFFLE:
        return g->given[g->takes_part[from] ? from : i->local];
    default:
        for (int64_t k = 0; k < ITEMS_MAX; k++)
            any |= g->takes_part[k] && (g->given[k] & 4) != 0;
        return any;
    }
}

/* Gives a value, waits, computes, and waits until all have done so. */
static int take_part(group *g, item *i, const operation *op)
{
    int32_t *to =
        op->kind == REDUCE || op->kind == VOTE ? &i->u[op->to] : &i->d[op->to];

    if (i->part == 0) {
        g->given[i->local] = i->d[op->a];
        g->takes_part[i->local] = 1;
    }
    if (i->part == 1)
        *to = result_of(g, i, op);
    if (i->part == 2)
        g->takes_part[i->local] = 0;
    return i->part < 2;
}

/* Items with a bit exchange values; the others wait behind. */
static int apart(group *g, item *i, const operation *op)
{
    if ((i->d[op->b] & 1) != 0 && i->part == 0)
        g->shared[i->local] = i->d[op->a];
    if ((i->d[op->b] & 1) != 0 && i->part == 1)
        exchange(g, i, op);
    return i->part < 2;
}

/* The same in a loop, which items leave at different times. */
static int turns(group *g, item *i, const operation *op)
{
    if (i->part == 0)
        i->turns = i->d[op->a] & 3;
    if (i->part % 2 == 0 && i->part / 2 < i->turns)
        g->shared[i->local] = add(i->d[op->b], i->part / 2);
    if (i->part % 2 == 1 && i->part / 2 < i->turns)
        exchange(g, i, op);
    return i->part < 6;
}

static void run_breaks(item *i, const operation *op)
{
    int32_t *to = &i->d[op->to];

    for (int32_t k = 0; k < 5; k++) {
        if (((i->d[op->a] >> k) & 5) == 5)
            break;
        *to = add(times(*to, 5), k);
        if ((*to & 2) != 0)
            continue;
        *to ^= op->c;
    }
}

/* Runs one operation at which no item waits. */
static void run_alone(const group *g, item *i, const operation *op)
{
    const int32_t turns = i->d[op->a] & 3;
    int32_t *to = &i->d[op->to];

    switch (op->kind) {
    case UNIFORM:
        i->u[op->to] = add(times(i->u[op->a], 3), i->u[op->b] ^ op->c);
        break;
    case HIDDEN:
        i->h[op->to] = add(times(i->h[op->a], 5), i->u[op->b] ^ op->c);
        break;
    case DIVERGENT:
        *to = add(times(i->d[op->a], 7), i->d[op->b] ^ i->u[op->b]);
        break;
    case IDS:
        *to =
            add(*to, add(times((int32_t)i->local, op->c), (int32_t)i->global));
        break;
    case CHOOSE:
        *to = (i->d[op->a] & 2) != 0 ? add(i->d[op->b], op->c) : *to ^ op->c;
        break;
    case LOOP:
        for (int32_t k = 0; k < turns; k++)
            *to = add(times(*to, 3), op->c);
        break;
    case BREAKS:
        run_breaks(i, op);
        break;
    case PRIVATE:
        i->a[i->d[op->a] & 3] = i->d[op->b];
        *to = i->a[op->c & 3];
        break;
    case LEAVE:
        if ((i->d[op->a] & 15) == (op->c & 15))
            end(g, i);
        break;
    case INPUT:
        i->u[op->to] = g->data[i->u[op->a] & (INPUTS - 1)];
        break;
    default:
        output_of(g, i)[8 + (op->c & 7)] = i->d[op->a];
        break;
    }
}

/* Runs one operation. Returns 1 when the item waits, and is to go on with the
   next part of the operation. */
static int step(group *g, item *i, const operation *op)
{
    switch (op->kind) {
    case BARRIER:
        return i->part == 0;
    case CALL:
        if (i->part == 1)
            i->u[op->to] = add(i->u[op->to], 3);
        return i->part == 0 && (i->u[op->a] & 1) != 0;
    case EXCHANGE:
        if (i->part == 0)
            g->shared[i->local] = i->d[op->a];
        if (i->part == 1)
            exchange(g, i, op);
        return i->part < 2;
    case REDUCE:
    case SCAN:
    case SHUFFLE:
    case VOTE:
        return take_part(g, i, op);
    case APART:
        return apart(g, i, op);
    case TURNS:
        return turns(g, i, op);
    default:
        run_alone(g, i, op);
        return 0;
    }
}

static void jump(const group *g, item *i)
{
    const block *b = &g->p->blocks[i->block];
    const int32_t by = b->is_hidden ? i->h[b->by] : i->u[b->by];

    i->fuel--;
    i->operation = 0;
    i->block = b->next[(by >> b->bit) & 1];
    if (i->fuel == 0 || i->block == BLOCKS)
        end(g, i);
}

/* Runs the item up to where it waits. */
static void run_item(group *g, item *i)
{
    while (!i->has_ended) {
        const block *b = &g->p->blocks[i->block];

        if (i->operation == OPERATIONS) {
            jump(g, i);
            continue;
        }
        if (step(g, i, &b->operations[i->operation])) {
            i->part++;
            return;
        }
        i->part = 0;
        i->operation++;
    }
}

static void interpret(const program *p, const group_shape *shape, int32_t *data)
{
    static item items[ITEMS_MAX];
    group g = {.p = p,
               .data = data,
               .size = (int64_t)shape->block[0],
               .grid = (int64_t)shape->grid[0]};

    for (int64_t first = 0; first < g.grid; first += g.size) {
        int64_t count = g.grid - first < g.size ? g.grid - first : g.size;
        int64_t left = count;

        for (int64_t k = 0; k < count; k++) {
            const int32_t id = (int32_t)(first / g.size);

            g.shared[k] = 0;
            g.takes_part[k] = 0;
            items[k] = (item){.u = {1, 2, 3, 4},
                              .h = {id, id, id, id},
                              .d = {(int32_t)k, 1, 2, (int32_t)(first + k)},
                              .fuel = FUEL,
                              .local = k,
                              .global = first + k};
        }
        while (left > 0) {
            left = 0;
            for (int64_t k = 0; k < count; k++) {
                run_item(&g, &items[k]);
                left += !items[k].has_ended;
            }
        }
    }
}

#endif /* KILN_TESTS_GROUP_PROGRAMS_H */
