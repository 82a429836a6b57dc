/* test_host_windows_random.c - windows that move with the item do what they
   did. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host random */
#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"
#include "support/written.h"

/*
 * Each item goes through one or two windows of an array: the window is clipped
 * at the array's ends, or each of its elements is asked whether it is inside,
 * or taken from the nearest end, or from the other one. How far it reaches is
 * an argument, which may also be negative, or so large that sums wrap around.
 * Each kernel is compiled without optimisation and with it, with checks and
 * without, and must do the same.
 */

#define MOST 200 /* items */
#define KERNELS 70

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

#define ONE_OF(texts) random_text(&seed, texts, sizeof(texts) / sizeof *(texts))

static void put_update(written *text, const char *value)
{
    switch (pick(4)) {
    case 0:
        written_put(text, "            s = max(s, %s)\n", value);
        break;
    case 1:
        written_put(text, "            s -= %s\n", value);
        break;
    default:
        written_put(text, "            s += %s\n", value);
    }
}

static void put_clipped(written *text)
{
    static const char *const starts[] = {"max(i - r, 0)", "max(0, i - r)",
                                         "max(i - q, 0)", "max(i - 2 * r, 0)",
                                         "max(i - r + 1, 1)"};
    static const char *const ends[] = {"min(i + r + 1, n)", "min(n, i + q)",
                                       "min(i + r, n - 1)", "i + 1",
                                       "min(i + 2 * r, n)"};

    written_put(text, "        for k in %s..%s\n", ONE_OF(starts),
                ONE_OF(ends));
    put_update(text, "y[k]");
    written_put(text, "        end\n");
}

static void put_asked(written *text)
{
    static const char *const places[] = {"i + k - r", "i + k", "k + i - 2",
                                         "i - r + 2 * k", "i + k - taps // 2"};
    static const char *const conditions[] = {
        "at >= 0 && at < n", "at >= 0 && at < n", "at > -1 && at <= n - 1",
        "!(at < 0 || at >= n)", "at >= 0 && at < n && k != 1"};

    written_put(text,
                "        for k in 0..%s\n"
                "            at = %s\n"
                "            if %s\n",
                pick(3) ? "taps" : "5", ONE_OF(places), ONE_OF(conditions));
    put_update(text, "y[at]");
    written_put(text, "            end\n        end\n");
}

static void put_nearest(written *text)
{
    static const char *const values[] = {"y[min(max(i + k - r, 0), n - 1)]",
                                         "y[max(min(i + k, n - 1), 0)]",
                                         "y[max(0, min(i - k, n - 1))]"};

    written_put(text, "        for k in 0..taps\n");
    put_update(text, ONE_OF(values));
    written_put(text, "        end\n");
}

/* Loops that are as short as those of small masks, in each other. */
static void put_neighbours(written *text)
{
    static const char *const bounds[] = {"-1..2", "0..3", "-1..1",
                                         "1..4",  "0..2", "-2..3 by 2"};
    static const char *const places[] = {
        "(i + a + b + n) % n", "(i - a * b + 2 * n + 9) % n",
        "min(max(i + a - b, 0), n - 1)", "max(min(i + 2 * a + b, n - 1), 0)"};
    static const char *const conditions[] = {"a != 0 || b != 0", "a + b < 3",
                                             "i + a >= 0 && i + a < n",
                                             "y[i] > f32(a)"};

    written_put(text, "        for a in %s\n            for b in %s\n",
                ONE_OF(bounds), ONE_OF(bounds));
    written_put(text, "            at = %s\n            if %s\n",
                ONE_OF(places), ONE_OF(conditions));
    put_update(text, pick(3) ? "y[at]" : "y[at] * f32(2 * a + b)");
    written_put(text, "            end\n            end\n        end\n");
}

static void put_kernel(written *text)
{
    static void (*const windows[])(written *) = {
        put_clipped,    put_clipped, put_asked,     put_asked,
        put_neighbours, put_nearest, put_neighbours};
    const uint32_t count = 1 + pick(2);

    written_put(text, "kernel k(x, y, taps, r, q, n)\n"
                      "    i = global_id(0)\n"
                      "    if i < n\n"
                      "        s = x[i]\n");
    for (uint32_t i = 0; i < count; i++)
        windows[pick(7)](text);
    written_put(text, "        x[i] = s\n    end\nend\n");
}

/* ---- running ---- */

typedef struct reach {
    int64_t taps, r, q, n;
} reach;

/* The loops have few iterations for all of them. */
static const reach reaches[] = {{3, 1, 2, 1},
                                {9, 4, 4, 100},
                                {17, 8, 1, MOST},
                                {0, 0, 0, 33},
                                {25, 30, 20, 40},
                                {5, -3, -2, 70},
                                {3, INT64_C(1) << 40, 5, 64},
                                {3, INT64_MAX, 5, 64},
                                {3, INT64_MIN, -1, 64},
                                {2, INT64_MAX / 2, INT64_MAX, 50}};

static float memory[2 * MOST];

/* What is run. */
typedef struct going {
    kernels *k;
    kiln_package *package;
    const reach *to;
    const char *type; /* of the numbers */
} going;

static kiln_status run(void *env, const kiln_config *config)
{
    const going *g = env;
    const reach *to = g->to;
    const char *type = g->type;
    const int32_t narrow[] = {(int32_t)to->taps, (int32_t)to->r, (int32_t)to->q,
                              (int32_t)to->n};
    const int is_narrow = strcmp(type, "i32") == 0;
    const kiln_array x = kernels_array(memory, to->n);
    const kiln_array y = kernels_array(memory + MOST, to->n);
    const kernels_argument arguments[] = {
        {"f32[:]", &x},
        {"f32[:]", &y},
        {type, is_narrow ? (const void *)&narrow[0] : &to->taps},
        {type, is_narrow ? (const void *)&narrow[1] : &to->r},
        {type, is_narrow ? (const void *)&narrow[2] : &to->q},
        {type, is_narrow ? (const void *)&narrow[3] : &to->n}};
    const kiln_launch launch = {{(uint64_t)to->n + 3, 1, 1}, {0, 0, 0}, 0};

    for (int i = 0; i < 2 * MOST; i++)
        memory[i] = (float)(i * 7 % 19 - 4);
    return kernels_launch(g->k, g->package, "k", config, &launch, arguments, 6,
                          &test_error);
}

static void compare(kernels *k, kiln_package *package, const char *text,
                    const char *type)
{
    for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++) {
        going g = {k, package, &reaches[i], type};

        kernels_assert_agree(
            k, &(kernels_trial){run, &g, memory, sizeof memory}, (int)i, text);
    }
}

static void optimised_kernels_do_the_same(void **state)
{
    static char text[8192];

    for (int i = 0; i < KERNELS; i++) {
        written w = {.bytes = text, .room = sizeof text};
        char name[16];

        put_kernel(&w);
        (void)snprintf(name, sizeof name, "windows%d", i);
        compare(*state, kernels_define(*state, name, text), text,
                pick(3) ? "i64" : "i32");
    }
}

/* Otherwise there would be nothing to compare. */
static void windows_get_loops_of_their_own(void **state)
{
    static const char text[] = "kernel k(x: f32[:], y: f32[:], r: i64)\n"
                               "    i = global_id(0)\n"
                               "    s: f32 = 0\n"
                               "    n = size(x, 0)\n"
                               "    for k in max(i - r, 0)..min(i + r + 1, n)\n"
                               "        s += y[k]\n"
                               "    end\n"
                               "    x[i] = s\n"
                               "end\n";
    static const char *const types[] = {"f32[:]", "f32[:]", "i64"};

    kernels_assert_emits(*state, "split", text, types, 3, "\nedge");
}

static unsigned loads_of(const kiln_blob *code)
{
    unsigned count = 0;

    for (const char *at = code->data; (at = strstr(at, "load float")) != NULL;
         at++)
        count++;
    return count;
}

static void short_loops_heed_the_setting(void **state)
{
    static const char text[] = "kernel k(x, y)\n"
                               "    i = global_id(0)\n"
                               "    s: f32 = 0\n"
                               "    for a in 0..3\n"
                               "        for b in 0..3\n"
                               "            s += y[i + a, b]\n"
                               "        end\n"
                               "    end\n"
                               "    x[i] = s\n"
                               "end\n";
    static const char *const types[] = {"f32[:]", "f32[:,:]"};
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "nest", text);
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_blob as_chosen, never;

    options.opt_level = KILN_OPT_3;
    as_chosen =
        kernels_optimised(k, kernels_config(k, &options), package, types, 2);
    options.unroll = KILN_UNROLL_OFF;
    never =
        kernels_optimised(k, kernels_config(k, &options), package, types, 2);
    assert_true(loads_of(&as_chosen) >= 9);
    assert_true(loads_of(&never) < 9);
    kiln_blob_release(&as_chosen);
    kiln_blob_release(&never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_kernels_do_the_same),
        cmocka_unit_test(windows_get_loops_of_their_own),
        cmocka_unit_test(short_loops_heed_the_setting),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
