/* vecmath_double_pow.c - powers of f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_double.h"

#define THIRD 0.3333333333333333
#define THIRD_LOW 1.850371707708594e-17

/* s (1 + T) = atanh(s) in two parts, with s = f / (2 + f): half of
   log(1 + f). */
static LLVMValueRef half_log(const kiln__vm *m, LLVMValueRef f,
                             LLVMValueRef *low)
{
    /* (atanh(s) / s - 1 - s² / 3) / s⁴ */
    static const double p[] = {0.1999999999999986,   0.14285714285789947,
                               0.11111111095394928,  0.090909107836252112,
                               0.076922022902374626, 0.066706015926697115,
                               0.057957392832508475, 0.062884221541095922};
    const LLVMValueRef d = vm_plus(m, f, 2);
    const LLVMValueRef d_low = vm_sub(m, f, vm_plus(m, d, -2));
    const LLVMValueRef inverse = vm_div(m, vm_number(m, 1), d);
    const LLVMValueRef s = vm_mul(m, f, inverse), minus = vm_negative(m, s);
    LLVMValueRef s_low = vm_fma(m, minus, d, f), z, z_low, t, t_low, value;

    s_low = vm_mul(m, vm_fma(m, minus, d_low, s_low), inverse);
    z = vm_square(m, s);
    z_low = vm_fma(m, s, s, vm_negative(m, z));
    z_low = vm_fma(m, vm_add(m, s, s), s_low, z_low);
    t = vm_times(m, z, THIRD);
    t_low = vm_scaled(m, z, THIRD, vm_negative(m, t));
    t_low = vm_scaled(m, z, THIRD_LOW, t_low);
    t_low = vm_scaled(m, z_low, THIRD, t_low);
    t_low = vm_fma(m, vm_square(m, z), KILN__VM_SUM(m, z, p), t_low);
    value = vm_mul(m, s, t);
    *low = vm_fma(m, s, t, vm_negative(m, value));
    *low = vm_fma(m, s, t_low, *low);
    *low = vm_fma(m, s_low, t, *low);
    z = vm_add(m, s, value);
    t = vm_add(m, vm_sub(m, s, z), value);
    *low = vm_add(m, vm_add(m, t, *low), s_low);
    return z;
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
