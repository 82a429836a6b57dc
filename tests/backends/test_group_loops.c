/* test_group_loops.c - loops that are done once for a group, and guards. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/devices/kernels.h"

enum { WIDE = 37, HIGH = 19, DEEP = 23 };

static const char text[] =
    "fn twice(x) = x + x\n"
    "kernel product(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    if i < size(c, 0) && j < size(c, 1)\n"
    "        s: f32 = c[i, j]\n"
    "        for k in 0..size(a, 1)\n"
    "            s += a[i, k] * b[k, j]\n"
    "        end\n"
    "        c[i, j] = twice(s)\n"
    "    end\n"
    "end\n"
    "kernel nested(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    if i < size(c, 0)\n"
    "        j = global_id(1)\n"
    "        if j < size(c, 1)\n"
    "            s = c[i, j]\n"
    "            for k in 0..size(a, 1)\n"
    "                s += a[i, k] * b[k, j]\n"
    "            end\n"
    "            c[i, j] = s\n"
    "            for k in 0..size(a, 1)\n"
    "                c[i, j] += a[i, k] * 0\n"
    "            end\n"
    "            c[i, j] = twice(c[i, j])\n"
    "        end\n"
    "    end\n"
    "end\n"
    "kernel exits(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    if i >= size(c, 0)\n"
    "        return\n"
    "    end\n"
    "    j = global_id(1)\n"
    "    if j >= size(c, 1)\n"
    "        return\n"
    "    end\n"
    "    s = c[i, j]\n"
    "    for k in 0..size(a, 1)\n"
    "        s += a[i, k] * b[k, j]\n"
    "    end\n"
    "    c[i, j] = twice(s)\n"
    "end\n"
    "kernel nest(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    if i < size(c, 0) && j < size(c, 1)\n"
    "        s: f32 = c[i, j]\n"
    "        for first in 0..size(a, 1) by 4\n"
    "            t: f32 = 0\n"
    "            for k in first..min(first + 4, size(a, 1))\n"
    "                t += a[i, k] * b[k, j]\n"
    "            end\n"
    "            if t != 0\n"
    "                s += t\n"
    "            end\n"
    "        end\n"
    "        c[i, j] = twice(s)\n"
    "    end\n"
    "end\n"
    /* Places that are read, in a column that is the same for all. */
    "kernel gathered(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    if i < size(c, 0) && j < size(c, 1)\n"
    "        s: f32 = c[i, j]\n"
    "        for k in 0..size(a, 1)\n"
    "            x = a[i, k]\n"
    "            at = i64(x) + 2\n"
    "            y = a[at, 0] * 0 + x\n"
    "            if y == x\n"
    "                s += y * b[k, j]\n"
    "            end\n"
    "        end\n"
    "        c[i, j] = twice(s)\n"
    "    end\n"
    "end\n"
    /* The loop's bounds are only set for items that the guard lets through. */
    "kernel inside(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    if i < size(c, 0)\n"
    "        n = size(a, 1)\n"
    "        j = global_id(1)\n"
    "        if j < size(c, 1)\n"
    "            m = n - 1\n"
    "            s = c[i, j]\n"
    "            for k in 0..m\n"
    "                s += a[i, k] * b[k, j]\n"
    "            end\n"
    "            s += a[i, m] * b[m, j]\n"
    "            c[i, j] = twice(s)\n"
    "        end\n"
    "    end\n"
    "end\n"
    "kernel behind(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    if i >= size(c, 0)\n"
    "        return\n"
    "    end\n"
    "    n = size(a, 1)\n"
    "    j = global_id(1)\n"
    "    if j >= size(c, 1)\n"
    "        return\n"
    "    end\n"
    "    s = c[i, j]\n"
    "    for k in 0..n\n"
    "        s += a[i, k] * b[k, j]\n"
    "    end\n"
    "    c[i, j] = twice(s)\n"
    "end\n"
    /* One that is set twice, and one whose value is not the group's. */
    "kernel changes(c: f32[:,:], a: f32[:,:], b: f32[:,:])\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    if i < size(c, 0) && j < size(c, 1)\n"
    "        n = 0\n"
    "        n = size(a, 1)\n"
    "        m = i - i + n\n"
    "        s = c[i, j]\n"
    "        for k in 0..min(n, m)\n"
    "            s += a[i, k] * b[k, j]\n"
    "        end\n"
    "        c[i, j] = twice(s)\n"
    "    end\n"
    "end\n";

static float c[HIGH][WIDE], a[DEEP][WIDE], b[HIGH][DEEP], expected[HIGH][WIDE];

static void fill(void)
{
    for (int j = 0; j < HIGH; j++)
        for (int i = 0; i < WIDE; i++)
            c[j][i] = (float)(i - j);
    for (int k = 0; k < DEEP; k++)
        for (int i = 0; i < WIDE; i++)
            a[k][i] = (float)(i * 7 % 5 - k % 3);
    for (int j = 0; j < HIGH; j++)
        for (int k = 0; k < DEEP; k++)
            b[j][k] = (float)(j % 4 - k * 5 % 7);
    for (int j = 0; j < HIGH; j++)
        for (int i = 0; i < WIDE; i++) {
            float sum = c[j][i];

            for (int k = 0; k < DEEP; k++)
                sum += a[k][i] * b[j][k];
            expected[j][i] = sum + sum;
        }
}

/* All numbers are small integers: no order of the sums matters. */
static void check(kernels *k, const char *name, uint64_t x, uint64_t y,
                  uint32_t block)
{
    kiln_package *package = kernels_define(k, "loops", text);
    const kiln_array cs = kernels_array2(c, WIDE, HIGH);
    const kiln_array as = kernels_array2(a, WIDE, DEEP);
    const kiln_array bs = kernels_array2(b, DEEP, HIGH);
    const kernels_argument arguments[] = {
        {"f32[:,:]", &cs}, {"f32[:,:]", &as}, {"f32[:,:]", &bs}};
    const kiln_launch launch = {.grid = {x, y, 1},
                                .block = {block, block ? 3 : 0, block ? 1 : 0}};

    if (!kernels_takes(&launch))
        return;
    fill();
    assert_ok(kernels_launch(k, package, name, k->config, &launch, arguments, 3,
                             &test_error));
    assert_memory_equal(c, expected, sizeof c);
}

static void loops_under_guards_do_what_the_items_do(void **state)
{
    static const char *const names[] = {"product", "nested", "exits",  "nest",
                                        "inside",  "behind", "changes"};
    static const uint32_t blocks[] = {0, 1, 5, 16, 64};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < 5; i++) {
            check(*state, names[n], WIDE, HIGH, blocks[i]);
            check(*state, names[n], 64, 32, blocks[i]);
        }
}

/* What a bound is computed from is set in the same guard, or behind the same
   exit, in several steps. */
static const char steps[] =
    "kernel guarded(y: f32[:], x: f32[:,:], q)\n"
    "    i = global_id(0)\n"
    "    if q > 0\n"
    "        m = 0\n"
    "        for t in 0..q\n"
    "            m += t\n"
    "        end\n"
    "        k = m + 1\n"
    "        if i < length(y)\n"
    "            s = y[i]\n"
    "            for j in 0..k\n"
    "                s += x[i, j]\n"
    "            end\n"
    "            y[i] = s\n"
    "        end\n"
    "    end\n"
    "end\n"
    "kernel leaves(y: f32[:], x: f32[:,:], q)\n"
    "    i = global_id(0)\n"
    "    if q < 1\n"
    "        return\n"
    "    end\n"
    "    m = 0\n"
    "    for t in 0..q\n"
    "        m += t\n"
    "    end\n"
    "    k = m + 1\n"
    "    if i < length(y)\n"
    "        s = y[i]\n"
    "        for j in 0..k\n"
    "            s += x[i, j]\n"
    "        end\n"
    "        y[i] = s\n"
    "    end\n"
    "end\n"
    "kernel parts(y: f32[:], x: f32[:,:], q)\n"
    "    i = global_id(0)\n"
    "    m = 0\n"
    "    while q > 0\n"
    "        if q > 1\n"
    "            m += q - 1\n"
    "        end\n"
    "        q -= 1\n"
    "        if i < length(y) && q == 0\n"
    "            k = m + 1\n"
    "            for j in 0..k\n"
    "                y[i] += x[i, j]\n"
    "            end\n"
    "        end\n"
    "    end\n"
    "end\n"
    /* A parameter that is set has not its value of the beginning. */
    "kernel parameter(y: f32[:], x: f32[:,:], q)\n"
    "    i = global_id(0)\n"
    "    if length(y) > 0\n"
    "        q += 3\n"
    "        k = q\n"
    "        if i < length(y)\n"
    "            for j in 0..k\n"
    "                y[i] += x[i, j]\n"
    "            end\n"
    "        end\n"
    "    end\n"
    "end\n";

static void bounds_that_are_made_in_steps_are_read_behind_them(void **state)
{
    static const char *const names[] = {"guarded", "leaves", "parts",
                                        "parameter"};
    static float out[HIGH], in[WIDE][HIGH];
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "steps", steps);
    const kiln_array outs = kernels_array(out, HIGH);
    const kiln_array ins = kernels_array2(in, HIGH, WIDE);
    const int64_t turns = 4; /* 0 + 1 + 2 + 3 and 1 more; or 3 more than 4 */
    const kernels_argument arguments[] = {
        {"f32[:]", &outs}, {"f32[:,:]", &ins}, {"i64", &turns}};

    for (int j = 0; j < WIDE; j++)
        for (int i = 0; i < HIGH; i++)
            in[j][i] = 1;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        memset(out, 0, sizeof out);
        assert_ok(
            kernels_run(k, package, names[n], 32, arguments, 3, &test_error));
        for (int i = 0; i < HIGH; i++)
            assert_true(out[i] == 7);
    }
}

/* Sums along rows and along columns, in one loop. Some share a local. */
static const char two_ways[] =
    "kernel sums(o: f32[:,:], a: f32[:,:], n)\n"
    "    i = global_id(0)\n"
    "    if i < size(a, 0)\n"
    "        row: f32 = f32(i)\n"
    "        column: f32 = 1\n"
    "        least: f32 = 9\n"
    "        last: f32 = 0\n"
    "        for k in 0..n\n"
    "            row += a[k, i] * 2\n"
    "            x = a[i, k]\n"
    "            column += x * 3\n"
    "            least = min(least, a[k, i] + f32(k))\n"
    "            last = column - x\n"
    "        end\n"
    "        o[i, 0] = row\n"
    "        o[i, 1] = column\n"
    "        o[i, 2] = least\n"
    "        o[i, 3] = last\n"
    "    end\n"
    "end\n";

static float in_item[DEEP][DEEP];

static void sum_two_ways(float out[4][DEEP], int n)
{
    for (int i = 0; i < DEEP; i++) {
        out[0][i] = (float)i;
        out[1][i] = 1;
        out[2][i] = 9;
        out[3][i] = 0;
        for (int k = 0; k < n; k++) {
            const float next = in_item[i][k] + (float)k;

            out[0][i] += in_item[i][k] * 2;
            out[1][i] += in_item[k][i] * 3;
            out[2][i] = next < out[2][i] ? next : out[2][i];
            out[3][i] = out[1][i] - in_item[k][i];
        }
    }
}

static void sums_along_rows_and_columns_are_taken_apart(void **state)
{
    static const int64_t lengths[] = {0, 1, 17, DEEP};
    static float out[4][DEEP], wanted[4][DEEP];
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "sums", two_ways);
    const kiln_array outs = kernels_array2(out, DEEP, 4);
    const kiln_array ins = kernels_array2(in_item, DEEP, DEEP);
    const kiln_launch launch = {.grid = {64, 1, 1}, .block = {16, 1, 1}};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.bounds_checks = KILN_SWITCH_OFF;
    for (int i = 0; i < DEEP; i++)
        for (int j = 0; j < DEEP; j++)
            in_item[i][j] = (float)(i * 7 % 5 - j % 3);
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        const kernels_argument arguments[] = {
            {"f32[:,:]", &outs}, {"f32[:,:]", &ins}, {"i64", &lengths[n]}};

        sum_two_ways(wanted, (int)lengths[n]);
        assert_ok(kernels_launch(k, package, "sums",
                                 kernels_config(k, &options), &launch,
                                 arguments, 3, &test_error));
        assert_memory_equal(out, wanted, sizeof out);
    }
}

static void loops_of_no_turns_do_nothing(void **state)
{
    kernels *k = *state;
    float out[5] = {1, 2, 3, 4, 5};
    const kiln_array outs = kernels_array(out, 5);
    const int64_t turns = 0;
    const kernels_argument arguments[] = {{"f32[:]", &outs}, {"i64", &turns}};
    kiln_package *package = kernels_define(k, "none",
                                           "kernel k(x: f32[:], n)\n"
                                           "    i = global_id(0)\n"
                                           "    if i < length(x)\n"
                                           "        s = x[i]\n"
                                           "        for k in 0..n\n"
                                           "            s += x[i]\n"
                                           "        end\n"
                                           "        x[i] = s + 1\n"
                                           "    end\n"
                                           "end\n");

    assert_ok(kernels_run(k, package, "k", 9, arguments, 2, &test_error));
    for (int i = 0; i < 5; i++)
        assert_true(out[i] == (float)(i + 2));
}

static void an_index_out_of_bounds_in_such_a_loop_is_found(void **state)
{
    kernels *k = *state;
    float x[8] = {0};
    const kiln_array xs = kernels_array(x, 8);
    const int64_t turns = 20;
    const kernels_argument arguments[] = {{"f32[:]", &xs}, {"i64", &turns}};
    kiln_error *error = NULL;
    kiln_package *package = kernels_define(k, "beyond",
                                           "kernel k(x: f32[:], n)\n"
                                           "    i = global_id(0)\n"
                                           "    if i < length(x)\n"
                                           "        s: f32 = 0\n"
                                           "        for k in 0..n\n"
                                           "            s += x[i + k]\n"
                                           "        end\n"
                                           "        x[i] = s\n"
                                           "    end\n"
                                           "end\n");

    assert_status(KILN_EEXCEPTION,
                  kernels_run(k, package, "k", 8, arguments, 2, &error));
    assert_non_null(strstr(kiln_error_message(error), "8"));
    kiln_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_under_guards_do_what_the_items_do),
        cmocka_unit_test(bounds_that_are_made_in_steps_are_read_behind_them),
        cmocka_unit_test(sums_along_rows_and_columns_are_taken_apart),
        cmocka_unit_test(loops_of_no_turns_do_nothing),
        cmocka_unit_test(an_index_out_of_bounds_in_such_a_loop_is_found),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
