/* test_large.c - kernels of twenty thousand lines. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen host */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

/*
 * A pass of LLVM's that goes through a function as often as it has
 * instructions, blocks or variables never comes to an end with these: what is
 * looked at is that they compile, with little of the machine's stack, and what
 * they compute. Each shape is wrong for other passes.
 */

#define LINES 20000
#define ITEMS 4

/* Writes the statements, and computes for x and n what they do. */
typedef int64_t (*shape)(FILE *out, int64_t x, int64_t n);

/* Sums wrap, as they do in kernels. */
static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t straight(FILE *out, int64_t x, int64_t n)
{
    (void)n;
    for (int k = 0; k < LINES; k++) {
        fprintf(out, "    x = (x ^ %d) + (x >> 3)\n", k);
        x = wrap_add(x ^ k, x >> 3);
    }
    return x;
}

static int64_t conditions(FILE *out, int64_t x, int64_t n)
{
    for (int k = 0; k < LINES / 3; k++) {
        fprintf(out, "    if x & %d < n\n        x = x + %d\n    end\n", k % 64,
                k);
        x += (x & k % 64) < n ? k : 0;
    }
    return x;
}

static int64_t choices(FILE *out, int64_t x, int64_t n)
{
    double z = 0;

    (void)n;
    fprintf(out, "    z = 0.0\n");
    for (int k = 0; k < LINES; k++) {
        fprintf(out, "    z = x == %d ? z + 1.0 : z * 0.5\n", k % 8);
        z = x == k % 8 ? z + 1 : z * 0.5;
    }
    fprintf(out, "    x = i64(trunc(z * 4096.0))\n");
    return (int64_t)(z * 4096);
}

static int64_t loops(FILE *out, int64_t x, int64_t n)
{
    for (int k = 0; k < LINES / 3; k++) {
        fprintf(out, "    for j in 0..n\n        x = x + j * %d\n    end\n", k);
        for (int64_t j = 0; j < n; j++)
            x += j * k;
    }
    return x;
}

/* All of them live until the end, and each read of the array is checked; what
   is read is 0. */
static int64_t variables(FILE *out, int64_t x, int64_t n)
{
    static int64_t values[LINES / 2];
    const int count = LINES / 2;

    (void)n;
    for (int k = 0; k < count; k++) {
        fprintf(out, "    v%d = x * %d + y[%d]\n", k, k, ITEMS + k % ITEMS);
        values[k] = x * k;
    }
    for (int k = 0; k < count; k++) {
        fprintf(out, "    x = (x >> 1) + v%d\n", k * 7919 % count);
        x = wrap_add(x >> 1, values[k * 7919 % count]);
    }
    return x;
}

static int64_t calls(FILE *out, int64_t x, int64_t n)
{
    (void)n;
    for (int k = 0; k < LINES; k++) {
        fprintf(out, "    x = mixed(x, %d)\n", k);
        x = wrap_add(x ^ (x >> 5), k);
    }
    return x;
}

/* A kernel that sets y[i] to what becomes of i. */
static char *kernel_of(shape make, int64_t n, int64_t expected[ITEMS])
{
    char *text = NULL;
    size_t size;

    for (int64_t i = 0; i < ITEMS; i++) {
        FILE *out;

        free(text);
        out = open_memstream(&text, &size);
        assert_non_null(out);
        fprintf(out, "fn mixed(x, k) = (x ^ (x >> 5)) + k\n"
                     "kernel large(y: i64[:], n: i64)\n"
                     "    i = global_id(0)\n"
                     "    x = i\n");
        expected[i] = make(out, i, n);
        fprintf(out, "    y[i] = x\nend\n");
        assert_int_equal(fclose(out), 0);
    }
    return text;
}

static void assert_right(void **state, shape make, const char *name)
{
    kernels *k = *state;
    int64_t expected[ITEMS], made[2 * ITEMS] = {0}, n = 3;
    kiln_array y = kernels_array(made, 2 * ITEMS);
    const kernels_argument arguments[] = {{"i64[:]", &y}, {"i64", &n}};
    char *text = kernel_of(make, n, expected);

    assert_ok(kernels_run(k, kernels_define(k, name, text), "large", ITEMS,
                          arguments, 2, &test_error));
    free(text);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(made[i], expected[i]);
}

static void a_chain_of_arithmetic_is_right(void **state)
{
    assert_right(state, straight, "straight");
}

static void conditions_one_after_the_other_are_right(void **state)
{
    assert_right(state, conditions, "conditions");
}

static void choices_between_numbers_are_right(void **state)
{
    assert_right(state, choices, "choices");
}

static void loops_one_after_the_other_are_right(void **state)
{
    assert_right(state, loops, "loops");
}

static void variables_that_live_together_are_right(void **state)
{
    assert_right(state, variables, "variables");
}

static void calls_of_a_small_function_are_right(void **state)
{
    assert_right(state, calls, "calls");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_arithmetic_is_right),
        cmocka_unit_test(conditions_one_after_the_other_are_right),
        cmocka_unit_test(choices_between_numbers_are_right),
        cmocka_unit_test(loops_one_after_the_other_are_right),
        cmocka_unit_test(variables_that_live_together_are_right),
        cmocka_unit_test(calls_of_a_small_function_are_right),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
