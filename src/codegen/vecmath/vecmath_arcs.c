/* vecmath_arcs.c - the inverse functions of sine, cosine and tangent of f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "codegen/vecmath/vecmath_wide.h"

#define HALF_PI (KILN__PI / 2)

/* ---- tangent ---- */

#define TAN_PI_8 0.41421356237309503

/* atan(t) + offset, |t| <= tan(pi / 8). */
static LLVMValueRef small_arc(const kiln__vm *w, LLVMValueRef t,
                              LLVMValueRef offset)
{
    static const double p[] = {-0.33333333295989892,  0.19999994349057923,
                               -0.14285424213257206,  0.11104009550938407,
                               -0.089968499913912744, 0.069910882712871159,
                               -0.037919248662917106};
    const LLVMValueRef z = vm_square(w, t);
    const LLVMValueRef arc =
        vm_fma(w, vm_mul(w, t, z), KILN__VM_SUM(w, z, p), t);

    return vm_add(w, arc, offset);
}

/* atan(least / most), 0 <= least <= most, not both 0 or infinite. With one
   division: atan(a / b) = pi / 4 + atan((a - b) / (a + b)). */
static LLVMValueRef arc_of(const kiln__vm *w, LLVMValueRef least,
                           LLVMValueRef most)
{
    const LLVMValueRef is_large = LLVMBuildFCmp(
        w->builder, LLVMRealOGT, least, vm_times(w, most, TAN_PI_8), "");
    const LLVMValueRef above =
        vm_choose(w, is_large, vm_sub(w, least, most), least);
    const LLVMValueRef below =
        vm_choose(w, is_large, vm_add(w, least, most), most);

    return small_arc(
        w, vm_div(w, above, below),
        vm_choose(w, is_large, vm_number(w, KILN__PI / 4), vm_number(w, 0)));
}

/* The sign of 0 stays: pi / 4 and pi / 2 are the only offsets. */
LLVMValueRef kiln__vm_atan(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, vm_size(m, x[0]));
    const LLVMValueRef is_large = vm_is_greater(&w, a, 1);
    const LLVMValueRef one = vm_number(&w, 1);
    LLVMValueRef arc;

    /* 1 / infinity is right as well. */
    arc = arc_of(&w, vm_choose(&w, is_large, one, a),
                 vm_choose(&w, is_large, vm_at_most(&w, a, 1e300), one));
    arc = vm_choose(&w, is_large, vm_sub(&w, vm_number(&w, HALF_PI), arc), arc);
    return vm_signed_as(m, kiln__narrow(m, arc), x[0]);
}

/* The arc of a point in the first quarter, |y| over |x|. */
static LLVMValueRef quarter_arc(const kiln__vm *w, LLVMValueRef y,
                                LLVMValueRef x)
{
    const LLVMValueRef is_steep =
        LLVMBuildFCmp(w->builder, LLVMRealOGT, y, x, "");
    LLVMValueRef least = vm_choose(w, is_steep, x, y);
    LLVMValueRef most = vm_choose(w, is_steep, y, x), arc;

    /* 0 over 0 counts as 0 over 1. */
    most = vm_choose(w, vm_is(w, most, 0), vm_number(w, 1), most);
    arc = arc_of(w, least, most);
    return vm_choose(w, is_steep, vm_sub(w, vm_number(w, HALF_PI), arc), arc);
}

LLVMValueRef kiln__vm_atan2(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    /* Infinity counts as a number that no f32 comes near to. */
    const LLVMValueRef y_size =
        vm_at_most(&w, kiln__widen(&w, vm_size(m, x[0])), 1e200);
    const LLVMValueRef x_size =
        vm_at_most(&w, kiln__widen(&w, vm_size(m, x[1])), 1e200);
    const LLVMValueRef is_left = LLVMBuildICmp(
        m->builder, LLVMIntSLT, vm_to_bits(m, x[1]), vm_integer(m, 0), "");
    const LLVMValueRef is_nan =
        LLVMBuildFCmp(m->builder, LLVMRealUNO, x[0], x[1], "");
    LLVMValueRef arc = quarter_arc(&w, y_size, x_size);

    arc = vm_choose(&w, is_left, vm_sub(&w, vm_number(&w, KILN__PI), arc), arc);
    arc = vm_signed_as(m, kiln__narrow(m, arc), x[0]);
    return vm_choose(m, is_nan, vm_add(m, x[0], x[1]), arc);
}

/* ---- sine and cosine ---- */

/* Returns asin(|x|) if |x| <= 1 / 2, else half of acos(|x|), which is the arc
   of the root of (1 - |x|) / 2. */
static LLVMValueRef short_arc(const kiln__vm *w, LLVMValueRef size,
                              LLVMValueRef is_large)
{
    static const double p[] = {0.16666666626579044,   0.075000050581862349,
                               0.044640681658217052,  0.030426950073948605,
                               0.021861986769525249,  0.020664315826847204,
                               0.0019343894496087349, 0.032956875756376326};
    const LLVMValueRef half = vm_number(w, 0.5);
    const LLVMValueRef z = vm_choose(
        w, is_large, vm_scaled(w, size, -0.5, half), vm_square(w, size));
    const LLVMValueRef s = vm_choose(w, is_large, vm_root(w, z), size);

    return vm_fma(w, vm_mul(w, s, z), KILN__VM_SUM(w, z, p), s);
}

LLVMValueRef kiln__vm_asin(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, vm_size(m, x[0]));
    const LLVMValueRef is_large = vm_is_greater(&w, a, 0.5);
    LLVMValueRef arc = short_arc(&w, a, is_large);

    arc = vm_choose(&w, is_large,
                    vm_scaled(&w, arc, -2, vm_number(&w, HALF_PI)), arc);
    return vm_signed_as(m, kiln__narrow(m, arc), x[0]);
}

LLVMValueRef kiln__vm_acos(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]);
    const LLVMValueRef size = vm_size(&w, a);
    const LLVMValueRef is_large = vm_is_greater(&w, size, 0.5);
    const LLVMValueRef arc = short_arc(&w, size, is_large);
    const LLVMValueRef near =
        vm_sub(&w, vm_number(&w, HALF_PI), vm_signed_as(&w, arc, a));
    const LLVMValueRef twice = vm_add(&w, arc, arc);
    const LLVMValueRef far =
        vm_choose(&w, vm_is_less(&w, a, 0),
                  vm_sub(&w, vm_number(&w, KILN__PI), twice), twice);

    return kiln__narrow(m, vm_choose(&w, is_large, far, near));
}
