/* test_foreign_math.c - mathematics of modules that another frontend lowers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen host */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/codegen/module_texts.h"
#include "support/devices/kernels.h"
#include "support/harness.h"
#include "support/written.h"

/*
 * Each function is called under its names: C's, LLVM's, OpenCL's, and those of
 * the vendors' libraries. What a kernel computes is compared with C on the
 * host, in long double; how far off it may be is what the language promises of
 * its own functions (docs/language.md).
 */

#define COUNT 256
#define TEXT_MAX 262144

enum { BY_C, BY_LLVM, BY_OPENCL, BY_NVIDIA, BY_AMD, SPELLINGS };

typedef struct function {
    const char *name;
    const char *intrinsic; /* NULL: LLVM has none */
    long double (*exact)(long double x);
    long double (*exact2)(long double x, long double y);
    double low, high;
    double second; /* operand of a function of two */
    /* Units in the last place, on the host and on devices, for f32 and f64. */
    double units[2][2];
} function;

static long double tenl(long double x)
{
    return powl(10, x);
}

static const function functions[] = {
    {"acos", "acos", acosl, NULL, -1, 1, 0, {{1, 1}, {4, 4}}},
    {"acosh", NULL, acoshl, NULL, 1, 1e3, 0, {{2, 3}, {4, 4}}},
    {"asin", "asin", asinl, NULL, -1, 1, 0, {{1, 1}, {4, 4}}},
    {"asinh", NULL, asinhl, NULL, -1e3, 1e3, 0, {{2, 2}, {4, 4}}},
    {"atan", "atan", atanl, NULL, -1e3, 1e3, 0, {{1, 1}, {5, 5}}},
    {"atan2", "atan2", NULL, atan2l, -1e3, 1e3, 3, {{2, 1}, {6, 6}}},
    {"atanh", NULL, atanhl, NULL, -0.99, 0.99, 0, {{2, 2}, {5, 5}}},
    {"cbrt", NULL, cbrtl, NULL, -1e6, 1e6, 0, {{1, 4}, {2, 2}}},
    {"ceil", "ceil", ceill, NULL, -1e3, 1e3, 0, {{0, 0}, {0, 0}}},
    {"copysign", "copysign", NULL, copysignl, -1, 1, -2, {{0, 0}, {0, 0}}},
    {"cos", "cos", cosl, NULL, -1e4, 1e4, 0, {{1, 1}, {4, 4}}},
    {"cosh", "cosh", coshl, NULL, -50, 50, 0, {{2, 2}, {4, 4}}},
    {"erf", NULL, erfl, NULL, -3, 3, 0, {{1, 1}, {16, 16}}},
    {"erfc", NULL, erfcl, NULL, -3, 5, 0, {{3, 5}, {16, 16}}},
    {"exp", "exp", expl, NULL, -80, 80, 0, {{1, 1}, {3, 3}}},
    {"exp10", "exp10", tenl, NULL, -37, 37, 0, {{2, 2}, {3, 3}}},
    {"exp2", "exp2", exp2l, NULL, -120, 120, 0, {{1, 1}, {3, 3}}},
    {"expm1", NULL, expm1l, NULL, -1, 1, 0, {{1, 1}, {3, 3}}},
    {"fabs", "fabs", fabsl, NULL, -1e3, 1e3, 0, {{0, 0}, {0, 0}}},
    {"fdim", NULL, NULL, fdiml, -8, 8, 2, {{0.5, 0.5}, {0.5, 0.5}}},
    {"floor", "floor", floorl, NULL, -1e3, 1e3, 0, {{0, 0}, {0, 0}}},
    {"fmax", "maxnum", NULL, fmaxl, -8, 8, 2, {{0, 0}, {0, 0}}},
    {"fmin", "minnum", NULL, fminl, -8, 8, 2, {{0, 0}, {0, 0}}},
    {"fmod", NULL, NULL, fmodl, -1e6, 1e6, 0.75, {{0, 0}, {0, 0}}},
    {"hypot", NULL, NULL, hypotl, -1e3, 1e3, 3, {{1, 1}, {4, 4}}},
    {"lgamma", NULL, lgammal, NULL, 3, 1e3, 0, {{4, 4}, {16, 16}}},
    {"log", "log", logl, NULL, 1e-6, 1e6, 0, {{1, 1}, {3, 3}}},
    {"log10", "log10", log10l, NULL, 1e-6, 1e6, 0, {{2, 2}, {3, 3}}},
    {"log1p", NULL, log1pl, NULL, -0.9, 10, 0, {{1, 1}, {2, 2}}},
    {"log2", "log2", log2l, NULL, 1e-6, 1e6, 0, {{1, 2}, {3, 3}}},
    {"logb", NULL, logbl, NULL, 1e-6, 1e6, 0, {{0, 0}, {0, 0}}},
    {"pow", "pow", NULL, powl, 1e-3, 1e3, 1.75, {{1, 1}, {16, 16}}},
    {"remainder", NULL, NULL, remainderl, -1e6, 1e6, 0.75, {{0, 0}, {0, 0}}},
    {"rint", "rint", rintl, NULL, -1e3, 1e3, 0, {{0, 0}, {0, 0}}},
    {"round", "round", roundl, NULL, -1e3, 1e3, 0, {{0, 0}, {0, 0}}},
    {"sin", "sin", sinl, NULL, -1e4, 1e4, 0, {{1, 1}, {4, 4}}},
    {"sinh", "sinh", sinhl, NULL, -50, 50, 0, {{2, 2}, {4, 4}}},
    {"sqrt", "sqrt", sqrtl, NULL, 0.5, 1e6, 0, {{0.5, 0.5}, {3, 0.5}}},
    {"tan", "tan", tanl, NULL, -1e4, 1e4, 0, {{1, 1}, {5, 5}}},
    {"tanh", "tanh", tanhl, NULL, -5, 5, 0, {{2, 2}, {5, 5}}},
    {"tgamma", NULL, tgammal, NULL, 0.1, 30, 0, {{8, 10}, {256, 256}}},
    {"trunc", "trunc", truncl, NULL, -1e3, 1e3, 0, {{0, 0}, {0, 0}}},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* The same numbers at each run, spread over the range. */
static double operand(const function *f, size_t i)
{
    const uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;

    return f->low +
           (f->high - f->low) * (double)(mixed >> 11) / 9007199254740992.0;
}

/* ---- texts ---- */

static char written_bytes[TEXT_MAX];
static written text = {written_bytes, sizeof written_bytes, 0};

#define put(...) written_put(&text, __VA_ARGS__)

static void name_of(char out[64], const function *f, int spelling, int is_f64)
{
    const char *end = is_f64 ? "" : "f";
    const char *letters = is_f64 ? "dd" : "ff";
    const int count = f->exact2 != NULL ? 2 : 1;

    if (spelling == BY_LLVM && f->intrinsic != NULL)
        snprintf(out, 64, "llvm.%s.f%d", f->intrinsic, is_f64 ? 64 : 32);
    else if (spelling == BY_OPENCL)
        snprintf(out, 64, "_Z%zu%s%.*s", strlen(f->name), f->name, count,
                 letters);
    else if (spelling == BY_NVIDIA)
        snprintf(out, 64, "__nv_%s%s", f->name, end);
    else if (spelling == BY_AMD)
        snprintf(out, 64, "__ocml_%s_f%d", f->name, is_f64 ? 64 : 32);
    else
        snprintf(out, 64, "%s%s", f->name, end);
}

/* out[k * COUNT + i] = function k of x[k * COUNT + i]. */
static const char *write_module(int spelling, int is_f64)
{
    const char *type = is_f64 ? "double" : "float";
    char name[64];

    text.size = 0;
    put("declare i64 @kiln_global_id(@I, i32)\n");
    for (size_t k = 0; k < FUNCTIONS; k++) {
        name_of(name, &functions[k], spelling, is_f64);
        put("declare %s @%s(%s%s%s)\n", type, name, type,
            functions[k].exact2 != NULL ? ", " : "",
            functions[k].exact2 != NULL ? type : "");
    }
    put("define i32 @E(@I %%item, @A %%out, i64 %%n, @A %%x, i64 %%m) {\n"
        "  %%i = call i64 @kiln_global_id(@I %%item, i32 0)\n");
    for (size_t k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];

        name_of(name, f, spelling, is_f64);
        put("  %%a%zu = add i64 %%i, %zu\n"
            "  %%p%zu = getelementptr %s, @A %%x, i64 %%a%zu\n"
            "  %%v%zu = load %s, @A %%p%zu\n"
            "  %%r%zu = call %s @%s(%s %%v%zu",
            k, k * COUNT, k, type, k, k, type, k, k, type, name, type, k);
        if (f->exact2 != NULL)
            put(", %s %e", type, f->second);
        put(")\n  %%q%zu = getelementptr %s, @A %%out, i64 %%a%zu\n"
            "  store %s %%r%zu, @A %%q%zu\n",
            k, type, k, type, k, k);
    }
    put("  ret i32 0\n}\n");
    return written_bytes;
}

/* ---- accuracy ---- */

static double units(long double got, long double exact, int digits)
{
    int exponent;

    (void)frexpl(exact, &exponent);
    return (double)(fabsl(got - exact) / ldexpl(1, exponent - digits));
}

static long double exact_of(const function *f, double x)
{
    return f->exact2 != NULL ? f->exact2((long double)x, (long double)f->second)
                             : f->exact((long double)x);
}

static float x32[FUNCTIONS * COUNT], out32[FUNCTIONS * COUNT];
static double x64[FUNCTIONS * COUNT], out64[FUNCTIONS * COUNT];

static void check(int spelling, int is_f64)
{
    const int is_device = strcmp(kernels_backend(), "host") != 0;

    for (size_t k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        const double most = f->units[is_device][is_f64];
        double worst = 0, x = 0;

        for (size_t i = 0; i < COUNT; i++) {
            const size_t at = k * COUNT + i;
            const double operand = is_f64 ? x64[at] : (double)x32[at];
            const double got = is_f64 ? out64[at] : (double)out32[at];
            const double off = units((long double)got, exact_of(f, operand),
                                     is_f64 ? DBL_MANT_DIG : FLT_MANT_DIG);

            if (!(off <= worst)) {
                worst = off;
                x = operand;
            }
        }
        if (!(worst <= most))
            fail_msg("%s of %s, spelling %d: %g units at %g, %g promised",
                     f->name, is_f64 ? "f64" : "f32", spelling, worst, x, most);
    }
}

static void run_all(kernels *k, int spelling, int is_f64)
{
    void *out = is_f64 ? (void *)out64 : (void *)out32;
    void *x = is_f64 ? (void *)x64 : (void *)x32;
    const kiln_array outs = kernels_array(out, FUNCTIONS * COUNT);
    const kiln_array xs = kernels_array(x, FUNCTIONS * COUNT);
    const char *type = is_f64 ? "f64[:]" : "f32[:]";
    const kernels_argument arguments[] = {{type, &outs}, {type, &xs}};
    char name[32];
    module_texts m;

    for (size_t i = 0; i < (size_t)FUNCTIONS * COUNT; i++) {
        x64[i] = operand(&functions[i / COUNT], i % COUNT);
        x32[i] = (float)x64[i];
        out64[i] = NAN;
        out32[i] = NAN;
    }
    snprintf(name, sizeof name, "modules %d %d", spelling, is_f64);
    module_texts_open(&m, k->context, name);
    assert_ok(module_texts_run(
        &m, k, module_texts_define(&m, write_module(spelling, is_f64)),
        k->config, COUNT, arguments, 2, &test_error));
    check(spelling, is_f64);
}

static void names_of_c_are_as_near_as_promised(void **state)
{
    run_all(*state, BY_C, 0);
    run_all(*state, BY_C, 1);
}

static void intrinsics_are_as_near_as_promised(void **state)
{
    run_all(*state, BY_LLVM, 0);
    run_all(*state, BY_LLVM, 1);
}

static void names_of_opencl_are_as_near_as_promised(void **state)
{
    run_all(*state, BY_OPENCL, 0);
    run_all(*state, BY_OPENCL, 1);
}

static void names_of_vendors_mean_the_same_everywhere(void **state)
{
    run_all(*state, BY_NVIDIA, 0);
    run_all(*state, BY_NVIDIA, 1);
    run_all(*state, BY_AMD, 0);
    run_all(*state, BY_AMD, 1);
}

/* ---- functions with whole numbers and with two results ---- */

/* A body makes two numbers, %r and %s, of the operands %x and %y. %slot points
   to memory for a result. */
typedef struct row {
    const char *what;
    const char *declarations;
    const char *body;
    void (*expect)(double x, double y, double out[2]);
} row;

/* Expected where C does not say what comes out. */
#define ANY 0x1.5p77

static void expect_frexp(double x, double y, double out[2])
{
    int exponent = 0;

    (void)y;
    out[0] = frexp(x, &exponent);
    out[1] = isfinite(x) ? exponent : ANY;
}

static void expect_modf(double x, double y, double out[2])
{
    (void)y;
    out[0] = modf(x, &out[1]);
}

static void expect_remquo(double x, double y, double out[2])
{
    int quotient = 0;

    out[0] = remquo(x, y, &quotient);
    out[1] = isfinite(x) && y != 0 && !isnan(y) ? quotient % 8 : ANY;
}

static void expect_ldexp(double x, double y, double out[2])
{
    out[0] = ldexp(x, 5);
    out[1] = ldexp(x, -1060);
    (void)y;
}

static void expect_scalbln(double x, double y, double out[2])
{
    out[0] = scalbln(x, 1L << 40);
    out[1] = scalbln(x, -3);
    (void)y;
}

static void expect_even(double x, double y, double out[2])
{
    out[0] = rint(x);
    out[1] = rint(x);
    (void)y;
}

static void expect_rounds(double x, double y, double out[2])
{
    const int fits = fabs(x) < 1e9;

    out[0] = fits ? (double)lround(x) : ANY;
    out[1] = fits ? (double)lrint(x) : ANY;
    (void)y;
}

static void expect_ilogb(double x, double y, double out[2])
{
    const int fits = isfinite(x) && x != 0;

    out[0] = fits ? ilogb(x) : ANY;
    out[1] = logb(x);
    (void)y;
}

static void expect_powers(double x, double y, double out[2])
{
    out[0] = x * x * x;
    out[1] = 1 / (x * x);
    (void)y;
}

static void expect_next(double x, double y, double out[2])
{
    out[0] = nextafter(x, y);
    out[1] = fdim(x, y);
}

static void expect_remainders(double x, double y, double out[2])
{
    out[0] = fmod(x, y);
    out[1] = remainder(x, y);
}

#define TO_F64(from, to, type) \
    "  %" to " = sitofp " type " %" from " to double\n"

static const row rows[] = {
    {"frexp by name", "declare double @frexp(double, @A)\n",
     "  %r = call double @frexp(double %x, @A %slot)\n"
     "  %e = load i32, @A %slot\n" TO_F64("e", "s", "i32"),
     expect_frexp},
    {"frexp", "declare {double, i32} @llvm.frexp.f64.i32(double)\n",
     "  %b = call {double, i32} @llvm.frexp.f64.i32(double %x)\n"
     "  %r = extractvalue {double, i32} %b, 0\n"
     "  %e = extractvalue {double, i32} %b, 1\n" TO_F64("e", "s", "i32"),
     expect_frexp},
    {"modf", "declare {double, double} @llvm.modf.f64(double)\n",
     "  %b = call {double, double} @llvm.modf.f64(double %x)\n"
     "  %r = extractvalue {double, double} %b, 0\n"
     "  %s = extractvalue {double, double} %b, 1\n",
     expect_modf},
    {"remquo", "declare double @remquo(double, double, @A)\n",
     "  %r = call double @remquo(double %x, double %y, @A %slot)\n"
     "  %e = load i32, @A %slot\n"
     "  %q = srem i32 %e, 8\n" TO_F64("q", "s", "i32"),
     expect_remquo},
    {"ldexp",
     "declare double @ldexp(double, i32)\n"
     "declare double @llvm.ldexp.f64.i32(double, i32)\n",
     "  %r = call double @ldexp(double %x, i32 5)\n"
     "  %s = call double @llvm.ldexp.f64.i32(double %x, i32 -1060)\n",
     expect_ldexp},
    {"scalbln", "declare double @scalbln(double, i64)\n",
     "  %r = call double @scalbln(double %x, i64 1099511627776)\n"
     "  %s = call double @scalbln(double %x, i64 -3)\n",
     expect_scalbln},
    {"scalbn", "declare double @scalbn(double, i32)\n",
     "  %r = call double @scalbn(double %x, i32 5)\n"
     "  %s = call double @scalbn(double %x, i32 -1060)\n",
     expect_ldexp},
    {"lround and lrint",
     "declare i64 @lround(double)\ndeclare i64 @llvm.lrint.i64.f64(double)\n",
     "  %a = call i64 @lround(double %x)\n"
     "  %b = call i64 @llvm.lrint.i64.f64(double %x)\n" TO_F64("a", "r", "i64")
         TO_F64("b", "s", "i64"),
     expect_rounds},
    {"llround and lrint",
     "declare i64 @llround(double)\ndeclare i64 @lrint(double)\n",
     "  %a = call i64 @llround(double %x)\n"
     "  %b = call i64 @lrint(double %x)\n" TO_F64("a", "r", "i64")
         TO_F64("b", "s", "i64"),
     expect_rounds},
    {"lround and llrint",
     "declare i64 @lround(double)\ndeclare i64 @llrint(double)\n",
     "  %a = call i64 @lround(double %x)\n"
     "  %b = call i64 @llrint(double %x)\n" TO_F64("a", "r", "i64")
         TO_F64("b", "s", "i64"),
     expect_rounds},
    {"nearbyint and roundeven",
     "declare double @nearbyint(double)\ndeclare double @roundeven(double)\n",
     "  %r = call double @nearbyint(double %x)\n"
     "  %s = call double @roundeven(double %x)\n",
     expect_even},
    {"ilogb and logb",
     "declare i32 @ilogb(double)\ndeclare double @logb(double)\n",
     "  %a = call i32 @ilogb(double %x)\n"
     "  %s = call double @logb(double %x)\n" TO_F64("a", "r", "i32"),
     expect_ilogb},
    {"powi", "declare double @llvm.powi.f64.i32(double, i32)\n",
     "  %r = call double @llvm.powi.f64.i32(double %x, i32 3)\n"
     "  %s = call double @llvm.powi.f64.i32(double %x, i32 -2)\n",
     expect_powers},
    {"nextafter and fdim",
     "declare double @nextafter(double, double)\n"
     "declare double @fdim(double, double)\n",
     "  %r = call double @nextafter(double %x, double %y)\n"
     "  %s = call double @fdim(double %x, double %y)\n",
     expect_next},
    {"fmod and remainder",
     "declare double @fmod(double, double)\n"
     "declare double @remainder(double, double)\n",
     "  %r = frem double %x, %y\n"
     "  %s = call double @remainder(double %x, double %y)\n",
     expect_remainders},
};

static const double specials[] = {
    0.0,    -0.0,       0.5,      -0.5,      1.5,       2.5,   -2.5,
    1.0,    -1.0,       3.75,     1e-310,    -4.9e-324, 1e300, -7.25,
    1234.5, 1e6,        INFINITY, -INFINITY, NAN,       6.0,   -6.0,
    0.1,    123456.789, 8.0,      1.25e-5,
};

enum { SPECIALS = sizeof specials / sizeof *specials };

static const double seconds[SPECIALS] = {
    1.0, 1.0, 0.25, 1.0, 1.0, 1.0, 1.0, 3.0, -3.0, 0.5,    1e-310,   1.0, 3.0,
    2.0, 0.3, 7.0,  1.0, 1.0, 1.0, 4.0, 4.0, 0.0,  -0.789, INFINITY, NAN,
};

static int is_equal(double a, double b)
{
    if (b == ANY)
        return 1;
    return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b);
}

static void run_row(kernels *k, const row *what)
{
    static double x[SPECIALS], y[SPECIALS], out[2 * SPECIALS];
    static char whole[4096];
    const kiln_array xs = kernels_array(x, SPECIALS);
    const kiln_array ys = kernels_array(y, SPECIALS);
    const kiln_array outs = kernels_array(out, 2 * SPECIALS);
    const kernels_argument arguments[] = {
        {"f64[:]", &outs}, {"f64[:]", &xs}, {"f64[:]", &ys}};
    module_texts m;

    memcpy(x, specials, sizeof x);
    memcpy(y, seconds, sizeof y);
    snprintf(
        whole, sizeof whole,
        "declare i64 @kiln_global_id(@I, i32)\n%s"
        "define i32 @E(@I %%item, @A %%out, i64 %%n, @A %%xs, i64 %%m, @A %%ys,"
        " i64 %%l) {\n"
        "  %%i = call i64 @kiln_global_id(@I %%item, i32 0)\n"
        "  %%xp = getelementptr double, @A %%xs, i64 %%i\n"
        "  %%yp = getelementptr double, @A %%ys, i64 %%i\n"
        "  %%x = load double, @A %%xp\n"
        "  %%y = load double, @A %%yp\n"
        "  %%j = mul i64 %%i, 2\n"
        "  %%rp = getelementptr double, @A %%out, i64 %%j\n"
        "  %%slot = getelementptr double, @A %%rp, i64 1\n%s"
        "  store double %%r, @A %%rp\n"
        "  store double %%s, @A %%slot\n"
        "  ret i32 0\n}\n",
        what->declarations, what->body);
    module_texts_open(&m, k->context, what->what);
    assert_ok(module_texts_run(&m, k, module_texts_define(&m, whole), k->config,
                               SPECIALS, arguments, 3, &test_error));
    for (size_t i = 0; i < SPECIALS; i++) {
        double expected[2];

        what->expect(x[i], y[i], expected);
        for (int j = 0; j < 2; j++)
            if (!is_equal(out[2 * i + (size_t)j], expected[j]))
                fail_msg("%s of %g, %g: result %d is %g, not %g", what->what,
                         x[i], y[i], j, out[2 * i + (size_t)j], expected[j]);
    }
}

static void whole_numbers_and_parts_are_exact(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(*state, &rows[i]);
}

/* ---- other types ---- */

/* Vectors element by element, f16 in f32. */
static void vectors_and_halves_are_computed(void **state)
{
    static const char whole[] =
        "declare <4 x float> @llvm.tan.v4f32(<4 x float>)\n"
        "declare <3 x float> @_Z4cbrtDv3_f(<3 x float>)\n"
        "declare half @llvm.exp.f16(half)\n"
        "declare {<2 x float>, <2 x float>}"
        " @llvm.sincos.v2f32(<2 x float>)\n"
        "define i32 @E(@I %item, @A %out, i64 %n) {\n"
        "  %v = load <4 x float>, @A %out, align 4\n"
        "  %t = call <4 x float> @llvm.tan.v4f32(<4 x float> %v)\n"
        "  %w = shufflevector <4 x float> %v, <4 x float> poison,"
        " <3 x i32> <i32 0, i32 1, i32 2>\n"
        "  %c = call <3 x float> @_Z4cbrtDv3_f(<3 x float> %w)\n"
        "  %a = extractelement <4 x float> %v, i32 1\n"
        "  %h = fptrunc float %a to half\n"
        "  %e = call half @llvm.exp.f16(half %h)\n"
        "  %f = fpext half %e to float\n"
        "  %d = shufflevector <4 x float> %v, <4 x float> poison,"
        " <2 x i32> <i32 0, i32 1>\n"
        "  %b = call {<2 x float>, <2 x float>}"
        " @llvm.sincos.v2f32(<2 x float> %d)\n"
        "  %k = extractvalue {<2 x float>, <2 x float>} %b, 1\n"
        "  %p = getelementptr float, @A %out, i64 4\n"
        "  %q = getelementptr float, @A %out, i64 7\n"
        "  %z = getelementptr float, @A %out, i64 8\n"
        "  store <4 x float> %t, @A %out, align 4\n"
        "  store <3 x float> %c, @A %p, align 4\n"
        "  store float %f, @A %q\n"
        "  store <2 x float> %k, @A %z, align 4\n"
        "  ret i32 0\n}\n";
    static const float from[4] = {0.25f, 1, -2, 8};
    float out[10] = {from[0], from[1], from[2], from[3]};
    const kiln_array outs = kernels_array(out, 10);
    const kernels_argument argument = {"f32[:]", &outs};
    kernels *k = *state;
    module_texts m;

    module_texts_open(&m, k->context, "vectors");
    assert_ok(module_texts_run(&m, k, module_texts_define(&m, whole), k->config,
                               1, &argument, 1, &test_error));
    for (int i = 0; i < 4; i++)
        assert_true(fabsf(out[i] - tanf(from[i])) <=
                    4e-6f * fabsf(tanf(from[i])));
    for (int i = 0; i < 3; i++)
        assert_true(fabsf(out[4 + i] - cbrtf(from[i])) <= 1e-6f * 3);
    assert_true(fabsf(out[7] - expf(1)) <= 2e-3f);
    for (int i = 0; i < 2; i++)
        assert_true(fabsf(out[8 + i] - cosf(from[i])) <= 1e-6f);
}

/* LLVM has no limit for the number of elements. */
static void vectors_have_any_number_of_elements(void **state)
{
    enum { MANY = 300 };
    static const char whole[] =
        "declare {<300 x float>, <300 x i32>}"
        " @llvm.frexp.v300f32.v300i32(<300 x float>)\n"
        "define i32 @E(@I %item, @A %out, i64 %n) {\n"
        "  %v = load <300 x float>, @A %out, align 4\n"
        "  %b = call {<300 x float>, <300 x i32>}"
        " @llvm.frexp.v300f32.v300i32(<300 x float> %v)\n"
        "  %k = extractvalue {<300 x float>, <300 x i32>} %b, 0\n"
        "  store <300 x float> %k, @A %out, align 4\n"
        "  ret i32 0\n}\n";
    static float out[MANY];
    const kiln_array outs = kernels_array(out, MANY);
    const kernels_argument argument = {"f32[:]", &outs};
    kernels *k = *state;
    module_texts m;
    int exponent;

    for (int i = 0; i < MANY; i++)
        out[i] = 1.25f * (float)(i - 7);
    module_texts_open(&m, k->context, "many");
    assert_ok(module_texts_run(&m, k, module_texts_define(&m, whole), k->config,
                               1, &argument, 1, &test_error));
    for (int i = 0; i < MANY; i++)
        assert_true(
            is_equal(out[i], frexpf(1.25f * (float)(i - 7), &exponent)));
}

static int setup(void **state)
{
    return kernels_setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_c_are_as_near_as_promised),
        cmocka_unit_test(intrinsics_are_as_near_as_promised),
        cmocka_unit_test(names_of_opencl_are_as_near_as_promised),
        cmocka_unit_test(names_of_vendors_mean_the_same_everywhere),
        cmocka_unit_test(whole_numbers_and_parts_are_exact),
        cmocka_unit_test(vectors_and_halves_are_computed),
        cmocka_unit_test(vectors_have_any_number_of_elements),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
