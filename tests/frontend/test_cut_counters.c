/* test_cut_counters.c - loops over items whose counters are cut to a few bits.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: frontend host */
#include "support/harness.h"

#include <stdio.h>

#include "support/devices/kernels.h"

#define ITEMS 96
#define GROUP 32
#define STRIDE_MAX 8

/* The processor decides how long vectors are, so this is about the one that
   runs the test. */
static void check(kernels *k, const char *cut, uint32_t mask, uint32_t stride,
                  uint8_t level)
{
    static uint32_t x[GROUP * (STRIDE_MAX + 1) + 256], y[ITEMS];
    const kiln_array arrays[] = {kernels_array(y, ITEMS),
                                 kernels_array(x, sizeof x / sizeof *x)};
    const kernels_argument arguments[] = {{"u32[:]", &arrays[0]},
                                          {"u32[:]", &arrays[1]},
                                          {"u64", &(uint64_t){stride}}};
    const kiln_launch launch = {.grid = {ITEMS}, .block = {GROUP}};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_package *package;
    char text[600];

    options.opt_level = level;
    for (uint32_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = i;
    snprintf(text, sizeof text,
             "kernel cut(y, x, stride)\n"
             "    g = u32(global_id(0))\n"
             "    l = u64(local_id(0))\n"
             "    y[i64(g)] = x[i64(l * stride + %s)]\n"
             "end\n",
             cut);
    package = kernels_define(k, "cut", text);
    assert_ok(kernels_launch(k, package, "cut", kernels_config(k, &options),
                             &launch, arguments, 3, &test_error));
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(y[i], i % GROUP * stride + (i % GROUP & mask));
}

static void elements_at_cut_counters_are_right(void **state)
{
    static const struct {
        const char *text;
        uint32_t mask;
    } cuts[] = {
        {"(l & u64(1))", 1},   {"(l & u64(3))", 3},
        {"(l & u64(7))", 7},   {"(l & u64(15))", 15},
        {"(l % u64(4))", 3},   {"(l << 62 >> 62)", 3},
        {"u64(u8(l) & 3)", 3}, {"u64(u8(l) << 6 >> 6)", 3},
    };

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        for (uint32_t stride = 1; stride <= STRIDE_MAX; stride *= 2)
            for (uint8_t level = KILN_OPT_1; level <= KILN_OPT_3; level++)
                check(*state, cuts[i].text, cuts[i].mask, stride, level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_at_cut_counters_are_right),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
