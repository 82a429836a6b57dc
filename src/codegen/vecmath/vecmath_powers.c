/* vecmath_powers.c - powers and roots of f32, and what powers are in special
 * cases. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "codegen/vecmath/vecmath_double.h"
#include "codegen/vecmath/vecmath_wide.h"

/* ---- pow ---- */

typedef struct power {
    kiln__vm *m;
    LLVMValueRef x, y;
    LLVMValueRef is_odd; /* y is an odd whole number */
    LLVMValueRef is_whole;
} power;

static void look_at_exponent(power *p)
{
    const kiln__vm *m = p->m;
    LLVMValueRef y = p->y, half = vm_times(m, y, 0.5), rounded;

    rounded = kiln__vm_call(m, "llvm.trunc", &y, 1);
    p->is_whole = LLVMBuildFCmp(m->builder, LLVMRealOEQ, rounded, p->y, "");
    rounded = kiln__vm_call(m, "llvm.trunc", &half, 1);
    p->is_odd = LLVMBuildAnd(
        m->builder, p->is_whole,
        LLVMBuildFCmp(m->builder, LLVMRealONE, rounded, half, ""), "");
}

/* Gives the value of |x|^y the sign that belongs to it, or makes it NaN. */
static LLVMValueRef with_sign(const power *p, LLVMValueRef value)
{
    const kiln__vm *m = p->m;
    const LLVMValueRef positive = vm_number(m, 1);
    const LLVMValueRef has_root =
        LLVMBuildOr(m->builder, p->is_whole,
                    LLVMBuildOr(m->builder, vm_is(m, p->x, -HUGE_VAL),
                                LLVMBuildFCmp(m->builder, LLVMRealUGE, p->x,
                                              vm_number(m, 0), ""),
                                ""),
                    "");

    value = vm_signed_as(m, value, vm_choose(m, p->is_odd, p->x, positive));
    return vm_choose(m, has_root, value, vm_number(m, (double)NAN));
}

/* 1 to any power is 1, anything to the power 0 is 1, and so is -1 to the power
   of infinity, even where NaN takes part. */
static LLVMValueRef with_ones(const power *p, LLVMValueRef value)
{
    const kiln__vm *m = p->m;
    const LLVMValueRef is_one = vm_is(m, p->x, 1);
    const LLVMValueRef is_none = vm_is(m, p->y, 0);
    const LLVMValueRef is_minus =
        LLVMBuildAnd(m->builder, vm_is(m, p->x, -1),
                     vm_is(m, vm_size(m, p->y), HUGE_VAL), "");
    LLVMValueRef is_any = LLVMBuildOr(m->builder, is_one, is_none, "");

    is_any = LLVMBuildOr(m->builder, is_any, is_minus, "");
    return vm_choose(m, is_any, vm_number(m, 1), value);
}

LLVMValueRef kiln__vm_pow_rest(kiln__vm *m, LLVMValueRef const *x,
                               LLVMValueRef value)
{
    power p = {.m = m, .x = x[0], .y = x[1]};

    look_at_exponent(&p);
    return with_ones(&p, with_sign(&p, value));
}

/* |x|^y = e^(y log(|x|)), whatever x is; log(0) is -infinity. */
LLVMValueRef kiln__vm_pow(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    LLVMValueRef value =
        kiln__wide_log(&w, kiln__widen(&w, vm_size(m, x[0])), 1);

    value = vm_mul(&w, value, kiln__widen(&w, x[1]));
    value = kiln__wide_exp(&w, vm_within(&w, value, -200, 200));
    return kiln__vm_pow_rest(m, x, kiln__narrow(m, value));
}

/* ---- roots ---- */

LLVMValueRef kiln__vm_cbrt(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    LLVMValueRef value = kiln__wide_log(&w, kiln__widen(&w, vm_size(m, x[0])),
                                        0.33333333333333331);

    value = kiln__wide_exp(&w, vm_within(&w, value, -200, 200));
    return vm_signed_as(m, kiln__narrow(m, value), x[0]);
}

/* A root of fewer bits, and one step of Newton's method. */
LLVMValueRef kiln__double_cbrt(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_size(m, x[0]);
    const LLVMValueRef is_tiny = vm_is_less(m, size, 0x1p-900);
    const LLVMValueRef a =
        vm_choose(m, is_tiny, vm_times(m, size, 0x1p300), size);
    LLVMValueRef y = kiln__wide_log(m, a, 0.33333333333333331), square, rest;
    const LLVMValueRef is_plain =
        LLVMBuildAnd(m->builder, vm_is_greater(m, size, 0),
                     vm_is_less(m, size, HUGE_VAL), "");

    y = kiln__wide_exp(m, vm_within(m, y, -300, 300));
    square = vm_square(m, y);
    rest = vm_fma(m, vm_negative(m, square), y, a);
    y = vm_add(m, y, vm_div(m, rest, vm_times(m, square, 3)));
    y = vm_choose(m, is_tiny, vm_times(m, y, 0x1p-100), y);
    return vm_choose(m, is_plain, vm_signed_as(m, y, x[0]), x[0]);
}

LLVMValueRef kiln__vm_hypot(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]), b = kiln__widen(&w, x[1]);
    const LLVMValueRef length = vm_root(&w, vm_fma(&w, a, a, vm_square(&w, b)));
    const LLVMValueRef is_infinite =
        LLVMBuildOr(m->builder, vm_is(m, vm_size(m, x[0]), HUGE_VAL),
                    vm_is(m, vm_size(m, x[1]), HUGE_VAL), "");

    return vm_choose(m, is_infinite, vm_number(m, HUGE_VAL),
                     kiln__narrow(m, length));
}
