/* test_groups_random.c - random kernels with barriers do what a plain
   interpreter does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include <stdarg.h>

#include "support/groups.h"

/*
 * A program is a graph of blocks whose branches go anywhere, backwards and into
 * loops, too. What a branch depends on is the same for all items; for some of
 * the variables (`h`) only this test knows that. Inside blocks, items differ:
 * in branches, in short loops with breaks, and in where they return. They
 * exchange values through the group's memory and by reductions, scans and
 * shuffles. The interpreter runs each item to its next barrier, one after the
 * other. The compiled programs must leave the same bytes, in each form.
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
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
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

/* ---- writing ---- */

static char text[1 << 17];
static size_t text_size;
static unsigned names;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_size += (size_t)vsnprintf(text + text_size, sizeof text - text_size,
                                   format, arguments);
    va_end(arguments);
    assert_true(text_size < sizeof text);
}

static unsigned load(char letter, uint32_t index)
{
    put("  %%t%u = load i32, ptr %%%c%u\n", ++names, letter, index);
    return names;
}

static void store(char letter, uint32_t index, unsigned value)
{
    put("  store i32 %%t%u, ptr %%%c%u\n", value, letter, index);
}

static unsigned binary(const char *name, unsigned a, unsigned b)
{
    put("  %%t%u = %s i32 %%t%u, %%t%u\n", names + 1, name, a, b);
    return ++names;
}

static unsigned with_number(const char *name, unsigned a, int32_t b)
{
    put("  %%t%u = %s i32 %%t%u, %d\n", names + 1, name, a, b);
    return ++names;
}

/* to = a * factor + (b ^ with) */
static void put_mixed(char letter, const operation *op, int32_t factor,
                      unsigned b)
{
    const unsigned a = with_number("mul", load(letter, op->a), factor);

    store(letter, op->to, binary("add", a, b));
}

/* Begins two blocks, of which the first runs if bits of d are a value. */
static unsigned put_if(uint32_t a, int32_t mask, int32_t value)
{
    const unsigned bits = with_number("and", load('d', a), mask);

    names++;
    put("  %%t%u = icmp eq i32 %%t%u, %d\n", names, bits, value);
    put("  br i1 %%t%u, label %%then%u, label %%else%u\n", names, names, names);
    put("then%u:\n", names);
    return names;
}

static void put_choose(const operation *op)
{
    const unsigned at = put_if(op->a, 2, 2);

    store('d', op->to, with_number("add", load('d', op->b), op->c));
    put("  br label %%end%u\nelse%u:\n", at, at);
    store('d', op->to, with_number("xor", load('d', op->to), op->c));
    put("  br label %%end%u\nend%u:\n", at, at);
}

static void put_loop(const operation *op)
{
    const unsigned end_at = with_number("and", load('d', op->a), 3);
    const unsigned at = ++names;

    put("  store i32 0, ptr %%k\n  br label %%head%u\nhead%u:\n", at, at);
    put("  %%k%u = load i32, ptr %%k\n", at);
    put("  %%more%u = icmp slt i32 %%k%u, %%t%u\n", at, at, end_at);
    put("  br i1 %%more%u, label %%body%u, label %%end%u\nbody%u:\n", at, at,
        at, at);
    store('d', op->to,
          with_number("add", with_number("mul", load('d', op->to), 3), op->c));
    put("  %%n%u = add i32 %%k%u, 1\n  store i32 %%n%u, ptr %%k\n", at, at, at);
    put("  br label %%head%u\nend%u:\n", at, at);
}

static void put_shared(unsigned value)
{
    const unsigned at = ++names;

    put("  %%p%u = getelementptr i32, ptr addrspace(3) @shared, i64 %%local\n",
        at);
    put("  store i32 %%t%u, ptr addrspace(3) %%p%u\n", value, at);
    put("%s", GROUPS_BARRIER);
}

/* Reads what another item has put, and waits until all have. */
static void put_taken(const operation *op)
{
    const unsigned at = ++names;

    put("  %%o%u = add i64 %%local, %d\n", at, op->c);
    put("  %%m%u = urem i64 %%o%u, %%size\n", at, at);
    put("  %%g%u = add i64 %%first, %%m%u\n", at, at);
    put("  %%in%u = icmp slt i64 %%g%u, %%grid\n", at, at);
    put("  br i1 %%in%u, label %%then%u, label %%end%u\nthen%u:\n", at, at, at,
        at);
    put("  %%q%u = getelementptr i32, ptr addrspace(3) @shared, i64 %%m%u\n",
        at, at);
    put("  %%v%u = load i32, ptr addrspace(3) %%q%u\n", at, at);
    put("  store i32 %%v%u, ptr %%d%u\n", at, op->to);
    put("  br label %%end%u\nend%u:\n", at, at);
    put("%s", GROUPS_BARRIER);
}

static void put_exchange(const operation *op)
{
    put_shared(load('d', op->a));
    put_taken(op);
}

static void put_apart(const operation *op)
{
    const unsigned at = put_if(op->b, 1, 1);

    put_exchange(op);
    put("  br label %%else%u\nelse%u:\n", at, at);
}

static void put_turns(const operation *op)
{
    const unsigned end_at = with_number("and", load('d', op->a), 3);
    const unsigned at = ++names;

    put("  store i32 0, ptr %%k\n  br label %%head%u\nhead%u:\n", at, at);
    put("  %%k%u = load i32, ptr %%k\n", at);
    put("  %%more%u = icmp slt i32 %%k%u, %%t%u\n", at, at, end_at);
    put("  br i1 %%more%u, label %%body%u, label %%done%u\nbody%u:\n", at, at,
        at, at);
    names++;
    put("  %%t%u = load i32, ptr %%k\n", names);
    put_shared(binary("add", load('d', op->b), names));
    put_taken(op);
    put("  %%n%u = add i32 %%k%u, 1\n  store i32 %%n%u, ptr %%k\n", at, at, at);
    put("  br label %%head%u\ndone%u:\n", at, at);
}

/* A loop of five turns, with a break and a continue. */
static void put_breaks(const operation *op)
{
    const unsigned at = ++names;
    unsigned turn, bits, value;

    put("  store i32 0, ptr %%k\n  br label %%head%u\nhead%u:\n", at, at);
    put("  %%t%u = load i32, ptr %%k\n", turn = ++names);
    put("  %%more%u = icmp slt i32 %%t%u, 5\n", at, turn);
    put("  br i1 %%more%u, label %%body%u, label %%out%u\nbody%u:\n", at, at,
        at, at);
    bits = binary("ashr", load('d', op->a), turn);
    put("  %%b%u = icmp eq i32 %%t%u, 5\n", at, with_number("and", bits, 5));
    put("  br i1 %%b%u, label %%out%u, label %%on%u\non%u:\n", at, at, at, at);
    put("  %%n%u = add i32 %%t%u, 1\n  store i32 %%n%u, ptr %%k\n", at, turn,
        at);
    value = with_number("mul", load('d', op->to), 5);
    value = binary("add", value, turn);
    store('d', op->to, value);
    put("  %%s%u = icmp ne i32 %%t%u, 0\n", at, with_number("and", value, 2));
    put("  br i1 %%s%u, label %%head%u, label %%rest%u\nrest%u:\n", at, at, at,
        at);
    store('d', op->to, with_number("xor", value, op->c));
    put("  br label %%head%u\nout%u:\n", at, at);
}

/* Calls a function that returns at two places, before and after a barrier. */
static void put_call(const operation *op)
{
    const unsigned a = load('u', op->a), b = load('u', op->to);

    put("  %%t%u = call i32 @may_wait(ptr %%item, i32 %%t%u, i32 %%t%u)\n",
        ++names, a, b);
    store('u', op->to, names);
}

static void put_collective(const operation *op)
{
    const unsigned value = load('d', op->a), at = ++names;

    if (op->kind == REDUCE)
        put("  %%t%u = call i32 @kiln_reduce.add.i32(ptr %%item, i32 2, i32 "
            "%%t%u)\n",
            at, value);
    if (op->kind == SCAN && (op->c & 1) != 0)
        put("  %%t%u = call i32 @kiln_scan.add.i32(ptr %%item, i32 1, i32 "
            "%%t%u)\n",
            at, value);
    if (op->kind == SCAN && (op->c & 1) == 0)
        put("  %%t%u = call i32 @kiln_exscan.add.i32(ptr %%item, i32 2, i32 "
            "%%t%u)\n",
            at, value);
    if (op->kind == SHUFFLE)
        put("  %%t%u = call i32 @kiln_shuffle_xor.i32(ptr %%item, i32 %%t%u, "
            "i32 %d)\n",
            at, value, op->c & 15);
    store(op->kind == REDUCE ? 'u' : 'd', op->to, at);
}

static void put_vote(const operation *op)
{
    const unsigned bit = with_number("and", load('d', op->a), 4);
    const unsigned at = ++names;

    put("  %%c%u = icmp ne i32 %%t%u, 0\n", at, bit);
    put("  %%y%u = call i1 @kiln_any(ptr %%item, i32 2, i1 %%c%u)\n", at, at);
    put("  %%t%u = zext i1 %%y%u to i32\n", at, at);
    store('u', op->to, at);
}

static void put_private(const operation *op)
{
    const unsigned index = with_number("and", load('d', op->a), 3);
    const unsigned value = load('d', op->b);
    const unsigned at = ++names;

    put("  %%p%u = getelementptr [4 x i32], ptr %%a, i32 0, i32 %%t%u\n", at,
        index);
    put("  store i32 %%t%u, ptr %%p%u\n", value, at);
    put("  %%q%u = getelementptr [4 x i32], ptr %%a, i32 0, i32 %d\n", at,
        op->c & 3);
    put("  %%v%u = load i32, ptr %%q%u\n", at, at);
    put("  store i32 %%v%u, ptr %%d%u\n", at, op->to);
}

static void put_ids(const operation *op)
{
    const unsigned at = ++names;

    put("  %%x%u = trunc i64 %%local to i32\n", at);
    put("  %%y%u = mul i32 %%x%u, %d\n", at, at, op->c);
    put("  %%z%u = trunc i64 %%global to i32\n", at);
    put("  %%w%u = add i32 %%y%u, %%z%u\n", at, at, at);
    put("  %%v%u = load i32, ptr %%d%u\n", at, op->to);
    put("  %%r%u = add i32 %%v%u, %%w%u\n", at, at, at);
    put("  store i32 %%r%u, ptr %%d%u\n", at, op->to);
}

static void put_leave(const operation *op)
{
    const unsigned at = put_if(op->a, 15, op->c & 15);

    put("  br label %%leave\nelse%u:\n", at);
}

static void put_input(const operation *op)
{
    const unsigned index = with_number("and", load('u', op->a), INPUTS - 1);
    const unsigned at = ++names;

    put("  %%p%u = getelementptr i32, ptr %%data, i32 %%t%u\n", at, index);
    put("  %%v%u = load i32, ptr %%p%u\n", at, at);
    put("  store i32 %%v%u, ptr %%u%u\n", at, op->to);
}

static void put_store(const operation *op)
{
    const unsigned value = load('d', op->a);

    put("  %%p%u = getelementptr i32, ptr %%out, i32 %d\n", ++names,
        8 + (op->c & 7));
    put("  store i32 %%t%u, ptr %%p%u\n", value, names);
}

static void put_divergent(const operation *op)
{
    const unsigned b = binary("xor", load('d', op->b), load('u', op->b));

    put_mixed('d', op, 7, b);
}

/* Writes an operation at which items wait. */
static void put_together(const operation *op)
{
    switch (op->kind) {
    case BARRIER:
        put("%s", GROUPS_BARRIER);
        break;
    case CALL:
        put_call(op);
        break;
    case EXCHANGE:
        put_exchange(op);
        break;
    case VOTE:
        put_vote(op);
        break;
    case APART:
        put_apart(op);
        break;
    case TURNS:
        put_turns(op);
        break;
    default:
        put_collective(op);
        break;
    }
}

static void put_operation(const operation *op)
{
    switch (op->kind) {
    case UNIFORM:
        put_mixed('u', op, 3, with_number("xor", load('u', op->b), op->c));
        break;
    case HIDDEN:
        put_mixed('h', op, 5, with_number("xor", load('u', op->b), op->c));
        break;
    case DIVERGENT:
        put_divergent(op);
        break;
    case IDS:
        put_ids(op);
        break;
    case CHOOSE:
        put_choose(op);
        break;
    case LOOP:
        put_loop(op);
        break;
    case BREAKS:
        put_breaks(op);
        break;
    case PRIVATE:
        put_private(op);
        break;
    case LEAVE:
        put_leave(op);
        break;
    case INPUT:
        put_input(op);
        break;
    case STORE:
        put_store(op);
        break;
    default:
        put_together(op);
        break;
    }
}

static void put_head(void)
{
    put("%s@shared = internal addrspace(3) global [%d x i32] undef\n",
        GROUPS_HEAD, ITEMS_MAX);
    put("%s", "declare i32 @kiln_reduce.add.i32(ptr, i32, i32)\n"
              "declare i32 @kiln_scan.add.i32(ptr, i32, i32)\n"
              "declare i32 @kiln_exscan.add.i32(ptr, i32, i32)\n"
              "declare i32 @kiln_shuffle_xor.i32(ptr, i32, i32)\n"
              "declare i1 @kiln_any(ptr, i32, i1)\n"
              "define internal i32 @may_wait(ptr %item, i32 %a, i32 %b) {\n"
              "  %bit = trunc i32 %a to i1\n"
              "  br i1 %bit, label %wait, label %leave\n"
              "wait:\n" GROUPS_BARRIER "  %more = add i32 %b, 3\n"
              "  ret i32 %more\n"
              "leave:\n  ret i32 %b\n}\n");
}

static void put_start(void)
{
    put_head();
    put("define i32 @k(ptr %%item, ptr %%data, i64 %%count) {\n");
    for (int i = 0; i < 4; i++)
        put("  %%u%d = alloca i32\n  %%h%d = alloca i32\n"
            "  %%d%d = alloca i32\n  store i32 %d, ptr %%u%d\n",
            i, i, i, i + 1, i);
    put("  %%a = alloca [4 x i32]\n  %%k = alloca i32\n  %%f = alloca i32\n"
        "  store [4 x i32] zeroinitializer, ptr %%a\n"
        "  store i32 %d, ptr %%f\n"
        "  %%local = call i64 @kiln_local_id(ptr %%item, i32 0)\n"
        "  %%global = call i64 @kiln_global_id(ptr %%item, i32 0)\n"
        "  %%size = call i64 @kiln_local_size(ptr %%item, i32 0)\n"
        "  %%grid = call i64 @kiln_global_size(ptr %%item, i32 0)\n"
        "  %%first = sub i64 %%global, %%local\n"
        "  %%group = udiv i64 %%global, %%size\n"
        "  %%group.32 = trunc i64 %%group to i32\n"
        "  %%local.32 = trunc i64 %%local to i32\n"
        "  %%global.32 = trunc i64 %%global to i32\n",
        FUEL);
    for (int i = 0; i < 4; i++)
        put("  store i32 %%group.32, ptr %%h%d\n", i);
    put("  store i32 %%local.32, ptr %%d0\n  store i32 1, ptr %%d1\n"
        "  store i32 2, ptr %%d2\n  store i32 %%global.32, ptr %%d3\n"
        "  %%place = mul i64 %%global, %d\n"
        "  %%from = add i64 %%place, %d\n"
        "  %%out = getelementptr i32, ptr %%data, i64 %%from\n"
        "  %%own = getelementptr i32, ptr addrspace(3) @shared, i64 %%local\n"
        "  store i32 0, ptr addrspace(3) %%own\n"
        "  br label %%block0\n",
        OUTPUTS, INPUTS);
}

static void put_block(const block *b, uint32_t number)
{
    unsigned bit;

    put("block%u:\n", number);
    for (size_t i = 0; i < OPERATIONS; i++)
        put_operation(&b->operations[i]);
    put("  %%fuel%u = load i32, ptr %%f\n  %%less%u = sub i32 %%fuel%u, 1\n"
        "  store i32 %%less%u, ptr %%f\n"
        "  %%empty%u = icmp eq i32 %%less%u, 0\n"
        "  br i1 %%empty%u, label %%leave, label %%jump%u\njump%u:\n",
        number, number, number, number, number, number, number, number, number);
    bit = load(b->is_hidden ? 'h' : 'u', b->by);
    bit = with_number("and", with_number("ashr", bit, (int32_t)b->bit), 1);
    put("  %%go%u = icmp eq i32 %%t%u, 0\n", number, bit);
    put("  br i1 %%go%u, label %%", number);
    for (int i = 0; i < 2; i++) {
        if (b->next[i] == BLOCKS)
            put("leave%s", i == 0 ? ", label %" : "\n");
        else
            put("block%u%s", b->next[i], i == 0 ? ", label %" : "\n");
    }
}

static void put_end(void)
{
    put("leave:\n");
    for (uint32_t i = 0; i < 4; i++) {
        unsigned value;

        put("  %%q%u = getelementptr [4 x i32], ptr %%a, i32 0, i32 %u\n", i,
            i);
        put("  %%e%u = load i32, ptr %%q%u\n", i, i);
        value = load('d', i);
        put("  %%r%u = add i32 %%e%u, %%t%u\n", i, i, value);
        put("  %%s%u = getelementptr i32, ptr %%out, i32 %u\n", i, i);
        put("  store i32 %%r%u, ptr %%s%u\n", i, i);
        value = binary("add", load('u', i), load('h', i));
        put("  %%w%u = getelementptr i32, ptr %%out, i32 %u\n", i, 4 + i);
        put("  store i32 %%t%u, ptr %%w%u\n", value, i);
    }
    put("  ret i32 0\n}\n");
}

static void write_program(const program *p)
{
    text_size = 0;
    names = 1000;
    put_start();
    for (uint32_t i = 0; i < BLOCKS; i++)
        put_block(&p->blocks[i], i);
    put_end();
}

/* ---- the tests ---- */

#define DATA_MAX (INPUTS + OUTPUTS * 4 * ITEMS_MAX)

static void fill_data(int32_t *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (int32_t)(i * 2654435761u >> 7);
}

static void compare(const program *p, const group_shape *shape, uint32_t number)
{
    static int32_t wanted[DATA_MAX], got[DATA_MAX];
    const size_t count = INPUTS + OUTPUTS * (size_t)shape->grid[0];

    fill_data(wanted, count);
    interpret(p, shape, wanted);
    write_program(p);
    for (size_t i = 0; i < GROUP_BUILDS; i++) {
        if (p->is_apart && group_builds[i].form == KILN__GROUP_FORM_GENERAL)
            continue;
        fill_data(got, count);
        assert_int_equal(group_run(text, group_builds[i], shape, got, count),
                         0);
        for (size_t k = 0; k < count; k++)
            if (got[k] != wanted[k])
                fail_msg("program %u in groups of %d, build %zu, element %zu: "
                         "%d, not %d\n%s",
                         (unsigned)number, (int)shape->block[0], i, k, got[k],
                         wanted[k], text);
    }
}

/* Groups of all sizes; most grids end inside a group. */
static group_shape pick_shape(void)
{
    const uint64_t size = 1 + pick(ITEMS_MAX);

    return (group_shape){{1 + pick(4 * ITEMS_MAX - 1), 1, 1}, {size, 1, 1}};
}

static void random_kernels_do_what_an_interpreter_does(void **state)
{
    /* others than these: KILN_TEST_PROGRAMS=first-last */
    const char *range = getenv("KILN_TEST_PROGRAMS");
    uint32_t first = 0, last = 23;

    (void)state;
    if (range != NULL)
        assert_int_equal(sscanf(range, "%u-%u", &first, &last), 2);
    for (uint32_t number = first; number <= last; number++) {
        program p = {.is_apart = number % 4 == 3};
        group_shape shape;

        seed = number * 7919u + 17u;
        shape = pick_shape();
        make_program(&p);
        compare(&p, &shape, number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_do_what_an_interpreter_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
