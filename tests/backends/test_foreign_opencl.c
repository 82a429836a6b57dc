/* test_foreign_opencl.c - what built-in functions of OpenCL C compute in
   modules of another frontend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen host */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/codegen/module_texts.h"
#include "support/devices/kernels.h"
#include "support/harness.h"

/*
 * A body makes a number %r, an i64, of the operands %x and %y, which are i32.
 * C says what it must be. Some functions become instructions, others come from
 * libclc.
 */
typedef struct row {
    const char *what;
    const char *declarations;
    const char *body;
    int64_t (*expect)(int32_t x, int32_t y);
} row;

static int64_t least(int32_t x, int32_t y)
{
    return x < y ? x : y;
}

static int64_t bounded(int32_t x, int32_t y)
{
    const uint32_t low = (uint32_t)y & 0xff, value = (uint32_t)x;

    return value < low ? low : value > 0x80000000u ? 0x80000000u : value;
}

static int64_t rotated(int32_t x, int32_t y)
{
    const unsigned by = (unsigned)y & 31;
    const uint32_t value = (uint32_t)x;

    return (int32_t)(by == 0 ? value : value << by | value >> (32 - by));
}

static int64_t zeros(int32_t x, int32_t y)
{
    (void)y;
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

static int64_t saturated_sum(int32_t x, int32_t y)
{
    const int64_t sum = (int64_t)x + y;

    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
}

static int64_t high_product(int32_t x, int32_t y)
{
    return (int32_t)((int64_t)x * y >> 32);
}

static int64_t half_sum(int32_t x, int32_t y)
{
    return ((int64_t)x + y) >> 1;
}

static int64_t distance(int32_t x, int32_t y)
{
    const int64_t d = (int64_t)x - y;

    return d < 0 ? -d : d;
}

static int64_t size(int32_t x, int32_t y)
{
    (void)y;
    return x < 0 ? -(int64_t)x : x;
}

static int64_t chosen_bits(int32_t x, int32_t y)
{
    return (x & ~0x0ff0ff00) | (y & 0x0ff0ff00);
}

static int64_t selected(int32_t x, int32_t y)
{
    return y != 0 ? y : x;
}

static int64_t both_negative(int32_t x, int32_t y)
{
    return 10 * (x < 0 && y < 0) + (x < 0 || y < 0);
}

static int64_t as_char(int32_t x, int32_t y)
{
    (void)y;
    return x > 127 ? 127 : x < -128 ? -128 : x;
}

static int64_t as_uchar(int32_t x, int32_t y)
{
    (void)y;
    return x > 255 ? 255 : x < 0 ? 0 : x;
}

static int64_t as_uint(int32_t x, int32_t y)
{
    (void)y;
    return x < 0 ? 0 : x;
}

static int64_t of_uint_as_int(int32_t x, int32_t y)
{
    (void)y;
    return x < 0 ? INT32_MAX : x;
}

static int64_t low_byte(int32_t x, int32_t y)
{
    (void)y;
    return (int8_t)(uint8_t)((uint32_t)x & 0xff);
}

/* x / 256 as a float, rounded up. */
static int64_t upwards(int32_t x, int32_t y)
{
    (void)y;
    return (int64_t)ceilf((float)(x >> 8) / 256);
}

/* The same, as a number of 16 bits that saturates. */
static int64_t short_upwards(int32_t x, int32_t y)
{
    const int64_t value = upwards(x, y);

    return value > INT16_MAX   ? INT16_MAX
           : value < INT16_MIN ? INT16_MIN
                               : value;
}

static int64_t through_half(int32_t x, int32_t y)
{
    (void)y;
    return (x & 0x3ff) + 1; /* fits a half */
}

static int64_t shuffled(int32_t x, int32_t y)
{
    return (int64_t)y - x;
}

static int64_t added(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x + (uint32_t)y);
}

static int64_t exchanged(int32_t x, int32_t y)
{
    return x == 6 ? y : x;
}

static int64_t whole(int32_t x, int32_t y)
{
    (void)y;
    return (int64_t)floorf((float)(x >> 8) / 256);
}

#define WIDEN "  %r = sext i32 %a to i64\n"
#define WIDEN_UNSIGNED "  %r = zext i32 %a to i64\n"
/* The operand divided by 2 to the 16th, of which f32 holds each bit. */
#define FLOAT \
    "  %h = ashr i32 %x, 8\n" \
    "  %i1 = sitofp i32 %h to float\n" \
    "  %f = fdiv float %i1, 256.0\n"

static const row rows[] = {
    {"min", "declare i32 @_Z3minii(i32, i32)\n",
     "  %a = call i32 @_Z3minii(i32 %x, i32 %y)\n" WIDEN, least},
    {"clamp", "declare i32 @_Z5clampjjj(i32, i32, i32)\n",
     "  %l = and i32 %y, 255\n"
     "  %a = call i32 @_Z5clampjjj(i32 %x, i32 %l, i32 "
     "-2147483648)\n" WIDEN_UNSIGNED,
     bounded},
    {"rotate", "declare i32 @_Z6rotateii(i32, i32)\n",
     "  %a = call i32 @_Z6rotateii(i32 %x, i32 %y)\n" WIDEN, rotated},
    {"clz", "declare i32 @_Z3clzj(i32)\n",
     "  %a = call i32 @_Z3clzj(i32 %x)\n" WIDEN, zeros},
    {"add_sat", "declare i32 @_Z7add_satii(i32, i32)\n",
     "  %a = call i32 @_Z7add_satii(i32 %x, i32 %y)\n" WIDEN, saturated_sum},
    {"mul_hi", "declare i32 @_Z6mul_hiii(i32, i32)\n",
     "  %a = call i32 @_Z6mul_hiii(i32 %x, i32 %y)\n" WIDEN, high_product},
    {"hadd", "declare i32 @_Z4haddii(i32, i32)\n",
     "  %a = call i32 @_Z4haddii(i32 %x, i32 %y)\n" WIDEN, half_sum},
    {"abs_diff", "declare i32 @_Z8abs_diffii(i32, i32)\n",
     "  %a = call i32 @_Z8abs_diffii(i32 %x, i32 %y)\n" WIDEN_UNSIGNED,
     distance},
    {"abs", "declare i32 @_Z3absi(i32)\n",
     "  %a = call i32 @_Z3absi(i32 %x)\n" WIDEN_UNSIGNED, size},
    {"bitselect", "declare i32 @_Z9bitselectiii(i32, i32, i32)\n",
     "  %a = call i32 @_Z9bitselectiii(i32 %x, i32 %y, i32 267452160)\n" WIDEN,
     chosen_bits},
    {"select", "declare i32 @_Z6selectiii(i32, i32, i32)\n",
     "  %a = call i32 @_Z6selectiii(i32 %x, i32 %y, i32 %y)\n" WIDEN, selected},
    {"all and any",
     "declare i32 @_Z3allDv2_i(<2 x i32>)\n"
     "declare i32 @_Z3anyDv2_i(<2 x i32>)\n",
     "  %u = insertelement <2 x i32> poison, i32 %x, i32 0\n"
     "  %v = insertelement <2 x i32> %u, i32 %y, i32 1\n"
     "  %l = call i32 @_Z3allDv2_i(<2 x i32> %v)\n"
     "  %k = call i32 @_Z3anyDv2_i(<2 x i32> %v)\n"
     "  %t = mul i32 %l, 10\n"
     "  %a = add i32 %t, %k\n" WIDEN,
     both_negative},
    {"convert_char_sat", "declare i8 @_Z16convert_char_sati(i32)\n",
     "  %a = call i8 @_Z16convert_char_sati(i32 %x)\n"
     "  %r = sext i8 %a to i64\n",
     as_char},
    {"convert_uchar_sat", "declare i8 @_Z17convert_uchar_sati(i32)\n",
     "  %a = call i8 @_Z17convert_uchar_sati(i32 %x)\n"
     "  %r = zext i8 %a to i64\n",
     as_uchar},
    {"convert_uint_sat", "declare i32 @_Z16convert_uint_sati(i32)\n",
     "  %a = call i32 @_Z16convert_uint_sati(i32 %x)\n" WIDEN_UNSIGNED,
     as_uint},
    {"convert_int_sat", "declare i32 @_Z15convert_int_satj(i32)\n",
     "  %a = call i32 @_Z15convert_int_satj(i32 %x)\n" WIDEN, of_uint_as_int},
    {"convert_char", "declare i8 @_Z16convert_char_rtei(i32)\n",
     "  %a = call i8 @_Z16convert_char_rtei(i32 %x)\n"
     "  %r = sext i8 %a to i64\n",
     low_byte},
    {"convert_int_rtp", "declare i32 @_Z15convert_int_rtpf(float)\n",
     FLOAT "  %a = call i32 @_Z15convert_int_rtpf(float %f)\n" WIDEN, upwards},
    {"convert_short_sat_rtp",
     "declare i16 @_Z21convert_short_sat_rtpf(float)\n",
     FLOAT "  %a = call i16 @_Z21convert_short_sat_rtpf(float %f)\n"
           "  %r = sext i16 %a to i64\n",
     short_upwards},
    {"vstore_half and vload_half",
     "declare void @_Z11vstore_halffmPU3AS1Dh(float, i64, @A)\n"
     "declare float @_Z10vload_halfmPU3AS1KDh(i64, @A)\n",
     "  %m1 = and i32 %x, 1023\n"
     "  %m2 = add i32 %m1, 1\n"
     "  %f = uitofp i32 %m2 to float\n"
     "  call void @_Z11vstore_halffmPU3AS1Dh(float %f, i64 0, @A %slot)\n"
     "  %g = call float @_Z10vload_halfmPU3AS1KDh(i64 0, @A %slot)\n"
     "  %r = fptosi float %g to i64\n",
     through_half},
    {"shuffle2",
     "declare <2 x i32> @_Z8shuffle2Dv2_iS_Dv2_j(<2 x i32>, <2 x i32>, "
     "<2 x i32>)\n",
     "  %u = insertelement <2 x i32> zeroinitializer, i32 %x, i32 0\n"
     "  %v = insertelement <2 x i32> zeroinitializer, i32 %y, i32 1\n"
     "  %s = call <2 x i32> @_Z8shuffle2Dv2_iS_Dv2_j(<2 x i32> %u,"
     " <2 x i32> %v, <2 x i32> <i32 3, i32 0>)\n"
     "  %b = extractelement <2 x i32> %s, i32 0\n"
     "  %c = extractelement <2 x i32> %s, i32 1\n"
     "  %d = sext i32 %b to i64\n"
     "  %e = sext i32 %c to i64\n"
     "  %r = sub i64 %d, %e\n",
     shuffled},
    {"atomic_add", "declare i32 @_Z10atomic_addPU3AS1Vii(@A, i32)\n",
     "  store i32 %x, @A %slot\n"
     "  %b = call i32 @_Z10atomic_addPU3AS1Vii(@A %slot, i32 %y)\n"
     "  %a = load i32, @A %slot\n" WIDEN,
     added},
    {"atomic_cmpxchg",
     "declare i32 @_Z14atomic_cmpxchgPU3AS1Viii(@A, i32, i32)\n",
     "  store i32 %x, @A %slot\n"
     "  %b = call i32 @_Z14atomic_cmpxchgPU3AS1Viii(@A %slot, i32 6, i32 %y)\n"
     "  %a = load i32, @A %slot\n" WIDEN,
     exchanged},
    {"fract", "declare float @_Z5fractfPU3AS1f(float, @A)\n",
     FLOAT "  %p = call float @_Z5fractfPU3AS1f(float %f, @A %slot)\n"
           "  %g = load float, @A %slot\n"
           "  %r = fptosi float %g to i64\n",
     whole},
};

static const int32_t firsts[] = {0,    1,    -1,  6,     127,       128,
                                 -128, -129, 255, 256,   65535,     -65536,
                                 31,   1000, -77, 99999, INT32_MAX, INT32_MIN};

enum { COUNT = sizeof firsts / sizeof *firsts };

static const int32_t seconds[COUNT] = {
    0, 1, -1, 7, 5, -9, 33, 31, 128, INT32_MIN, 17, 3, -2, 0, -1, 12, 1, -1};

static void run_row(kernels *k, const row *what)
{
    static int32_t x[COUNT], y[COUNT];
    static int64_t out[COUNT];
    static char text[4096];
    const kiln_array xs = kernels_array(x, COUNT);
    const kiln_array ys = kernels_array(y, COUNT);
    const kiln_array outs = kernels_array(out, COUNT);
    const kernels_argument arguments[] = {
        {"i64[:]", &outs}, {"i32[:]", &xs}, {"i32[:]", &ys}};
    module_texts m;

    memcpy(x, firsts, sizeof x);
    memcpy(y, seconds, sizeof y);
    snprintf(text, sizeof text,
             "declare i64 @kiln_global_id(@I, i32)\n%s"
             "define i32 @E(@I %%item, @A %%out, i64 %%n, @A %%xs, i64 %%n1,"
             " @A %%ys, i64 %%n2) {\n"
             "  %%id = call i64 @kiln_global_id(@I %%item, i32 0)\n"
             "  %%xp = getelementptr i32, @A %%xs, i64 %%id\n"
             "  %%yp = getelementptr i32, @A %%ys, i64 %%id\n"
             "  %%slot = getelementptr i64, @A %%out, i64 %%id\n"
             "  %%x = load i32, @A %%xp\n"
             "  %%y = load i32, @A %%yp\n%s"
             "  store i64 %%r, @A %%slot\n"
             "  ret i32 0\n}\n",
             what->declarations, what->body);
    module_texts_open(&m, k->context, what->what);
    assert_ok(module_texts_run(&m, k, module_texts_define(&m, text), k->config,
                               COUNT, arguments, 3, &test_error));
    for (size_t i = 0; i < COUNT; i++)
        if (out[i] != what->expect(x[i], y[i]))
            fail_msg("%s of %d, %d is %lld, not %lld", what->what, (int)x[i],
                     (int)y[i], (long long)out[i],
                     (long long)what->expect(x[i], y[i]));
}

static void built_in_functions_compute_what_c_says(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(*state, &rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_functions_compute_what_c_says),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
