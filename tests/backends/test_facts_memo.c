/* test_facts_memo.c - verdicts on facts that are remembered. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include <stdatomic.h>
#include <string.h>

#include "support/facts_programs.h"

/* What the facts below read: words of each length, and sizes. */
#define WORDS 4
#define ARGUMENT_BYTES 24
#define SHAPE_A 0
#define SHAPE_B 7

static const uint8_t word_sizes[WORDS] = {8, 4, 2, 1};
static const uint8_t word_places[WORDS] = {0, 12, 18, 21};

/* The facts hold if each number that they read is 5. */
static facts_program all_are_five(void)
{
    facts_program p = {.size = 0};
    const uint16_t five =
        facts_put(&p, KILN__FACT_CONSTANT, 64, (const uint16_t[]){0, 5, 0});
    uint16_t all =
        facts_put(&p, KILN__FACT_CONSTANT, 1, (const uint16_t[]){0, 1, 0});

    for (unsigned i = 0; i < WORDS + 2; i++) {
        uint16_t number;

        if (i < WORDS)
            number = facts_put_word(&p, 8u * word_sizes[i], word_places[i]);
        else
            number = facts_put(
                &p, KILN__FACT_SHAPE, 64,
                (const uint16_t[]){i == WORDS ? SHAPE_A : SHAPE_B, 0, 0});
        number = facts_put(&p, KILN__FACT_EQ, 64,
                           (const uint16_t[]){number, five, 0});
        all = facts_put(&p, KILN__FACT_AND, 1,
                        (const uint16_t[]){all, number, 0});
    }
    return p;
}

typedef struct launch {
    uint8_t arguments[ARGUMENT_BYTES];
    kiln__facts_shape shape;
} launch;

static launch launch_of_five(void)
{
    launch l;

    memset(&l, 0, sizeof l);
    for (unsigned i = 0; i < WORDS; i++)
        l.arguments[word_places[i]] = 5;
    l.shape.sizes[SHAPE_A] = l.shape.sizes[SHAPE_B] = 5;
    return l;
}

static int hold(kiln__launch_facts *facts, const launch *l)
{
    return kiln__facts_hold(facts, l->arguments, &l->shape);
}

static void each_number_that_is_read_counts(void **state)
{
    const facts_program p = all_are_five();
    kiln__launch_facts *facts = facts_make(p.bytes, p.size);
    const launch five = launch_of_five();

    (void)state;
    for (unsigned i = 0; i < ARGUMENT_BYTES + KILN__FACT_SHAPES; i++) {
        launch other = five;
        int is_read =
            i == ARGUMENT_BYTES + SHAPE_A || i == ARGUMENT_BYTES + SHAPE_B;

        for (unsigned w = 0; w < WORDS; w++)
            is_read |=
                i >= word_places[w] && i < word_places[w] + word_sizes[w];
        if (i < ARGUMENT_BYTES)
            other.arguments[i] ^= 0x40;
        else
            other.shape.sizes[i - ARGUMENT_BYTES]++;
        for (int again = 0; again < 3; again++) {
            assert_true(hold(facts, &five));
            assert_int_equal(hold(facts, &other), !is_read);
        }
    }
    kiln__facts_close(facts);
}

/* More launches in turn than verdicts are kept. */
static void verdicts_give_way_to_others(void **state)
{
    const facts_program p = all_are_five();
    kiln__launch_facts *facts = facts_make(p.bytes, p.size);

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        launch l = launch_of_five();

        l.shape.sizes[SHAPE_A] = i % 11;
        l.arguments[0] = (uint8_t)(i % 7);
        assert_int_equal(hold(facts, &l), i % 11 == 5 && i % 7 == 5);
    }
    kiln__facts_close(facts);
}

static void facts_without_numbers_are_verdicts(void **state)
{
    (void)state;
    for (uint16_t value = 0; value < 2; value++) {
        const launch l = launch_of_five();
        facts_program p = {.size = 0};

        (void)facts_put(&p, KILN__FACT_CONSTANT, 1,
                        (const uint16_t[]){0, value, 0});
        assert_int_equal(facts_hold(p.bytes, p.size, l.arguments, &l.shape),
                         value);
    }
}

/* ---- memory ---- */

/* Gives memory `left` times. */
static void *few(void *env, void *memory, size_t old_size, size_t new_size)
{
    int *left = env;

    if (memory == NULL && (*left)-- <= 0)
        return NULL;
    return kiln__malloc.realloc(kiln__malloc.env, memory, old_size, new_size);
}

static void each_lack_of_memory_is_told(void **state)
{
    const facts_program p = all_are_five();
    kiln_status status = KILN_ENOMEM;
    int most = 0;

    (void)state;
    for (; status == KILN_ENOMEM; most++) {
        int left = most;
        const kiln_alloc alloc = {
            .size = sizeof alloc, .env = &left, .realloc = few};
        kiln__launch_facts *facts = NULL;

        status = kiln__facts_make(&facts, &alloc, p.bytes, p.size);
        kiln__facts_close(facts);
    }
    assert_int_equal(status, KILN_OK);
    assert_true(most > 5);
}

/* ---- threads ---- */

typedef struct launching {
    kiln__launch_facts *facts;
    unsigned number;
    _Atomic int wrong;
} launching;

#define THREADS 2

/* Each thread launches with numbers of its own. A verdict on a mixture of them
   would be wrong, since some hold and some do not. */
static void *launch_often(void *env)
{
    launching *l = env;

    for (unsigned i = 0; i < 400000; i++) {
        launch at = launch_of_five();
        const unsigned turn = i / 3 % 6;
        const int holds = turn == 0;

        /* Never five in all, except in the first turn. */
        at.arguments[0] = (uint8_t)(turn & 1 ? 16 * l->number + turn : 5);
        at.shape.sizes[SHAPE_B] = turn & 6 ? 1000 * l->number + turn : 5;
        if (hold(l->facts, &at) != holds)
            l->wrong++;
    }
    return NULL;
}

static void threads_get_verdicts_of_their_own(void **state)
{
    const facts_program p = all_are_five();
    kiln__launch_facts *facts = facts_make(p.bytes, p.size);
    launching all[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        all[i].facts = facts;
        all[i].number = i + 1;
        atomic_init(&all[i].wrong, 0);
        assert_int_equal(
            pthread_create(&threads[i], NULL, launch_often, &all[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(all[i].wrong, 0);
    }
    kiln__facts_close(facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_that_is_read_counts),
        cmocka_unit_test(verdicts_give_way_to_others),
        cmocka_unit_test(facts_without_numbers_are_verdicts),
        cmocka_unit_test(each_lack_of_memory_is_told),
        cmocka_unit_test(threads_get_verdicts_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
