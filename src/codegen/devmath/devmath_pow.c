/* devmath_pow.c - powers of f32 with any exponent. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "codegen/devmath/devmath_build.h"
#include "codegen/vecmath/vecmath_double.h"

/*
 * |x|^y = 2^(y log2(|x|)). The product is as large as 128, so the logarithm has
 * two parts, and so has the product.
 */

#define LEAST_NORMAL 1.1754943508222875e-38
#define PLACES 23
#define ROOT_HALF 0x3f3504f3u
#define EXPONENT 0xff800000u
#define LOG2_E 1.4426950216293335 /* of 24 bits, and the rest */
#define LOG2_E_LOW 1.925963033500011e-8

/* value = m 2^n, m between sqrt(1/2) and sqrt(2). */
static LLVMValueRef split(const kiln__vm *m, LLVMValueRef value,
                          LLVMValueRef *n)
{
    const LLVMValueRef is_small = vm_is_less(m, value, LEAST_NORMAL);
    const LLVMValueRef moved =
        vm_choose(m, is_small, vm_number(m, -PLACES), vm_number(m, 0));
    LLVMValueRef bits, power;

    value = vm_choose(m, is_small, vm_times(m, value, 1 << PLACES), value);
    bits = vm_to_bits(m, value);
    power = LLVMBuildAnd(
        m->builder,
        LLVMBuildSub(m->builder, bits, vm_integer(m, ROOT_HALF), ""),
        vm_integer(m, EXPONENT), "");
    *n = vm_scaled(m, LLVMBuildSIToFP(m->builder, power, m->type, ""), 0x1p-23,
                   moved);
    return vm_from_bits(m, LLVMBuildSub(m->builder, bits, power, ""));
}

/* Returns log2(size) without `low`, for positive and finite sizes. With s =
   2 (m - 1) / (m + 1), whose lower part is found from the exact remainder,
   log2(m) = s log2(e) + s^3 P(s^2). */
static LLVMValueRef log2_of(kiln__dm *d, LLVMValueRef size, LLVMValueRef *low)
{
    /* (2 log2(e) atanh(s / 2) / s - log2(e)) / s^2 */
    static const double p[] = {0.120224588, 0.018033715, 0.00321813999,
                               0.000657432131};
    const kiln__vm *m = &d->m;
    LLVMValueRef n, f = vm_plus(m, split(m, size, &n), -1), rest, square, sum;
    const LLVMValueRef inverse =
        dm_one(d, d->has->reciprocal, vm_plus(m, f, 2));
    const LLVMValueRef s = vm_mul(m, vm_add(m, f, f), inverse);
    const LLVMValueRef high = vm_scaled(m, s, LOG2_E, n);

    rest = vm_sub(m, f, s);
    rest = vm_fma(m, f, vm_negative(m, s), vm_add(m, rest, rest));
    rest = vm_mul(m, rest, inverse);
    square = vm_square(m, s);
    sum = vm_scaled(m, s, LOG2_E, vm_sub(m, n, high));
    sum = vm_scaled(m, rest, LOG2_E, sum);
    sum = vm_scaled(m, s, LOG2_E_LOW, sum);
    *low = vm_fma(m, vm_mul(m, square, s), KILN__VM_SUM(m, square, p), sum);
    return kiln__double_join(m, high, low);
}

#define BEYOND 160.0 /* no power of two of this size fits f32 */

/* Returns 2^(high + low), whatever is large. Where `high` is beyond, the sum
   may be no number. */
static LLVMValueRef power_of(kiln__dm *d, LLVMValueRef high, LLVMValueRef low)
{
    const kiln__vm *m = &d->m;
    const LLVMValueRef within = vm_within(m, high, -BEYOND, BEYOND);
    LLVMValueRef k, n = kiln__vm_whole(m, within, 1, 0, &k), power;

    low = vm_choose(m, vm_is_less(m, vm_size(m, high), BEYOND), low,
                    vm_number(m, 0));
    power = dm_one(d, d->has->power, vm_add(m, vm_sub(m, within, n), low));
    return kiln__vm_scale(m, power, k);
}

static LLVMValueRef pow_single(kiln__dm *d, LLVMValueRef const *x)
{
    const kiln__vm *m = &d->m;
    const LLVMValueRef size = vm_size(m, x[0]);
    LLVMValueRef low, high = log2_of(d, size, &low), product, rest;

    high = vm_choose(m, vm_is_less(m, size, HUGE_VAL), high, size);
    high = vm_choose(m, vm_is(m, size, 0), vm_number(m, -HUGE_VAL), high);
    product = vm_mul(m, x[1], high);
    rest = vm_fma(m, x[1], high, vm_negative(m, product));
    rest = vm_fma(m, x[1], low, rest);
    return kiln__vm_pow_rest(&d->m, x, power_of(d, product, rest));
}

const kiln__dm_function kiln__dm_pows[] = {
    {"pow", pow_single},
    {NULL, NULL},
};
