/* test_item_sums.c - sums of items that go through their loops together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/devices/kernels.h"

enum { LONG = 29, MOST = 41 };

/* Each item has a row of `a`. No numbers are multiplied, and rounding shows in
   which order they were added. */
static const char text[] =
    "kernel own(y: f32[:], z: f32[:], a: f32[:,:], x: f32[:])\n"
    "    i = global_id(0)\n"
    "    if i < length(y)\n"
    "        s = y[i]\n"
    "        for k in 0..length(x)\n"
    "            s += a[k, i] + x[k]\n"
    "        end\n"
    "        y[i] = s\n"
    "        z[i] = s\n"
    "    end\n"
    "end\n"
    "kernel memory(y: f32[:], z: f32[:], a: f32[:,:], x: f32[:])\n"
    "    i = global_id(0)\n"
    "    if i < length(y)\n"
    "        for k in 0..length(x)\n"
    "            y[i] += a[k, i] + x[k]\n"
    "        end\n"
    "        z[i] = y[i]\n"
    "    end\n"
    "end\n"
    "kernel both(y: f32[:], z: f32[:], a: f32[:,:], x: f32[:])\n"
    "    i = global_id(0)\n"
    "    if i < length(y)\n"
    "        z[i] = y[i]\n"
    "        for k in 0..length(x)\n"
    "            y[i] += a[k, i] + x[k]\n"
    "            z[i] += a[k, i] + x[k]\n"
    "        end\n"
    "    end\n"
    "end\n"
    /* An item reads again what it has written. */
    "kernel again(y: f32[:], z: f32[:], a: f32[:,:], x: f32[:])\n"
    "    i = global_id(0)\n"
    "    if i < length(y)\n"
    "        s = y[i]\n"
    "        for k in 0..length(x)\n"
    "            z[i] = s\n"
    "            a[k, i] += x[k]\n"
    "            s = z[i] + a[k, i]\n"
    "        end\n"
    "        y[i] = s\n"
    "        z[i] = s\n"
    "    end\n"
    "end\n"
    /* Loops that are not all of the same length. */
    "kernel stairs(y: f32[:], z: f32[:], a: f32[:,:], x: f32[:])\n"
    "    i = global_id(0)\n"
    "    if i < length(y)\n"
    "        s = y[i]\n"
    "        for k in 0..min(length(x), i)\n"
    "            s += a[k, i] + x[k]\n"
    "        end\n"
    "        y[i] = s\n"
    "        z[i] = s\n"
    "    end\n"
    "end\n";

static float y[MOST], z[MOST], a[MOST][LONG], x[LONG], wanted[MOST];

static void fill(int is_stairs)
{
    for (int k = 0; k < LONG; k++)
        x[k] = (float)(k * 37 % 11) * 1e-3f;
    for (int i = 0; i < MOST; i++) {
        float sum = (float)i * 0.7f;

        y[i] = sum;
        z[i] = 0;
        for (int k = 0; k < LONG; k++) {
            a[i][k] = (float)((i * 13 + k * 7) % 17 - 8) * 3.7e2f;
            if (!is_stairs || k < i) {
                const float both = a[i][k] + x[k];

                sum += both;
            }
        }
        wanted[i] = sum;
    }
}

static void check(kernels *k, const char *name, uint64_t items, uint32_t block)
{
    kiln_package *package = kernels_define(k, "sums", text);
    const kiln_array ys = kernels_array(y, (int64_t)items);
    const kiln_array zs = kernels_array(z, (int64_t)items);
    const kiln_array as = kernels_array2(a, LONG, MOST);
    const kiln_array xs = kernels_array(x, LONG);
    const kernels_argument arguments[] = {
        {"f32[:]", &ys}, {"f32[:]", &zs}, {"f32[:,:]", &as}, {"f32[:]", &xs}};
    const kiln_launch launch = {.grid = {48, 1, 1},
                                .block = {block, block > 0, block > 0}};

    if (!kernels_takes(&launch))
        return;
    fill(strcmp(name, "stairs") == 0);
    assert_ok(kernels_launch(k, package, name, k->config, &launch, arguments, 4,
                             &test_error));
    assert_memory_equal(y, wanted, items * sizeof *y);
    assert_memory_equal(z, wanted, items * sizeof *z);
    for (uint64_t i = items; i < MOST; i++)
        assert_true(z[i] == 0);
}

static void sums_keep_their_order(void **state)
{
    static const char *const names[] = {"own", "memory", "both", "again",
                                        "stairs"};
    static const uint32_t blocks[] = {0, 1, 6, 16, 48};
    static const uint64_t items[] = {1, 7, 8, 9, 23, 24, MOST};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < sizeof items / sizeof *items; i++)
            for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
                check(*state, names[n], items[i], blocks[b]);
}

static void loops_of_no_turns_add_nothing(void **state)
{
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "sums", text);
    const kiln_array ys = kernels_array(y, MOST);
    const kiln_array zs = kernels_array(z, MOST);
    const kiln_array as = kernels_array2(a, LONG, MOST);
    const kiln_array xs = kernels_array(x, 0);
    const kernels_argument arguments[] = {
        {"f32[:]", &ys}, {"f32[:]", &zs}, {"f32[:,:]", &as}, {"f32[:]", &xs}};

    fill(0);
    memcpy(wanted, y, sizeof y);
    assert_ok(kernels_run(k, package, "own", MOST, arguments, 4, &test_error));
    assert_memory_equal(y, wanted, sizeof y);
    assert_memory_equal(z, wanted, sizeof z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_keep_their_order),
        cmocka_unit_test(loops_of_no_turns_add_nothing),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
