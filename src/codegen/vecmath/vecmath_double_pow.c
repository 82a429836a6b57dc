/* vecmath_double_pow.c - powers of f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_double.h"

/* 1 / 3 and 1 / 5, each in two parts. */
#define THIRD 0.3333333333333333
#define THIRD_LOW 1.850371707708594e-17
#define FIFTH 0.2
#define FIFTH_LOW -1.1102230246251566e-17

/* A number in two parts. */
typedef struct wide {
    LLVMValueRef high, low;
} wide;

/* Returns a². */
static wide wide_square(const kiln__vm *m, wide a)
{
    const LLVMValueRef high = vm_square(m, a.high);
    const LLVMValueRef low = vm_fma(m, a.high, a.high, vm_negative(m, high));

    return (wide){high, vm_fma(m, vm_add(m, a.high, a.high), a.low, low)};
}

/* Returns a times the sum of the two constants. */
static wide wide_times(const kiln__vm *m, wide a, double by, double by_low)
{
    const LLVMValueRef high = vm_times(m, a.high, by);
    LLVMValueRef low = vm_scaled(m, a.high, by, vm_negative(m, high));

    low = vm_scaled(m, a.high, by_low, low);
    return (wide){high, vm_scaled(m, a.low, by, low)};
}

/* Returns a + b, where |a| is not less than |b|. */
static wide wide_sum(const kiln__vm *m, wide a, wide b)
{
    const LLVMValueRef high = vm_add(m, a.high, b.high);
    const LLVMValueRef low = vm_add(m, vm_sub(m, a.high, high), b.high);

    return (wide){high, vm_add(m, low, vm_add(m, a.low, b.low))};
}

/* Returns T of atanh(s) = s (1 + T), for z = s². A power multiplies its error
   by up to 2000, so its first two parts are wide. */
static wide tail_of(const kiln__vm *m, wide z)
{
    /* (atanh(s) / s - 1 - z / 3 - z² / 5) / z³ up to z = 0.0401, interpolated
       at the zeros of a Chebyshev polynomial; the error is 1.4e-17. */
    static const double p[] = {0.14285714285714285,  0.111111111111144,
                               0.0909090908918966,   0.0769230803435704,
                               0.06666633316167123,  0.05884113245606547,
                               0.052119943801511116, 0.05524840428556132};
    const wide square = wide_square(m, z);
    const LLVMValueRef cube = vm_mul(m, square.high, z.high);
    wide fifth = wide_times(m, square, FIFTH, FIFTH_LOW);

    fifth.low = vm_fma(m, cube, KILN__VM_SUM(m, z.high, p), fifth.low);
    return wide_sum(m, wide_times(m, z, THIRD, THIRD_LOW), fifth);
}

/* Returns atanh(s), half of log(1 + f), in two parts, with s = f / (2 + f). */
static LLVMValueRef half_log(const kiln__vm *m, LLVMValueRef f,
                             LLVMValueRef *low)
{
    const LLVMValueRef d = vm_plus(m, f, 2);
    const LLVMValueRef d_low = vm_sub(m, f, vm_plus(m, d, -2));
    const LLVMValueRef inverse =
        m->inverse != NULL ? m->inverse(m, d) : vm_div(m, vm_number(m, 1), d);
    const LLVMValueRef s = vm_mul(m, f, inverse), minus = vm_negative(m, s);
    LLVMValueRef s_low = vm_fma(m, minus, d, f), value;
    wide t;

    s_low = vm_mul(m, vm_fma(m, minus, d_low, s_low), inverse);
    t = tail_of(m, wide_square(m, (wide){s, s_low}));
    value = vm_mul(m, s, t.high);
    *low = vm_fma(m, s, t.high, vm_negative(m, value));
    *low = vm_fma(m, s, t.low, *low);
    *low = vm_fma(m, s_low, t.high, *low);
    t = wide_sum(m, (wide){s, s_low}, (wide){value, *low});
    *low = t.low;
    return t.high;
}

/* log(x) in two parts, about 64 bits: the power of a large number multiplies
   its error by up to 700. */
static LLVMValueRef long_log(const kiln__vm *m, LLVMValueRef x,
                             LLVMValueRef *low)
{
    LLVMValueRef e, f = kiln__double_split(m, x, &e), rest;
    LLVMValueRef high = half_log(m, f, &rest), most, sum;

    high = vm_add(m, high, high);
    rest = vm_scaled(m, rest, 2, vm_times(m, e, KILN__LN_2_REST));
    most = vm_times(m, e, KILN__LN_2_SHORT);
    sum = vm_add(m, most, high);
    *low = vm_add(m, vm_add(m, vm_sub(m, most, sum), high), rest);
    /* `rest` has the whole of what is added to s, which is too much for a
       second part once it is multiplied. */
    sum = kiln__double_join(m, sum, low);
    return kiln__vm_log_rest(m, x, sum);
}

/* Beyond 800 the result is 0 or infinite, whatever the second part. */
LLVMValueRef kiln__double_pow(kiln__vm *m, LLVMValueRef const *x)
{
    LLVMValueRef low, high = long_log(m, vm_size(m, x[0]), &low);
    const LLVMValueRef product = vm_mul(m, x[1], high);
    const LLVMValueRef is_far = vm_is_greater(m, vm_size(m, product), 800);

    high = vm_fma(m, x[1], high, vm_negative(m, product));
    low = vm_fma(m, x[1], low, high);
    low = vm_choose(m, is_far, vm_number(m, 0), low);
    return kiln__vm_pow_rest(m, x, kiln__double_exp(m, product, low));
}
