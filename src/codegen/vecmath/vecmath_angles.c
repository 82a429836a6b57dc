/* vecmath_angles.c - sine, cosine and tangent of f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/vecmath/vecmath_wide.h"

#define PI_LOW 1.2246467991473532e-16
#define ONE_OVER_PI 0.31830988618379067

/* Beyond this the reduced argument would have too few bits. */
#define LARGE_ANGLE 1073741824.0

static void leave_large(kiln__vm *m, LLVMValueRef x)
{
    m->hard = vm_is_greater(m, vm_size(m, x), LARGE_ANGLE);
}

/* x - n unit, where the unit is pi times a power of two. */
static LLVMValueRef reduce(const kiln__vm *w, LLVMValueRef x, LLVMValueRef n,
                           double of_pi)
{
    x = vm_scaled(w, n, -KILN__PI * of_pi, x);
    return vm_scaled(w, n, -PI_LOW * of_pi, x);
}

/* sin(r), |r| <= pi / 2, with the sign of 0. */
static LLVMValueRef half_wave(const kiln__vm *w, LLVMValueRef r)
{
    static const double p[] = {-0.16666666625735935, 0.0083333310905404495,
                               -0.00019840865778049735, 2.7525256344716685e-06,
                               -2.3886599359216967e-08};
    const LLVMValueRef z = vm_square(w, r);

    return vm_mul(w, r, vm_fma(w, z, KILN__VM_SUM(w, z, p), vm_number(w, 1)));
}

LLVMValueRef kiln__vm_sin(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]);
    LLVMValueRef k, n = kiln__vm_whole(&w, a, ONE_OVER_PI, 0, &k);
    const LLVMValueRef value = half_wave(&w, reduce(&w, a, n, 1));

    leave_large(m, x[0]);
    return kiln__narrow(m, vm_flip(&w, value, k));
}

/* cos(x) = sin(x + pi / 2) */
LLVMValueRef kiln__vm_cos(kiln__vm *m, LLVMValueRef const *x)
{
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]);
    LLVMValueRef k, n = kiln__vm_whole(&w, a, ONE_OVER_PI, 0.5, &k), value;

    n = vm_plus(&w, n, -0.5);
    value = half_wave(&w, reduce(&w, a, n, 1));
    leave_large(m, x[0]);
    return kiln__narrow(m, vm_flip(&w, value, k));
}

/* With r within pi / 4, tan(x) is sin(r) / cos(r) or -cos(r) / sin(r). */
LLVMValueRef kiln__vm_tan(kiln__vm *m, LLVMValueRef const *x)
{
    static const double p[] = {-0.16666666641431019, 0.0083333293626252202,
                               -0.00019839327224620493, 2.7182379789501266e-06};
    static const double q[] = {0.041666646745830711, -0.0013887361343867994,
                               2.4437717645076333e-05};
    const kiln__vm w = kiln__wide(m);
    const LLVMValueRef a = kiln__widen(&w, x[0]);
    LLVMValueRef k, n = kiln__vm_whole(&w, a, 2 * ONE_OVER_PI, 0, &k);
    const LLVMValueRef r = reduce(&w, a, n, 0.5), z = vm_square(&w, r);
    const LLVMValueRef one = vm_number(&w, 1);
    const LLVMValueRef s =
        vm_mul(&w, r, vm_fma(&w, z, KILN__VM_SUM(&w, z, p), one));
    LLVMValueRef c = vm_scaled(&w, z, -0.5, one), is_odd;

    c = vm_fma(&w, vm_square(&w, z), KILN__VM_SUM(&w, z, q), c);
    is_odd = LLVMBuildTrunc(w.builder, k, w.truth, "");
    leave_large(m, x[0]);
    return kiln__narrow(m,
                        vm_div(&w, vm_choose(&w, is_odd, vm_negative(&w, c), s),
                               vm_choose(&w, is_odd, s, c)));
}
