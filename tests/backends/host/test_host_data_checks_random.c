/* test_host_data_checks_random.c - checks that data decide are asked of all
   items, and raise as before. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host random */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"
#include "support/harness.h"
#include "support/written.h"

/*
 * Each item converts numbers, asserts something about them and uses them as
 * indices, also of indices, in any order, under conditions, and between writes.
 * The numbers fit all checks, or one of them does not, at the beginning, in the
 * middle or at the end, or under a condition that does not hold. Each kernel is
 * compiled without optimisation and with it, with checks and without, and must
 * do the same.
 */

#define MOST 150 /* items */
#define KERNELS 60
#define OUTPUTS 4

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

#define ONE_OF(texts) random_text(&seed, texts, sizeof(texts) / sizeof *(texts))

/* ---- kernels ----
 *
 * x: floats from 0 to 60, idx: below n, z: bytes from 0 to 59. All results are
 * kept in floats of the item's own column of `out`, and only the item itself
 * reads what it has written to q.
 */

static const char *const integers[] = {"idx[i]",
                                       "i32(z[i])",
                                       "idx[idx[i]]",
                                       "i32(z[idx[i]])",
                                       "j",
                                       "i32(z[i]) + t",
                                       "idx[i] - t",
                                       "i32(z[i]) * 2",
                                       "idx[i32(z[i]) % 4]",
                                       "abs(idx[i] - j)",
                                       "min(idx[i], 100)",
                                       "i32(z[j])",
                                       "i32(q[i])"};
static const char *const floats[] = {"x[i]",
                                     "x[idx[i]]",
                                     "x[i] * scale",
                                     "x[i] * scale + x[j]",
                                     "x[i32(z[i])]",
                                     "f + x[i]",
                                     "sqrt(x[i])",
                                     "x[idx[j]] - 1",
                                     "f32(z[i]) * 2.5",
                                     "clamp(x[i], 0, 255)",
                                     "max(x[i], -3)",
                                     "min(max(x[i], 0), 127)",
                                     "(x[i] < 0 ? 0 : x[i] > 255 ? 255 : x[i])",
                                     "(x[i] >= 0 ? x[i] : 1.5)",
                                     "clamp(x[i] * scale, -32768, 32767)",
                                     "abs(clamp(x[i], -128, 100))",
                                     "f32(idx[i])",
                                     "clamp(round(x[i]), -128, 128)"};
static const char *const narrow[] = {"u8", "i8", "i16", "u16", "i32", "u32"};
static const char *const roundings[] = {"floor", "round", "trunc", "ceil"};

static void put_condition(written *text)
{
    switch (pick(5)) {
    case 0:
        written_put(text, "%s < %u", ONE_OF(integers), pick(60));
        break;
    case 1:
        written_put(text, "%s > %u", ONE_OF(floats), pick(50));
        break;
    case 2:
        written_put(text, "i %% 3 != %u", pick(3));
        break;
    case 3:
        written_put(text, "idx[i] >= 0 && idx[i] < n");
        break;
    default:
        written_put(text, "t > %u", pick(6));
    }
}

static void put_value(written *text)
{
    switch (pick(6)) {
    case 0:
        written_put(text, "f32(%s(%s))", ONE_OF(narrow), ONE_OF(integers));
        break;
    case 1:
    case 2:
        written_put(text, "f32(%s(%s(%s)))", ONE_OF(narrow), ONE_OF(roundings),
                    ONE_OF(floats));
        break;
    case 3:
        written_put(text, "x[%s]", ONE_OF(integers));
        break;
    case 4:
        written_put(text, "f32(%s // %u)", ONE_OF(integers), 1 + pick(9));
        break;
    default:
        written_put(text, "%s", ONE_OF(floats));
    }
}

static void put_statement(written *text, unsigned *outputs)
{
    switch (pick(*outputs < OUTPUTS ? 7 : 5)) {
    case 0:
        written_put(text, "assert(");
        put_condition(text);
        written_put(text, ")\n");
        break;
    case 1:
        written_put(text, "j = %s\n", ONE_OF(integers));
        break;
    case 2:
        written_put(text, "q[i] = u8(%s)\n", ONE_OF(integers));
        break;
    case 3:
    case 4:
        written_put(text, "f += ");
        put_value(text);
        written_put(text, "\n");
        break;
    default:
        written_put(text, "out[%u, i] = ", (*outputs)++);
        put_value(text);
        written_put(text, "\n");
    }
}

static void put_statements(written *text, unsigned *outputs)
{
    const unsigned count = 1 + pick(4);

    for (unsigned i = 0; i < count; i++) {
        const uint32_t kind = pick(4);

        if (kind == 0) {
            written_put(text, "if ");
            put_condition(text);
            written_put(text, "\n");
            put_statement(text, outputs);
            if (pick(2)) {
                written_put(text, "else\n");
                put_statement(text, outputs);
            }
            written_put(text, "end\n");
        } else {
            put_statement(text, outputs);
        }
    }
}

/* Half of the kernels call a function that does it all. */
static void put_kernel(written *text)
{
    static const char parameters[] =
        "out: f32[:, :], x: f32[:], idx: i32[:], z: u8[:], q: u8[:], "
        "scale: f32, t: i32, n: i64";
    const uint32_t calls = pick(2);
    unsigned outputs = 0;

    written_put(text,
                "%s(%s)\n"
                "i = global_id(0)\n"
                "if i < n\n"
                "j: i32 = 0\n"
                "f: f32 = 0\n",
                calls ? "fn body" : "kernel k", parameters);
    put_statements(text, &outputs);
    written_put(text, "out[%d, i] = f\nend\nend\n", OUTPUTS);
    if (calls)
        written_put(text,
                    "kernel k(%s)\n"
                    "body(out, x, idx, z, q, scale, t, n)\n"
                    "end\n",
                    parameters);
}

/* ---- running ---- */

static struct {
    float out[(OUTPUTS + 1) * MOST];
    float x[MOST];
    int32_t idx[MOST];
    uint8_t z[MOST];
    uint8_t q[MOST];
} memory;

/* What is different from numbers that fit nearly everything. */
typedef struct data {
    int64_t n;
    int64_t at; /* the item with these; negative: none */
    float x;
    int32_t idx;
    uint8_t z;
    float scale;
    int32_t t;
    int is_empty; /* x is */
} data;

static const data cases[] = {
    {MOST, -1, 0, 0, 0, 1, 0, 0},
    {64, -1, 0, 0, 0, 1.5F, 2, 0},
    {1, -1, 0, 0, 0, 1, 0, 0},
    {7, 3, 255.4F, 6, 255, 1, 0, 0},
    {MOST, 0, 300, -1, 200, 1, 1, 0},
    {MOST, MOST - 1, -1.5F, MOST, 255, 1, 0, 0},
    {100, 50, NAN, 99, 128, 1, -3, 0},
    {100, 99, INFINITY, 1 << 30, 0, 2, 0, 0},
    {130, 64, 127.5F, INT32_MIN, 127, 1, 0, 0},
    {130, 65, 1e20F, 5, 60, 1, INT32_MAX, 0},
    {130, -1, 0, 0, 0, 1e9F, 200, 0},
    {130, 5, 1, 1 << 30, 7, 1, 0, 1},
};

typedef struct going {
    kernels *k;
    kiln_package *package;
    const data *with;
} going;

static void fill(const data *with)
{
    const int64_t n = with->n;

    for (size_t i = 0; i < sizeof memory.out / sizeof *memory.out; i++)
        memory.out[i] = -7;
    for (int64_t i = 0; i < MOST; i++) {
        memory.x[i] = (float)(i * 7 % 61) + (i % 3 == 0 ? 0.5F : 0);
        memory.idx[i] = (int32_t)(i * 13 % (n < 60 ? n : 60));
        memory.q[i] = (uint8_t)(i % 50);
        memory.z[i] = (uint8_t)(i * 11 % (n < 60 ? n : 60));
    }
    if (with->at >= 0) {
        memory.x[with->at] = with->x;
        memory.idx[with->at] = with->idx;
        memory.z[with->at] = with->z;
    }
}

static kiln_status run(void *env, const kiln_config *config)
{
    const going *g = env;
    const data *with = g->with;
    const kiln_array out = kernels_array2(memory.out, OUTPUTS + 1, with->n);
    const kiln_array x = kernels_array(memory.x, with->is_empty ? 0 : with->n);
    const kiln_array idx = kernels_array(memory.idx, with->n);
    const kiln_array z = kernels_array(memory.z, with->n);
    const kiln_array q = kernels_array(memory.q, with->n);
    const kernels_argument arguments[] = {
        {"f32[:,:]", &out}, {"f32[:]", &x},   {"i32[:]", &idx},
        {"u8[:]", &z},      {"u8[:]", &q},    {"f32", &with->scale},
        {"i32", &with->t},  {"i64", &with->n}};
    const kiln_launch launch = {{(uint64_t)with->n + 2, 1, 1}, {0, 0, 0}, 0};

    fill(with);
    return kernels_launch(g->k, g->package, "k", config, &launch, arguments, 8,
                          &test_error);
}

static void optimised_kernels_do_the_same(void **state)
{
    static char text[8192];

    for (int i = 0; i < KERNELS; i++) {
        written w = {.bytes = text, .room = sizeof text};
        char name[16];

        put_kernel(&w);
        (void)snprintf(name, sizeof name, "checks%d", i);
        kiln_package *package = kernels_define(*state, name, text);

        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            going g = {*state, package, &cases[c]};

            kernels_assert_agree(
                *state, &(kernels_trial){run, &g, &memory, sizeof memory},
                (int)c, text);
        }
    }
}

/* ---- that anything is asked ---- */

/* Otherwise there would be nothing to compare. */
static void checks_are_asked_first(void **state)
{
    static const char *const floats_to_bytes[] = {"u8[:]", "f32[:]"};
    static const char *const bytes_and_number[] = {"u8[:]", "u8[:]", "i32"};

    kernels_assert_emits(*state, "convert",
                         "kernel k(out, x)\n"
                         "    i = global_id(0)\n"
                         "    out[i] = u8(floor(x[i] * 255))\n"
                         "end\n",
                         floats_to_bytes, 2, ".ask");
    kernels_assert_emits(*state, "brighten",
                         "kernel k(out, a, t)\n"
                         "    i = global_id(0)\n"
                         "    if i < length(out)\n"
                         "        out[i] = u8(i32(a[i]) + t)\n"
                         "    end\n"
                         "end\n",
                         bytes_and_number, 3, ".ask");
    kernels_assert_emits(*state, "call",
                         "fn put(out, x, i)\n"
                         "    out[i] = u8(floor(x[i] * 255))\n"
                         "end\n"
                         "kernel k(out, x)\n"
                         "    i = global_id(0)\n"
                         "    if i < length(out)\n"
                         "        put(out, x, i)\n"
                         "    end\n"
                         "end\n",
                         floats_to_bytes, 2, ".ask");
    kernels_assert_emits(*state, "both",
                         "kernel k(out, x)\n"
                         "    i = global_id(0)\n"
                         "    assert(x[i] > 0 && x[i + 1] > 0)\n"
                         "    out[i] = 1\n"
                         "end\n",
                         floats_to_bytes, 2, ".ask");
    kernels_assert_emits(*state, "hold",
                         "kernel k(out, x)\n"
                         "    i = global_id(0)\n"
                         "    if x[i] > 1\n"
                         "        assert(x[i] < 200)\n"
                         "        out[i] = 2\n"
                         "    end\n"
                         "end\n",
                         floats_to_bytes, 2, ".ask");
}

/* ---- what a check keeps from ---- */

/* Runs 60 items of a kernel of (out: u8[:], x: f32[:], idx: i32[:], far: i64),
   which must raise before anything far from x is read: each item but the first
   does. */
static void assert_raises(kernels *k, const char *name, const char *text,
                          uint8_t bounds_checks)
{
    static const int64_t far = INT64_C(1) << 36;
    const kiln_array out = kernels_array(memory.q, 60);
    const kiln_array x = kernels_array(memory.x, 60);
    const kiln_array idx = kernels_array(memory.idx, 60);
    const kernels_argument arguments[] = {
        {"u8[:]", &out}, {"f32[:]", &x}, {"i32[:]", &idx}, {"i64", &far}};
    const kiln_launch launch = {{60, 1, 1}, {0, 0, 0}, 0};

    fill(&cases[0]);
    assert_status(KILN_EEXCEPTION,
                  kernels_launch(k, kernels_define(k, name, text), "k",
                                 kernels_rounding(k, KILN_OPT_3, bounds_checks),
                                 &launch, arguments, 4, &test_error));
    assert_int_equal(memory.q[59], 59 % 50);
}

/* No copy of the loop reads what only an assertion keeps inside. */
static void assertions_keep_from_reads(void **state)
{
    assert_raises(*state, "by_number",
                  "kernel k(out, x, idx, far)\n"
                  "    i = global_id(0)\n"
                  "    assert(i * far < length(x))\n"
                  "    out[i] = u8(floor(x[i * far]))\n"
                  "end\n",
                  KILN_SWITCH_OFF);
    assert_raises(*state, "by_data",
                  "kernel k(out, x, idx, far)\n"
                  "    i = global_id(0)\n"
                  "    assert(idx[i] == 0)\n"
                  "    out[i] = u8(floor(x[i * far]))\n"
                  "end\n",
                  KILN_SWITCH_OFF);
    assert_raises(*state, "in_part",
                  "kernel k(out, x, idx, far)\n"
                  "    i = global_id(0)\n"
                  "    v = x[i]\n"
                  "    assert(v < 1)\n"
                  "    inbounds\n"
                  "        out[i] = u8(floor(x[i * far]))\n"
                  "    end\n"
                  "end\n",
                  KILN_SWITCH_ON);
    assert_raises(*state, "believed_after_a_check",
                  "kernel k(out, x, idx, far)\n"
                  "    i = global_id(0)\n"
                  "    j = i * far\n"
                  "    assert(j < far * far)\n"
                  "    assert(j < i64(idx[i]) + 1 && j < length(x))\n"
                  "    out[i] = u8(floor(x[j]))\n"
                  "end\n",
                  KILN_SWITCH_ON);
    assert_raises(*state, "believed",
                  "kernel k(out, x, idx, far)\n"
                  "    i = global_id(0)\n"
                  "    most = i64(idx[i]) * far\n"
                  "    assert(most <= length(x))\n"
                  "    at = i * far\n"
                  "    if at < most\n"
                  "        out[i] = u8(floor(x[at]))\n"
                  "    end\n"
                  "end\n",
                  KILN_SWITCH_ON);
}

/* ---- numbers that few bits hold ---- */

/* What no i32 could fail on is compared with what an f16 has. */
static void the_largest_f16_is_converted(void **state)
{
    static const char text[] = "kernel k(y, x)\n"
                               "    i = global_id(0)\n"
                               "    y[i] = i32(floor(x[i]))\n"
                               "end\n";
    kernels *k = *state;
    static uint16_t halves[MOST];
    const kiln_array y = kernels_array(memory.idx, MOST);
    const kiln_array x = kernels_array(halves, MOST);
    const kernels_argument arguments[] = {{"i32[:]", &y}, {"f16[:]", &x}};
    const kiln_launch launch = {{MOST, 1, 1}, {0, 0, 0}, 0};

    for (int i = 0; i < MOST; i++)
        halves[i] = i % 2 ? 0x7bff : 0xfbff; /* 65504 and its negative */
    assert_ok(kernels_launch(k, kernels_define(k, "half", text), "k",
                             kernels_rounding(k, KILN_OPT_3, KILN_SWITCH_OFF),
                             &launch, arguments, 2, &test_error));
    for (int i = 0; i < MOST; i++)
        assert_int_equal(memory.idx[i], i % 2 ? 65504 : -65504);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_kernels_do_the_same),
        cmocka_unit_test(checks_are_asked_first),
        cmocka_unit_test(assertions_keep_from_reads),
        cmocka_unit_test(the_largest_f16_is_converted),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
