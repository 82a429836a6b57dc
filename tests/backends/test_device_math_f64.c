/* test_device_math_f64.c - Kiln's own mathematics of f64 for devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen */
#include "support/harness.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

/* As test_device_math.c, beside the long double of C's library. */

enum { COUNT = 1 << 16, KERNELS_MAX = 40 };

typedef struct function {
    const char *name;
    long double (*exact)(long double);
    long double (*exact2)(long double, long double);
    double low, high; /* half of the arguments are between these */
    double units;     /* what docs/language.md promises */
} function;

static long double rsqrt_exact(long double x)
{
    return 1 / sqrtl(x);
}

static long double exp10_exact(long double x)
{
    return powl(10, x);
}

static const function functions[] = {
    {"exp", expl, NULL, -746, 710, 1},
    {"exp10", exp10_exact, NULL, -324, 309, 2},
    {"exp2", exp2l, NULL, -1076, 1025, 1},
    {"log", logl, NULL, 0, 4, 1},
    {"log10", log10l, NULL, 0, 4, 1},
    {"log2", log2l, NULL, 0, 4, 1},
    {"pow", NULL, powl, 0, 100, 1},
    {"rsqrt", rsqrt_exact, NULL, 0, 4, 1},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const double specials[] = {
    0,         -0.0,       1,
    -1,        INFINITY,   -INFINITY,
    NAN,       0x1p-1074,  -0x1p-1074,
    0x1p-1022, -0x1p-1022, 0x1.ffffffffffffep-1023,
    0x1p-1021, 0x1p1023,   0x1.fffffffffffffp1023,
    708,       709.75,     709.9,
    -708,      -708.5,     -745,
    -746,      307,        308.5,
    -307.5,    -323.5,     1022,
    1023.5,    1024,       -1022,
    -1074,     -1076,      0x1.fffffffffffffp-1,
    2,         0.5,        0x1.0000000000001p0,
    10,        -2,         3,
    0x1p60,    -0x1p60,
};

enum { SPECIALS = sizeof specials / sizeof *specials };

static double any_double(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static void fill(const function *f, double *x, double *y)
{
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
        const uint64_t other = mixed * 0xD1342543DE82EF95u;
        const double width = f->high - f->low;

        if (i < (size_t)SPECIALS * SPECIALS) {
            x[i] = specials[i % SPECIALS];
            y[i] = specials[i / SPECIALS];
        } else if (i % 2 == 0) {
            x[i] = any_double(mixed);
            y[i] = any_double(other);
        } else {
            x[i] = f->low + width * (double)(mixed >> 11) * 0x1p-53;
            y[i] = f->low + width * (double)(other >> 11) * 0x1p-53;
        }
    }
}

/* In units of the exact result's last place. */
static double units(double got, long double exact)
{
    const long double most = 0x1p1024L;
    int exponent;

    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    exact = fminl(fmaxl(exact, -most), most);
    (void)frexpl(exact, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent > 1024 ? 1024 : exponent;
    return (double)(fabsl(fminl(fmaxl((long double)got, -most), most) - exact) /
                    ldexpl(1, exponent - 53));
}

static void check(const function *f, const double *x, const double *y,
                  const double *got)
{
    double worst = 0;
    size_t at = 0;

    for (size_t i = 0; i < COUNT; i++) {
        const long double exact =
            f->exact2 != NULL ? f->exact2((long double)x[i], (long double)y[i])
                              : f->exact((long double)x[i]);
        const double far = units(got[i], exact);

        if (!(far <= worst)) {
            worst = far;
            at = i;
        }
    }
    if (getenv("KILN_TEST_TELL") != NULL)
        printf("%s: %.3f of %g, at %a %a: %a\n", f->name, worst, f->units,
               x[at], y[at], got[at]);
    else if (!(worst <= f->units))
        fail_msg("%s of %a, %a is %a: %g units off, %g promised", f->name,
                 x[at], y[at], got[at], worst, f->units);
}

/* Defines a kernel for each function. */
static kiln_package *define(kernels *k)
{
    static char text[8192];
    size_t size = 0;

    for (size_t i = 0; i < FUNCTIONS; i++)
        size += (size_t)snprintf(
            text + size, sizeof text - size,
            "kernel all_%s(out, x, y)\n    i = global_id(0)\n"
            "    inbounds\n        out[i] = %s(x[i]%s)\n    end\nend\n",
            functions[i].name, functions[i].name,
            functions[i].exact2 != NULL ? ", y[i]" : "");
    assert_true(size < sizeof text);
    return kernels_define(k, "device_math_f64", text);
}

static void functions_are_as_near_as_promised(void **state)
{
    static double x[COUNT], y[COUNT], out[COUNT];
    const kiln_array arrays[3] = {kernels_array(out, COUNT),
                                  kernels_array(x, COUNT),
                                  kernels_array(y, COUNT)};
    const kernels_argument arguments[] = {
        {"f64[:]", &arrays[0]}, {"f64[:]", &arrays[1]}, {"f64[:]", &arrays[2]}};
    const kiln_launch launch = {.grid = {COUNT, 1, 1}};
    kernels *k = *state;
    kiln_package *package = define(k);
    char name[KERNELS_MAX];

    for (size_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "all_%s", functions[i].name);
        fill(&functions[i], x, y);
        assert_ok(kernels_launch(k, package, name, k->config, &launch,
                                 arguments, 3, &test_error));
        check(&functions[i], x, y, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_as_near_as_promised),
    };

    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "there is none");
    if (strcmp(kernels_backend(), "cuda") != 0 &&
        strcmp(kernels_backend(), "rocm") != 0)
        return program_skip(SKIP_DEVICE, "the host has other functions");
    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
