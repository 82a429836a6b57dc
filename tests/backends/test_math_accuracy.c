/* test_math_accuracy.c - mathematics on the host, against wider types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

enum { COUNT = 20000 };

/* What docs/language.md promises, in units in the last place. */
typedef struct function {
    const char *name;                  /* "f", or "f, second argument" */
    double (*wide)(double);            /* for f32 */
    long double (*wider)(long double); /* for f64 */
    double low, high;                  /* arguments */
    double units[4][2];                /* by library, of f32 and f64 */
} function;

/* The host's, libclc's as OpenCL C asks for it but for tgamma, which is farther
   off, and libdevice's as CUDA's
   programming guide has it, to which half a unit comes: it counts from the
   rounded result. Of ocml, as OpenCL C asks. */
enum { OF_HOST, OF_LIBCLC, OF_LIBDEVICE, OF_OCML };

static int library;
static const kiln_config *config;

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static long double rsqrtl(long double x)
{
    return 1 / sqrtl(x);
}

static double ten(double x)
{
    return pow(10, x);
}

static long double tenl(long double x)
{
    return powl(10, x);
}

static double power(double x)
{
    return pow(x, 1.75);
}

static long double powerl(long double x)
{
    return powl(x, 1.75L);
}

static double angle(double x)
{
    return atan2(x, 3);
}

static long double anglel(long double x)
{
    return atan2l(x, 3);
}

static double length(double x)
{
    return hypot(x, 3);
}

static long double lengthl(long double x)
{
    return hypotl(x, 3);
}

static const function functions[] = {
    {"sqrt", sqrt, sqrtl, 0, 1e6, {{0.5, 0.5}, {3, 0.5}, {0.5, 0.5}, {3, 0.5}}},
    {"rsqrt",
     rsqrt,
     rsqrtl,
     1e-6,
     1e6,
     {{1.5, 1.5}, {2, 2}, {2.5, 1.5}, {2, 2}}},
    {"cbrt", cbrt, cbrtl, -1e6, 1e6, {{1, 4}, {2, 2}, {1.5, 1.5}, {2, 2}}},
    {"exp", exp, expl, -80, 80, {{1, 1}, {3, 3}, {1.5, 1.5}, {3, 3}}},
    {"exp2", exp2, exp2l, -120, 120, {{1, 1}, {3, 3}, {2.5, 1.5}, {3, 3}}},
    {"exp10", ten, tenl, -37, 37, {{2, 2}, {3, 3}, {2.5, 1.5}, {3, 3}}},
    {"expm1", expm1, expm1l, -1, 1, {{1, 1}, {3, 3}, {1.5, 1.5}, {3, 3}}},
    {"log", log, logl, 1e-6, 1e6, {{1, 1}, {3, 3}, {1.5, 1.5}, {3, 3}}},
    {"log2", log2, log2l, 1e-6, 1e6, {{1, 2}, {3, 3}, {1.5, 1.5}, {3, 3}}},
    {"log10", log10, log10l, 1e-6, 1e6, {{2, 2}, {3, 3}, {2.5, 1.5}, {3, 3}}},
    {"log1p", log1p, log1pl, -0.9, 10, {{1, 1}, {2, 2}, {1.5, 1.5}, {2, 2}}},
    {"sin", sin, sinl, -1e4, 1e4, {{1, 1}, {4, 4}, {2.5, 2.5}, {4, 4}}},
    {"cos", cos, cosl, -1e4, 1e4, {{1, 1}, {4, 4}, {2.5, 2.5}, {4, 4}}},
    {"tan", tan, tanl, -1e4, 1e4, {{1, 1}, {5, 5}, {4.5, 2.5}, {5, 5}}},
    {"asin", asin, asinl, -1, 1, {{1, 1}, {4, 4}, {2.5, 2.5}, {4, 4}}},
    {"acos", acos, acosl, -1, 1, {{1, 1}, {4, 4}, {2.5, 2.5}, {4, 4}}},
    {"atan", atan, atanl, -1e3, 1e3, {{1, 1}, {5, 5}, {2.5, 2.5}, {5, 5}}},
    {"sinh", sinh, sinhl, -50, 50, {{2, 2}, {4, 4}, {3.5, 2.5}, {4, 4}}},
    {"cosh", cosh, coshl, -50, 50, {{2, 2}, {4, 4}, {2.5, 1.5}, {4, 4}}},
    {"tanh", tanh, tanhl, -5, 5, {{2, 2}, {5, 5}, {2.5, 1.5}, {5, 5}}},
    {"asinh", asinh, asinhl, -1e3, 1e3, {{2, 2}, {4, 4}, {3.5, 3.5}, {4, 4}}},
    {"acosh", acosh, acoshl, 1, 1e3, {{2, 3}, {4, 4}, {4.5, 3.5}, {4, 4}}},
    {"atanh", atanh, atanhl, -0.99, 0.99, {{2, 2}, {5, 5}, {3.5, 2.5}, {5, 5}}},
    {"erf", erf, erfl, -3, 3, {{1, 1}, {16, 16}, {2.5, 2.5}, {16, 16}}},
    {"erfc", erfc, erfcl, -3, 5, {{3, 5}, {16, 16}, {4.5, 5.5}, {16, 16}}},
    {"tgamma",
     tgamma,
     tgammal,
     0.1,
     30,
     {{8, 10}, {256, 256}, {5.5, 10.5}, {16, 16}}},
    {"lgamma",
     lgamma,
     lgammal,
     3,
     1e3,
     {{4, 4}, {16, 16}, {6.5, 4.5}, {16, 16}}},
    {"pow, 1.75",
     power,
     powerl,
     1e-3,
     1e3,
     {{1, 1}, {16, 16}, {4.5, 2.5}, {16, 16}}},
    {"atan2, 3.0",
     angle,
     anglel,
     -1e3,
     1e3,
     {{2, 1}, {6, 6}, {3.5, 2.5}, {6, 6}}},
    {"hypot, 3.0",
     length,
     lengthl,
     -1e3,
     1e3,
     {{1, 1}, {4, 4}, {3.5, 2.5}, {4, 4}}},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* The same numbers at each run, spread over the range. */
static double argument(const function *f, size_t i)
{
    const uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;

    return f->low +
           (f->high - f->low) * (double)(mixed >> 11) / 9007199254740992.0;
}

/* Defines a kernel over two arrays, all_0 and so on, for each function. */
static kiln_package *define(kernels *k)
{
    static char text[8192];
    size_t size = 0;

    for (size_t i = 0; i < FUNCTIONS; i++) {
        const char *name = functions[i].name;
        const size_t end = strcspn(name, ",");

        size +=
            (size_t)snprintf(text + size, sizeof text - size,
                             "kernel all_%zu(out, x)\n    i = global_id(0)\n"
                             "    out[i] = %.*s(x[i]%s)\nend\n",
                             i, (int)end, name, name + end);
    }
    assert_true(size < sizeof text);
    return kernels_define(k, "accuracy", text);
}

static void run(kernels *k, kiln_package *package, const function *f,
                const char *type, void *out, void *x)
{
    const kiln_array outs = kernels_array(out, COUNT);
    const kiln_array xs = kernels_array(x, COUNT);
    const kernels_argument arguments[] = {{type, &outs}, {type, &xs}};
    const kiln_launch launch = {.grid = {COUNT, 1, 1}};
    char name[32];

    snprintf(name, sizeof name, "all_%zu", (size_t)(f - functions));
    assert_ok(kernels_launch(k, package, name, config, &launch, arguments, 2,
                             &test_error));
}

/* The length in units of the last of `digits` binary places. */
static double units(long double got, long double exact, int digits)
{
    int exponent;

    (void)frexpl(exact, &exponent);
    return (double)(fabsl(got - exact) / ldexpl(1, exponent - digits));
}

/* KILN_TEST_TELL: shows all that was found. */
static void check(const function *f, int is_f64, double worst)
{
    const double most = f->units[library][is_f64];

    if (getenv("KILN_TEST_TELL") != NULL)
        printf("%s of %s: %.2f of %g\n", f->name, is_f64 ? "f64" : "f32", worst,
               most);
    else if (!(worst <= most))
        fail_msg("%s of %s: %g units, %g promised", f->name,
                 is_f64 ? "f64" : "f32", worst, most);
}

static void singles_are_as_near_as_promised(void **state)
{
    static float x[COUNT], out[COUNT];
    kiln_package *package = define(*state);

    for (size_t row = 0; row < FUNCTIONS; row++) {
        const function *f = &functions[row];
        double worst = 0;

        for (size_t i = 0; i < COUNT; i++)
            x[i] = (float)argument(f, i);
        run(*state, package, f, "f32[:]", out, x);
        for (size_t i = 0; i < COUNT; i++)
            worst = fmax(worst, units((long double)out[i],
                                      (long double)f->wide((double)x[i]),
                                      FLT_MANT_DIG));
        check(f, 0, worst);
    }
}

static void doubles_are_as_near_as_promised(void **state)
{
    static double x[COUNT], out[COUNT];
    kiln_package *package = define(*state);

    for (size_t row = 0; row < FUNCTIONS; row++) {
        const function *f = &functions[row];
        double worst = 0;

        for (size_t i = 0; i < COUNT; i++)
            x[i] = argument(f, i);
        run(*state, package, f, "f64[:]", out, x);
        for (size_t i = 0; i < COUNT; i++)
            worst =
                fmax(worst, units((long double)out[i],
                                  f->wider((long double)x[i]), DBL_MANT_DIG));
        check(f, 1, worst);
    }
}

/* KILN_TEST_MATH is "vendor", which asks for the vendor's library, or "strict":
   then nothing contracts, and no function is Kiln's own. */
static int setup(void **state)
{
    const char *math = getenv("KILN_TEST_MATH");
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    if (kernels_setup(state) != 0)
        return 1;
    if (strcmp(kernels_backend(), "host") != 0)
        library = math == NULL || strcmp(math, "strict") == 0 ? OF_LIBCLC
                  : strcmp(kernels_backend(), "cuda") == 0    ? OF_LIBDEVICE
                                                              : OF_OCML;
    if (math != NULL && strcmp(math, "strict") == 0)
        options.contract = KILN_SWITCH_OFF;
    else if (math != NULL)
        options.math = KILN_MATH_VENDOR;
    config = kernels_config(*state, &options);
    return 0;
}

/* A vendor's library is not everywhere. */
static int is_here(void)
{
    void *state = NULL;
    float x = 1, out = 0;
    const kiln_array outs = kernels_array(&out, 1), xs = kernels_array(&x, 1);
    const kernels_argument arguments[] = {{"f32[:]", &outs}, {"f32[:]", &xs}};
    const kiln_launch launch = {.grid = {1, 1, 1}};
    kiln_status status;

    if (setup(&state) != 0)
        return 1; /* the tests say why */
    status = kernels_launch(state, define(state), "all_3", config, &launch,
                            arguments, 2, NULL);
    (void)kernels_teardown(&state);
    return status != KILN_ENOTFOUND;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singles_are_as_near_as_promised),
        cmocka_unit_test(doubles_are_as_near_as_promised),
    };

    if (!is_here())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
