/* test_group_failures.c - items that fail where others wait for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/devices/kernels.h"

#define ITEMS 24
#define BLOCK 8
#define NOBODY -100

typedef struct trial {
    kernels *k;
    const kiln_config *config;
    const char *kernel;
    int64_t values[3]; /* bad, and what the kernel takes beside it */
    size_t count;
    int64_t out[ITEMS];
} trial;

static kiln_status run(trial *t, kiln_error **error)
{
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}, .block = {BLOCK, 1, 1}};
    const kiln_array out = kernels_array(t->out, ITEMS);
    kernels_argument arguments[4] = {{"i64[:]", &out}};

    memset(t->out, 0, sizeof t->out);
    for (size_t i = 0; i < t->count; i++)
        arguments[1 + i] = (kernels_argument){"i64", &t->values[i]};
    return kernels_launch(
        t->k, kernels_load(t->k, KILN_TESTS_FOLDER "/language/failures.kiln"),
        t->kernel, t->config, &launch, arguments, 1 + t->count, error);
}

/* The exception is of this kind, and of that item if it is any. */
static void fails(trial *t, int32_t kind, int64_t item)
{
    kiln_error *error = NULL;
    const kiln_exception *e;

    assert_status(KILN_EEXCEPTION, run(t, &error));
    e = kiln_error_exception(error);
    assert_non_null(e);
    assert_int_equal(e->kind, kind);
    if (item >= 0) {
        assert_int_equal(e->item[0], item);
        assert_int_equal(e->group[0], item / BLOCK);
    }
    kiln_error_free(error);
}

static void works(trial *t)
{
    assert_ok(run(t, &test_error));
}

static void for_levels(void **state, void (*check)(trial *t))
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    trial t = {.k = *state};

    t.config = kernels_config(t.k, &options);
    check(&t);
    options.opt_level = KILN_OPT_0;
    t.config = kernels_config(t.k, &options);
    check(&t);
}

/* ---- the tests ---- */

static void check_turns(trial *t)
{
    t->kernel = "fails_in_turn";
    t->count = 3;
    for (int64_t turn = 0; turn < 3; turn++)
        for (int64_t bad = 7; bad < ITEMS; bad += 8) {
            memcpy(t->values, (int64_t[]){bad, turn, 3}, sizeof t->values);
            fails(t, KILN_EXCEPTION_BOUNDS, bad);
        }
    memcpy(t->values, (int64_t[]){NOBODY, 0, 1}, sizeof t->values);
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], i + i / BLOCK * BLOCK + (i + 1) % BLOCK);
}

static void an_item_fails_in_a_turn_of_a_loop(void **state)
{
    for_levels(state, check_turns);
}

static void check_first(trial *t)
{
    t->kernel = "fails_first";
    t->count = 2;
    memcpy(t->values, (int64_t[]){13, 5, 0}, sizeof t->values);
    fails(t, KILN_EXCEPTION_DIVISION, 13);
    t->values[0] = NOBODY;
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], 0);
}

static void an_item_fails_before_all_barriers(void **state)
{
    for_levels(state, check_first);
}

static void check_last(trial *t)
{
    t->kernel = "fails_last";
    t->count = 2;
    memcpy(t->values, (int64_t[]){8, -1, 0}, sizeof t->values);
    fails(t, KILN_EXCEPTION_BOUNDS, 8);
    t->values[0] = NOBODY;
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], i / BLOCK * BLOCK + (i + 1) % BLOCK);
}

static void an_item_fails_after_the_last_barrier(void **state)
{
    for_levels(state, check_last);
}

static void check_for_ever(trial *t)
{
    t->kernel = "fails_for_ever";
    t->count = 2;
    memcpy(t->values, (int64_t[]){21, 0, 0}, sizeof t->values);
    fails(t, KILN_EXCEPTION_ASSERTION, 21);
    t->values[0] = NOBODY;
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], i / BLOCK * BLOCK + (i + 1) % BLOCK + 1);
}

static void a_failure_ends_a_loop_that_would_not(void **state)
{
    for_levels(state, check_for_ever);
}

static void check_callee(trial *t)
{
    t->kernel = "fails_in_callee";
    t->count = 2;
    memcpy(t->values, (int64_t[]){6, 0, 0}, sizeof t->values);
    fails(t, KILN_EXCEPTION_ASSERTION, 5);
    t->values[0] = 2 - 1000;
    fails(t, KILN_EXCEPTION_ASSERTION, 2);
    t->values[0] = NOBODY;
    works(t);
}

static void an_item_fails_at_the_end_of_a_callee(void **state)
{
    for_levels(state, check_callee);
}

static void check_all(trial *t)
{
    t->kernel = "all_fail";
    t->count = 2;
    memcpy(t->values, (int64_t[]){0, 64, 0}, sizeof t->values);
    fails(t, KILN_EXCEPTION_BOUNDS, -1);
    t->values[1] = 3;
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], i + 1);
}

static void all_items_fail_in_a_condition(void **state)
{
    for_levels(state, check_all);
}

static int64_t way_result(int64_t i, int64_t way, int64_t n)
{
    if (way >= n)
        return i + n;
    return i + i / BLOCK * BLOCK + way + (way > 1 ? way : n - 1);
}

static void check_ways(trial *t)
{
    const int64_t n = 4;

    t->kernel = "fails_on_a_way";
    t->count = 3;
    for (int64_t way = 0; way <= n; way++) {
        memcpy(t->values, (int64_t[]){NOBODY, way, n}, sizeof t->values);
        works(t);
        for (int64_t i = 0; i < ITEMS; i++)
            assert_int_equal(t->out[i], way_result(i, way, n));
        t->values[0] = 12;
        if (way < n)
            fails(t, KILN_EXCEPTION_ASSERTION, 12);
    }
}

static void an_item_fails_on_the_way_of_its_group(void **state)
{
    for_levels(state, check_ways);
}

static void check_stays(trial *t)
{
    t->kernel = "fails_if_it_stays";
    t->count = 3;
    memcpy(t->values, (int64_t[]){9, 0, 5}, sizeof t->values);
    fails(t, KILN_EXCEPTION_ASSERTION, 9);
    t->values[1] = 3;
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], i);
    memcpy(t->values, (int64_t[]){NOBODY, 0, 5}, sizeof t->values);
    works(t);
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(t->out[i], i + 5);
}

static void an_item_fails_where_its_group_might_have_left(void **state)
{
    for_levels(state, check_stays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_fails_in_a_turn_of_a_loop),
        cmocka_unit_test(an_item_fails_before_all_barriers),
        cmocka_unit_test(an_item_fails_after_the_last_barrier),
        cmocka_unit_test(a_failure_ends_a_loop_that_would_not),
        cmocka_unit_test(an_item_fails_at_the_end_of_a_callee),
        cmocka_unit_test(all_items_fail_in_a_condition),
        cmocka_unit_test(an_item_fails_on_the_way_of_its_group),
        cmocka_unit_test(an_item_fails_where_its_group_might_have_left),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
