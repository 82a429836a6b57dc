/* test_cut_grids.c - grids that their groups do not divide. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

/* An item outside the grid would be counted, even if it stored nothing. */
static const char text[] =
    "kernel fill(out: i64[:,:,:], count: i32[:])\n"
    "    x = global_id(0)\n"
    "    y = global_id(1)\n"
    "    z = global_id(2)\n"
    "    all = global_size(0) + 200 * (global_size(1) + 200 * global_size(2))\n"
    "    out[x, y, z] = x + 200 * (y + 200 * z) + 10000000 * all\n"
    "    atomic_add(count, 0, 1)\n"
    "end\n"
    "fn factorial(n) = n < 2 ? 1 : n * factorial(n - 1)\n"
    "kernel called(out: i64[:], n: i64)\n"
    "    out[global_id(0)] = factorial(n) + global_size(0)\n"
    "end\n"
    "kernel line(out: i32[:], groups: i64[:])\n"
    "    i = global_id(0)\n"
    "    out[i] = i32(i % 251)\n"
    "    if i == 0\n"
    "        groups[0] = group_count(0)\n"
    "    end\n"
    "end\n"
    "kernel counted(count: i32[:])\n"
    "    atomic_add(count, 0, 1)\n"
    "end\n"
    "kernel failing(at: i64, x: f32[:])\n"
    "    assert(global_id(0) != at, \"it is here\")\n"
    "    x[global_id(0)] = 1\n"
    "end\n"
    "kernel allocated(out: i64[:])\n"
    "    a = allocate(i64, 4)\n"
    "    a[1] = global_id(0)\n"
    "    out[global_id(0)] = a[1] + 5\n"
    "    free(a)\n"
    "end\n"
    "kernel waits(out: i32[:])\n"
    "    barrier()\n"
    "    out[global_id(0)] = 3\n"
    "end\n"
    "kernel sums(out: i32[:])\n"
    "    out[global_id(0)] = group_add(i32(1))\n"
    "end\n"
    "kernel shares(out: i32[:])\n"
    "    local s = i32[256]\n"
    "    s[local_id(0)] = 3\n"
    "    out[global_id(0)] = s[local_id(0)]\n"
    "end\n"
    "kernel strides(out: i64[:])\n"
    "    out[global_id(0)] = local_size(0)\n"
    "end\n"
    "kernel ranks(out: i64[:])\n"
    "    out[global_id(0)] = group_rank()\n"
    "end\n";

#define GUARD 64
#define MOST 8000

static kiln_status launch(kernels *k, const char *kernel,
                          const kiln_config *config, const kiln_launch *how,
                          const kernels_argument *arguments, size_t count)
{
    return kernels_launch(k, kernels_define(k, "cut", text), kernel, config,
                          how, arguments, count, &test_error);
}

/* ---- random grids ---- */

static uint32_t seed = 17;

static uint32_t below(uint32_t end)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % end;
}

static void check_filled(const int64_t *out, const kiln_launch *how)
{
    const uint64_t *grid = how->grid;
    const int64_t all =
        (int64_t)(grid[0] + 200 * (grid[1] + 200 * grid[2])) * 10000000;
    size_t at = 0;

    for (uint64_t z = 0; z < grid[2]; z++)
        for (uint64_t y = 0; y < grid[1]; y++)
            for (uint64_t x = 0; x < grid[0]; x++, at++)
                if (out[at] != (int64_t)(x + 200 * (y + 200 * z)) + all)
                    fail_msg("grid %u,%u,%u, block %u,%u,%u, item %u,%u,%u",
                             (unsigned)grid[0], (unsigned)grid[1],
                             (unsigned)grid[2], how->block[0], how->block[1],
                             how->block[2], (unsigned)x, (unsigned)y,
                             (unsigned)z);
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(out[at + i], -1);
}

static void fill(kernels *k, const kiln_config *config, const kiln_launch *how)
{
    static int64_t out[MOST + GUARD];
    int32_t count = 0;
    const kiln_array outs = {.data = out,
                             .sizes = {(int64_t)how->grid[0],
                                       (int64_t)how->grid[1],
                                       (int64_t)how->grid[2]}};
    const kiln_array counts = kernels_array(&count, 1);
    const kernels_argument arguments[] = {{"i64[:,:,:]", &outs},
                                          {"i32[:]", &counts}};

    memset(out, 0xff, sizeof out);
    assert_ok(launch(k, "fill", config, how, arguments, 2));
    check_filled(out, how);
    assert_int_equal(count, how->grid[0] * how->grid[1] * how->grid[2]);
}

static void choose(kiln_launch *how)
{
    const uint32_t x = 1 + below(3), y = 1 + below(3);

    *how = (kiln_launch){
        .grid = {1 + below(x == 1 ? 130 : 20), 1 + below(20), 1 + below(19)},
        .block = {1 + below(40), y == 1 ? 1 : 1 + below(6),
                  x == 1 ? 1 : 1 + below(4)}};
    if (how->grid[0] > 20)
        how->grid[2] = 1 + below(3);
    if (below(4) == 0)
        memset(how->block, 0, sizeof how->block);
}

/* PoCL compiles a kernel for each group that it is launched with. */
static int launch_count(void)
{
    return strncmp(kernels_backend(), "spirv", 5) == 0 ? 12 : 60;
}

static void random_blocks_run_each_item_once(void **state)
{
    const struct {
        uint8_t level, bounds, debug;
    } ways[] = {{KILN_OPT_3, KILN_SWITCH_ON, 0},
                {KILN_OPT_0, KILN_SWITCH_ON, 0},
                {KILN_OPT_1, KILN_SWITCH_OFF, 0},
                {KILN_OPT_3, KILN_SWITCH_OFF, 0},
                {KILN_OPT_2, KILN_SWITCH_ON, KILN_DEBUG_FULL}};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
        const kiln_config *config;

        options.opt_level = ways[i].level;
        options.bounds_checks = ways[i].bounds;
        options.debug_level = ways[i].debug;
        config = kernels_config(*state, &options);
        for (int n = 0; n < launch_count(); n++) {
            kiln_launch how;

            choose(&how);
            fill(*state, config, &how);
        }
    }
}

static void a_required_group_may_cut_the_grid(void **state)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.required_group_size[0] = 16;
    options.required_group_size[1] = 4;
    fill(*state, kernels_config(*state, &options),
         &(kiln_launch){.grid = {37, 11, 3}});
}

static void groups_have_at_most_the_items_of_the_setting(void **state)
{
    kernels *k = *state;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    int32_t count = 0;
    const kiln_array counts = kernels_array(&count, 1);
    const kernels_argument arguments[] = {{"i32[:]", &counts}};
    const kiln_launch large = {.grid = {128}, .block = {65}};

    options.maximum_group_size = 64;
    options.minimum_groups = 2;
    options.maximum_registers = 24;
    options.unroll = KILN_UNROLL_OFF;
    config = kernels_config(k, &options);
    assert_fails(KILN_EINVAL, "a group of this kernel has at most 64",
                 launch(k, "counted", config, &large, arguments, 1));
    assert_int_equal(count, 0);
    fill(k, config, &(kiln_launch){.grid = {97, 1, 1}});
    fill(k, config, &(kiln_launch){.grid = {97, 7, 1}});
}

/* ---- what kernels may do ---- */

static void functions_that_are_called_know_the_grid(void **state)
{
    kernels *k = *state;
    int64_t out[77], n = 5;
    const kiln_array outs = kernels_array(out, 77);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64", &n}};

    if (!kernels_has(k, "recursion"))
        return;
    assert_ok(launch(k, "called", k->config,
                     &(kiln_launch){.grid = {77}, .block = {32}}, arguments,
                     2));
    for (int i = 0; i < 77; i++)
        assert_int_equal(out[i], 120 + 77);
}

static void a_kernel_without_arrays_of_the_grid_is_cut(void **state)
{
    kernels *k = *state;
    int32_t count = 0;
    const kiln_array counts = kernels_array(&count, 1);
    const kernels_argument arguments[] = {{"i32[:]", &counts}};
    const kiln_launch how = {.grid = {100, 3}, .block = {64, 2}};

    assert_ok(launch(k, "counted", k->config, &how, arguments, 1));
    assert_int_equal(count, 300);
}

static void the_heap_serves_the_items_of_the_grid(void **state)
{
    kernels *k = *state;
    int64_t out[45];
    const kiln_array outs = kernels_array(out, 45);
    const kernels_argument arguments[] = {{"i64[:]", &outs}};

    assert_ok(launch(k, "allocated", k->config,
                     &(kiln_launch){.grid = {45}, .block = {32}}, arguments,
                     1));
    for (int i = 0; i < 45; i++)
        assert_int_equal(out[i], i + 5);
}

static kiln_status fail_at(kernels *k, int64_t at, float x[70])
{
    const kiln_array xs = kernels_array(x, 70);
    const kernels_argument arguments[] = {{"i64", &at}, {"f32[:]", &xs}};

    return launch(k, "failing", k->config,
                  &(kiln_launch){.grid = {70}, .block = {64}}, arguments, 2);
}

static void an_exception_of_the_last_group_names_its_item(void **state)
{
    float x[70] = {0};

    assert_int_equal(fail_at(*state, 69, x), KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(test_error)->item[0], 69);
    kiln_error_free(test_error);
    test_error = NULL;
    assert_ok(fail_at(*state, 70, x));
    assert_ok(fail_at(*state, 127, x));
    for (int i = 0; i < 70; i++)
        assert_true(x[i] == 1);
}

/* ---- what they may not ---- */

static void kernels_whose_items_work_together_need_whole_groups(void **state)
{
    static const char *const names[] = {"waits",   "sums",  "shares",
                                        "strides", "ranks", NULL};
    kernels *k = *state;
    int64_t out[100] = {0};
    const kiln_array outs = kernels_array(out, 100);
    const kiln_launch cut = {.grid = {100}, .block = {64}};
    const kiln_launch whole = {.grid = {96}, .block = {32}};
    const int is_host = strcmp(kernels_backend(), "host") == 0;

    for (size_t i = 0; names[i] != NULL; i++) {
        const kernels_argument arguments[] = {
            {i < 3 ? "i32[:]" : "i64[:]", &outs}};

        if (i == 1 && !kernels_has(k, "subgroups"))
            continue;
        assert_ok(launch(k, names[i], k->config, &whole, arguments, 1));
        assert_ok(launch(k, names[i], k->config, &(kiln_launch){.grid = {97}},
                         arguments, 1));
        if (is_host)
            assert_ok(launch(k, names[i], k->config, &cut, arguments, 1));
        else
            assert_fails(KILN_EINVAL,
                         "is no whole number of groups of 64,1,1, which this "
                         "kernel's code for the device needs; without a block, "
                         "groups that divide the grid are chosen",
                         launch(k, names[i], k->config, &cut, arguments, 1));
    }
}

/* ---- without a block ---- */

static void a_prime_grid_has_groups_of_a_good_size(void **state)
{
    enum { ITEMS = 100003 };
    kernels *k = *state;
    int32_t *out = malloc(ITEMS * sizeof *out);
    int64_t groups = 0;
    const kiln_array outs = kernels_array(out, ITEMS),
                     counts = kernels_array(&groups, 1);
    const kernels_argument arguments[] = {{"i32[:]", &outs},
                                          {"i64[:]", &counts}};

    assert_non_null(out);
    assert_ok(launch(k, "line", k->config, &(kiln_launch){.grid = {ITEMS}},
                     arguments, 2));
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(out[i], i % 251);
    if (strcmp(kernels_backend(), "host") != 0)
        assert_int_equal(groups, (ITEMS + 255) / 256);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks_run_each_item_once),
        cmocka_unit_test(a_required_group_may_cut_the_grid),
        cmocka_unit_test(groups_have_at_most_the_items_of_the_setting),
        cmocka_unit_test(functions_that_are_called_know_the_grid),
        cmocka_unit_test(a_kernel_without_arrays_of_the_grid_is_cut),
        cmocka_unit_test(the_heap_serves_the_items_of_the_grid),
        cmocka_unit_test(an_exception_of_the_last_group_names_its_item),
        cmocka_unit_test(kernels_whose_items_work_together_need_whole_groups),
        cmocka_unit_test(a_prime_grid_has_groups_of_a_good_size),
    };

    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests_name("cut_grids", tests, kernels_setup,
                                       kernels_teardown);
}
