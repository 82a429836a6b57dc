/* test_vecmath.c - mathematics of the host, in vectors and element by element.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen host */
#include "support/harness.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

/*
 * Functions that Kiln computes itself on processors with fused multiply-add.
 * test_math_accuracy.c has their accuracy on ordinary numbers; here are the
 * others, and whether loops over items are vectorised.
 */

typedef struct function {
    const char *name;
    double (*exact)(double); /* for f32 */
    double (*exact2)(double, double);
    long double (*exactl)(long double); /* for f64 */
    long double (*exactl2)(long double, long double);
    double units; /* of f64; 0: it is not Kiln's own. Of f32: 1 */
} function;

#define ONE(name, units) \
    { \
#name, name, NULL, name##l, NULL, units \
    }
#define TWO(name, units) \
    { \
#name, NULL, name, NULL, name##l, units \
    }

static const function functions[] = {
    ONE(acos, 1),  ONE(acosh, 3), ONE(asin, 1), ONE(asinh, 2), ONE(atan, 1),
    TWO(atan2, 1), ONE(atanh, 2), ONE(cbrt, 1), ONE(cos, 1),   ONE(cosh, 2),
    ONE(erf, 0),   ONE(erfc, 0),  ONE(exp, 1),  ONE(exp10, 1), ONE(exp2, 1),
    ONE(expm1, 1), TWO(hypot, 1), ONE(log, 1),  ONE(log10, 1), ONE(log1p, 1),
    ONE(log2, 1),  TWO(pow, 1),   ONE(sin, 1),  ONE(sinh, 1),  ONE(tan, 1),
    ONE(tanh, 1),
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static kiln_package *package;

/* Defines FORM_NAME for each function, over arrays of any type. The form
   `guarded` has bounds checks that some groups may fail. */
static void define(kernels *k)
{
    static char text[32768];
    size_t size = 0;

    for (size_t i = 0; i < FUNCTIONS; i++) {
        const char *name = functions[i].name;
        const char *second = functions[i].exact2 != NULL ? ", y[i]" : "";

        size += (size_t)snprintf(
            text + size, sizeof text - size,
            "kernel plain_%s(out, x, y)\n    i = global_id(0)\n"
            "    inbounds\n        out[i] = %s(x[i]%s)\n    end\nend\n"
            "kernel guarded_%s(out, x, y)\n    i = global_id(0)\n"
            "    out[i] = %s(x[i]%s)\nend\n"
            "kernel strict_%s(out, x, y)\n    i = global_id(0)\n"
            "    inbounds\n        strict\n            out[i] = %s(x[i]%s)\n"
            "        end\n    end\nend\n",
            name, name, second, name, name, second, name, name, second);
    }
    assert_true(size < sizeof text);
    package = kernels_define(k, "vecmath", text);
}

static void run(kernels *k, const function *f, const char *form, int is_f64,
                void *out, void *x, void *y, size_t count)
{
    const char *type = is_f64 ? "f64[:]" : "f32[:]";
    const kiln_array arrays[3] = {kernels_array(out, (int64_t)count),
                                  kernels_array(x, (int64_t)count),
                                  kernels_array(y, (int64_t)count)};
    const kernels_argument arguments[] = {
        {type, &arrays[0]}, {type, &arrays[1]}, {type, &arrays[2]}};
    char name[32];

    snprintf(name, sizeof name, "%s_%s", form, f->name);
    assert_ok(kernels_run(k, package, name, count, arguments, 3, &test_error));
}

/* ---- code ---- */

static kiln_blob code_of(kernels *k, const function *f, const char *form,
                         const char *target, int is_f64)
{
    const kiln_config_options options = {.size = sizeof options,
                                         .target = target};
    const kiln_type *types[3];
    kiln_signature signature = {.types = types, .count = 3};
    const kiln_config *config;
    kiln_blob code;
    char name[32];

    snprintf(name, sizeof name, "%s_%s", form, f->name);
    assert_ok(
        kiln_package_function(&signature.function, package, name, &test_error));
    for (size_t i = 0; i < 3; i++)
        assert_ok(kiln_type_parse(&types[i], k->context, package,
                                  is_f64 ? "f64[:]" : "f32[:]", &test_error));
    assert_ok(kiln_config_new(&config, k->context, &options, &test_error));
    assert_ok(kiln_emit(&code, k->context, &signature, config, 0,
                        KILN_EMIT_LLVM_OPT, &test_error));
    return code;
}

/* True when the text is in a line that is no declaration. */
static int is_called(const char *code, const char *text)
{
    for (const char *at = strstr(code, text); at != NULL;
         at = strstr(at + 1, text)) {
        const char *line = at;

        while (line > code && line[-1] != '\n')
            line--;
        if (strncmp(line, "declare", 7) != 0)
            return 1;
    }
    return 0;
}

/* True when LLVM is left with a call of its own name for the function, which
   becomes one of the library for each element. */
static int calls_intrinsic(const char *code, const function *f)
{
    char call[64];

    snprintf(call, sizeof call, " @llvm.%s.", f->name);
    return is_called(code, call);
}

static int calls_library(const char *code, const function *f, int is_f64)
{
    char call[64];

    snprintf(call, sizeof call, " @%s%s(", f->name, is_f64 ? "" : "f");
    return is_called(code, call) || calls_intrinsic(code, f);
}

/* Large angles are left to the library, so it is called for these functions. */
static int has_large(const function *f)
{
    return strcmp(f->name, "sin") == 0 || strcmp(f->name, "cos") == 0 ||
           strcmp(f->name, "tan") == 0;
}

static void loops_over_items_have_vectors(void **state)
{
    for (size_t i = 0; i < 2 * FUNCTIONS; i++) {
        const function *f = &functions[i / 2];
        const int is_f64 = i % 2;
        kiln_blob code;

        if (is_f64 && f->units == 0)
            continue;
        code = code_of(*state, f, "plain", "host:x86-64-v3", is_f64);
        if (strstr(code.data,
                   is_f64 ? "store <4 x double>" : "store <8 x float>") == NULL)
            fail_msg("%s: no loop of vectors", f->name);
        if (has_large(f) ? calls_intrinsic(code.data, f)
                         : calls_library(code.data, f, is_f64))
            fail_msg("%s: a call of the library", f->name);
        code.release(&code);
    }
}

static void strict_code_calls_the_library(void **state)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        kiln_blob code =
            code_of(*state, &functions[i], "strict", "host:x86-64-v3", 0);

        if (!calls_library(code.data, &functions[i], 0))
            fail_msg("%s: no call of the library", functions[i].name);
        code.release(&code);
    }
}

static void code_without_fused_multiply_add_calls_the_library(void **state)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        kiln_blob code =
            code_of(*state, &functions[i], "plain", "host:x86-64-v2", 0);

        if (!calls_library(code.data, &functions[i], 0))
            fail_msg("%s: no call of the library", functions[i].name);
        assert_null(strstr(code.data, "llvm.fma"));
        code.release(&code);
    }
}

/* ---- positions ---- */

enum { MOST = 203 };

/* Numbers that the functions have values for, none of them a special case. */
static double ordinary(const function *f, size_t i)
{
    const double part =
        (double)((i + 1) * 0x9E3779B97F4A7C15u >> 11) / 9007199254740992.0;

    return strcmp(f->name, "acosh") == 0 ? 1 + part : part * 0.999;
}

/* The bits of an item depend neither on where it is in the grid, nor on how
   large that is, nor on whether its group has passed the proof of bounds. */
static void check_positions(kernels *k, const function *f)
{
    static float x[MOST], y[MOST], first[MOST], out[MOST];
    static const size_t counts[] = {1, 3, 15, 16, 17, 64, MOST};

    for (size_t i = 0; i < MOST; i++) {
        x[i] = (float)ordinary(f, i);
        y[i] = 1.5f;
    }
    for (size_t i = 0; i < MOST; i++)
        run(k, f, "plain", 0, &first[i], &x[i], &y[i], 1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run(k, f, i % 2 == 0 ? "plain" : "guarded", 0, out, x, y, counts[i]);
        if (memcmp(out, first, counts[i] * sizeof *out) != 0)
            fail_msg("%s: other bits among %zu items", f->name, counts[i]);
    }
}

static void results_do_not_depend_on_positions(void **state)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        check_positions(*state, &functions[i]);
}

/* The last items of the group are beyond the array: it runs with checks, until
   the exception. What it wrote before has the same bits. */
static void checked_groups_give_the_same_bits(void **state)
{
    static float x[MOST], y[MOST], plain[MOST], out[MOST];
    const function *f = functions;

    for (; strcmp(f->name, "exp") != 0; f++)
        ;
    for (size_t i = 0; i < MOST; i++)
        x[i] = (float)i * 0.37f - 30;
    run(*state, f, "plain", 0, plain, x, y, MOST);
    {
        const kiln_array arrays[3] = {kernels_array(out, MOST),
                                      kernels_array(x, MOST),
                                      kernels_array(y, MOST)};
        const kernels_argument arguments[] = {{"f32[:]", &arrays[0]},
                                              {"f32[:]", &arrays[1]},
                                              {"f32[:]", &arrays[2]}};

        assert_int_equal(kernels_run(*state, package, "guarded_exp", MOST + 1,
                                     arguments, 3, NULL),
                         KILN_EEXCEPTION);
    }
    assert_memory_equal(out, plain, sizeof out);
}

/* ---- all numbers ---- */

static const double edges[] = {
    0.0,
    -0.0,
    1,
    -1,
    2,
    -2,
    0.5,
    -0.5,
    HUGE_VAL,
    -HUGE_VAL,
    NAN,
    1e-45,
    -1e-45,
    1e-40,
    1.17549435e-38,
    3.4e38,
    -3.4e38,
    88.7,
    88.8,
    -87.4,
    -103.9,
    -104.1,
    127.999,
    128,
    -149,
    -150,
    38.5,
    38.6,
    -45.1,
    16777216,
    16777215,
    -16777215,
    8388607.5,
    1.5,
    3,
    -3,
    1073741824.0,
    1073741952.0,
    1e10,
    -1e30,
    7e37,
    0.99999994,
    1.0000001,
    1e-20,
    -1e-20,
    0.41421357,
    2.4142137,
    9.1,
    -0.99999994,
    4.9e-324,
    1e-310,
    709.78,
    709.79,
    -708.4,
    -745.2,
    1023.999,
    1024,
    -1074.5,
    1.7e308,
    308.26,
};

enum { EDGES = sizeof edges / sizeof *edges, RANDOM = 40000 };

/* Any bits at all, so that all exponents occur. */
static void fill(float *x, float *y, double *wide)
{
    uint64_t seed = 88172645463325252u;

    for (size_t i = 0; i < RANDOM; i++) {
        uint32_t bits;

        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        bits = (uint32_t)(seed >> 32);
        memcpy(&x[i], &bits, sizeof bits);
        bits = (uint32_t)(seed >> 7);
        memcpy(&y[i], &bits, sizeof bits);
        if (i % 2 == 0) {
            x[i] = (float)((double)(seed >> 40) / 262144.0 - 32);
            y[i] = (float)((double)(seed & 1023) / 16.0 - 32);
        }
        memcpy(&wide[i], &seed, sizeof seed);
        if (i % 2 == 0)
            wide[i] = (double)(seed >> 20) / 549755813888.0 - 16;
        if (i < EDGES * EDGES) {
            x[i] = (float)edges[i / EDGES];
            y[i] = (float)edges[i % EDGES];
            wide[i] = edges[i / EDGES];
        }
    }
}

/* How far apart they are, in units in the last place of a type with so many
   digits and this least exponent. */
static double distance(double got, long double exact, double rounded,
                       int digits, int least)
{
    int exponent;

    if (isnan(rounded))
        return isnan(got) ? 0 : HUGE_VAL;
    if (isinf(rounded) || isinf(got) || exact == 0)
        return got == rounded && !signbit(got) == !signbit(rounded) ? 0
                                                                    : HUGE_VAL;
    (void)frexpl(exact, &exponent);
    if (exponent < least)
        exponent = least;
    return (double)(fabsl((long double)got - exact) /
                    ldexpl(1, exponent - digits));
}

static void singles_are_right_everywhere(void **state)
{
    static float x[RANDOM], y[RANDOM], out[RANDOM];
    static double wide[RANDOM];

    fill(x, y, wide);
    for (size_t row = 0; row < FUNCTIONS; row++) {
        const function *f = &functions[row];

        run(*state, f, "plain", 0, out, x, y, RANDOM);
        for (size_t i = 0; i < RANDOM; i++) {
            const double exact = f->exact2 != NULL
                                     ? f->exact2((double)x[i], (double)y[i])
                                     : f->exact((double)x[i]);

            if (!(distance((double)out[i], (long double)exact,
                           (double)(float)exact, 24, -125) <= 1))
                fail_msg("%s(%a, %a) is %a, not %a", f->name, (double)x[i],
                         (double)y[i], (double)out[i], exact);
        }
    }
}

static void doubles_are_right_everywhere(void **state)
{
    static float unused[RANDOM];
    static double x[RANDOM], y[RANDOM], out[RANDOM];

    fill(unused, unused, x);
    for (size_t i = 0; i < RANDOM; i++)
        y[i] = i < EDGES * EDGES ? edges[i % EDGES]
                                 : ldexp(x[(i * 7) % RANDOM], i % 3 == 0);
    for (size_t row = 0; row < FUNCTIONS; row++) {
        const function *f = &functions[row];

        if (f->units == 0)
            continue;
        run(*state, f, "plain", 1, out, x, y, RANDOM);
        for (size_t i = 0; i < RANDOM; i++) {
            const long double exact =
                f->exactl2 != NULL
                    ? f->exactl2((long double)x[i], (long double)y[i])
                    : f->exactl((long double)x[i]);

            if (!(distance(out[i], exact, (double)exact, 53, -1021) <=
                  f->units))
                fail_msg("%s(%a, %a) is %a, not %La", f->name, x[i], y[i],
                         out[i], exact);
        }
    }
}

/* The exponent multiplies the error of the logarithm by up to 700 / log(x). */
static void powers_with_large_exponents_are_right(void **state)
{
    static double x[RANDOM], y[RANDOM], out[RANDOM];
    const function *pow_row = functions;
    uint64_t seed = 88172645463325252u;

    while (strcmp(pow_row->name, "pow") != 0)
        pow_row++;
    for (size_t i = 0; i < RANDOM; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        x[i] = 0.5 + (double)(seed >> 32) * 1.5 / 4294967296.0;
        y[i] =
            ((double)(seed & 0xFFFFF) / 524288.0 - 1) * 700 / fabs(log(x[i]));
    }
    run(*state, pow_row, "plain", 1, out, x, y, RANDOM);
    for (size_t i = 0; i < RANDOM; i++) {
        const long double exact = powl((long double)x[i], (long double)y[i]);

        if (!(distance(out[i], exact, (double)exact, 53, -1021) <= 1))
            fail_msg("pow(%a, %a) is %a, not %La", x[i], y[i], out[i], exact);
    }
}

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return 1;
    define(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_over_items_have_vectors),
        cmocka_unit_test(strict_code_calls_the_library),
        cmocka_unit_test(code_without_fused_multiply_add_calls_the_library),
        cmocka_unit_test(results_do_not_depend_on_positions),
        cmocka_unit_test(checked_groups_give_the_same_bits),
        cmocka_unit_test(singles_are_right_everywhere),
        cmocka_unit_test(doubles_are_right_everywhere),
        cmocka_unit_test(powers_with_large_exponents_are_right),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
