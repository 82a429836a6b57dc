/* test_host_sums.c - elements that loops keep in registers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <string.h>

#include "support/harness.h"

#include "support/devices/kernels.h"

/*
 * Where arrays overlap, a kernel with such a loop runs its second body, and an
 * event says so. Without one, the loop keeps nothing.
 */

static const char text[] = "kernel plain(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[i] += y[k]\n"
                           "    end\n"
                           "end\n"
                           "kernel begun(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    x[i] = 7\n"
                           "    for k in 0..size(y, 0)\n"
                           "        if y[k] > 0\n"
                           "            x[i] += y[k]\n"
                           "        end\n"
                           "    end\n"
                           "    x[i] += 100\n"
                           "end\n"
                           "kernel nested(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for j in i..size(x, 0)\n"
                           "        x[i * 1 + 0] = 0\n"
                           "        for k in 0..3\n"
                           "            for l in 0..size(y, 0)\n"
                           "                x[i * 1 + 0] += y[l] * k\n"
                           "            end\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "fn read(y, k) = y[k]\n"
                           "kernel calls(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[i] += read(y, k)\n"
                           "    end\n"
                           "end\n"
                           "kernel sometimes(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        if y[k] % size(x, 0) == i\n"
                           "            x[i] += y[k]\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "kernel moves(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[i] += y[k]\n"
                           "        i = (i + 1) % size(x, 0)\n"
                           "    end\n"
                           "end\n"
                           "kernel leaves(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[i] += y[k]\n"
                           "        if x[i] > 20\n"
                           "            break\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "kernel two(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[i] += y[k]\n"
                           "        x[(i + 1) % size(x, 0)] += 0\n"
                           "    end\n"
                           "end\n"
                           "kernel changed(x: i64[:], y: i64[:])\n"
                           "    t = global_id(0)\n"
                           "    x[t] = 5\n"
                           "    t = (t + 1) % size(x, 0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        if y[k] > 100\n"
                           "            x[t] += 1\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "kernel pairs(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        if i % 2 == 0\n"
                           "            x[i // 2] += y[k]\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "kernel gathers(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[i] += y[max(y[k], 0)]\n"
                           "    end\n"
                           "end\n"
                           "kernel late(x: i64[:], y: i64[:])\n"
                           "    i = global_id(0)\n"
                           "    t = 0\n"
                           "    for k in 0..size(y, 0)\n"
                           "        x[t] += y[k]\n"
                           "        t = i\n"
                           "    end\n"
                           "end\n";

#define SIZE 50

/* Both arrays are pieces of this. */
static int64_t memory[3 * SIZE];

static void fill(void)
{
    for (int i = 0; i < 3 * SIZE; i++)
        memory[i] = i % 7 - 2;
}

static void run(kernels *k, const char *kernel, int64_t *y, uint64_t items,
                uint8_t bounds_checks)
{
    const kiln_array arrays[] = {kernels_array(memory, SIZE),
                                 kernels_array(y, SIZE)};
    const kernels_argument arguments[] = {{"i64[:]", &arrays[0]},
                                          {"i64[:]", &arrays[1]}};
    const kiln_launch launch = {{items, 1, 1}, {0, 0, 0}, 0};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.bounds_checks = bounds_checks;
    fill();
    k->checked = 0;
    assert_ok(kernels_launch(k, kernels_define(k, "sums", text), kernel,
                             kernels_config(k, &options), &launch, arguments, 2,
                             &test_error));
}

/* What `plain` and `calls` leave: one item after the other. */
static void sum_up(int64_t *x, const int64_t *y, int items)
{
    fill();
    for (int i = 0; i < items; i++)
        for (int k = 0; k < SIZE; k++)
            x[i] += y[k];
}

static void assert_summed(kernels *k, const char *kernel, int64_t *y, int items,
                          uint8_t bounds_checks)
{
    int64_t wanted[3 * SIZE];

    sum_up(memory, y, items);
    memcpy(wanted, memory, sizeof wanted);
    run(k, kernel, y, (uint64_t)items, bounds_checks);
    assert_memory_equal(memory, wanted, sizeof wanted);
}

static void sums_of_arrays_that_are_apart_are_kept(void **state)
{
    static const char *const names[] = {"plain", "calls"};

    for (int checks = KILN_SWITCH_OFF; checks <= KILN_SWITCH_ON; checks++)
        for (int i = 0; i < 2; i++) {
            assert_summed(*state, names[i], memory + SIZE, SIZE,
                          (uint8_t)checks);
            assert_int_equal(((kernels *)*state)->checked, 0);
        }
}

/* An item reads what it sums up itself; others would race. */
static void arrays_that_overlap_are_seen(void **state)
{
    static const char *const names[] = {"plain", "calls"};
    kernels *k = *state;

    for (int checks = KILN_SWITCH_OFF; checks <= KILN_SWITCH_ON; checks++)
        for (int i = 0; i < 2; i++) {
            assert_summed(k, names[i], memory, 1, (uint8_t)checks);
            assert_summed(k, names[i], memory + SIZE - 1, 1, (uint8_t)checks);
            assert_int_equal(k->checked, 1);
        }
}

static void the_event_says_what_overlaps(void **state)
{
    kernels *k = *state;

    run(k, "plain", memory, 1, KILN_SWITCH_OFF);
    assert_int_equal(k->checked, 1);
    assert_string_equal(k->why_checked,
                        "sums:4:9: the array that this loop of sums.plain "
                        "writes overlaps another one");
}

static void a_sum_may_begin_before_the_loop(void **state)
{
    kernels *k = *state;
    int64_t sum = 107;

    fill();
    for (int n = 0; n < SIZE; n++)
        sum += memory[SIZE + n] > 0 ? memory[SIZE + n] : 0;
    run(k, "begun", memory + SIZE, SIZE, KILN_SWITCH_ON);
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(memory[i], sum);
    assert_int_equal(k->checked, 0);
    run(k, "begun", memory, 1, KILN_SWITCH_ON);
    assert_int_equal(k->checked, 1);
}

static void loops_may_be_nested(void **state)
{
    kernels *k = *state;
    int64_t sum = 0;

    fill();
    for (int n = 0; n < SIZE; n++)
        sum += 3 * memory[SIZE + n];
    run(k, "nested", memory + SIZE, SIZE, KILN_SWITCH_ON);
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(memory[i], sum);
    run(k, "nested", memory, 1, KILN_SWITCH_ON);
    assert_int_equal(k->checked, 1);
}

/* A second body that keeps a check has nothing in registers where it raises:
   it is as good for arrays that overlap. */
static void a_check_that_stays_ends_sums(void **state)
{
    kernels *k = *state;

    run(k, "gathers", memory, 1, KILN_SWITCH_ON);
    assert_int_equal(k->checked, 0);
    run(k, "gathers", memory, 1, KILN_SWITCH_OFF);
    assert_int_equal(k->checked, 1);
}

/* No event: these loops keep nothing, so arrays may overlap. */
static void other_loops_keep_nothing(void **state)
{
    static const char *const names[] = {"sometimes", "moves",   "leaves", "two",
                                        "late",      "changed", "pairs"};
    kernels *k = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        run(k, names[i], memory, 1, KILN_SWITCH_OFF);
        assert_int_equal(k->checked, 0);
    }
}

/* Of two items that name an element, one writes it. */
static void items_that_write_nothing_leave_the_element(void **state)
{
    int64_t sum = 0;

    fill();
    for (int k = 0; k < SIZE; k++)
        sum += memory[SIZE + k];
    run(*state, "pairs", memory + SIZE, SIZE, KILN_SWITCH_ON);
    for (int i = 0; i < SIZE / 2; i++)
        assert_int_equal(memory[i], i % 7 - 2 + sum);
}

/* A local that a loop sets is another one in the first iteration. */
static void locals_are_taken_as_they_are(void **state)
{
    int64_t first, rest = 0;

    fill();
    first = memory[0] + memory[SIZE];
    for (int k = 1; k < SIZE; k++)
        rest += memory[SIZE + k];
    run(*state, "late", memory + SIZE, 1, KILN_SWITCH_ON);
    assert_int_equal(memory[0], first + rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_arrays_that_are_apart_are_kept),
        cmocka_unit_test(arrays_that_overlap_are_seen),
        cmocka_unit_test(the_event_says_what_overlaps),
        cmocka_unit_test(a_sum_may_begin_before_the_loop),
        cmocka_unit_test(loops_may_be_nested),
        cmocka_unit_test(a_check_that_stays_ends_sums),
        cmocka_unit_test(other_loops_keep_nothing),
        cmocka_unit_test(items_that_write_nothing_leave_the_element),
        cmocka_unit_test(locals_are_taken_as_they_are),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
