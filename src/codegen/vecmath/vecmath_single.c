/* vecmath_single.c - functions of f32, computed in f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_build.h"

/*
 * The coefficients of all polynomials are those of least relative error on the
 * interval that is named, computed by Remez' algorithm.
 */

/* ---- the exponential function ---- */

/* ln(2) has two parts, so that n times the first one is exact. What is left of
   the argument is rounded only where that hardly matters. */
static LLVMValueRef exp_single(kiln__vm *m, LLVMValueRef const *x)
{
    /* (e^r - 1 - r) / r², |r| <= ln(2) / 2 */
    static const double q[] = {0.5, 0.166664883, 0.0416655503, 0.00837232638,
                               0.00140355539};
    const LLVMValueRef a = vm_within(m, x[0], -104, 89);
    LLVMValueRef k, n = kiln__vm_whole(m, a, 1.4426950408889634, 0, &k);
    const LLVMValueRef high = vm_scaled(m, n, -0.693359375, a);
    const LLVMValueRef low = vm_times(m, n, 2.12194440e-4);
    const LLVMValueRef r = vm_add(m, high, low);
    LLVMValueRef value = vm_fma(m, vm_square(m, r), KILN__VM_SUM(m, r, q), low);

    return kiln__vm_scale(m, vm_plus(m, vm_add(m, high, value), 1), k);
}

/* ---- the logarithm ---- */

#define LEAST_NORMAL 1.1754943508222875e-38
#define TWO_THIRDS 0x3f2aaaabu

/* x = 2^e (1 + f), |f| <= 1 / 3. */
static LLVMValueRef log_single(kiln__vm *m, LLVMValueRef const *x)
{
    /* (log(1 + f) - f + f² / 2) / f³ */
    static const double p[] = {0.333332151,  -0.249997973, 0.200104058,
                               -0.166804895, 0.140058637,  -0.121842332,
                               0.139844671,  -0.128918156};
    const LLVMValueRef is_small = vm_is_less(m, x[0], LEAST_NORMAL);
    const LLVMValueRef a =
        vm_choose(m, is_small, vm_times(m, x[0], 8388608), x[0]);
    const LLVMValueRef shifted = LLVMBuildSub(m->builder, vm_to_bits(m, a),
                                              vm_integer(m, TWO_THIRDS), "");
    LLVMValueRef e = LLVMBuildAShr(m->builder, shifted, vm_integer(m, 23), "");
    LLVMValueRef f =
        LLVMBuildAnd(m->builder, shifted, vm_integer(m, 0x7fffff), "");
    LLVMValueRef t, square;

    f = LLVMBuildAdd(m->builder, f, vm_integer(m, TWO_THIRDS), "");
    f = vm_plus(m, vm_from_bits(m, f), -1);
    e = LLVMBuildSIToFP(m->builder, e, m->type, "");
    e = vm_add(m, e,
               vm_choose(m, is_small, vm_number(m, -23), vm_number(m, 0)));
    square = vm_square(m, f);
    t = vm_fma(m, f, KILN__VM_SUM(m, f, p), vm_number(m, -0.5));
    t = vm_fma(m, square, t, vm_times(m, e, -2.12194440e-4));
    t = vm_scaled(m, e, 0.693359375, vm_add(m, f, t));
    return kiln__vm_log_rest(m, x[0], t);
}

const kiln__vm_function kiln__vm_singles[] = {
    {"exp", 1, exp_single},
    {"log", 1, log_single},
    {NULL, 0, NULL},
};
