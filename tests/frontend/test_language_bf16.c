/* test_language_bf16.c - bf16 against a model in plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include "support/harness.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF KILN_TESTS_FOLDER "/language/bf16.kiln"
#define ALL 65536
#define INFINITE 0x7f80u

typedef uint16_t bf16;

/* ---- the model ----
 *
 * The finite values not below zero stand in the order of their bits, so the
 * value that is nearest is looked for among them. A long double holds all
 * integers and f64 exactly, and so the distances to the two beside it.
 */

_Static_assert(LDBL_MANT_DIG >= 64, "the model needs 64 bits");

static double value_of(bf16 bits)
{
    const uint32_t word = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* As if there were no largest value. */
static long double size_of(unsigned bits)
{
    return bits >= INFINITE ? 0x1p128L : (long double)value_of((bf16)bits);
}

static bf16 nearest(long double value)
{
    const unsigned sign = signbit(value) ? 0x8000 : 0;
    const long double size = fabsl(value);
    unsigned low = 0, high = INFINITE;
    long double below, above;

    if (isnan(value))
        return 0x7fc0;
    if (size >= 0x1p128L)
        return (bf16)(sign | INFINITE);
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;

        if (size_of(middle) <= size)
            low = middle;
        else
            high = middle;
    }
    below = size - size_of(low);
    above = size_of(high) - size;
    if (above < below || (!(below < above) && low % 2 != 0))
        low = high;
    return (bf16)(sign | low);
}

static int is_nan(bf16 bits)
{
    return (bits & 0x7fffu) > INFINITE;
}

static void check(const char *what, size_t i, bf16 is, bf16 should)
{
    if (is != should && !(is_nan(is) && is_nan(should)))
        fail_msg("%s %zu is %04x and should be %04x", what, i, is, should);
}

/* ---- running ---- */

/* An array for each type, of `size` elements, one item for each element. */
static kiln_status run(kernels *k, const char *kernel, const char *const *types,
                       void *const *data, size_t count, int64_t size,
                       kiln_error **error)
{
    kiln_array arrays[8];
    kernels_argument arguments[8];

    for (size_t i = 0; i < count; i++) {
        arrays[i] = kernels_array(data[i], size);
        arguments[i] = (kernels_argument){types[i], &arrays[i]};
    }
    return kernels_run(k, kernels_load(k, FILE_OF), kernel, (uint64_t)size,
                       arguments, count, error);
}

static void run_alike(kernels *k, const char *kernel, void *const *data,
                      size_t count, int64_t size)
{
    static const char *const types[] = {"bf16[:]", "bf16[:]", "bf16[:]",
                                        "bf16[:]", "bf16[:]", "bf16[:]",
                                        "bf16[:]"};

    assert_ok(run(k, kernel, types, data, count, size, &test_error));
}

static bf16 every[ALL]; /* value */
static bf16 others[ALL];

/* Each value meets another; near ones, which cancel, are among them. */
static void fill(void)
{
    for (unsigned i = 0; i < ALL; i++) {
        every[i] = (bf16)i;
        others[i] = (bf16)(i % 4 == 0 ? (i ^ 0x8000u) + i / 512 % 64
                                      : i * 40503u + 12345u);
    }
}

/* ---- conversions ---- */

static void every_value_widens_exactly(void **state)
{
    static float singles[ALL];
    static double doubles[ALL];
    static const char *const types[] = {"f32[:]", "f64[:]", "bf16[:]"};
    void *const data[] = {singles, doubles, every};

    assert_ok(run(*state, "to_floats", types, data, 3, ALL, &test_error));
    for (unsigned i = 0; i < ALL; i++) {
        uint32_t bits;

        memcpy(&bits, &singles[i], sizeof bits);
        if (is_nan((bf16)i))
            assert_true(isnan(singles[i]) && isnan(doubles[i]));
        else
            assert_true(bits == i << 16 &&
                        memcmp(&doubles[i], &(double){value_of((bf16)i)},
                               sizeof(double)) == 0);
    }
}

/* 11 bits hold the 8 of a bf16, but not its range. */
static void f16_and_bf16_convert(void **state)
{
    static uint16_t halves[ALL];
    static bf16 back[ALL];
    static const char *const types[] = {"f16[:]", "bf16[:]", "bf16[:]"};
    void *const data[] = {halves, back, every};

    if (!kernels_has(*state, "fp16"))
        return;
    assert_ok(run(*state, "halves", types, data, 3, ALL, &test_error));
    for (unsigned i = 0; i < ALL; i++) {
        const double value = value_of((bf16)i), size = fabs(value);
        /* Values from 2^-17 on have 8 bits in an f16. */
        const double held = size >= 65520    ? HUGE_VAL
                            : size < 0x1p-17 ? rint(size * 0x1p24) * 0x1p-24
                                             : size;

        check("f16 and back", i, back[i],
              isnan(value) ? 0x7fc0 : nearest(copysignl(held, value)));
        assert_int_equal(halves[i] >> 15 != 0,
                         isnan(value) ? halves[i] >> 15 != 0 : i >> 15 != 0);
    }
}

#define SATURATED(T, value, least, most) \
    (isnan(value)                 ? (T)0 \
     : (value) <= (double)(least) ? (T)(least) \
     : (value) >= (double)(most)  ? (T)(most) \
                                  : (T)(value))

static void integers_are_cut_and_saturated(void **state)
{
    static int8_t bytes[ALL];
    static uint16_t u16s[ALL];
    static int32_t words[ALL];
    static int64_t longs[ALL];
    static uint64_t u64s[ALL];
    static const char *const types[] = {"i8[:]",  "u16[:]", "i32[:]",
                                        "i64[:]", "u64[:]", "bf16[:]"};
    void *const data[] = {bytes, u16s, words, longs, u64s, every};

    assert_ok(run(*state, "to_integers", types, data, 6, ALL, &test_error));
    for (unsigned i = 0; i < ALL; i++) {
        const double x = value_of((bf16)i);

        assert_int_equal(bytes[i], SATURATED(int8_t, x, INT8_MIN, INT8_MAX));
        assert_int_equal(u16s[i], SATURATED(uint16_t, x, 0, UINT16_MAX));
        assert_int_equal(words[i], SATURATED(int32_t, x, INT32_MIN, INT32_MAX));
        assert_true(longs[i] == SATURATED(int64_t, x, INT64_MIN, INT64_MAX));
        assert_true(u64s[i] == SATURATED(uint64_t, x, 0, UINT64_MAX));
    }
}

static void whole_numbers_convert_and_others_raise(void **state)
{
    static const char *const types[] = {"i32[:]", "bf16[:]"};
    int32_t out[4] = {0};
    bf16 in[4];
    void *const data[] = {out, in};

    for (int i = 0; i < 4; i++)
        in[i] = nearest(i * 64 - 100);
    assert_ok(run(*state, "exact", types, data, 2, 4, &test_error));
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], i * 64 - 100);
    in[1] = nearest(1.5);
    assert_fails(KILN_EEXCEPTION, "inexact conversion: 1.5 is no i32",
                 run(*state, "exact", types, data, 2, 4, &test_error));
    in[1] = nearest(0.1L);
    assert_fails(KILN_EEXCEPTION, "inexact conversion: 0.1 is no i32",
                 run(*state, "exact", types, data, 2, 4, &test_error));
}

static void bits_are_the_values_own(void **state)
{
    static uint16_t out[ALL];
    static bf16 back[ALL];
    static const char *const types[] = {"u16[:]", "bf16[:]", "bf16[:]"};
    void *const data[] = {out, back, every};

    assert_ok(run(*state, "bits", types, data, 3, ALL, &test_error));
    assert_memory_equal(out, every, sizeof out);
    assert_memory_equal(back, every, sizeof back);
}

/* Around each value: it, just above, the half to the next from both sides, just
   below the next; NaNs with all payloads in the lower half among them. */
static void f32_is_rounded_to_even(void **state)
{
    enum { NEAR = 6 };
    static const uint32_t low[NEAR] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    static const char *const types[] = {"bf16[:]", "f32[:]"};
    static float in[ALL];
    static bf16 out[ALL];
    void *const data[] = {out, in};

    for (int n = 0; n < NEAR; n++) {
        for (unsigned i = 0; i < ALL; i++) {
            const uint32_t bits = i << 16 | low[n];

            memcpy(&in[i], &bits, sizeof bits);
        }
        assert_ok(run(*state, "rounded", types, data, 2, ALL, &test_error));
        for (unsigned i = 0; i < ALL; i++)
            check("of f32", i, out[i], nearest((long double)in[i]));
    }
}

/* Numbers that an f32 would round to the half between two bf16. */
static void f64_is_rounded_once(void **state)
{
    enum { NEAR = 5 };
    static const char *const types[] = {"bf16[:]", "f64[:]"};
    static double in[ALL];
    static bf16 out[ALL];
    void *const data[] = {out, in};

    for (int n = 0; n < NEAR; n++) {
        for (unsigned i = 0; i < ALL; i++) {
            const double from = value_of((bf16)i);
            const double to = (i & 0x7fffu) == INFINITE - 1
                                  ? copysign(0x1p128, from)
                                  : value_of((bf16)(i + 1));
            const double half = from + (to - from) / 2;

            in[i] = n == 0   ? half
                    : n == 1 ? nextafter(half, HUGE_VAL)
                    : n == 2 ? nextafter(half, -HUGE_VAL)
                    : n == 3 ? from * (1 + 0x1p-24)
                             : from * 0x1p-30;
        }
        assert_ok(run(*state, "rounded", types, data, 2, ALL, &test_error));
        for (unsigned i = 0; i < ALL; i++)
            check("of f64", i, out[i], nearest((long double)in[i]));
    }
}

static void large_f64_are_infinite(void **state)
{
    static const char *const types[] = {"bf16[:]", "f64[:]"};
    double in[] = {1e300, -1e300,          HUGE_VAL,  -HUGE_VAL,
                   NAN,   1e-300,          -1e-300,   0.0,
                   -0.0,  0x1.fefffffp127, 0x1.ffp127};
    enum { COUNT = sizeof in / sizeof in[0] };
    bf16 out[COUNT];
    void *const data[] = {out, in};

    assert_ok(run(*state, "rounded", types, data, 2, COUNT, &test_error));
    for (size_t i = 0; i < COUNT; i++)
        check("of f64", i, out[i], nearest((long double)in[i]));
}

/* ---- integers ---- */

enum { INTEGERS = 64 * 64 * 5 };

/* Of each width: 8 bits and one, and then what is nothing, one, or as much as
   rounding looks at. */
static uint64_t integer(unsigned i)
{
    const unsigned width = i / 5 / 64, digits = 257 + i / 5 % 64 * 4 - i % 2;
    const unsigned shift = width > 9 ? width - 9 : 0;
    const uint64_t unit = UINT64_C(1) << shift;
    const uint64_t rests[5] = {0, 1, unit / 2, unit / 2 + 1, unit - 1};

    return digits * unit + rests[i % 5] % unit;
}

#define DEFINE_INTEGERS(name, T) \
    static void name##_is_rounded_once(void **state) \
    { \
        static const char *const types[] = {"bf16[:]", #name "[:]"}; \
        static T in[INTEGERS]; \
        static bf16 out[INTEGERS]; \
        void *const data[] = {out, in}; \
\
        for (unsigned i = 0; i < INTEGERS; i++) \
            in[i] = (T)(i % 3 == 0 ? 0 - integer(i) : integer(i)); \
        in[0] = (T)(UINT64_C(1) << (8 * sizeof(T) - 1)); \
        in[1] = (T)UINT64_MAX; \
        in[2] = (T)((UINT64_C(1) << (8 * sizeof(T) - 1)) - 1); \
        assert_ok( \
            run(*state, "rounded", types, data, 2, INTEGERS, &test_error)); \
        for (unsigned i = 0; i < INTEGERS; i++) \
            check("of " #name, i, out[i], nearest((long double)in[i])); \
    }

DEFINE_INTEGERS(i8, int8_t)
DEFINE_INTEGERS(u16, uint16_t)
DEFINE_INTEGERS(i32, int32_t)
DEFINE_INTEGERS(u32, uint32_t)
DEFINE_INTEGERS(i64, int64_t)
DEFINE_INTEGERS(u64, uint64_t)

/* ---- arithmetic ----
 *
 * The model computes in f64, whose 53 bits are more than twice 8 and two:
 * rounded again, its results are those of a bf16.
 */

static void results_are_rounded(void **state)
{
    static bf16 out[5][ALL];
    void *const data[] = {out[0], out[1], out[2], out[3],
                          out[4], every,  others};

    run_alike(*state, "arithmetic", data, 7, ALL);
    for (unsigned i = 0; i < ALL; i++) {
        const double a = value_of(every[i]), b = value_of(others[i]);

        check("+", i, out[0][i], nearest((long double)(a + b)));
        check("-", i, out[1][i], nearest((long double)(a - b)));
        check("*", i, out[2][i], nearest((long double)(a * b)));
        check("/", i, out[3][i], nearest((long double)(a / b)));
        check("negative", i, out[4][i], (bf16)(i ^ 0x8000u));
    }
}

static void comparisons_are_those_of_the_values(void **state)
{
    static uint8_t out[ALL];
    static const char *const types[] = {"u8[:]", "bf16[:]", "bf16[:]"};
    void *const data[] = {out, every, others};

    assert_ok(run(*state, "comparisons", types, data, 3, ALL, &test_error));
    for (unsigned i = 0; i < ALL; i++) {
        const double a = value_of(every[i]), b = value_of(others[i]);
        const int equal = a >= b && a <= b;

        assert_int_equal(out[i], (equal ? 1 : 2) | (a < b ? 4 : 0) |
                                     (a <= b ? 8 : 0) | (a > b ? 16 : 0) |
                                     (a >= b ? 32 : 0) | (isnan(a) ? 64 : 0) |
                                     (isinf(a) ? 128 : 0));
    }
}

static void mathematics_is_rounded(void **state)
{
    static bf16 out[5][ALL];
    void *const data[] = {out[0], out[1], out[2], out[3],
                          out[4], every,  others};

    run_alike(*state, "mathematics", data, 7, ALL);
    for (unsigned i = 0; i < ALL; i++) {
        const double a = value_of(every[i]), b = value_of(others[i]);

        check("sqrt", i, out[0][i], nearest((long double)sqrt(a)));
        check("abs", i, out[1][i], nearest((long double)fabs(a)));
        check("floor", i, out[2][i], nearest((long double)floor(a)));
        if (fabs(a) > 0 || fabs(b) > 0) /* of two zeros either */
            check("min", i, out[3][i], nearest((long double)fmin(a, b)));
        /* Libraries of devices are exact of normal numbers and near ones. */
        if (fabs(a) >= 0x1p-100 && fabs(b) >= 0x1p-100 &&
            fabs(a) < 0x1p20 * fabs(b) && fabs(b) < 0x1p100)
            check("%", i, out[4][i], nearest((long double)fmod(a, b)));
    }
}

/* a * b has 16 bits; c takes away the upper ones. */
static void no_flag_leaves_a_rounding_out(void **state)
{
    static const char *const modes[] = {"contracted", "fast"};
    enum { COUNT = 1024 };
    bf16 a[COUNT], b[COUNT], c[COUNT], out[COUNT];
    void *const data[] = {out, a, b, c};
    unsigned differing = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        a[i] = nearest(1 + (i % 128) / 128.0);
        b[i] = nearest(1 + (i * 7 % 128) / 128.0);
        c[i] = nearest(-value_of(a[i]) * value_of(b[i]));
    }
    for (size_t m = 0; m < 2; m++) {
        run_alike(*state, modes[m], data, 4, COUNT);
        for (unsigned i = 0; i < COUNT; i++) {
            const double product = value_of(a[i]) * value_of(b[i]);
            const double sum = value_of(nearest(product)) + value_of(c[i]);

            check(modes[m], i, out[i], nearest((long double)sum));
            differing += nearest(product + value_of(c[i])) != nearest(sum);
        }
    }
    assert_true(differing > COUNT);
}

/* ---- the rest of the language ---- */

static void constants_are_rounded(void **state)
{
    static const char *const types[] = {"f32[:]"};
    float out[16];
    void *const data[] = {out};
    const float pi = (float)value_of(nearest(3.14159));
    const float expected[] = {0x1p-7f,
                              INFINITY,
                              -INFINITY,
                              1,
                              (float)value_of(nearest(0.1)),
                              256,
                              INFINITY,
                              pi,
                              (float)value_of(nearest((long double)pi + 1)),
                              pi,
                              pi,
                              0x1.02p62f,
                              -0x1.02p62f,
                              0x1.02p62f,
                              0x1.000002p62f,
                              0x1.000002p62f};

    for (size_t i = 0; i < 16; i++)
        out[i] = 0;
    assert_ok(run(*state, "constants", types, data, 1, 16, &test_error));
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_memory_equal(&out[i], &expected[i], sizeof(float));
}

static void aggregates_hold_it(void **state)
{
    const bf16 v[4] = {nearest(1), nearest(-2), nearest(0.1), nearest(16)};
    const struct {
        bf16 first;
        uint8_t second;
        bf16 third;
    } p = {nearest(3), 4, nearest(5)};
    const struct {
        bf16 first;
        int32_t second;
    } t = {nearest(1.5), 3};
    bf16 out[8] = {0};
    const kiln_array array = kernels_array(out, 8);
    const kernels_argument arguments[] = {{"bf16[:]", &array},
                                          {"Vec{bf16, 4}", v},
                                          {"Pair", &p},
                                          {"(bf16, i32)", &t}};
    const double tenth = value_of(nearest(0.1));
    const double expected[8] = {
        1.5, 4.5, value_of(nearest(tenth * tenth)) + 0.5, 256, 5, 3, 4.5, 4};

    assert_ok(kernels_run(*state, kernels_load(*state, FILE_OF), "aggregates",
                          1, arguments, 4, &test_error));
    for (size_t i = 0; i < 8; i++)
        check("aggregate", i, out[i], nearest((long double)expected[i]));
}

static void items_of_a_group_exchange_it(void **state)
{
    enum { COUNT = 64 };
    bf16 a[COUNT], out[COUNT];
    void *const data[] = {out, a};
    kiln_array arrays[2];
    kernels_argument arguments[2];
    const kiln_launch launch = {.grid = {COUNT, 1, 1}, .block = {COUNT, 1, 1}};

    for (unsigned i = 0; i < COUNT; i++)
        a[i] = nearest(i % 4);
    for (int i = 0; i < 2; i++) {
        arrays[i] = kernels_array(data[i], COUNT);
        arguments[i] = (kernels_argument){"bf16[:]", &arrays[i]};
    }
    assert_ok(kernels_launch(*state, kernels_load(*state, FILE_OF), "together",
                             ((kernels *)*state)->config, &launch, arguments, 2,
                             &test_error));
    for (unsigned i = 0; i < COUNT; i++)
        check("group", i, out[i], nearest((63 - i) % 4 + 96));
}

static void lanes_exchange_it(void **state)
{
    enum { COUNT = 64 };
    bf16 a[COUNT], out[3][COUNT];
    void *const data[] = {out[0], out[1], out[2], a};
    uint64_t lanes;

    if (!kernels_has(*state, "subgroups"))
        return;
    lanes = kernels_lanes(*state);
    for (unsigned i = 0; i < COUNT; i++)
        a[i] = nearest(2);
    run_alike(*state, "lanes", data, 4, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        /* The last sub-group of a group may have fewer. */
        assert_true(value_of(out[0][i]) >= 2 &&
                    value_of(out[0][i]) <= 2 * (double)lanes);
        check("max", i, out[1][i], nearest(2));
        check("broadcast", i, out[2][i], nearest(2));
    }
}

static void atomics_are_whole_or_refused(void **state)
{
    static const char *const types[] = {"bf16[:]", "bf16[:]"};
    enum { COUNT = 200 };
    bf16 out[COUNT] = {0}, old[COUNT] = {0};
    void *const data[] = {out, old};

    out[4] = nearest(1);
    out[5] = nearest(7);
    if (strncmp(kernels_backend(), "spirv", 5) == 0) {
        assert_fails(
            KILN_EUNSUPPORTED, "`atomic_add` on bf16",
            run(*state, "atomics", types, data, 2, COUNT, &test_error));
        return;
    }
    assert_ok(run(*state, "atomics", types, data, 2, COUNT, &test_error));
    check("add", 0, out[0], nearest(COUNT));
    check("sub", 1, out[1], nearest(-COUNT / 2));
    check("max", 2, out[2], nearest(COUNT - 1));
    check("min", 3, out[3], nearest(1 - COUNT));
    check("exchange", 4, out[4], nearest(2.5));
    check("cas", 5, out[5], nearest(8));
    check("old", 0, old[0], nearest(1));
    check("old", 1, old[1], nearest(7));
    check("old", 2, old[2], nearest(8));
}

static void it_is_printed(void **state)
{
    static const char *const types[] = {"bf16[:]"};
    bf16 a[2] = {nearest(1.5), nearest(256)};
    void *const data[] = {a};

    assert_ok(run(*state, "printed", types, data, 1, 2, &test_error));
    assert_string_equal(((kernels *)*state)->printed, "1.5 -256 inf\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_widens_exactly),
        cmocka_unit_test(f16_and_bf16_convert),
        cmocka_unit_test(integers_are_cut_and_saturated),
        cmocka_unit_test(whole_numbers_convert_and_others_raise),
        cmocka_unit_test(bits_are_the_values_own),
        cmocka_unit_test(f32_is_rounded_to_even),
        cmocka_unit_test(f64_is_rounded_once),
        cmocka_unit_test(large_f64_are_infinite),
        cmocka_unit_test(i8_is_rounded_once),
        cmocka_unit_test(u16_is_rounded_once),
        cmocka_unit_test(i32_is_rounded_once),
        cmocka_unit_test(u32_is_rounded_once),
        cmocka_unit_test(i64_is_rounded_once),
        cmocka_unit_test(u64_is_rounded_once),
        cmocka_unit_test(results_are_rounded),
        cmocka_unit_test(comparisons_are_those_of_the_values),
        cmocka_unit_test(mathematics_is_rounded),
        cmocka_unit_test(no_flag_leaves_a_rounding_out),
        cmocka_unit_test(constants_are_rounded),
        cmocka_unit_test(aggregates_hold_it),
        cmocka_unit_test(items_of_a_group_exchange_it),
        cmocka_unit_test(lanes_exchange_it),
        cmocka_unit_test(atomics_are_whole_or_refused),
        cmocka_unit_test(it_is_printed),
    };

    fill();
    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
