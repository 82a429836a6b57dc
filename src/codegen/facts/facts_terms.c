/* facts_terms.c - makes a short program of a graph of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_graph.h"

#include <string.h>

/*
 * The facts are a conjunction of *terms*. Some of them are *bounds*, x < 2^30
 * for example, since a launch has to be small. The others are made once more,
 * in a graph that knows the bounds: then most sums cannot wrap, and most
 * comparisons that a proof is careful about are decided.
 *
 * A bound may only be used for what comes after its own value. So nothing is
 * left out because of itself: the last bound that was used follows from those
 * before it, and so on.
 *
 * Then the bounds are terms again. Values that are below the same power of two
 * are joined by OR, and compared once. Terms a | x and a | y become a | x & y.
 */

typedef struct bound {
    uint32_t value;
    int64_t least, most;
    int is_implied;
} bound;

typedef struct rewriting {
    const kiln__facts_graph *from;
    kiln__facts_graph *to;
    unsigned char *is_term; /* by value of `from`, and then of `to` */
    uint32_t *made;         /* by value of `from` */
    uint32_t *bound_of;     /* by value of `from`: its bound's number plus 1 */
    bound *bounds;
    uint32_t bound_count;
    int is_never; /* two bounds exclude each other */
    uint32_t *terms;
    uint32_t term_count;
} rewriting;

/* ---- terms ---- */

/* Marks 1 what the truth is a conjunction of. */
static void find_terms(const kiln__facts_graph *g, uint32_t all,
                       unsigned char *marks)
{
    marks[all] = 1;
    for (uint32_t i = all + 1; i-- > 0;) {
        const kiln__fact_node *n = &g->at[i];

        if (!marks[i] || n->operation != KILN__FACT_AND ||
            !kiln__graph_is_truth(g, n->operands[0]) ||
            !kiln__graph_is_truth(g, n->operands[1]))
            continue;
        marks[i] = 0;
        marks[n->operands[0]] = 1;
        marks[n->operands[1]] = 1;
    }
}

/* ---- bounds ---- */

static int is_below_power(int64_t least, int64_t most)
{
    return least == 0 && (most & (most + 1)) == 0;
}

static void add_bound(rewriting *r, uint32_t value, int64_t least, int64_t most)
{
    bound *b;

    if (r->bound_of[value] == 0) {
        r->bounds[r->bound_count++] = (bound){value, least, most, 0};
        r->bound_of[value] = r->bound_count;
        return;
    }
    b = &r->bounds[r->bound_of[value] - 1];
    b->least = b->least > least ? b->least : least;
    b->most = b->most < most ? b->most : most;
    r->is_never |= b->least > b->most;
}

/* Adds the bound of a value that is at least 0, or those that this one says of
   other values. */
static void take_bound(rewriting *r, uint32_t value, int64_t most)
{
    const kiln__fact_node *n = &r->from->at[value];
    int64_t least, end;
    uint64_t plus;

    if (n->operation == KILN__FACT_OR && n->width == 64 &&
        is_below_power(0, most)) {
        take_bound(r, n->operands[0], most);
        take_bound(r, n->operands[1], most);
        return;
    }
    for (unsigned k = 0; n->operation == KILN__FACT_ADD && k < 2; k++)
        if (kiln__graph_constant_of(r->from, n->operands[k], &plus) &&
            !__builtin_sub_overflow(0, (int64_t)plus, &least) &&
            !__builtin_sub_overflow(most, (int64_t)plus, &end)) {
            add_bound(r, n->operands[!k], least, end);
            return;
        }
    add_bound(r, value, 0, most);
}

/* Returns whether a term is nothing but a bound, which was taken. */
static int is_bound(rewriting *r, uint32_t term)
{
    const kiln__fact_node *n = &r->from->at[term];
    const int is_signed = n->operation == KILN__FACT_SLT;
    uint64_t end;

    if ((n->operation != KILN__FACT_ULT && !is_signed) ||
        !kiln__graph_is_whole(r->from, n->operands[0]) ||
        !kiln__graph_constant_of(r->from, n->operands[1], &end) ||
        (is_signed && r->from->at[n->operands[0]].least < 0) || end == 0 ||
        end > INT64_MAX)
        return 0;
    take_bound(r, n->operands[0], (int64_t)end - 1);
    return 1;
}

/* ---- making everything once more ---- */

static uint32_t make_again(rewriting *r, const kiln__fact_node *n)
{
    uint32_t operands[3] = {0, n->operands[1], 0};

    if (n->operation == KILN__FACT_CONSTANT)
        return kiln__graph_constant(r->to, n->width, n->number);
    if (n->operation == KILN__FACT_WORD)
        return kiln__graph_word(r->to, n->width, n->operands[0],
                                (uint32_t)n->number);
    if (n->operation == KILN__FACT_SHAPE)
        return kiln__graph_shape(r->to, n->width, (uint32_t)n->number);
    for (unsigned i = 0; i < kiln__graph_operands(n->operation); i++)
        operands[i] = r->made[n->operands[i]];
    return kiln__graph_make(r->to, n->operation, n->width, operands);
}

static void use_bound(rewriting *r, bound *b, uint32_t value)
{
    const kiln__fact_node *n = &r->to->at[value];

    b->value = value;
    b->is_implied = n->least >= b->least && n->most <= b->most;
    if (!b->is_implied)
        kiln__graph_limit(r->to, value, b->least, b->most);
}

static void make_all_again(rewriting *r, uint32_t last)
{
    for (uint32_t i = 0; i <= last && !r->to->failed; i++) {
        r->made[i] = make_again(r, &r->from->at[i]);
        if (r->bound_of[i] != 0 && !r->to->failed)
            use_bound(r, &r->bounds[r->bound_of[i] - 1], r->made[i]);
    }
}

/* ---- bounds as terms ---- */

static uint32_t put(kiln__facts_graph *g, unsigned operation, unsigned width,
                    uint32_t a, uint32_t b)
{
    if (a == KILN__FACT_NONE || b == KILN__FACT_NONE)
        return KILN__FACT_NONE;
    return kiln__graph_add(g, operation, width, (const uint32_t[]){a, b, 0});
}

static void add_term(rewriting *r, uint32_t term)
{
    if (term != KILN__FACT_NONE)
        r->terms[r->term_count++] = term;
}

/* Makes value < size of a number without a sign. It must not be decided by the
   bound that it is. */
static void put_below(rewriting *r, uint32_t value, uint64_t size)
{
    add_term(r, put(r->to, KILN__FACT_ULT, 64, value,
                    kiln__graph_constant(r->to, 64, size)));
}

/* Joins the values of all bounds that are the same power of two. */
static void put_power(rewriting *r, uint32_t first)
{
    uint32_t all = r->bounds[first].value;

    for (uint32_t i = first + 1; i < r->bound_count; i++) {
        bound *b = &r->bounds[i];

        if (b->is_implied || b->least != 0 || b->most != r->bounds[first].most)
            continue;
        b->is_implied = 1;
        all = put(r->to, KILN__FACT_OR, 64, all, b->value);
    }
    put_below(r, all, (uint64_t)r->bounds[first].most + 1);
}

static void put_bounds(rewriting *r)
{
    for (uint32_t i = 0; i < r->bound_count; i++) {
        const bound *b = &r->bounds[i];

        if (b->is_implied)
            continue;
        if (is_below_power(b->least, b->most))
            put_power(r, i);
        else
            put_below(r,
                      kiln__graph_binary(
                          r->to, KILN__FACT_SUB, 64, b->value,
                          kiln__graph_constant(r->to, 64, (uint64_t)b->least)),
                      (uint64_t)b->most - (uint64_t)b->least + 1);
    }
}

/* ---- common parts ---- */

/* Returns whether the term is an OR with this part, and its other part. */
static int has_part(const kiln__facts_graph *g, uint32_t term, uint32_t part,
                    uint32_t *other)
{
    const kiln__fact_node *n = &g->at[term];

    if (n->operation != KILN__FACT_OR || n->width != 1)
        return 0;
    *other = n->operands[n->operands[0] == part];
    return n->operands[0] == part || n->operands[1] == part;
}

static uint32_t count_parts(const rewriting *r, uint32_t part)
{
    uint32_t count = 0, other;

    for (uint32_t i = 0; i < r->term_count; i++)
        count += (uint32_t)has_part(r->to, r->terms[i], part, &other);
    return count;
}

/* Replaces the terms that have this part by one. */
static void share_part(rewriting *r, uint32_t part)
{
    uint32_t all = KILN__FACT_NONE, kept = 0, other;

    for (uint32_t i = 0; i < r->term_count; i++) {
        if (!has_part(r->to, r->terms[i], part, &other))
            r->terms[kept++] = r->terms[i];
        else
            all = all == KILN__FACT_NONE
                      ? other
                      : put(r->to, KILN__FACT_AND, 1, all, other);
    }
    r->term_count = kept;
    add_term(r, put(r->to, KILN__FACT_OR, 1, part, all));
}

static void share_parts(rewriting *r)
{
    for (uint32_t i = 0; i < r->term_count; i++) {
        const kiln__fact_node *n = &r->to->at[r->terms[i]];
        uint32_t a, b, part;

        if (n->operation != KILN__FACT_OR || n->width != 1)
            continue;
        a = count_parts(r, n->operands[0]);
        b = count_parts(r, n->operands[1]);
        part = n->operands[a < b];
        if ((a < b ? b : a) < 2)
            continue;
        share_part(r, part);
        i = (uint32_t)-1; /* the others have moved */
    }
}

/* ---- writing ---- */

static uint16_t write_constant(const kiln__fact_node *n, kiln__facts_writer *w)
{
    const uint64_t mask = UINT64_MAX >> (64 - n->width);
    const uint16_t low = kiln__facts_put_immediate(
        w, KILN__FACT_CONSTANT, n->width, 0, (uint32_t)n->number);

    if (((uint64_t)(int32_t)n->number & mask) == n->number)
        return low;
    return kiln__facts_put_immediate(w, KILN__FACT_HIGH, n->width, low,
                                     (uint32_t)(n->number >> 32));
}

static uint16_t write_node(const rewriting *r, const kiln__fact_node *n,
                           kiln__facts_writer *w)
{
    uint16_t operands[3] = {0, (uint16_t)n->operands[1], 0};

    if (n->operation == KILN__FACT_CONSTANT)
        return write_constant(n, w);
    if (n->operation == KILN__FACT_WORD)
        return kiln__facts_put_immediate(w, KILN__FACT_WORD, n->width,
                                         (uint16_t)n->operands[0],
                                         (uint32_t)n->number);
    if (n->operation == KILN__FACT_SHAPE)
        operands[0] = (uint16_t)n->number;
    for (unsigned i = 0; i < kiln__graph_operands(n->operation); i++)
        operands[i] = (uint16_t)r->made[n->operands[i]];
    return kiln__facts_put(w, n->operation, n->width, operands);
}

/* Writes what the terms need, and notes the numbers of what was written. */
static void write_values(rewriting *r, unsigned char *needed,
                         kiln__facts_writer *w)
{
    const kiln__facts_graph *g = r->to;

    for (uint32_t i = 0; i < r->term_count; i++)
        needed[r->terms[i]] = 1;
    for (uint32_t i = g->count; i-- > 0;)
        for (unsigned k = 0;
             needed[i] && k < kiln__graph_operands(g->at[i].operation); k++)
            needed[g->at[i].operands[k]] = 1;
    for (uint32_t i = 0; i < g->count; i++)
        if (needed[i])
            r->made[i] = write_node(r, &g->at[i], w);
}

static void write_terms(rewriting *r, kiln__facts_writer *w)
{
    uint16_t all;

    if (r->term_count == 0) {
        (void)kiln__facts_put_immediate(w, KILN__FACT_CONSTANT, 1, 0, 1);
        return;
    }
    all = (uint16_t)r->made[r->terms[0]];
    for (uint32_t i = 1; i < r->term_count; i++)
        all = kiln__facts_put(
            w, KILN__FACT_AND, 1,
            (const uint16_t[]){all, (uint16_t)r->made[r->terms[i]], 0});
    if (all + 1u != w->count) /* the last value is the result */
        (void)kiln__facts_put(w, KILN__FACT_CUT, 1,
                              (const uint16_t[]){all, 0, 0});
}

/* ---- all of it ---- */

static int make_room(rewriting *r, kiln__arena *arena, uint32_t count)
{
    r->is_term = kiln__arena_allocate(arena, count);
    r->made = kiln__arena_allocate_array(arena, count, sizeof *r->made);
    r->bound_of = kiln__arena_allocate_array(arena, count, sizeof *r->bound_of);
    r->bounds = kiln__arena_allocate_array(arena, count, sizeof *r->bounds);
    return r->is_term != NULL && r->made != NULL && r->bound_of != NULL &&
           r->bounds != NULL;
}

static int list_terms(rewriting *r, uint32_t result)
{
    const size_t most = (size_t)r->to->count + r->bound_count + 1;
    uint64_t truth;

    r->is_term = kiln__arena_allocate(r->to->arena, r->to->count);
    r->terms = kiln__arena_allocate_array(r->to->arena, most, sizeof *r->terms);
    if (r->is_term == NULL || r->terms == NULL)
        return 0;
    find_terms(r->to, result, r->is_term);
    for (uint32_t i = 0; i <= result; i++)
        if (r->is_term[i] &&
            !(kiln__graph_constant_of(r->to, i, &truth) && truth == 1))
            add_term(r, i);
    return 1;
}

static int write(rewriting *r, kiln__facts_writer *out)
{
    unsigned char *needed;

    put_bounds(r);
    if (r->is_never)
        add_term(r, kiln__graph_constant(r->to, 1, 0));
    share_parts(r);
    needed = kiln__arena_allocate(r->to->arena, r->to->count);
    r->made =
        kiln__arena_allocate_array(r->to->arena, r->to->count, sizeof *r->made);
    if (r->to->failed || needed == NULL || r->made == NULL)
        return 0;
    write_values(r, needed, out);
    write_terms(r, out);
    return 1;
}

void kiln__graph_write(kiln__facts_graph *g, uint32_t result,
                       kiln__facts_writer *out)
{
    kiln__facts_graph to = kiln__graph_new(g->arena);
    rewriting r = {.from = g, .to = &to};

    out->failed |= g->failed || result == KILN__FACT_NONE || to.failed ||
                   !make_room(&r, g->arena, g->count);
    if (out->failed)
        return;
    find_terms(g, result, r.is_term);
    for (uint32_t i = 0; i <= result; i++)
        if (r.is_term[i])
            (void)is_bound(&r, i);
    make_all_again(&r, result);
    out->failed |=
        to.failed || !list_terms(&r, r.made[result]) || !write(&r, out);
}
