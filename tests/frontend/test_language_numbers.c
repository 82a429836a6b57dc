/* test_language_numbers.c - every scalar type against plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include "support/harness.h"

#include <math.h>
#include <string.h>

#include "support/devices/kernels.h"

#define FILE_OF(name) KILN_TESTS_FOLDER "/language/" name ".kiln"

/* X(the language's name, C's, is it signed) */
#define INTEGER_TYPES(X) \
    X(i8, int8_t, 1) \
    X(i16, int16_t, 1) \
    X(i32, int32_t, 1) \
    X(i64, int64_t, 1) \
    X(u8, uint8_t, 0) \
    X(u16, uint16_t, 0) \
    X(u32, uint32_t, 0) \
    X(u64, uint64_t, 0)

#define FLOAT_TYPES(X) \
    X(f32, float, f) \
    X(f64, double, )

enum { COUNT = 200, OUTPUTS = 5, ARGUMENTS = OUTPUTS + 2 };

/* Numbers that cover a type: small ones, both ends, and bits of all sizes. */
static uint64_t number(size_t i)
{
    static const uint64_t some[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    100,
                                    (uint64_t)-1,
                                    (uint64_t)-2,
                                    127,
                                    128,
                                    255,
                                    1u << 15,
                                    1u << 31,
                                    (uint64_t)1 << 63};
    const size_t count = sizeof some / sizeof *some;

    if (i < count)
        return some[i];
    return (0x9E3779B97F4A7C15u * i) >> (i % 61);
}

/* Runs a kernel of `outputs` arrays and then `inputs`, all of one type but
   the last where `last` names another. */
static void run(kernels *k, const char *file, const char *kernel,
                const char *type, const char *last, void *const *data,
                size_t count, int64_t size)
{
    kiln_array arrays[ARGUMENTS];
    kernels_argument arguments[ARGUMENTS];

    for (size_t i = 0; i < count; i++) {
        arrays[i] = kernels_array(data[i], size);
        arguments[i] = (kernels_argument){type, &arrays[i]};
    }
    if (last != NULL)
        arguments[count - 1].type = last;
    assert_ok(kernels_run(k, kernels_load(k, file), kernel, (uint64_t)size,
                          arguments, count, &test_error));
}

static void fail_at(const char *type, const char *operation, size_t i)
{
    fail_msg("%s %s differs at %zu", type, operation, i);
}

/* ---- integers ---- */

#define DEFINE_INTEGERS(name, T, is_signed) \
    static T divide_##name(T a, T b) \
    { \
        /* MIN // -1 = MIN */ \
        return is_signed && b == (T)-1 ? (T)(0 - (uint64_t)a) : (T)(a / b); \
    } \
    static T remain_##name(T a, T b) \
    { \
        return (T)(is_signed && b == (T)-1 ? 0 : a % b); \
    } \
    static void integers_##name(kernels *k) \
    { \
        static T a[COUNT], b[COUNT], out[OUTPUTS][COUNT]; \
        void *const data[] = {out[0], out[1], out[2], out[3], out[4], a, b}; \
\
        for (size_t i = 0; i < COUNT; i++) { \
            a[i] = (T)number(i); \
            b[i] = (T)number((i * 7 + 3) % COUNT); \
            b[i] = b[i] == 0 ? (T)5 : b[i]; \
        } \
        run(k, FILE_OF("arithmetic"), "integers", #name "[:]", NULL, data, 7, \
            COUNT); \
        for (size_t i = 0; i < COUNT; i++) { \
            const uint64_t x = (uint64_t)a[i], y = (uint64_t)b[i]; \
\
            if (out[0][i] != (T)(x + y)) \
                fail_at(#name, "+", i); \
            if (out[1][i] != (T)(x - y)) \
                fail_at(#name, "-", i); \
            if (out[2][i] != (T)(x * y)) \
                fail_at(#name, "*", i); \
            if (out[3][i] != divide_##name(a[i], b[i])) \
                fail_at(#name, "//", i); \
            if (out[4][i] != remain_##name(a[i], b[i])) \
                fail_at(#name, "%", i); \
        } \
    } \
    static void bits_##name(kernels *k) \
    { \
        static T a[COUNT], b[COUNT], out[OUTPUTS][COUNT]; \
        void *const data[] = {out[0], out[1], out[2], out[3], out[4], a, b}; \
\
        for (size_t i = 0; i < COUNT; i++) { \
            a[i] = (T)number(i); \
            b[i] = (T)number((i * 7 + 3) % COUNT); \
        } \
        run(k, FILE_OF("arithmetic"), "bits", #name "[:]", NULL, data, 7, \
            COUNT); \
        for (size_t i = 0; i < COUNT; i++) { \
            const T inverse = (T)(UINT64_MAX - (uint64_t)a[i]); \
\
            if (out[0][i] != (T)(a[i] & b[i])) \
                fail_at(#name, "&", i); \
            if (out[1][i] != (T)(a[i] | b[i])) \
                fail_at(#name, "|", i); \
            if (out[2][i] != (T)(a[i] ^ b[i])) \
                fail_at(#name, "^", i); \
            if (out[3][i] != inverse) \
                fail_at(#name, "~", i); \
            if (out[4][i] != (T)(0 - (uint64_t)a[i])) \
                fail_at(#name, "negative", i); \
        } \
    } \
    static void shifts_##name(kernels *k) \
    { \
        static T a[COUNT], out[2][COUNT]; \
        static int16_t counts[COUNT]; \
        void *const data[] = {out[0], out[1], a, counts}; \
        const int mask = (int)(8 * sizeof(T)) - 1; \
\
        for (size_t i = 0; i < COUNT; i++) { \
            a[i] = (T)number(i); \
            counts[i] = (int16_t)((int)i - 70); \
        } \
        run(k, FILE_OF("arithmetic"), "shifts", #name "[:]", "i16[:]", data, \
            4, COUNT); \
        for (size_t i = 0; i < COUNT; i++) { \
            if (out[0][i] != (T)((uint64_t)a[i] << (counts[i] & mask))) \
                fail_at(#name, "<<", i); \
            if (out[1][i] != (T)(a[i] >> (counts[i] & mask))) \
                fail_at(#name, ">>", i); \
        } \
    } \
    static void compared_##name(kernels *k) \
    { \
        static T a[COUNT], b[COUNT]; \
        static int64_t out[COUNT]; \
        const kiln_array arrays[] = {kernels_array(out, COUNT), \
                                     kernels_array(a, COUNT), \
                                     kernels_array(b, COUNT)}; \
        const kernels_argument arguments[] = {{"i64[:]", &arrays[0]}, \
                                              {#name "[:]", &arrays[1]}, \
                                              {#name "[:]", &arrays[2]}}; \
\
        for (size_t i = 0; i < COUNT; i++) { \
            a[i] = (T)number(i); \
            b[i] = i % 3 == 0 ? a[i] : (T)number((i * 7 + 3) % COUNT); \
        } \
        assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arithmetic")), \
                              "comparisons", COUNT, arguments, 3, \
                              &test_error)); \
        for (size_t i = 0; i < COUNT; i++) \
            assert_int_equal(out[i], \
                             (a[i] == b[i]) | (a[i] != b[i]) << 1 | \
                                 (a[i] < b[i]) << 2 | (a[i] <= b[i]) << 3 | \
                                 (a[i] > b[i]) << 4 | (a[i] >= b[i]) << 5); \
    }

INTEGER_TYPES(DEFINE_INTEGERS)

#define CALL_INTEGERS(name, T, is_signed) integers_##name(*state);
#define CALL_BITS(name, T, is_signed) bits_##name(*state);
#define CALL_SHIFTS(name, T, is_signed) shifts_##name(*state);
#define CALL_COMPARED(name, T, is_signed) compared_##name(*state);

static void integers_wrap_and_divide_as_in_c(void **state)
{
    INTEGER_TYPES(CALL_INTEGERS)
}

static void bits_are_bits(void **state)
{
    INTEGER_TYPES(CALL_BITS)
}

static void shift_counts_are_taken_modulo_the_width(void **state)
{
    INTEGER_TYPES(CALL_SHIFTS)
}

static void integers_compare_by_their_signedness(void **state)
{
    INTEGER_TYPES(CALL_COMPARED)
}

/* ---- floats ---- */

static int same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static double real(size_t i)
{
    static const double some[] = {0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  0.1,
                                  2.5,
                                  -3.75,
                                  1e10,
                                  1e-10,
                                  1e30,
                                  1e-30,
                                  (double)INFINITY,
                                  -(double)INFINITY,
                                  (double)NAN};
    const size_t count = sizeof some / sizeof *some;

    return i < count ? some[i]
                     : ((double)(number(i) >> 20) - 8e12) / (double)(i * i);
}

#define DEFINE_FLOATS(name, T, suffix) \
    static void floats_##name(kernels *k) \
    { \
        static T a[COUNT], b[COUNT], out[OUTPUTS][COUNT]; \
        void *const data[] = {out[0], out[1], out[2], out[3], out[4], a, b}; \
\
        for (size_t i = 0; i < COUNT; i++) { \
            a[i] = (T)real(i); \
            b[i] = (T)real((i * 7 + 3) % COUNT); \
        } \
        run(k, FILE_OF("arithmetic"), "floats", #name "[:]", NULL, data, 7, \
            COUNT); \
        for (size_t i = 0; i < COUNT; i++) { \
            if (!same((double)out[0][i], (double)(a[i] + b[i]))) \
                fail_at(#name, "+", i); \
            if (!same((double)out[1][i], (double)(a[i] - b[i]))) \
                fail_at(#name, "-", i); \
            if (!same((double)out[2][i], (double)(a[i] * b[i]))) \
                fail_at(#name, "*", i); \
            if (!same((double)out[3][i], (double)(a[i] / b[i]))) \
                fail_at(#name, "/", i); \
            if (!same((double)out[4][i], (double)fmod##suffix(a[i], b[i]))) \
                fail_at(#name, "%", i); \
        } \
    } \
    static void rounded_##name(kernels *k) \
    { \
        static T x[COUNT], out[5 * COUNT]; \
        const kiln_array outs = kernels_array(out, 5 * COUNT), \
                         xs = kernels_array(x, COUNT); \
        const kernels_argument arguments[] = {{#name "[:]", &outs}, \
                                              {#name "[:]", &xs}}; \
\
        for (size_t i = 0; i < COUNT; i++) \
            x[i] = i < 40 ? (T)((double)i / 4 - 5) : (T)real(i); \
        assert_ok(kernels_run(k, kernels_load(k, FILE_OF("mathematics")), \
                              "roundings", COUNT, arguments, 2, &test_error)); \
        for (size_t i = 0; i < COUNT; i++) { \
            const T *got = out + 5 * i; \
\
            assert_true(same((double)got[0], (double)floor##suffix(x[i]))); \
            assert_true(same((double)got[1], (double)ceil##suffix(x[i]))); \
            assert_true(same((double)got[2], (double)round##suffix(x[i]))); \
            assert_true(same((double)got[3], (double)rint##suffix(x[i]))); \
            assert_true(same((double)got[4], (double)trunc##suffix(x[i]))); \
        } \
    } \
    static void magnitudes_##name(kernels *k) \
    { \
        static T x[COUNT], y[COUNT], out[5 * COUNT], signs[2 * COUNT]; \
        const kiln_array outs = kernels_array(out, 5 * COUNT), \
                         ss = kernels_array(signs, 2 * COUNT), \
                         xs = kernels_array(x, COUNT), \
                         ys = kernels_array(y, COUNT); \
        kernels_argument arguments[] = { \
            {#name "[:]", &outs}, {#name "[:]", &xs}, {#name "[:]", &ys}}; \
        kiln_package *package = kernels_load(k, FILE_OF("mathematics")); \
\
        for (size_t i = 0; i < COUNT; i++) { \
            x[i] = isnan(real(i)) ? (T)4 : (T)real(i); \
            y[i] = (T)real((i * 7 + 3) % COUNT); \
        } \
        assert_ok(kernels_run(k, package, "magnitudes", COUNT, arguments, 3, \
                              &test_error)); \
        arguments[0].value = &ss; \
        assert_ok(kernels_run(k, package, "signs", COUNT, arguments, 3, \
                              &test_error)); \
        for (size_t i = 0; i < COUNT; i++) { \
            const T *got = out + 5 * i; \
\
            assert_true((double)got[0] == (double)fabs##suffix(x[i])); \
            assert_true((double)got[1] == (double)fmin##suffix(x[i], y[i])); \
            assert_true((double)got[2] == (double)fmax##suffix(x[i], y[i])); \
            assert_true(got[3] == (x[i] < -1 ? -1 : x[i] > 1 ? 1 : x[i])); \
            assert_true(got[4] == (T)((x[i] > 0) - (x[i] < 0))); \
            assert_true(same((double)signs[2 * i], \
                             (double)copysign##suffix(x[i], y[i]))); \
            assert_true(same((double)signs[2 * i + 1], \
                             (double)fmod##suffix(x[i], y[i]))); \
        } \
    }

FLOAT_TYPES(DEFINE_FLOATS)

#define CALL_FLOATS(name, T, suffix) floats_##name(*state);
#define CALL_ROUNDED(name, T, suffix) rounded_##name(*state);
#define CALL_MAGNITUDES(name, T, suffix) magnitudes_##name(*state);

static void floats_follow_the_standard(void **state)
{
    FLOAT_TYPES(CALL_FLOATS)
}

static void roundings_are_exact(void **state)
{
    FLOAT_TYPES(CALL_ROUNDED)
}

static void magnitudes_and_signs_are_exact(void **state)
{
    FLOAT_TYPES(CALL_MAGNITUDES)
}

static void floats_are_tested_for_their_class(void **state)
{
    kernels *k = *state;
    float x[] = {1, NAN, INFINITY, -INFINITY, 0};
    int64_t out[5];
    const kiln_array outs = kernels_array(out, 5), xs = kernels_array(x, 5);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"f32[:]", &xs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("mathematics")), "tests",
                          5, arguments, 2, &test_error));
    assert_int_equal(out[0], 4);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 2);
    assert_int_equal(out[3], 2);
    assert_int_equal(out[4], 4);
}

/* Runs a kernel (out: f64[:], x: f64) and compares to `ulps` of each. */
static void expect_close(kernels *k, const char *kernel, double x,
                         const double *expected, size_t count)
{
    double out[16];
    float narrow[16];
    const float single = (float)x;
    const kiln_array outs = kernels_array(out, (int64_t)count),
                     narrows = kernels_array(narrow, (int64_t)count);
    const kernels_argument wide[] = {{"f64[:]", &outs}, {"f64", &x}};
    const kernels_argument half[] = {{"f32[:]", &narrows}, {"f32", &single}};
    kiln_package *package = kernels_load(k, FILE_OF("mathematics"));

    assert_ok(kernels_run(k, package, kernel, 1, wide, 2, &test_error));
    assert_ok(kernels_run(k, package, kernel, 1, half, 2, &test_error));
    for (size_t i = 0; i < count; i++) {
        const double scale = fabs(expected[i]) > 1 ? fabs(expected[i]) : 1;

        if (!(fabs(out[i] - expected[i]) <= 1e-14 * scale))
            fail_msg("%s: out[%zu] is %.17g, not %.17g", kernel, i, out[i],
                     expected[i]);
        if (!(fabs((double)narrow[i] - expected[i]) <= 1e-6 * scale))
            fail_msg("%s: single out[%zu] is %.9g, not %.9g", kernel, i,
                     (double)narrow[i], expected[i]);
    }
}

static void functions_of_floats_agree_with_c(void **state)
{
    static const double points[] = {0.125, 0.5, 0.75};

    for (size_t i = 0; i < 3; i++) {
        const double x = points[i];
        const double roots[] = {sqrt(x),         1 / sqrt(x),   cbrt(x),
                                hypot(x, x + 1), pow(x, x + 1), x * x + x};
        const double exponentials[] = {exp(x), exp2(x), pow(10, x), expm1(x),
                                       log(x), log2(x), log10(x),   log1p(x)};
        const double angles[] = {
            sin(x),   cos(x),          tan(x),  asin(x), acos(x),
            atan(x),  atan2(x, x - 1), sinh(x), cosh(x), tanh(x),
            asinh(x), acosh(x + 1),    atanh(x)};
        const double specials[] = {erf(x), erfc(x), tgamma(x), lgamma(x)};

        expect_close(*state, "roots", x, roots, 6);
        expect_close(*state, "exponentials", x, exponentials, 8);
        expect_close(*state, "angles", x, angles, 13);
        expect_close(*state, "specials", x, specials, 4);
    }
}

/* ---- functions of integers, limits ---- */

static void functions_of_integers_agree_with_c(void **state)
{
    kernels *k = *state;
    int64_t out[11];
    const int32_t x = 0x00F0A002;
    const uint8_t byte = 0x12;
    const kiln_array outs = kernels_array(out, 11);
    const kernels_argument wide[] = {{"i64[:]", &outs}, {"i32", &x}};
    const kernels_argument narrow[] = {{"i64[:]", &outs}, {"u8", &byte}};
    kiln_package *package = kernels_load(k, FILE_OF("mathematics"));

    assert_ok(kernels_run(k, package, "integers", 1, wide, 2, &test_error));
    assert_int_equal(out[0], __builtin_popcount(0x00F0A002));
    assert_int_equal(out[1], __builtin_clz(0x00F0A002));
    assert_int_equal(out[2], 1);
    assert_int_equal(out[3], 0x40050F00);
    assert_int_equal(out[4], 0x02A0F000);
    assert_int_equal(out[5], x);
    assert_int_equal(out[6], 7);
    assert_int_equal(out[7], x);
    assert_int_equal(out[8], 5);
    assert_int_equal(out[9], 1);
    assert_int_equal(out[10], x);
    assert_ok(kernels_run(k, package, "integers", 1, narrow, 2, &test_error));
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 3);
    assert_int_equal(out[2], 1);
    assert_int_equal(out[3], 0x48);
    assert_int_equal(out[4], 0x12);
}

static void limits_of_types_are_c_s(void **state)
{
    kernels *k = *state;
    double out[8] = {0};
    const kiln_array outs = kernels_array(out, 8);
    const kernels_argument arguments[] = {{"f64[:]", &outs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("mathematics")), "limits",
                          1, arguments, 1, &test_error));
    assert_true(out[0] == -128 && out[1] == 65535);
    assert_true(out[2] == (double)INFINITY);
    assert_true(out[3] == 0x1p-52 && out[4] == 0x1p-23);
    assert_true(out[5] == 1 && out[6] == -0x1p63);
    assert_true(out[7] == -(double)INFINITY);
}

/* ---- mixed types, logic, powers ---- */

static void mixed_operands_widen(void **state)
{
    kernels *k = *state;
    int16_t i[1];
    int32_t j[2];
    uint64_t n[1];
    float x[3];
    double y[2] = {0.5, 0.25};
    const int8_t a = -100;
    const int16_t b = 30000;
    const int32_t c = -1000000;
    const uint8_t u = 200;
    const uint64_t v = UINT64_MAX - 100;
    const float s = 1.5f;
    const kiln_array is = kernels_array(i, 1), js = kernels_array(j, 2),
                     ns = kernels_array(n, 1), xs = kernels_array(x, 3),
                     ys = kernels_array(y, 2);
    const kernels_argument arguments[] = {
        {"i16[:]", &is}, {"i32[:]", &js}, {"u64[:]", &ns}, {"f32[:]", &xs},
        {"f64[:]", &ys}, {"i8", &a},      {"i16", &b},     {"i32", &c},
        {"u8", &u},      {"u64", &v},     {"f32", &s}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arithmetic")), "widening",
                          1, arguments, 11, &test_error));
    assert_int_equal(i[0], 29900);
    assert_int_equal(j[0], 100000000);
    assert_int_equal(j[1], 1030000);
    assert_true(n[0] == 99);
    assert_true(x[0] == -98.5f && x[1] == -1500000.0f);
    assert_true(x[2] == (float)v - 1.5f);
    assert_true(y[0] == 2.0 && y[1] == -250000.0);
}

static void logic_stops_early(void **state)
{
    kernels *k = *state;
    int64_t out[9], a[3] = {0, 5, 50};
    static const int64_t expected[] = {0, 1, -1, 1, 1, 20, 0, 0, 2};
    const kiln_array outs = kernels_array(out, 9), as = kernels_array(a, 3);
    const kernels_argument arguments[] = {{"i64[:]", &outs}, {"i64[:]", &as}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arithmetic")), "logic", 3,
                          arguments, 2, &test_error));
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(out[i], expected[i]);
}

static void expect_same(kernels *k, const char *kernel, int64_t *out,
                        const int64_t *expected, size_t count)
{
    const kiln_array outs = kernels_array(out, (int64_t)count);
    const kernels_argument arguments[] = {{"i64[:]", &outs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arithmetic")), kernel, 1,
                          arguments, 1, &test_error));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(out[i], expected[i]);
}

static void truth_has_its_own_operators(void **state)
{
    static const int64_t expected[] = {0, 1, 1, 0, 0, 1, 1};
    int64_t out[7] = {0};

    expect_same(*state, "booleans", out, expected, 7);
}

static void powers_bind_and_multiply(void **state)
{
    static const int64_t expected[] = {81, 27, -27, -9, 1, 512, 27};
    kernels *k = *state;
    int64_t out[7] = {0};
    double real_out[4];
    const double x = 1.5;
    const kiln_array outs = kernels_array(real_out, 4);
    const kernels_argument arguments[] = {{"f64[:]", &outs}, {"f64", &x}};

    expect_same(k, "powers", out, expected, 7);
    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arithmetic")),
                          "real_powers", 1, arguments, 2, &test_error));
    assert_true(real_out[0] == 2.25);
    assert_true(fabs(real_out[1] - 1 / 2.25) < 1e-15);
    assert_true(fabs(real_out[2] - sqrt(1.5)) < 1e-15);
    assert_true(fabs(real_out[3] - pow(1.5, 1.5)) < 1e-15);
}

static void literals_adapt(void **state)
{
    kernels *k = *state;
    float out[4] = {1, 1, 1, 1};
    uint8_t bytes[3] = {3, 0, 0};
    const kiln_array outs = kernels_array(out, 4), bs = kernels_array(bytes, 3);
    const kernels_argument arguments[] = {{"f32[:]", &outs}, {"u8[:]", &bs}};

    assert_ok(kernels_run(k, kernels_load(k, FILE_OF("arithmetic")), "literals",
                          1, arguments, 2, &test_error));
    assert_true(out[0] == 2 && out[1] == 2.5f && out[2] == 1e-3f &&
                out[3] == 16);
    assert_int_equal(bytes[0], 2);
    assert_int_equal(bytes[1], 5);
    assert_int_equal(bytes[2], 25);
}

static void compound_assignments_are_their_operators(void **state)
{
    kernels *k = *state;
    static int64_t out[COUNT], a[COUNT], b[COUNT];
    void *const data[] = {out, a, b};

    for (size_t i = 0; i < COUNT; i++) {
        a[i] = (int64_t)(number(i) >> 4);
        b[i] = (int64_t)(number(i * 3) >> 4);
    }
    run(k, FILE_OF("arithmetic"), "assignments", "i64[:]", NULL, data, 3,
        COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t x = ((uint64_t)a[i] + (uint64_t)b[i] - 1) * 3;
        int64_t y = (int64_t)x / 2 % 100;

        y = (int64_t)((uint64_t)y << 2) >> 1;
        assert_int_equal(out[i], ((y & 127) | 64) ^ 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_and_divide_as_in_c),
        cmocka_unit_test(bits_are_bits),
        cmocka_unit_test(shift_counts_are_taken_modulo_the_width),
        cmocka_unit_test(integers_compare_by_their_signedness),
        cmocka_unit_test(floats_follow_the_standard),
        cmocka_unit_test(roundings_are_exact),
        cmocka_unit_test(magnitudes_and_signs_are_exact),
        cmocka_unit_test(floats_are_tested_for_their_class),
        cmocka_unit_test(functions_of_floats_agree_with_c),
        cmocka_unit_test(functions_of_integers_agree_with_c),
        cmocka_unit_test(limits_of_types_are_c_s),
        cmocka_unit_test(mixed_operands_widen),
        cmocka_unit_test(logic_stops_early),
        cmocka_unit_test(truth_has_its_own_operators),
        cmocka_unit_test(powers_bind_and_multiply),
        cmocka_unit_test(literals_adapt),
        cmocka_unit_test(compound_assignments_are_their_operators),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
