/* devmath_powers.c - powers and reciprocal roots of f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/devmath/devmath_build.h"

/* ---- exponential functions ---- */

/*
 * b^x = 2^(x log2(b)) = 2^n 2^r. The product is as large as 128 and has to be
 * known to 2^-24, so log2(b) has two parts, `high` and `low`. The device's
 * instruction gives 2^r.
 */
typedef struct base {
    double high, low; /* log2(b) */
} base;

static const base e = {1.4426950216293335, 1.9259630335000111e-8};
static const base ten = {3.3219280242919922, 7.059536955011936e-8};

/* Returns x log2(b) - n. For infinite x that is infinite, too: n is not. */
static LLVMValueRef rest_of(const kiln__vm *m, LLVMValueRef x, const base *b,
                            LLVMValueRef n)
{
    const LLVMValueRef high = vm_scaled(m, x, b->high, vm_negative(m, n));

    return vm_scaled(m, x, b->low, high);
}

#define LEAST (-126)     /* of n: 2^n is a normal number */
#define STEPS 253        /* n is at most LEAST + STEPS */
#define BIAS 127         /* of the exponent */
#define PLACES 23        /* below it */
#define WHOLE 12582912.0 /* 1.5 * 2^23: adding it rounds to whole numbers */

/* Scales by a number whose bits are made of n. Outside of the range of n it is
   2^r that overflows, or that the product makes subnormal or 0. */
static LLVMValueRef by_bits(kiln__dm *d, LLVMValueRef x, const base *b)
{
    const kiln__vm *m = &d->m;
    LLVMValueRef share[3] = {x, vm_number(m, b->high / STEPS),
                             vm_number(m, -(double)LEAST / STEPS)};
    const LLVMValueRef steps =
        vm_scaled(m, kiln__dm_call(d, d->has->clamped_fma, share, 3), STEPS,
                  vm_number(m, WHOLE + BIAS + LEAST));
    const LLVMValueRef n = vm_plus(m, steps, -(WHOLE + BIAS));
    const LLVMValueRef scale = LLVMBuildShl(m->builder, vm_to_bits(m, steps),
                                            vm_integer(m, PLACES), "");

    return vm_mul(m, dm_one(d, d->has->power, rest_of(m, x, b, n)),
                  vm_from_bits(m, scale));
}

#define BEYOND 300.0 /* no power of two of this size fits f32 */

static LLVMValueRef by_ldexp(kiln__dm *d, LLVMValueRef x, const base *b)
{
    const kiln__vm *m = &d->m;
    LLVMValueRef n = vm_times(m, x, b->high), power;
    LLVMValueRef within[3] = {kiln__vm_call(m, "llvm.rint", &n, 1),
                              vm_number(m, -BEYOND), vm_number(m, BEYOND)};
    LLVMTypeRef types[2] = {m->type, m->bits};
    LLVMValueRef both[2], ldexp;

    n = kiln__dm_call(d, d->has->median, within, 3);
    power = dm_one(d, d->has->power, rest_of(m, x, b, n));
    both[0] = power;
    both[1] = LLVMBuildFPToSI(m->builder, n, m->bits, "");
    ldexp = LLVMGetIntrinsicDeclaration(
        m->module, LLVMLookupIntrinsicID("llvm.ldexp", 10), types, 2);
    return LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(ldexp), ldexp,
                          both, 2, "");
}

static LLVMValueRef power_of(kiln__dm *d, LLVMValueRef x, const base *b)
{
    return d->has->clamped_fma != NULL ? by_bits(d, x, b) : by_ldexp(d, x, b);
}

static LLVMValueRef exp_single(kiln__dm *d, LLVMValueRef const *x)
{
    return power_of(d, x[0], &e);
}

static LLVMValueRef exp10_single(kiln__dm *d, LLVMValueRef const *x)
{
    return power_of(d, x[0], &ten);
}

static LLVMValueRef exp2_single(kiln__dm *d, LLVMValueRef const *x)
{
    return dm_one(d, d->has->full_power, x[0]);
}

/* ---- the reciprocal root ---- */

#define LEAST_NORMAL 1.1754943508222875e-38

static LLVMValueRef rsqrt_single(kiln__dm *d, LLVMValueRef const *x)
{
    const kiln__vm *m = &d->m;
    LLVMValueRef is_small, root;

    if (d->has->full_rsqrt)
        return dm_one(d, d->has->rsqrt, x[0]);
    is_small = vm_is_less(m, x[0], LEAST_NORMAL);
    root = dm_one(
        d, d->has->rsqrt,
        vm_mul(m, x[0],
               vm_choose(m, is_small, vm_number(m, 0x1p24), vm_number(m, 1))));
    return vm_mul(
        m, root, vm_choose(m, is_small, vm_number(m, 0x1p12), vm_number(m, 1)));
}

const kiln__dm_function kiln__dm_powers[] = {
    {"exp", exp_single},   {"exp10", exp10_single},
    {"exp2", exp2_single}, {"rsqrt", rsqrt_single},
    {NULL, NULL},
};
