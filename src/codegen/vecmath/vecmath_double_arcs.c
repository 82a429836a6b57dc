/* vecmath_double_arcs.c - tangent, inverse functions of angles, and lengths of
   f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "codegen/vecmath/vecmath_double.h"

#define PI 3.141592653589793
#define PI_LOW 1.2246467991473532e-16
#define TAN_PI_8 0.41421356237309503

LLVMValueRef kiln__double_tan(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__angle a = kiln__double_reduce(m, x[0]);
    LLVMValueRef s_low, c_low, value, low, is_odd;
    LLVMValueRef s = kiln__double_sine(m, &a, &s_low);
    LLVMValueRef c = kiln__double_cosine(m, &a, &c_low);
    kiln__ratio r;

    s = kiln__double_join(m, s, &s_low);
    c = kiln__double_join(m, c, &c_low);
    is_odd = LLVMBuildTrunc(m->builder, a.k, m->truth, "");
    r.above = vm_choose(m, is_odd, vm_negative(m, c), s);
    r.above_low = vm_choose(m, is_odd, vm_negative(m, c_low), s_low);
    r.below = vm_choose(m, is_odd, s, c);
    r.below_low = vm_choose(m, is_odd, s_low, c_low);
    value = kiln__double_divide(m, &r, &low);
    return vm_choose(m, vm_is(m, x[0], 0), x[0], vm_add(m, value, low));
}

/* ---- arcs of tangents ---- */

/* pi * part - (high + low) */
static LLVMValueRef pi_minus(const kiln__vm *m, double part, LLVMValueRef high,
                             LLVMValueRef low)
{
    const LLVMValueRef whole = vm_number(m, PI * part);
    const LLVMValueRef value = vm_sub(m, whole, high);
    LLVMValueRef rest = vm_sub(m, vm_sub(m, whole, value), high);

    rest = vm_sub(m, rest, vm_plus(m, low, -PI_LOW * part));
    return vm_add(m, value, rest);
}

/* atan(t + t_low) + offset without `low`, |t| <= tan(pi / 8); the offset is
   pi / 4 or 0. */
static LLVMValueRef small_arc(const kiln__vm *m, LLVMValueRef t,
                              LLVMValueRef is_large, LLVMValueRef *low)
{
    static const double p[] = {
        -0.33333333333333326,  0.19999999999997647,   -0.14285714285385204,
        0.11111111088000926,   -0.090909081380902576, 0.076922826120507562,
        -0.066662245794934516, 0.058770003596988835,  -0.052182657202771481,
        0.045029829857118328,  -0.033461210860155376, 0.015181641353908495};
    const LLVMValueRef z = vm_square(m, t), none = vm_number(m, 0);
    const LLVMValueRef most =
        vm_choose(m, is_large, vm_number(m, PI / 4), none);
    const LLVMValueRef more =
        vm_choose(m, is_large, vm_number(m, PI_LOW / 4), none);
    const LLVMValueRef sum = vm_add(m, most, t);
    LLVMValueRef rest = vm_fma(m, vm_negative(m, z), *low, *low);

    rest = vm_add(m, rest, more);
    rest = vm_fma(m, vm_mul(m, t, z), KILN__VM_SUM(m, z, p), rest);
    *low = vm_add(m, rest, vm_add(m, vm_sub(m, most, sum), t));
    return sum;
}

/* atan(least / most) without `low`, 0 <= least <= most, not both 0 or infinite.
   atan(a / b) = pi / 4 + atan((a - b) / (a + b)). */
static LLVMValueRef arc_of(const kiln__vm *m, LLVMValueRef least,
                           LLVMValueRef most, LLVMValueRef *low)
{
    const LLVMValueRef is_large = LLVMBuildFCmp(
        m->builder, LLVMRealOGT, least, vm_times(m, most, TAN_PI_8), "");
    const LLVMValueRef less = vm_sub(m, least, most);
    const LLVMValueRef more = vm_add(m, least, most);
    const LLVMValueRef none = vm_number(m, 0);
    kiln__ratio r = {vm_choose(m, is_large, less, least), none,
                     vm_choose(m, is_large, more, most), none};
    LLVMValueRef t;

    r.above_low =
        vm_choose(m, is_large, vm_sub(m, least, vm_add(m, less, most)), none);
    r.below_low =
        vm_choose(m, is_large, vm_add(m, vm_sub(m, most, more), least), none);
    t = kiln__double_divide(m, &r, low);
    return small_arc(m, t, is_large, low);
}

LLVMValueRef kiln__double_atan(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_at_most(m, vm_size(m, x[0]), 1e300);
    const LLVMValueRef is_large = vm_is_greater(m, size, 1);
    const LLVMValueRef one = vm_number(m, 1);
    LLVMValueRef low, arc = arc_of(m, vm_choose(m, is_large, one, size),
                                   vm_choose(m, is_large, size, one), &low);

    arc =
        vm_choose(m, is_large, pi_minus(m, 0.5, arc, low), vm_add(m, arc, low));
    return vm_signed_as(m, arc, x[0]);
}

/* The sizes of both numbers, the larger one in sizes[1]; returns whether that
   is x[0]. */
static LLVMValueRef sort(const kiln__vm *m, LLVMValueRef const *x,
                         LLVMValueRef sizes[2])
{
    const LLVMValueRef a = vm_size(m, x[0]), b = vm_size(m, x[1]);
    const LLVMValueRef is_first =
        LLVMBuildFCmp(m->builder, LLVMRealOGT, a, b, "");

    sizes[0] = vm_choose(m, is_first, b, a);
    sizes[1] = vm_choose(m, is_first, a, b);
    return is_first;
}

/* A power of two that brings `most` and what is not far below it among the
   numbers whose sums, and products with the constants, are exact enough. */
static LLVMValueRef factor(const kiln__vm *m, LLVMValueRef most, double huge,
                           double tiny)
{
    return vm_choose(m, vm_is_greater(m, most, 0x1p500), vm_number(m, huge),
                     vm_choose(m, vm_is_less(m, most, 0x1p-400),
                               vm_number(m, tiny), vm_number(m, 1)));
}

/* Beside infinity all numbers are 0, and two infinities are equal. */
LLVMValueRef kiln__double_atan2(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef is_left = LLVMBuildICmp(
        m->builder, LLVMIntSLT, vm_to_bits(m, x[1]), vm_integer(m, 0), "");
    const LLVMValueRef is_nan =
        LLVMBuildFCmp(m->builder, LLVMRealUNO, x[0], x[1], "");
    const LLVMValueRef none = vm_number(m, 0), one = vm_number(m, 1);
    LLVMValueRef sizes[2], is_steep = sort(m, x, sizes), by, arc, low;
    const LLVMValueRef is_infinite = vm_is(m, sizes[1], HUGE_VAL);

    by = factor(m, sizes[1], 0x1p-4, 0x1p600);
    sizes[0] = vm_choose(m, is_infinite,
                         vm_choose(m, vm_is(m, sizes[0], HUGE_VAL), one, none),
                         vm_mul(m, sizes[0], by));
    sizes[1] = vm_choose(
        m, LLVMBuildOr(m->builder, is_infinite, vm_is(m, sizes[1], 0), ""), one,
        vm_mul(m, sizes[1], by));
    arc = arc_of(m, sizes[0], sizes[1], &low);
    by =
        vm_choose(m, is_steep, pi_minus(m, 0.5, arc, low), vm_add(m, arc, low));
    arc = vm_choose(m, is_steep, by, arc);
    low = vm_choose(m, is_steep, none, low);
    arc = vm_choose(m, is_left, pi_minus(m, 1, arc, low), by);
    return vm_choose(m, is_nan, vm_add(m, x[0], x[1]),
                     vm_signed_as(m, arc, x[0]));
}

/* ---- arcs of sines ---- */

/* Half of acos(|x|), or asin(|x|), as in vecmath_arcs.c, without `low`. */
static LLVMValueRef short_arc(const kiln__vm *m, LLVMValueRef size,
                              LLVMValueRef is_large, LLVMValueRef *low)
{
    static const double p[] = {
        0.16666666666666763,   0.074999999999700945, 0.044642857175290679,
        0.03038194267505347,   0.022372215912090536, 0.017351595395085951,
        0.01398101970543666,   0.011397284244277075, 0.010789366258869589,
        0.0036720299473227184, 0.021790989860175518, -0.021117158597585638,
        0.032702410307290763};
    const LLVMValueRef half = vm_number(m, 0.5);
    const LLVMValueRef z = vm_choose(
        m, is_large, vm_scaled(m, size, -0.5, half), vm_square(m, size));
    const LLVMValueRef s = vm_choose(m, is_large, vm_root(m, z), size);
    LLVMValueRef lost = vm_fma(m, vm_negative(m, s), s, z);

    /* What the root has lost; a root of 0 has not lost anything. */
    lost = vm_div(m, vm_times(m, lost, 0.5), vm_at_least(m, s, 1e-300));
    lost = vm_choose(m, is_large, lost, vm_number(m, 0));
    *low = vm_fma(m, vm_mul(m, s, z), KILN__VM_SUM(m, z, p), lost);
    return s;
}

LLVMValueRef kiln__double_asin(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_size(m, x[0]);
    const LLVMValueRef is_large = vm_is_greater(m, size, 0.5);
    LLVMValueRef low, arc = short_arc(m, size, is_large, &low);

    arc = vm_choose(m, is_large,
                    pi_minus(m, 0.5, vm_add(m, arc, arc), vm_add(m, low, low)),
                    vm_add(m, arc, low));
    return vm_signed_as(m, arc, x[0]);
}

LLVMValueRef kiln__double_acos(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_size(m, x[0]);
    const LLVMValueRef is_large = vm_is_greater(m, size, 0.5);
    LLVMValueRef low, arc = short_arc(m, size, is_large, &low), far, near;

    near = pi_minus(
        m, 0.5, vm_signed_as(m, arc, x[0]),
        vm_choose(m, vm_is_less(m, x[0], 0), vm_negative(m, low), low));
    arc = vm_add(m, arc, arc);
    low = vm_add(m, low, low);
    far = vm_choose(m, vm_is_less(m, x[0], 0), pi_minus(m, 1, arc, low),
                    vm_add(m, arc, low));
    return vm_choose(m, is_large, far, near);
}

/* ---- lengths ---- */

LLVMValueRef kiln__double_hypot(kiln__vm *m, LLVMValueRef const *x)
{
    LLVMValueRef sizes[2], length, by, is_infinite;

    (void)sort(m, x, sizes);
    by = factor(m, sizes[1], 0x1p-600, 0x1p600);
    is_infinite = LLVMBuildOr(m->builder, vm_is(m, sizes[0], HUGE_VAL),
                              vm_is(m, sizes[1], HUGE_VAL), "");
    length = vm_square(m, vm_mul(m, sizes[0], by));
    by = vm_mul(m, sizes[1], by);
    length = vm_root(m, vm_fma(m, by, by, length));
    length = vm_mul(m, length, factor(m, sizes[1], 0x1p600, 0x1p-600));
    return vm_choose(m, is_infinite, vm_number(m, HUGE_VAL), length);
}
