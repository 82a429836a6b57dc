/* test_device_overlap.c - arrays of a launch that lie on each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/devices/kernels.h"

/*
 * A device's kernel may have an entry for arrays that do not overlap, in which
 * loads are moved before stores. So one item does everything here, in order,
 * and what it reads depends on what it wrote before, as far as arrays overlap.
 */

#define COUNT 32
#define MOST (4 * COUNT + 8)

static const char text[] = //
    "struct Point\n"
    "    x: f32\n"
    "    y: f32\n"
    "    z: f32\n"
    "    w: f32\n"
    "end\n"
    "kernel follow(y: i32[:], x: i32[:], n: i64)\n"
    "    for k in 0..n\n"
    "        y[k] = x[k] + 1\n"
    "    end\n"
    "end\n"
    "kernel both(y: i32[:], z: i32[:], n: i64)\n"
    "    for k in 0..n\n"
    "        y[k] += 1\n"
    "        z[k] *= 2\n"
    "    end\n"
    "end\n"
    "kernel points(y: Vec{f32,4}[:], x: Point[:], n: i64)\n"
    "    for k in 0..n\n"
    "        p = x[k]\n"
    "        y[k] = Vec(p.w, p.z, p.y, p.x) + 1\n"
    "    end\n"
    "end\n";

static kiln_package *package;

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return -1;
    package = kernels_define(*state, "overlap", text);
    return package == NULL ? -1 : 0;
}

static void run(kernels *k, const char *function, const char *const types[2],
                kiln_array y, kiln_array x, int64_t n)
{
    const kernels_argument arguments[] = {
        {types[0], &y}, {types[1], &x}, {"i64", &n}};

    assert_ok(kernels_run(k, package, function, 1, arguments, 3, &test_error));
}

static void fill(int32_t *data)
{
    for (int32_t i = 0; i < MOST; i++)
        data[i] = i * 37 % 101;
}

/* Where y begins in the memory, and where x does. */
static const int places[][2] = {{0, 0},     {1, 0},         {0, 1},
                                {3, 0},     {0, 3},         {COUNT, 0},
                                {0, COUNT}, {COUNT - 1, 0}, {0, COUNT - 1}};

static const char *const numbers[2] = {"i32[:]", "i32[:]"};

static void loads_see_what_was_stored(void **state)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int32_t data[MOST], expected[MOST];
        const int y = places[i][0], x = places[i][1];

        fill(data);
        fill(expected);
        for (int at = 0; at < COUNT; at++)
            expected[y + at] = expected[x + at] + 1;
        run(*state, "follow", numbers, kernels_array(data + y, COUNT),
            kernels_array(data + x, COUNT), COUNT);
        assert_memory_equal(data, expected, sizeof data);
    }
}

static void two_written_arrays_may_overlap(void **state)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int32_t data[MOST], expected[MOST];
        const int y = places[i][0], z = places[i][1];

        fill(data);
        fill(expected);
        for (int at = 0; at < COUNT; at++) {
            expected[y + at] += 1;
            expected[z + at] *= 2;
        }
        run(*state, "both", numbers, kernels_array(data + y, COUNT),
            kernels_array(data + z, COUNT), COUNT);
        assert_memory_equal(data, expected, sizeof data);
    }
}

/* Elements are aligned as their parts are. */
static void elements_of_several_numbers_may_begin_anywhere(void **state)
{
    static const char *const types[2] = {"Vec{f32,4}[:]", "Point[:]"};
    const int n = COUNT / 2;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        float data[MOST], expected[MOST];
        const int y = places[i][0], x = places[i][1];

        for (int at = 0; at < MOST; at++)
            data[at] = expected[at] = (float)(at * 37 % 101);
        for (int at = 0; at < 4 * n; at += 4) {
            float p[4];

            memcpy(p, expected + x + at, sizeof p);
            for (int part = 0; part < 4; part++)
                expected[y + at + part] = p[3 - part] + 1;
        }
        run(*state, "points", types, kernels_array(data + y, n),
            kernels_array(data + x, n), n);
        assert_memory_equal(data, expected, sizeof data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_see_what_was_stored),
        cmocka_unit_test(two_written_arrays_may_overlap),
        cmocka_unit_test(elements_of_several_numbers_may_begin_anywhere),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
