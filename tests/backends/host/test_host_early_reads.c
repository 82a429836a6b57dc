/* test_host_early_reads.c - items that write before they read see what they
   wrote. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host */
#include <stdio.h>

#include "support/devices/kernels.h"
#include "support/harness.h"

/*
 * Each item writes to one array and then checks what it reads from another one,
 * which may be the same one, or be next to it. Checks of all items are asked
 * before any of them writes, if the arrays do not overlap.
 */

#define ITEMS 90
#define BYTES ((size_t)ITEMS * 4)

/* Where arrays are in memory: a and b are written, x and y are read. */
typedef struct places {
    size_t a, b, x, y;
} places;

static const places layouts[] = {
    {0, BYTES, 2 * BYTES, 3 * BYTES}, /* next to each other */
    {3 * BYTES, 2 * BYTES, BYTES, 0},
    {0, BYTES, 2 * BYTES, 0},         /* y is a */
    {0, BYTES, 0, 2 * BYTES},         /* x is a */
    {0, BYTES, 2 * BYTES, BYTES},     /* y is b */
    {0, BYTES, 2 * BYTES, 2 * BYTES}, /* y is x */
    {0, BYTES, 0, 0},
    {0, 0, BYTES, BYTES}, /* b is a */
};

/* Items are independent however arrays lie: each has elements of its own. */
static const char *const bodies[] = {
    "    a[i] = f32(u8(floor(x[i] + t)))\n"
    "    b[i] = f32(u8(floor(y[i] + t)))\n",
    "    a[i] = f32(u8(floor(x[i] + t)))\n"
    "    b[i] = f32(u8(floor(y[i] + t))) + f32(i8(floor(a[i] - 20)))\n",
    "    at = n - 1 - i\n"
    "    a[at] = f32(u8(floor(x[at] + t)))\n"
    "    b[at] = f32(u8(floor(y[at] + t)))\n",
    "    at = i32(i)\n"
    "    a[at] = f32(u8(floor(x[at] + t)))\n"
    "    b[at] = f32(u8(floor(y[at] + t)))\n",
    "    if x[i] > 20\n"
    "        a[i] = f32(u8(floor(x[i] * 2)))\n"
    "    end\n"
    "    b[i] = f32(u8(floor(y[i] + t)))\n",
    "    a[i] = x[i] + 100\n"
    "    assert(y[i] < 256)\n"
    "    b[i] = y[i]\n",
    "    a[i] = x[i] + 1\n"
    "    at = i64(i)\n"
    "    if i % 3 == 0\n"
    "        at = i64(y[i]) * 0 + i\n"
    "    end\n"
    "    b[at] = f32(u8(floor(y[at] + t)))\n",
    "    a[i % 8 + i // 8 * 8] = f32(u8(floor(x[i] + t)))\n"
    "    b[i] = f32(u8(floor(y[i] + t)))\n",
    "    a[i] = x[i] + t\n"
    "    b[i] = y[own[i]] + f32(u8(floor(y[i] + t)))\n",
    "    a[own[i]] = x[i] + t\n"
    "    b[own[i]] = f32(u8(floor(y[own[i]] + t)))\n"};

static struct {
    float arrays[4 * ITEMS];
    int32_t own[ITEMS];
} memory;

typedef struct going {
    kernels *k;
    kiln_package *package;
    const places *at;
    float t;
} going;

static kiln_array array_at(size_t place)
{
    return kernels_array((char *)memory.arrays + place, ITEMS);
}

static kiln_status run(void *env, const kiln_config *config)
{
    static const int64_t n = ITEMS;
    const going *g = env;
    const kiln_array a = array_at(g->at->a), b = array_at(g->at->b);
    const kiln_array x = array_at(g->at->x), y = array_at(g->at->y);
    const kiln_array own = kernels_array(memory.own, ITEMS);
    const kernels_argument arguments[] = {
        {"f32[:]", &a},   {"f32[:]", &b}, {"f32[:]", &x}, {"f32[:]", &y},
        {"i32[:]", &own}, {"f32", &g->t}, {"i64", &n}};
    const kiln_launch launch = {{ITEMS, 1, 1}, {0, 0, 0}, 0};

    for (int i = 0; i < 4 * ITEMS; i++)
        memory.arrays[i] = (float)(i * 7 % 60);
    for (int i = 0; i < ITEMS; i++)
        memory.own[i] = i;
    return kernels_launch(g->k, g->package, "k", config, &launch, arguments, 7,
                          &test_error);
}

static void items_see_what_they_wrote(void **state)
{
    static const float added[] = {3, 90, 180, 250};

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[512], name[16];

        (void)snprintf(text, sizeof text,
                       "kernel k(a, b, x, y, own, t, n)\n"
                       "    i = global_id(0)\n"
                       "%s"
                       "end\n",
                       bodies[i]);
        (void)snprintf(name, sizeof name, "early%zu", i);
        kiln_package *package = kernels_define(*state, name, text);

        for (size_t at = 0; at < sizeof layouts / sizeof *layouts; at++)
            for (size_t t = 0; t < sizeof added / sizeof *added; t++) {
                going g = {*state, package, &layouts[at], added[t]};

                kernels_assert_agree(
                    *state, &(kernels_trial){run, &g, &memory, sizeof memory},
                    (int)(10 * at + t), text);
            }
    }
}

/* Otherwise there would be nothing to compare. */
static void they_are_asked_all_the_same(void **state)
{
    static const char *const types[] = {"u8[:]", "u8[:]", "f32[:]", "f32[:]"};

    kernels_assert_emits(*state, "two",
                         "kernel k(a, b, x, y)\n"
                         "    i = global_id(0)\n"
                         "    if i < length(a)\n"
                         "        a[i] = u8(floor(x[i]))\n"
                         "        b[i] = u8(floor(y[i]))\n"
                         "    end\n"
                         "end\n",
                         types, 4, ".ask");
}

/* ---- addresses ---- */

/* Both counters of 8 bits wrap: the first, the second and the last item read
   where none writes, others read what they have written. */
static void two_narrow_parts_are_not_even(void **state)
{
    static uint8_t out[256], a[800], x[256];
    static const uint8_t c = 10, d = 200;
    kernels *k = *state;
    const kiln_array to = kernels_array(out, 256);
    const kiln_array between = kernels_array(a, 800);
    const kiln_array from = kernels_array(x, 256);
    const kernels_argument arguments[] = {{"u8[:]", &to},
                                          {"u8[:]", &between},
                                          {"u8[:]", &from},
                                          {"u8", &c},
                                          {"u8", &d}};
    const kiln_launch launch = {{256, 1, 1}, {0, 0, 0}, 0};

    for (int i = 0; i < 256; i++)
        x[i] = (uint8_t)i;
    assert_status(
        KILN_EEXCEPTION,
        kernels_launch(
            k,
            kernels_define(k, "narrow",
                           "kernel k(out, a, x, c, d)\n"
                           "    i = global_id(0)\n"
                           "    u = wrap(u8, i)\n"
                           "    a[i + 190] = x[i]\n"
                           "    v = a[i64(u - c) - i64(u - d) + i + 256]\n"
                           "    assert(v < 50)\n"
                           "    out[i] = v\n"
                           "end\n"),
            "k", kernels_rounding(k, KILN_OPT_3, KILN_SWITCH_ON), &launch,
            arguments, 5, &test_error));
}

/* Items write what others read, which no program should let them do. Nothing
   is read out of bounds all the same. */
static void asserted_indices_stay_inside(void **state)
{
    static float out[256], z[256];
    static uint32_t a[257];
    static const uint32_t n = 4000000000U;
    kernels *k = *state;
    const kiln_array to = kernels_array(out, 256);
    const kiln_array index = kernels_array(a, 257);
    const kiln_array from = kernels_array(z, 256);
    const kernels_argument arguments[] = {
        {"f32[:]", &to}, {"u32[:]", &index}, {"f32[:]", &from}, {"u32", &n}};
    const kiln_launch launch = {{256, 1, 1}, {0, 0, 0}, 0};

    assert_status(
        KILN_EEXCEPTION,
        kernels_launch(k,
                       kernels_define(k, "race",
                                      "kernel k(out, a, z, n)\n"
                                      "    i = global_id(0)\n"
                                      "    v = a[i]\n"
                                      "    assert(v < n)\n"
                                      "    assert(i64(v) < i + 1)\n"
                                      "    out[i] = z[v]\n"
                                      "    a[i + 1] = 0x7fffffff\n"
                                      "end\n"),
                       "k", kernels_rounding(k, KILN_OPT_3, KILN_SWITCH_ON),
                       &launch, arguments, 4, &test_error));
}

/* ---- many items ---- */

#define MANY 3000

/* Items are asked in pieces. */
static void failing_items_are_found_wherever_they_are(void **state)
{
    static const int bad[] = {0, 1, 1023, 1024, 1025, 2047, 2048, MANY - 1, -1};
    static float x[MANY];
    static uint8_t a[MANY];
    static uint16_t b[MANY];
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "pieces",
                                           "kernel k(a, b, x)\n"
                                           "    i = global_id(0)\n"
                                           "    a[i] = u8(round(sqrt(x[i])))\n"
                                           "    b[i] = u16(floor(x[i]))\n"
                                           "end\n");
    const kiln_array in = kernels_array(x, MANY);
    const kiln_array small = kernels_array(a, MANY);
    const kiln_array large = kernels_array(b, MANY);
    const kernels_argument arguments[] = {
        {"u8[:]", &small}, {"u16[:]", &large}, {"f32[:]", &in}};
    const kiln_launch launch = {{MANY, 1, 1}, {0, 0, 0}, 0};

    for (size_t which = 0; which < sizeof bad / sizeof *bad; which++) {
        for (int i = 0; i < MANY; i++)
            x[i] = (float)(i % 250 * (i % 250));
        if (bad[which] >= 0)
            x[bad[which]] = 66000;
        assert_status(
            bad[which] < 0 ? KILN_OK : KILN_EEXCEPTION,
            kernels_launch(k, package, "k",
                           kernels_rounding(k, KILN_OPT_3, KILN_SWITCH_ON),
                           &launch, arguments, 3, &test_error));
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(a[i], i % 250);
        assert_int_equal(b[i], i % 250 * (i % 250));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_see_what_they_wrote),
        cmocka_unit_test(they_are_asked_all_the_same),
        cmocka_unit_test(two_narrow_parts_are_not_even),
        cmocka_unit_test(asserted_indices_stay_inside),
        cmocka_unit_test(failing_items_are_found_wherever_they_are),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
