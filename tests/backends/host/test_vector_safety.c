/* test_vector_safety.c - loops of which LLVM's vectoriser would make wrong
 * code.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/devices/kernels.h"

enum { ITEMS = 64, ELEMENTS = 256 };

static const uint8_t levels[] = {KILN_OPT_2, KILN_OPT_3};
#define LEVELS (sizeof levels / sizeof *levels)

static const kiln_config *config_of(kernels *k, uint8_t level, uint8_t bounds)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.opt_level = level;
    options.bounds_checks = bounds;
    return kernels_config(k, &options);
}

static int64_t x[ELEMENTS], y[ELEMENTS], expected[ELEMENTS];

static void run(kernels *k, const char *text, const kiln_config *config,
                int64_t number)
{
    const kiln_array xs = kernels_array(x, ELEMENTS);
    const kiln_array ys = kernels_array(y, ELEMENTS);
    const kernels_argument arguments[] = {
        {"i64[:]", &ys}, {"i64[:]", &xs}, {"i64", &number}};
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}, .block = {16, 1, 1}};

    for (int64_t i = 0; i < ELEMENTS; i++) {
        x[i] = i * 37 % 101;
        y[i] = i;
    }
    assert_ok(kernels_launch(k, kernels_define(k, "safety", text), "k", config,
                             &launch, arguments, 3, &test_error));
}

/* A kernel does the same with and without optimisation. */
static void stays(kernels *k, const char *text)
{
    static const int64_t numbers[] = {1, 3, 7, 50};

    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        run(k, text, config_of(k, KILN_OPT_0, KILN_SWITCH_ON), numbers[n]);
        memcpy(expected, y, sizeof y);
        for (size_t i = 0; i < 2 * LEVELS; i++) {
            run(k, text,
                config_of(k, levels[i / 2],
                          i % 2 ? KILN_SWITCH_ON : KILN_SWITCH_OFF),
                numbers[n]);
            if (memcmp(y, expected, sizeof y) != 0)
                fail_msg("with %d:\n%s", (int)numbers[n], text);
        }
    }
}

/* ---- divisions ---- */

#define DIVIDING(quotient) \
    "kernel k(y, x, m)\n" \
    "    i = global_id(0)\n" \
    "    if x[i] > 50\n" \
    "        y[i] = x[" quotient "]\n" \
    "    end\n" \
    "end\n"

/* Where the first item of a vector does not divide, others do. */
static void quotients_that_items_share_are_theirs(void **state)
{
    stays(*state, DIVIDING("100 // max(m, 1)"));
    stays(*state, DIVIDING("100 % max(m, 1)"));
    stays(*state, DIVIDING("100 // ((m & 7) + 1)"));
    stays(*state, DIVIDING("length(x) // max(m, 2)"));
    stays(*state, DIVIDING("i + 100 // max(m, 1)"));
    stays(*state, DIVIDING("200 // (1 + 100 // max(m, 1))"));
}

/* ---- every other element ---- */

static void what_an_item_does_keeps_its_order(void **state)
{
    stays(*state, "kernel k(y, x, m)\n"
                  "    i = global_id(0)\n"
                  "    v = y[2 * i + 1]\n"
                  "    y[2 * i + (i & 1)] += 100\n"
                  "    y[2 * i] += v\n"
                  "end\n");
    stays(*state, "kernel k(y, x, m)\n"
                  "    i = global_id(0)\n"
                  "    y[2 * i] = x[i]\n"
                  "    t = y[2 * i + (i & 1)]\n"
                  "    y[2 * i + 1] = t + 1000\n"
                  "end\n");
}

/* Arrays may be the same. */
static void stores_between_loads_may_be_to_what_is_loaded(void **state)
{
    static const char text[] = "kernel k(y, x)\n"
                               "    i = global_id(0)\n"
                               "    re = x[2 * i]\n"
                               "    y[2 * i + 1] = re\n"
                               "    y[2 * i] = x[2 * i + 1]\n"
                               "end\n";
    const kiln_array xs = kernels_array(x, ELEMENTS);
    const kernels_argument arguments[] = {{"i64[:]", &xs}, {"i64[:]", &xs}};
    kiln_package *package = kernels_define(*state, "safety", text);
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}};

    for (size_t level = 0; level < LEVELS; level++) {
        for (int64_t i = 0; i < ELEMENTS; i++)
            x[i] = i;
        assert_ok(
            kernels_launch(*state, package, "k",
                           config_of(*state, levels[level], KILN_SWITCH_ON),
                           &launch, arguments, 2, &test_error));
        for (int64_t i = 0; i < 2 * ITEMS; i++)
            assert_int_equal(x[i], i & ~(int64_t)1);
    }
}

/* ---- the last element ---- */

#define TURNS 33 /* the last one is at element 64 */

static void sum_up_to_the_end(kernels *k, const kiln_config *config, char *end,
                              int64_t size)
{
    static const char text[] = "kernel k(y, x)\n"
                               "    s = i8(0)\n"
                               "    for i in 0..65 by 2\n"
                               "        s += x[i]\n"
                               "    end\n"
                               "    y[global_id(0)] = s\n"
                               "end\n";
    static int8_t sums[ITEMS];
    const kiln_array ys = kernels_array(sums, ITEMS);
    const kiln_array xs = kernels_array(end - size, size);
    const kernels_argument arguments[] = {{"i8[:]", &ys}, {"i8[:]", &xs}};
    const kiln_launch launch = {.grid = {1, 1, 1}};

    assert_status(size > 2 * (TURNS - 1) ? KILN_OK : KILN_EEXCEPTION,
                  kernels_launch(k, kernels_define(k, "safety", text), "k",
                                 config, &launch, arguments, 2, &test_error));
    kiln_error_free(test_error);
    test_error = NULL;
}

/* An item that is about to raise reads nothing behind the array. */
static void nothing_is_read_behind_the_end(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (size_t level = 0; level < LEVELS; level++)
        for (int64_t size = 1; size <= 200; size++)
            sum_up_to_the_end(*state,
                              config_of(*state, levels[level], KILN_SWITCH_ON),
                              pages + page, size);
    munmap(pages, 2 * page);
}

/* LLVM knows that numbers of 32 bits are two apart once it has asked, at run
   time, that they do not wrap around. */
static void numbers_that_might_wrap_keep_their_order(void **state)
{
    static const char text[] = "kernel k(p, v, n, s)\n"
                               "    i = i32(global_id(0))\n"
                               "    j = n - 1 - i\n"
                               "    a = p[j * 2]\n"
                               "    p[j * s + 1] = v[j]\n"
                               "    p[j * s] = p[j * 2 + 1] + a\n"
                               "end\n";
    static float p[2 * ITEMS], v[ITEMS];
    const kiln_array ps = kernels_array(p, 2 * ITEMS);
    const kiln_array vs = kernels_array(v, ITEMS);
    const int32_t items = ITEMS, step = 2;
    const kernels_argument arguments[] = {
        {"f32[:]", &ps}, {"f32[:]", &vs}, {"i32", &items}, {"i32", &step}};
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}};
    kiln_package *package = kernels_define(*state, "safety", text);

    for (size_t i = 0; i < 2 * LEVELS; i++) {
        for (int k = 0; k < 2 * ITEMS; k++)
            p[k] = (float)k;
        for (int k = 0; k < ITEMS; k++)
            v[k] = (float)(1000 + k);
        assert_ok(
            kernels_launch(*state, package, "k",
                           config_of(*state, levels[i / 2],
                                     i % 2 ? KILN_SWITCH_ON : KILN_SWITCH_OFF),
                           &launch, arguments, 4, &test_error));
        for (int k = 0; k < ITEMS; k++) {
            assert_float_equal(p[2 * k], v[k] + (float)(2 * k), 0);
            assert_float_equal(p[2 * k + 1], v[k], 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_that_items_share_are_theirs),
        cmocka_unit_test(what_an_item_does_keeps_its_order),
        cmocka_unit_test(stores_between_loads_may_be_to_what_is_loaded),
        cmocka_unit_test(numbers_that_might_wrap_keep_their_order),
        cmocka_unit_test(nothing_is_read_behind_the_end),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
