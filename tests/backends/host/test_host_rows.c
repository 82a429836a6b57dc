/* test_host_rows.c - which kernels run several groups of a row as one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

#include "support/devices/kernels.h"

/*
 * Each item takes a number. On one thread, they are in the order in which the
 * items ran: where groups are joined, the first row of the next group is before
 * the second row of this one.
 */

static const char text[] =
    "kernel row(order: i64[:,:], next: i64[:])\n"
    "    order[global_id(0), global_id(1)] = atomic_add(next, 0, 1)\n"
    "end\n"
    "fn found(x: i64[:,:], i, j) = x[i, j]\n"
    "fn beside(i) = i + 1\n"
    "kernel called(order: i64[:,:], next: i64[:])\n"
    "    order[global_id(0), global_id(1)] = atomic_add(next, 0, 1) +\n"
    "        0 * found(order, global_id(0), global_id(1))\n"
    "end\n"
    "kernel computed(order: i64[:,:], next: i64[:])\n"
    "    n = atomic_add(next, 0, 1)\n"
    "    if order[3 * beside(global_id(0)) % 4, 0] < 0\n"
    "        n = 0\n"
    "    end\n"
    "    order[global_id(0), global_id(1)] = n\n"
    "end\n"
    "kernel column(order: i64[:,:], next: i64[:])\n"
    "    order[global_id(1), global_id(0)] = atomic_add(next, 0, 1)\n"
    "end\n"
    "kernel group(order: i64[:,:], next: i64[:])\n"
    "    order[global_id(0), global_id(1)] = atomic_add(next, 0, 1) +\n"
    "        100 * group_id(0)\n"
    "end\n"
    "kernel place(order: i64[:,:], next: i64[:])\n"
    "    order[global_id(0), global_id(1)] = atomic_add(next, 0, 1) +\n"
    "        100 * (local_id(0) // local_size(0))\n"
    "end\n"
    "kernel bytes(x: u8[:,:])\n"
    "    x[global_id(0), global_id(1)] = u8(1)\n"
    "    print(1000 * (1 + global_id(1)) + global_id(0))\n"
    "end\n"
    "kernel words(x: f32[:,:])\n"
    "    x[global_id(0), global_id(1)] = 1\n"
    "    print(1000 * (1 + global_id(1)) + global_id(0))\n"
    "end\n"
    "kernel turns(order: i64[:,:], next: i64[:])\n"
    "    n = atomic_add(next, 0, 1)\n"
    "    for i in 0..n\n"
    "        order[i % size(order, 0), 0] += 1\n"
    "    end\n"
    "    order[global_id(0), global_id(1)] = n\n"
    "end\n";

#define WIDTH 16
#define BLOCK 4

static int64_t order[WIDTH * WIDTH];

static kiln_status run(kernels *k, const char *kernel, uint8_t bounds_checks)
{
    const kiln_array orders = kernels_array2(order, WIDTH, WIDTH);
    int64_t next = 0;
    const kiln_array nexts = kernels_array(&next, 1);
    const kernels_argument arguments[] = {{"i64[:,:]", &orders},
                                          {"i64[:]", &nexts}};
    const kiln_launch launch = {{WIDTH, WIDTH, 1}, {BLOCK, BLOCK, 1}, 0};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.bounds_checks = bounds_checks;
    memset(order, 0, sizeof order);
    return kernels_launch(k, kernels_define(k, "rows", text), kernel,
                          kernels_config(k, &options), &launch, arguments, 2,
                          &test_error);
}

/* The first group may run alone, so the second and the third are looked at. */
static int are_joined(int64_t next_group, int64_t next_row)
{
    return next_group < next_row;
}

#define AT(x, y) order[(x) + WIDTH * (y)]

static void neighbours_are_joined(void **state)
{
    assert_ok(run(*state, "row", KILN_SWITCH_OFF));
    assert_true(are_joined(AT(2 * BLOCK, 0), AT(BLOCK, 1)));
}

/* What a function has found there is no place. */
static void neighbours_of_functions_are_joined(void **state)
{
    assert_ok(run(*state, "called", KILN_SWITCH_OFF));
    assert_true(are_joined(AT(2 * BLOCK, 0), AT(BLOCK, 1)));
    assert_ok(run(*state, "computed", KILN_SWITCH_OFF));
    assert_false(are_joined(AT(2 * BLOCK, 0), AT(BLOCK, 1)));
}

/* In a group they touch the same lines of memory as the other rows. */
static void items_far_from_each_other_are_not(void **state)
{
    assert_ok(run(*state, "column", KILN_SWITCH_OFF));
    assert_false(are_joined(AT(0, 2 * BLOCK), AT(1, BLOCK)));
    assert_ok(run(*state, "turns", KILN_SWITCH_OFF));
    assert_false(are_joined(AT(2 * BLOCK, 1), AT(BLOCK, 2)));
}

static void items_that_ask_for_their_group_are_not(void **state)
{
    assert_ok(run(*state, "group", KILN_SWITCH_OFF));
    assert_false(are_joined(AT(2 * BLOCK, 0) - 200, AT(BLOCK, 1) - 100));
    assert_ok(run(*state, "place", KILN_SWITCH_OFF));
    assert_false(are_joined(AT(2 * BLOCK, 0), AT(BLOCK, 1)));
}

/* What raises first is the same with one thread, whatever is optimised. */
static void items_that_may_raise_are_not(void **state)
{
    assert_ok(run(*state, "row", KILN_SWITCH_ON));
    assert_false(are_joined(AT(2 * BLOCK, 0), AT(BLOCK, 1)));
}

/* Four groups side by side have 32 items in a row each. */
static int are_four_joined(kernels *k, const char *kernel, const char *type)
{
    static float data[128 * 2];
    const kiln_array array = kernels_array2(data, 128, 2);
    const kernels_argument arguments[] = {{type, &array}};
    const kiln_launch launch = {{128, 2, 1}, {32, 2, 1}, 0};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const char *last, *next_row;

    options.bounds_checks = KILN_SWITCH_OFF;
    k->printed[0] = '\0';
    assert_ok(kernels_launch(k, kernels_define(k, "rows", text), kernel,
                             kernels_config(k, &options), &launch, arguments, 1,
                             &test_error));
    last = strstr(k->printed, "1127");
    next_row = strstr(k->printed, "2032");
    assert_non_null(last);
    assert_non_null(next_row);
    return last < next_row;
}

/* What counts is how many bytes a row has. */
static void more_groups_of_small_elements_are_joined(void **state)
{
    assert_true(are_four_joined(*state, "bytes", "u8[:,:]"));
    assert_false(are_four_joined(*state, "words", "f32[:,:]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_joined),
        cmocka_unit_test(neighbours_of_functions_are_joined),
        cmocka_unit_test(more_groups_of_small_elements_are_joined),
        cmocka_unit_test(items_far_from_each_other_are_not),
        cmocka_unit_test(items_that_ask_for_their_group_are_not),
        cmocka_unit_test(items_that_may_raise_are_not),
    };

    (void)setenv("KILN_THREADS", "1", 1);
    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
