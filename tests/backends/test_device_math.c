/* test_device_math.c - Kiln's own mathematics for devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen */
#include "support/harness.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

/*
 * Arguments of every exponent, and those that are special. On CUDA and ROCm the
 * approximate instructions are models, which are as far off as the vendor
 * allows: KILN_TEST_APPROXIMATE says in which direction.
 */

enum { COUNT = 1 << 19, KERNELS_MAX = 40 };

/* What docs/language.md promises of f32 on CUDA and ROCm, in units in the last
   place. */
typedef struct function {
    const char *name;
    double (*exact)(double);
    double (*exact2)(double, double);
    float low, high; /* half of the arguments are between these */
    double units[2];
} function;

static double rsqrt_exact(double x)
{
    return 1 / sqrt(x);
}

static double exp10_exact(double x)
{
    return pow(10, x);
}

static const function functions[] = {
    {"cos", cos, NULL, -100, 100, {2, 2}},
    {"exp", exp, NULL, -104, 89, {3, 2}},
    {"exp10", exp10_exact, NULL, -46, 39, {3, 2}},
    {"exp2", exp2, NULL, -150, 129, {3, 2}},
    {"log", log, NULL, 0, 4, {1, 1}},
    {"log10", log10, NULL, 0, 4, {2, 2}},
    {"log2", log2, NULL, 0, 4, {2, 1}},
    {"pow", NULL, pow, 0, 20, {4, 4}},
    {"rsqrt", rsqrt_exact, NULL, 0, 4, {2, 2}},
    {"sin", sin, NULL, -100, 100, {2, 2}},
    {"tan", tan, NULL, -100, 100, {4, 4}},
    {"tanh", tanh, NULL, -10, 10, {2, 2}},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static int column; /* of `units` */

/* ---- arguments ---- */

static const float specials[] = {
    0,
    -0.0f,
    1,
    -1,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-149f,
    -0x1p-149f,
    0x1.fffffcp-127f,
    0x1p-126f,
    -0x1p-126f,
    0x1.fffffep127f,
    -0x1.fffffep127f,
    88.722836f,
    88.72284f,
    -87.33655f,
    -103.97208f,
    -104,
    38.53184f,
    -37.929779f,
    -45.154499f,
    128,
    127.99999f,
    -126,
    -149,
    -150,
    2,
    0.5f,
    0x1.fffffep-1f,
    0x1.000002p0f,
    10,
    -2,
    3,
};

enum { SPECIALS = sizeof specials / sizeof *specials };

static float any_float(uint64_t mixed)
{
    const uint32_t bits = (uint32_t)(mixed >> 32);
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The same at each run. Both operands of a function are taken from here. */
static void fill(const function *f, float *x, float *y)
{
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
        const uint64_t other = mixed * 0xD1342543DE82EF95u;

        if (i < (size_t)SPECIALS * SPECIALS) {
            x[i] = specials[i % SPECIALS];
            y[i] = specials[i / SPECIALS];
        } else if (i % 2 == 0) {
            x[i] = any_float(mixed);
            y[i] = any_float(other);
        } else {
            const float width = f->high - f->low;

            x[i] = f->low + width * (float)((double)(mixed >> 11) * 0x1p-53);
            y[i] = f->low + width * (float)((double)(other >> 11) * 0x1p-53);
        }
    }
}

/* ---- results ---- */

/* The distance in units of the exact result's last place. What is too large for
   f32 may be infinite. */
static double units(float got, double exact)
{
    const double most = 0x1p128;
    int exponent;

    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    exact = fmin(fmax(exact, -most), most);
    (void)frexp(exact, &exponent);
    exponent = exponent < -125 ? -125 : exponent > 128 ? 128 : exponent;
    return fabs(fmin(fmax((double)got, -most), most) - exact) /
           ldexp(1, exponent - 24);
}

static void check(const function *f, const float *x, const float *y,
                  const float *got)
{
    double worst = 0;
    size_t at = 0;

    for (size_t i = 0; i < COUNT; i++) {
        const double exact = f->exact2 != NULL
                                 ? f->exact2((double)x[i], (double)y[i])
                                 : f->exact((double)x[i]);
        const double far = units(got[i], exact);

        if (!(far <= worst)) {
            worst = far;
            at = i;
        }
    }
    if (getenv("KILN_TEST_TELL") != NULL)
        printf("%s: %.3f of %g, at %a %a: %a\n", f->name, worst,
               f->units[column], (double)x[at], (double)y[at], (double)got[at]);
    else if (!(worst <= f->units[column]))
        fail_msg("%s of %a, %a is %a: %g units off, %g promised", f->name,
                 (double)x[at], (double)y[at], (double)got[at], worst,
                 f->units[column]);
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
    return kernels_define(k, "device_math", text);
}

static void functions_are_as_near_as_promised(void **state)
{
    static float x[COUNT], y[COUNT], out[COUNT];
    const kiln_array arrays[3] = {kernels_array(out, COUNT),
                                  kernels_array(x, COUNT),
                                  kernels_array(y, COUNT)};
    const kernels_argument arguments[] = {
        {"f32[:]", &arrays[0]}, {"f32[:]", &arrays[1]}, {"f32[:]", &arrays[2]}};
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

static int setup(void **state)
{
    column = strcmp(kernels_backend(), "rocm") == 0;
    return kernels_setup(state);
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
    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
