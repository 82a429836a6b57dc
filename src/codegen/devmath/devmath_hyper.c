/* devmath_hyper.c - hyperbolic functions of f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/devmath/devmath_build.h"

#define LOG2_E 1.4426950408889634
#define SMALL 0.72

/* 1 - 2 / (e^2|x| + 1), which loses too much near 0: a polynomial there. */
static LLVMValueRef tanh_single(kiln__dm *d, LLVMValueRef const *x)
{
    /* (tanh(x) / x - 1) / x^2, |x| <= SMALL */
    static const double small[] = {-0.333331496, 0.133281946, -0.0534964874,
                                   0.0199269764, -0.0049899132};
    const kiln__vm *m = &d->m;
    const LLVMValueRef size = vm_size(m, x[0]);
    const LLVMValueRef square = vm_square(m, x[0]);
    LLVMValueRef value =
        dm_one(d, d->has->power, vm_times(m, size, 2 * LOG2_E));
    LLVMValueRef cube;

    value = dm_one(d, d->has->reciprocal, vm_plus(m, value, 1));
    value = vm_scaled(m, value, -2, vm_number(m, 1));
    value = vm_signed_as(m, value, x[0]);
    cube = vm_fma(m, square, KILN__VM_SUM(m, square, small), vm_number(m, 0));
    return vm_choose(m, vm_is_less(m, size, SMALL), vm_fma(m, cube, x[0], x[0]),
                     value);
}

const kiln__dm_function kiln__dm_hyper[] = {
    {"tanh", tanh_single},
    {NULL, NULL},
};
