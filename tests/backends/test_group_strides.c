/* test_group_strides.c - loops in which items take turns at elements. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/devices/kernels.h"

enum { MOST = 700 };

/* In the first kernels, a group may go through the loop together. In those
   after them, something is in the way. */
static const char text[] = "kernel sums(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0)\n"
                           "    sum = 0\n"
                           "    while i < length(x)\n"
                           "        sum = sum * 3 + x[i]\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "    y[global_id(0)] = sum + n\n"
                           "end\n"
                           "kernel copies(y: i64[:], x: i64[:], n)\n"
                           "    l = local_id(0)\n"
                           "    i = i64(wrap(i32, n)) + l\n"
                           "    before = i\n"
                           "    while length(x) > i\n"
                           "        if x[i] % 2 == 0\n"
                           "            y[i] += x[i] + i - before\n"
                           "        end\n"
                           "        i = local_size(0) + i\n"
                           "    end\n"
                           "end\n"
                           "kernel waits(y: i64[:], x: i64[:], n)\n"
                           "    local t = i64[700]\n"
                           "    for k in 0..3\n"
                           "        i = local_id(0)\n"
                           "        limit = min(n, 700)\n"
                           "        while i < limit\n"
                           "            t[i] = x[i] + k\n"
                           "            i += 64\n"
                           "        end\n"
                           "        barrier()\n"
                           "        j = local_id(0)\n"
                           "        while j < limit - 1\n"
                           "            if group_id(0) == 0\n"
                           "                y[j] += t[j + 1]\n"
                           "            end\n"
                           "            j += 64\n"
                           "        end\n"
                           "        barrier()\n"
                           "    end\n"
                           "end\n"
                           "kernel counts(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0)\n"
                           "    while i < length(x)\n"
                           "        atomic_add(y, x[i] % 16, n)\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "end\n"
                           "kernel used_later(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0)\n"
                           "    while i < length(x)\n"
                           "        y[i] = x[i] + n\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "    y[global_id(0)] += i\n"
                           "end\n"
                           "kernel goes_on(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0)\n"
                           "    for k in 0..2\n"
                           "        while i < length(x)\n"
                           "            y[i] += x[i] + n\n"
                           "            i += global_size(0)\n"
                           "        end\n"
                           "        i -= length(x)\n"
                           "    end\n"
                           "end\n"
                           "kernel limit_moves(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0)\n"
                           "    m = length(x)\n"
                           "    while i < m\n"
                           "        y[i] += x[i] + n\n"
                           "        m -= 1\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "end\n"
                           "kernel leaves(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0)\n"
                           "    while i < length(x)\n"
                           "        if x[i] % 7 == 3\n"
                           "            break\n"
                           "        end\n"
                           "        y[i] += x[i] + n\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "end\n"
                           "kernel start_moves(y: i64[:], x: i64[:], n)\n"
                           "    m = 0\n"
                           "    i = m + global_id(0)\n"
                           "    m = n\n"
                           "    while i < length(x)\n"
                           "        y[i] += x[i] + m\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "end\n"
                           "kernel wraps(y: i64[:], x: i64[:], n)\n"
                           "    i = global_id(0) + n\n"
                           "    while i < length(x)\n"
                           "        y[global_id(0)] += x[i]\n"
                           "        i += global_size(0)\n"
                           "    end\n"
                           "end\n";

static const char *const names[] = {"sums",    "copies",      "waits",
                                    "counts",  "used_later",  "start_moves",
                                    "goes_on", "limit_moves", "leaves"};

static int64_t x[MOST], y[MOST], expected[MOST];

static void run(kernels *k, const char *name, uint8_t level, int64_t n,
                const uint64_t shape[2])
{
    kiln_package *package = kernels_define(k, "strides", text);
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_array xs = kernels_array(x, n);
    const kiln_array ys = kernels_array(y, MOST);
    int64_t argument = n;
    const kernels_argument arguments[] = {
        {"i64[:]", &ys}, {"i64[:]", &xs}, {"i64", &argument}};
    const kiln_launch launch = {.grid = {shape[0], 1, 1},
                                .block = {(uint32_t)shape[1], 1, 1}};

    if (strcmp(name, "copies") == 0)
        argument = n / 3;
    options.opt_level = level;
    for (int64_t i = 0; i < MOST; i++) {
        x[i] = i * 17 % 101;
        y[i] = i;
    }
    assert_ok(kernels_launch(k, package, name, kernels_config(k, &options),
                             &launch, arguments, 3, &test_error));
}

/* Level 0 leaves loops as they are. */
static void items_that_take_turns_do_what_they_did(void **state)
{
    static const int64_t sizes[] = {0, 1, 5, 63, 64, 65, 300, MOST};
    static const uint64_t shapes[][2] = {{1, 1},    {64, 64},  {64, 16},
                                         {60, 16},  {128, 64}, {33, 33},
                                         {700, 64}, {192, 64}};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                if (strcmp(names[n], "copies") == 0 &&
                    shapes[i][0] != shapes[i][1])
                    continue; /* groups would race */
                if (strcmp(names[n], "waits") == 0 && shapes[i][1] != 64)
                    continue; /* it would read what no item wrote */
                run(*state, names[n], KILN_OPT_0, sizes[s], shapes[i]);
                memcpy(expected, y, sizeof y);
                run(*state, names[n], KILN_OPT_3, sizes[s], shapes[i]);
                if (memcmp(y, expected, sizeof y) != 0)
                    fail_msg("%s: %d elements, groups of %d of %d items",
                             names[n], (int)sizes[s], (int)shapes[i][1],
                             (int)shapes[i][0]);
            }
}

/* The third item begins with the least number, which is no index. */
static void where_an_id_wraps_around_neighbours_are_not_one_apart(void **state)
{
    static const uint8_t levels[] = {KILN_OPT_0, KILN_OPT_3};
    kiln_package *package = kernels_define(*state, "strides", text);
    const kiln_array xs = kernels_array(x, MOST), ys = kernels_array(y, MOST);
    const int64_t n = INT64_MAX - 1;
    const kernels_argument arguments[] = {
        {"i64[:]", &ys}, {"i64[:]", &xs}, {"i64", &n}};
    const kiln_launch launch = {.grid = {64, 1, 1}, .block = {64, 1, 1}};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

        options.opt_level = levels[i];
        assert_fails(KILN_EEXCEPTION, "index -9223372036854775808",
                     kernels_launch(*state, package, "wraps",
                                    kernels_config(*state, &options), &launch,
                                    arguments, 3, &test_error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_that_take_turns_do_what_they_did),
        cmocka_unit_test(where_an_id_wraps_around_neighbours_are_not_one_apart),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
