/* test_facts_graph.c - facts that are made shorter say the same. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/facts_programs.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/facts/facts_graph.h"

#define WORDS 4
#define LAUNCHES 12

static uint32_t below(uint32_t count)
{
    return (uint32_t)rand() % count;
}

/* ---- random programs ---- */

/* Values of 64 bits, of 32, and truths, by number. */
typedef struct values {
    uint16_t at[3][KILN__FACTS_MOST];
    uint32_t count[3];
} values;

static const uint8_t widths[] = {64, 32, 1};

enum { WHOLE, HALF, TRUTH };

static void note(values *v, unsigned kind, uint16_t number)
{
    v->at[kind][v->count[kind]++] = number;
}

/* New values are more common than old ones. */
static uint16_t any(const values *v, unsigned kind)
{
    const uint32_t count = v->count[kind];
    const uint32_t back = below(below(2) != 0 && count > 6 ? 6 : count);

    return v->at[kind][count - 1 - back];
}

static uint16_t constant(facts_program *p, unsigned width)
{
    static const int32_t some[] = {0,  1,   2,       3,         4,        7,
                                   -1, -2,  8,       63,        64,       1000,
                                   31, -64, 1 << 20, INT32_MAX, INT32_MIN};
    const uint32_t number = (uint32_t)some[below(sizeof some / sizeof *some)];

    return facts_put(
        p, KILN__FACT_CONSTANT, width,
        (const uint16_t[]){0, (uint16_t)number, (uint16_t)(number >> 16)});
}

static void put_leaf(facts_program *p, values *v)
{
    const unsigned kind = below(4) == 0 ? HALF : WHOLE;

    if (below(3) == 0)
        note(v, kind, constant(p, widths[kind]));
    else if (kind == WHOLE && below(3) == 0)
        note(v, kind,
             facts_put(p, KILN__FACT_SHAPE, 64,
                       (const uint16_t[]){(uint16_t)below(3), 0, 0}));
    else
        note(v, kind,
             facts_put_word(p, widths[kind], (uint16_t)(8 * below(WORDS))));
}

/* Sums, minima and maxima are what proofs are made of. */
static void put_number(facts_program *p, values *v)
{
    static const uint8_t usual[] = {
        KILN__FACT_ADD,  KILN__FACT_ADD, KILN__FACT_SUB, KILN__FACT_SMIN,
        KILN__FACT_SMAX, KILN__FACT_MUL, KILN__FACT_OR};
    const unsigned kind = below(5) == 0 ? HALF : WHOLE;
    const unsigned operation =
        below(4) != 0 ? usual[below(sizeof usual)]
                      : KILN__FACT_ADD + below(KILN__FACT_EQ - KILN__FACT_ADD);
    const uint16_t a = any(v, kind);
    const uint16_t b = below(3) == 0 ? constant(p, widths[kind]) : any(v, kind);

    note(v, kind,
         facts_put(p, operation, widths[kind], (const uint16_t[]){a, b, 0}));
}

static void put_compare(facts_program *p, values *v)
{
    static const uint8_t usual[] = {KILN__FACT_SLT, KILN__FACT_SLT,
                                    KILN__FACT_SLE, KILN__FACT_ULT};
    const unsigned kind = below(8) == 0 ? HALF : WHOLE;
    const unsigned operation =
        below(3) != 0
            ? usual[below(sizeof usual)]
            : KILN__FACT_EQ + below(KILN__FACT_SELECT - KILN__FACT_EQ);
    const uint16_t a = any(v, kind);
    const uint16_t b = below(3) == 0 ? constant(p, widths[kind]) : any(v, kind);

    note(v, TRUTH,
         facts_put(p, operation, widths[kind], (const uint16_t[]){a, b, 0}));
}

/* Compares the first two words, plus small numbers, either way round: such
   comparisons imply each other, or exclude each other. */
static void put_related(facts_program *p, values *v)
{
    const unsigned first = below(2);
    uint16_t both[2];

    for (unsigned i = 0; i < 2; i++) {
        const uint16_t number =
            facts_put(p, KILN__FACT_CONSTANT, 64,
                      (const uint16_t[]){0, (uint16_t)below(4), 0});

        both[i] = facts_put(p, below(2) != 0 ? KILN__FACT_ADD : KILN__FACT_SUB,
                            64, (const uint16_t[]){v->at[WHOLE][i], number, 0});
    }
    note(v, TRUTH,
         facts_put(p, below(2) != 0 ? KILN__FACT_SLT : KILN__FACT_SLE, 64,
                   (const uint16_t[]){both[first], both[!first], 0}));
}

static void put_truth(facts_program *p, values *v)
{
    static const uint8_t operations[] = {KILN__FACT_AND, KILN__FACT_OR,
                                         KILN__FACT_OR,  KILN__FACT_XOR,
                                         KILN__FACT_EQ,  KILN__FACT_NE};
    const uint16_t a = any(v, TRUTH);
    const uint16_t b = below(3) == 0 ? facts_put(p, KILN__FACT_CONSTANT, 1,
                                                 (const uint16_t[]){0, 1, 0})
                                     : any(v, TRUTH);

    note(v, TRUTH,
         facts_put(p, operations[below(sizeof operations)], 1,
                   (const uint16_t[]){a, b, 0}));
}

static void put_choice(facts_program *p, values *v)
{
    const unsigned kind = below(3);
    const uint16_t c = any(v, TRUTH), a = any(v, kind), b = any(v, kind);

    note(v, kind,
         facts_put(p, KILN__FACT_SELECT, widths[kind],
                   (const uint16_t[]){c, a, b}));
}

static void put_conversion(facts_program *p, values *v)
{
    const unsigned from = below(3), to = below(3);
    const uint16_t a = any(v, from);

    if (to != TRUTH && from > to && below(2) != 0)
        note(v, to,
             facts_put(p, KILN__FACT_EXTEND, widths[to],
                       (const uint16_t[]){a, widths[from], 0}));
    else
        note(v, to,
             facts_put(p, KILN__FACT_CUT, widths[to],
                       (const uint16_t[]){a, 0, 0}));
}

/* Adds a bound of a value, as facts have them. */
static uint16_t put_bound(facts_program *p, const values *v)
{
    static const uint16_t sizes[] = {1, 2, 16, 16, 16, 17, 100, 1024};
    const uint16_t x = below(2) != 0 ? v->at[WHOLE][below(2)] : any(v, WHOLE);
    const uint16_t y = any(v, WHOLE);
    const uint16_t size = facts_put(
        p, KILN__FACT_CONSTANT, 64,
        (const uint16_t[]){0, sizes[below(sizeof sizes / sizeof *sizes)], 0});
    const uint16_t both = below(3) == 0 ? facts_put(p, KILN__FACT_OR, 64,
                                                    (const uint16_t[]){x, y, 0})
                                        : x;

    return facts_put(p, below(2) != 0 ? KILN__FACT_ULT : KILN__FACT_ULE, 64,
                     (const uint16_t[]){both, size, 0});
}

static void put_any(facts_program *p, values *v)
{
    switch (below(10)) {
    case 8:
    case 9:
        put_related(p, v);
        break;
    case 0:
        put_leaf(p, v);
        break;
    case 1:
    case 2:
        put_compare(p, v);
        break;
    case 3:
        put_truth(p, v);
        break;
    case 4:
        put_choice(p, v);
        break;
    case 5:
        put_conversion(p, v);
        break;
    default:
        put_number(p, v);
        break;
    }
}

/* Ends the program with a conjunction of bounds and of other truths. */
static void put_terms(facts_program *p, const values *v)
{
    uint16_t all = any(v, TRUTH);

    for (uint32_t i = below(8); i > 0; i--) {
        const uint16_t term = below(2) != 0 ? put_bound(p, v) : any(v, TRUTH);

        all = facts_put(p, below(8) != 0 ? KILN__FACT_AND : KILN__FACT_OR, 1,
                        (const uint16_t[]){all, term, 0});
    }
    (void)facts_put(p, KILN__FACT_CUT, 1, (const uint16_t[]){all, 0, 0});
}

static void random_program(facts_program *p, uint32_t count)
{
    static values v;

    memset(&v, 0, sizeof v);
    p->size = 0;
    for (uint16_t i = 0; i < WORDS; i++)
        note(&v, WHOLE, facts_put_word(p, 64, (uint16_t)(8 * i)));
    note(&v, HALF, facts_put_word(p, 32, 0));
    put_compare(p, &v);
    for (uint32_t i = 0; i < count; i++)
        put_any(p, &v);
    put_terms(p, &v);
}

/* ---- launches ---- */

static uint64_t random_number(void)
{
    static const uint64_t edges[] = {INT64_MAX, (uint64_t)1 << 63, UINT32_MAX,
                                     INT32_MAX, UINT64_MAX,        1u << 30};

    switch (below(8)) {
    case 0:
        return edges[below(sizeof edges / sizeof *edges)] + below(3) - 1;
    case 1:
        return (uint64_t)rand() * (uint64_t)rand() * (uint64_t)rand();
    default:
        return below(20) - (uint64_t)(below(8) == 0 ? below(20) : 0);
    }
}

/* Makes the program shorter, and returns how many launches it holds of. */
static int compare(const facts_program *p)
{
    static facts_program shorter;
    kiln__arena arena;
    kiln__facts_graph g;
    kiln__facts_writer w = {.bytes = shorter.bytes};
    kiln__launch_facts *before, *after;
    int holding = 0;

    kiln__arena_init(&arena, &kiln__malloc);
    g = kiln__graph_new(&arena);
    kiln__graph_write(
        &g, kiln__graph_read(&g, p->bytes, p->size / KILN__FACT_BYTES), &w);
    kiln__arena_dispose(&arena);
    assert_false(w.failed);
    shorter.size = w.count * KILN__FACT_BYTES;
    assert_true(kiln__facts_fit(shorter.bytes, shorter.size, 8 * WORDS));
    before = facts_make(p->bytes, p->size);
    after = facts_make(shorter.bytes, shorter.size);
    for (int i = 0; i < LAUNCHES; i++) {
        uint64_t words[WORDS];
        kiln__facts_shape shape;
        int holds;

        for (size_t k = 0; k < WORDS; k++)
            words[k] = random_number();
        for (size_t k = 0; k < KILN__FACT_SHAPES; k++)
            shape.sizes[k] = random_number();
        holds = kiln__facts_evaluate(before, words, &shape);
        assert_int_equal(kiln__facts_evaluate(after, words, &shape), holds);
        holding += holds;
    }
    kiln__facts_close(before);
    kiln__facts_close(after);
    return holding;
}

/* ---- tests ---- */

static void short_programs_say_the_same(void **state)
{
    static facts_program p;
    const int count = 60000;
    int holding = 0;

    (void)state;
    srand(21);
    for (int i = 0; i < count; i++) {
        random_program(&p, 2 + below(20));
        holding += compare(&p);
    }
    /* Both verdicts are common. */
    assert_true(holding > count * LAUNCHES / 20);
    assert_true(holding < count * LAUNCHES * 19 / 20);
}

/* Sums of sums and choices among choices, of which much is shared. */
static void long_programs_say_the_same(void **state)
{
    static facts_program p;

    (void)state;
    srand(22);
    for (int i = 0; i < 3000; i++) {
        random_program(&p, 60 + below(150));
        (void)compare(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_programs_say_the_same),
        cmocka_unit_test(long_programs_say_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
