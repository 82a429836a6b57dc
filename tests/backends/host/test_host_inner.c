/* test_host_inner.c - which dimension of a grid the host goes along first. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <string.h>

#include "support/harness.h"

#include "support/devices/kernels.h"

static const char text[] =
    "fn place(i, j, n) = i * n + j\n"
    "fn at(x, i, j) = x[i, j]\n"
    "kernel usual(x: i64[:,:])\n"
    "    x[global_id(0), global_id(1)] = 1\n"
    "end\n"
    "kernel rows(x: i64[:,:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    if i < size(x, 1) && j < size(x, 0)\n"
    "        x[j, i] += 1000 * i + j\n"
    "    end\n"
    "end\n"
    "kernel flat(x: i64[:,:], y: i64[:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    n = size(x, 0)\n"
    "    if i < size(x, 1) && j < n\n"
    "        y[place(i, j, n)] = at(x, j, i)\n"
    "    end\n"
    "end\n"
    "kernel product(x: i64[:,:], y: i64[:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    s = 0\n"
    "    for k in 0..size(x, 1)\n"
    "        s += x[j, k] * y[i]\n"
    "    end\n"
    "    x[j, i] = s\n"
    "end\n"
    "kernel transposed(x: i64[:,:], y: i64[:,:])\n"
    "    x[global_id(0), global_id(1)] = y[global_id(1), global_id(0)]\n"
    "end\n"
    "kernel by_row(x: i64[:,:], y: i64[:])\n"
    "    s = 0\n"
    "    for k in 0..size(x, 0)\n"
    "        s += x[k, global_id(0)]\n"
    "    end\n"
    "    y[global_id(0)] = s\n"
    "end\n"
    "kernel cube(x: i64[:,:,:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    k = global_id(2)\n"
    "    x[k, j, i] += 10000 * i + 100 * j + k\n"
    "end\n"
    "kernel of_group(x: i64[:,:])\n"
    "    x[global_id(1), global_id(0)] = local_id(0)\n"
    "end\n"
    "kernel recursive(x: i64[:,:])\n"
    "    x[global_id(1), global_id(0)] = down(global_id(0))\n"
    "end\n"
    "fn down(n: i64) -> i64\n"
    "    return n < 1 ? 0 : down(n - 1)\n"
    "end\n";

#define MOST (37 * 23)

static const kiln_kernel *compile(kernels *k, const char *name,
                                  const char *const *types, size_t count,
                                  uint8_t level)
{
    const kiln_type *parsed[2];
    kiln_signature signature = {.types = parsed, .count = count};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_kernel *kernel = NULL;

    options.opt_level = level;
    assert_ok(kiln_package_function(&signature.function,
                                    kernels_define(k, "inner", text), name,
                                    &test_error));
    for (size_t i = 0; i < count; i++)
        assert_ok(kiln_type_parse(&parsed[i], k->context, NULL, types[i],
                                  &test_error));
    assert_ok(kiln_compile(&kernel, k->context, &signature,
                           kernels_config(k, &options), NULL, &test_error));
    return kernel;
}

static uint32_t inner_of(kernels *k, const char *name, const char *first,
                         const char *second)
{
    const char *const types[] = {first, second};
    const kiln_kernel *kernel =
        compile(k, name, types, second == NULL ? 1 : 2, KILN_OPT_DEFAULT);

    return kiln_kernel_get_info(kernel)->inner_dimension;
}

static void it_is_the_one_along_memory(void **state)
{
    assert_int_equal(inner_of(*state, "usual", "i64[:,:]", NULL), 0);
    assert_int_equal(inner_of(*state, "rows", "i64[:,:]", NULL), 1);
    assert_int_equal(inner_of(*state, "flat", "i64[:,:]", "i64[:]"), 1);
    assert_int_equal(inner_of(*state, "product", "i64[:,:]", "i64[:]"), 1);
    assert_int_equal(inner_of(*state, "cube", "i64[:,:,:]", NULL), 2);
}

/* No better one is known. */
static void else_it_is_the_first(void **state)
{
    assert_int_equal(inner_of(*state, "transposed", "i64[:,:]", "i64[:,:]"), 0);
    assert_int_equal(inner_of(*state, "by_row", "i64[:,:]", "i64[:]"), 0);
    assert_int_equal(inner_of(*state, "of_group", "i64[:,:]", NULL), 0);
    assert_int_equal(inner_of(*state, "recursive", "i64[:,:]", NULL), 0);
}

static void at_low_levels_nothing_is_changed(void **state)
{
    const char *const types[] = {"i64[:,:]"};
    const kiln_kernel *kernel = compile(*state, "rows", types, 1, KILN_OPT_1);

    assert_int_equal(kiln_kernel_get_info(kernel)->inner_dimension, 0);
}

static void run_rows(kernels *k, uint32_t block0, uint32_t block1)
{
    static int64_t data[MOST];
    const kiln_array array = kernels_array2(data, 37, 23);
    const kernels_argument argument = {"i64[:,:]", &array};
    const kiln_launch launch = {{25, 41, 1}, {block0, block1, 1}, 0};

    memset(data, 0, sizeof data);
    assert_ok(kernels_launch(k, kernels_define(k, "inner", text), "rows",
                             kernels_config(k, NULL), &launch, &argument, 1,
                             &test_error));
    for (int64_t i = 0; i < 23; i++)
        for (int64_t j = 0; j < 37; j++)
            assert_int_equal(data[i * 37 + j], 1000 * i + j);
}

static void every_item_runs_once_in_any_block(void **state)
{
    run_rows(*state, 0, 0);
    run_rows(*state, 1, 1);
    run_rows(*state, 16, 16);
    run_rows(*state, 3, 5);
    run_rows(*state, 64, 1);
    run_rows(*state, 1, 64);
    run_rows(*state, 25, 41);
}

static void run_cube(kernels *k, uint32_t block)
{
    static int64_t data[5 * 6 * 70];
    const kiln_array array = {.data = data, .sizes = {70, 6, 5}};
    const kernels_argument argument = {"i64[:,:,:]", &array};
    const kiln_launch launch = {{5, 6, 70}, {block, block, block}, 0};

    memset(data, 0, sizeof data);
    assert_ok(kernels_launch(k, kernels_define(k, "inner", text), "cube",
                             kernels_config(k, NULL), &launch, &argument, 1,
                             &test_error));
    for (int64_t i = 0; i < 5 * 6 * 70; i++)
        assert_int_equal(data[i],
                         10000 * (i / 420) + 100 * (i / 70 % 6) + i % 70);
}

static void three_dimensions_may_be_turned(void **state)
{
    run_cube(*state, 0);
    run_cube(*state, 2);
    run_cube(*state, 4);
}

/* The group is one of those that were asked for, whatever ran. */
static void exceptions_name_the_group_that_was_asked_for(void **state)
{
    static int64_t data[MOST];
    kernels *k = *state;
    const kiln_array array = kernels_array2(data, 30, 20);
    const kernels_argument argument = {"i64[:,:]", &array};
    const kiln_launch launch = {{20, 32, 1}, {4, 8, 1}, 0};
    kiln_package *package =
        kernels_define(k, "outside",
                       "kernel rows(x: i64[:,:])\n"
                       "    x[global_id(1), global_id(0)] = 1\n"
                       "end\n");
    const kiln_exception *exception;

    assert_int_equal(kernels_launch(k, package, "rows", kernels_config(k, NULL),
                                    &launch, &argument, 1, &test_error),
                     KILN_EEXCEPTION);
    exception = kiln_error_exception(test_error);
    assert_non_null(exception);
    assert_in_range(exception->item[1], 30, 31);
    assert_int_equal(exception->group[0], exception->item[0] / 4);
    assert_int_equal(exception->group[1], exception->item[1] / 8);
    assert_int_equal(exception->group[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_one_along_memory),
        cmocka_unit_test(else_it_is_the_first),
        cmocka_unit_test(at_low_levels_nothing_is_changed),
        cmocka_unit_test(every_item_runs_once_in_any_block),
        cmocka_unit_test(three_dimensions_may_be_turned),
        cmocka_unit_test(exceptions_name_the_group_that_was_asked_for),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
