/* devmath_logs.c - logarithms of f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "codegen/devmath/devmath_build.h"

/*
 * x = 2^n (1 + f), |f| <= 1 / 3, so that n is 0 near 1, where the logarithm is
 * small. Devices have an instruction for log2(x), but its error near 1 is large
 * beside the result.
 */

#define LEAST_NORMAL 1.1754943508222875e-38
#define PLACES 23
#define TWO_THIRDS 0x3f2aaaabu
#define EXPONENT 0xff800000u /* and the sign */
#define INFINITE 0x7f800000u
#define TERMS 9

typedef struct logarithm {
    double of_two; /* log(2) */
    double of_e;   /* log(e) */
    /* (log(1 + f) - f log(e)) / f^2, of least relative error */
    double rest[TERMS];
} logarithm;

static const logarithm natural = {0.69314718055994531,
                                  1,
                                  {-0.5, 0.333332151, -0.249998048, 0.200104445,
                                   -0.166801795, 0.140053406, -0.121883787,
                                   0.139867082, -0.128742874}};

static const logarithm binary = {1,
                                 1.4426950408889634,
                                 {-0.721347511, 0.480896711, -0.36067152,
                                  0.288686514, -0.24063246, 0.202098325,
                                  -0.175938785, 0.201595172, -0.185446113}};

static const logarithm decimal = {0.30102999566398120,
                                  0.43429448190325183,
                                  {-0.217147246, 0.144764289, -0.108572409,
                                   0.0869053677, -0.0724499375, 0.0608091205,
                                   -0.0528454632, 0.0608094893, -0.0562212244}};

/* Splits x. What is subnormal is multiplied by 2^23 first. */
static LLVMValueRef split(const kiln__vm *m, LLVMValueRef x, LLVMValueRef *n,
                          LLVMValueRef *bits)
{
    const LLVMValueRef is_small = vm_is_less(m, x, LEAST_NORMAL);
    const LLVMValueRef moved =
        vm_choose(m, is_small, vm_number(m, -PLACES), vm_number(m, 0));
    LLVMValueRef power, f;

    x = vm_choose(m, is_small, vm_times(m, x, 1 << PLACES), x);
    *bits = vm_to_bits(m, x);
    power = LLVMBuildAnd(
        m->builder,
        LLVMBuildSub(m->builder, *bits, vm_integer(m, TWO_THIRDS), ""),
        vm_integer(m, EXPONENT), "");
    f = vm_from_bits(m, LLVMBuildSub(m->builder, *bits, power, ""));
    *n = vm_scaled(m, LLVMBuildSIToFP(m->builder, power, m->type, ""), 0x1p-23,
                   moved);
    return vm_plus(m, f, -1);
}

/* Of infinity, NaN and what is negative: the sum of two infinities. Of 0, which
   has not been scaled away, infinity. */
static LLVMValueRef special(const kiln__vm *m, LLVMValueRef bits,
                            LLVMValueRef value)
{
    const LLVMValueRef x = vm_from_bits(m, bits);
    const LLVMValueRef infinity = vm_number(m, HUGE_VAL);
    const LLVMValueRef is_odd = LLVMBuildICmp(m->builder, LLVMIntUGE, bits,
                                              vm_integer(m, INFINITE), "");

    value = vm_choose(m, is_odd, vm_fma(m, x, infinity, infinity), value);
    return vm_choose(m, vm_is(m, x, 0), vm_negative(m, infinity), value);
}

static LLVMValueRef log_of(kiln__dm *d, LLVMValueRef x, const logarithm *l)
{
    const kiln__vm *m = &d->m;
    LLVMValueRef n, bits, value;
    const LLVMValueRef f = split(m, x, &n, &bits);

    value = vm_mul(m, f, kiln__vm_sum(m, f, l->rest, TERMS));
    if (l->of_e == 1)
        value = vm_fma(m, value, f, f);
    else
        value = vm_scaled(m, f, l->of_e, vm_mul(m, value, f));
    value = l->of_two == 1 ? vm_add(m, n, value)
                           : vm_scaled(m, n, l->of_two, value);
    return special(m, bits, value);
}

static LLVMValueRef log_single(kiln__dm *d, LLVMValueRef const *x)
{
    return d->has->log != NULL ? dm_one(d, d->has->log, x[0])
                               : log_of(d, x[0], &natural);
}

static LLVMValueRef log2_single(kiln__dm *d, LLVMValueRef const *x)
{
    return d->has->log2 != NULL ? dm_one(d, d->has->log2, x[0])
                                : log_of(d, x[0], &binary);
}

static LLVMValueRef log10_single(kiln__dm *d, LLVMValueRef const *x)
{
    return d->has->log10 != NULL ? dm_one(d, d->has->log10, x[0])
                                 : log_of(d, x[0], &decimal);
}

const kiln__dm_function kiln__dm_logs[] = {
    {"log", log_single},
    {"log10", log10_single},
    {"log2", log2_single},
    {NULL, NULL},
};
