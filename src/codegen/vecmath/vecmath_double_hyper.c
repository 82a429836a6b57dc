/* vecmath_double_hyper.c - hyperbolic functions of f64 and their inverses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "codegen/vecmath/vecmath_double.h"

/* With h = (e^|x| - 1) / 2, which is also finite where e^|x| is not. A tiny x
   is the value itself. */

#define TINY 8.6736173798840355e-19 /* 2^-60 */

static LLVMValueRef or_tiny(const kiln__vm *m, LLVMValueRef x,
                            LLVMValueRef value)
{
    return vm_choose(m, vm_is_less(m, vm_size(m, x), TINY), x, value);
}

LLVMValueRef kiln__double_expm1(kiln__vm *m, LLVMValueRef const *x)
{
    LLVMValueRef low, h = kiln__double_half_expm1(m, x[0], &low);

    return or_tiny(m, x[0], vm_add(m, h, h));
}

/* sinh(x) = h + h / (2 h + 1) */
LLVMValueRef kiln__double_sinh(kiln__vm *m, LLVMValueRef const *x)
{
    LLVMValueRef low, rest, value;
    const LLVMValueRef h = kiln__double_half_expm1(m, vm_size(m, x[0]), &low);
    kiln__ratio r = {h, low, vm_plus(m, vm_add(m, h, h), 1), NULL};

    rest = vm_plus(m, r.below, -1); /* 2 h without what the sum has lost */
    rest = vm_sub(m, vm_add(m, h, h), rest);
    r.below_low = vm_add(m, rest, vm_add(m, low, low));
    value = kiln__double_divide(m, &r, &rest);
    rest = vm_add(m, rest, low);
    r.above = vm_add(m, h, value);
    rest = vm_add(m, rest, vm_add(m, vm_sub(m, h, r.above), value));
    value =
        vm_choose(m, vm_is_greater(m, h, 1e300), h, vm_add(m, r.above, rest));
    return or_tiny(m, x[0], vm_signed_as(m, value, x[0]));
}

/* cosh(x) = E + 1 / (4 E), E = e^x / 2 */
LLVMValueRef kiln__double_cosh(kiln__vm *m, LLVMValueRef const *x)
{
    LLVMValueRef low;
    const LLVMValueRef h = kiln__double_half_expm1(m, vm_size(m, x[0]), &low);
    const LLVMValueRef half = vm_plus(m, h, 0.5);

    low = vm_add(m, low, vm_plus(m, vm_sub(m, h, half), 0.5));
    low = vm_add(m, low, vm_div(m, vm_number(m, 0.25), half));
    return vm_choose(m, vm_is(m, half, HUGE_VAL), half, vm_add(m, half, low));
}

/* tanh(x / 2) = h / (h + 1) */
LLVMValueRef kiln__double_tanh(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_at_most(m, vm_size(m, x[0]), 22);
    LLVMValueRef low, h, value;
    kiln__ratio r;

    h = kiln__double_half_expm1(m, vm_add(m, size, size), &low);
    r = (kiln__ratio){h, low, vm_plus(m, h, 1), NULL};
    r.below_low = vm_add(m, vm_sub(m, h, vm_plus(m, r.below, -1)), low);
    value = kiln__double_divide(m, &r, &low);
    return or_tiny(m, x[0], vm_signed_as(m, vm_add(m, value, low), x[0]));
}

/* ---- inverse functions ---- */

/* log(1 + x + low): what the sum loses by rounding, relative to it, is what the
   logarithm lacks. `low` may be NULL. */
static LLVMValueRef log_of_sum(const kiln__vm *m, LLVMValueRef x,
                               LLVMValueRef low)
{
    const LLVMValueRef sum = vm_plus(m, x, 1);
    const LLVMValueRef part = vm_plus(m, sum, -1);
    LLVMValueRef lost = vm_sub(m, vm_number(m, 1), vm_sub(m, sum, part));
    LLVMValueRef is_plain;

    lost = vm_add(m, lost, vm_sub(m, x, part));
    if (low != NULL)
        lost = vm_add(m, lost, low);
    is_plain = LLVMBuildAnd(m->builder, vm_is_greater(m, sum, 0),
                            vm_is_less(m, sum, HUGE_VAL), "");
    lost = vm_choose(m, is_plain, vm_div(m, lost, sum), vm_number(m, 0));
    return kiln__double_log(m, sum, lost);
}

LLVMValueRef kiln__double_log1p(kiln__vm *m, LLVMValueRef const *x)
{
    return vm_choose(m, vm_is(m, x[0], 0), x[0], log_of_sum(m, x[0], NULL));
}

#define LARGE 268435456.0 /* 2^28: the root of x² + 1 is x */

/* `value`, or log(2 x) for large x. */
static LLVMValueRef or_large(const kiln__vm *m, LLVMValueRef x,
                             LLVMValueRef value)
{
    return vm_choose(
        m, vm_is_greater(m, x, LARGE),
        vm_plus(m, kiln__double_log(m, x, NULL), 0.6931471805599453), value);
}

/* asinh(x) = log(1 + (x + x² / (1 + root(x² + 1)))) */
LLVMValueRef kiln__double_asinh(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_size(m, x[0]);
    const LLVMValueRef square = vm_square(m, size);
    LLVMValueRef more = vm_plus(m, vm_root(m, vm_plus(m, square, 1)), 1), sum;

    more = vm_div(m, square, more);
    sum = kiln__double_join(m, size, &more);
    sum = or_large(m, size, log_of_sum(m, sum, more));
    return vm_signed_as(m, sum, x[0]);
}

/* acosh(1 + t) = log(1 + (t + root(2 t + t²))) */
LLVMValueRef kiln__double_acosh(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef t = vm_plus(m, x[0], -1);
    LLVMValueRef low = t;
    const LLVMValueRef root = vm_root(m, vm_fma(m, t, t, vm_add(m, t, t)));
    const LLVMValueRef sum = kiln__double_join(m, root, &low);
    const LLVMValueRef value = or_large(m, x[0], log_of_sum(m, sum, low));

    return vm_choose(m, vm_is_less(m, x[0], 1), vm_number(m, (double)NAN),
                     value);
}

/* atanh(x) = log(1 + 2 x / (1 - x)) / 2 */
LLVMValueRef kiln__double_atanh(kiln__vm *m, LLVMValueRef const *x)
{
    const LLVMValueRef size = vm_size(m, x[0]), one = vm_number(m, 1);
    const LLVMValueRef below = vm_sub(m, one, size);
    const kiln__ratio r = {vm_add(m, size, size), vm_number(m, 0), below,
                           vm_sub(m, vm_sub(m, one, below), size)};
    LLVMValueRef low, value = kiln__double_divide(m, &r, &low);

    /* Of 1 it is infinite, and nothing is left. */
    low = vm_choose(m, vm_is_less(m, size, 1), low, vm_number(m, 0));
    value = vm_times(m, log_of_sum(m, value, low), 0.5);
    return vm_signed_as(m, value, x[0]);
}
