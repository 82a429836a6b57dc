/* devmath_double.c - functions of f64. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/devmath/devmath_build.h"
#include "codegen/vecmath/vecmath_double.h"

#include <math.h>

/*
 * Devices have reciprocals and reciprocal roots of about 20 bits, which one
 * step of the third order makes as exact as f64 is. What else there is, they
 * compute as the host does, but for scaling: an instruction, or one addition to
 * the exponent where the result is normal.
 */

/* ---- exponential functions ---- */

#define TERMS 12
#define PLACES 52
#define WHOLE 6755399441055744.0 /* 1.5 * 2^52: adding it rounds */

/* b^x = 2^n b^r, n = x log2(b), r = x - n log_b(2) */
typedef struct base {
    double log2;      /* of b */
    double high, low; /* log_b(2): its product with n, taken from x, is exact */
    double near;      /* for smaller |x| the result is a normal number */
    double least, most; /* beyond these x the result is 0, or infinite */
    double terms[TERMS];
} base;

/* The relative error is 2^-54 for |r| <= log_b(2) / 2. */
static const base e = {1.4426950408889634,
                       0.6931471805599453,
                       2.3190468138462996e-17,
                       708,
                       -746,
                       710,
                       {1, 1, 0.5000000000000011, 0.1666666666666641,
                        0.0416666666665292, 0.008333333333495696,
                        0.001388888894391959, 0.00019841269504593132,
                        2.4801492765729715e-05, 2.7557587501730755e-06,
                        2.763037771275317e-07, 2.4999914476348415e-08}};

static const base two = {
    1,
    1,
    0,
    1022,
    -1076,
    1025,
    {1, 0.6931471805599453, 0.24022650695910125, 0.05550410866482073,
     0.009618129107596745, 0.001333355814668823, 0.0001540353045441364,
     1.5252733545243733e-05, 1.3215436416861263e-06, 1.0178185095581858e-07,
     7.073615224631855e-09, 4.4362763759511984e-10}};

static const base ten = {
    3.321928094887362,
    0.3010299956639812,
    -2.8037281277851704e-18,
    307,
    -325,
    309,
    {1, 2.302585092994046, 2.650949055239205, 2.034678592293445,
     1.1712551489084027, 0.5393829292060905, 0.2069958495170292,
     0.06808936391906226, 0.019597619926224635, 0.005013977645690326,
     0.0011575605269779543, 0.00024116323374587747}};

static LLVMValueRef or_beyond(const kiln__vm *m, LLVMValueRef x, const base *b,
                              LLVMValueRef value)
{
    value = vm_choose(m, vm_is_less(m, x, b->least), vm_number(m, 0), value);
    return vm_choose(m, vm_is_greater(m, x, b->most), vm_number(m, HUGE_VAL),
                     value);
}

static LLVMValueRef by_ldexp(const kiln__vm *m, LLVMValueRef value,
                             LLVMValueRef k)
{
    const LLVMTypeRef i32 =
        LLVMInt32TypeInContext(LLVMGetModuleContext(m->module));
    LLVMTypeRef types[2] = {m->type, i32};
    LLVMValueRef both[2] = {value, LLVMBuildTrunc(m->builder, k, i32, "")};
    const LLVMValueRef ldexp = LLVMGetIntrinsicDeclaration(
        m->module, LLVMLookupIntrinsicID("llvm.ldexp", 10), types, 2);

    return LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(ldexp), ldexp,
                          both, 2, "");
}

static LLVMValueRef upper(const kiln__vm *m, LLVMValueRef x)
{
    return LLVMBuildTrunc(
        m->builder,
        LLVMBuildLShr(m->builder, vm_to_bits(m, x), vm_integer(m, 32), ""),
        LLVMInt32TypeInContext(LLVMGetModuleContext(m->module)), "");
}

/* True for NaN, and for |x| >= most, whose lower word is 0. As floats, upper
   words have the order of what they are of. */
static LLVMValueRef is_far(const kiln__vm *m, LLVMValueRef x, double most)
{
    const LLVMTypeRef f32 =
        LLVMFloatTypeInContext(LLVMGetModuleContext(m->module));
    LLVMValueRef word = LLVMBuildBitCast(m->builder, upper(m, x), f32, "");
    const LLVMValueRef limit =
        LLVMConstBitCast(upper(m, vm_number(m, most)), f32);

    word = kiln__call_intrinsic(m->builder, "llvm.fabs", f32, &word, 1);
    return LLVMBuildFCmp(m->builder, LLVMRealUGE, word, limit, "");
}

/* Adds to the exponent, and hardly ever does it in two steps. */
static LLVMValueRef by_bits(kiln__dm *d, LLVMValueRef x, const base *b,
                            LLVMValueRef value, LLVMValueRef k)
{
    const kiln__vm *m = &d->m;
    const LLVMValueRef usual = vm_from_bits(
        m, LLVMBuildAdd(m->builder, vm_to_bits(m, value),
                        LLVMBuildShl(m->builder, k, vm_integer(m, PLACES), ""),
                        ""));
    kiln__dm_detour detour = kiln__dm_leave(d, is_far(m, x, b->near));

    value = or_beyond(m, x, b, kiln__vm_scale(m, value, k));
    kiln__dm_meet(d, &detour);
    return kiln__dm_either(d, &detour, usual, value);
}

static LLVMValueRef power_of(kiln__dm *d, LLVMValueRef x, const base *b)
{
    const kiln__vm *m = &d->m;
    const LLVMValueRef large = vm_scaled(m, x, b->log2, vm_number(m, WHOLE));
    const LLVMValueRef n = vm_plus(m, large, -WHOLE);
    LLVMValueRef rest = vm_scaled(m, n, -b->high, x), value;

    if (b->low != 0)
        rest = vm_scaled(m, n, -b->low, rest);
    value = KILN__VM_SUM(m, rest, b->terms);
    if (d->has->has_ldexp)
        return or_beyond(m, x, b, by_ldexp(m, value, vm_to_bits(m, large)));
    return by_bits(d, x, b, value, vm_to_bits(m, large));
}

static LLVMValueRef exp_double(kiln__dm *d, LLVMValueRef const *x)
{
    return power_of(d, x[0], &e);
}

static LLVMValueRef exp10_double(kiln__dm *d, LLVMValueRef const *x)
{
    return power_of(d, x[0], &ten);
}

static LLVMValueRef exp2_double(kiln__dm *d, LLVMValueRef const *x)
{
    return power_of(d, x[0], &two);
}

/* ---- logarithms ---- */

#define LEAST_UPPER 0x00100000u /* of the least normal number */
#define NORMAL_UPPERS 0x7fe00000u
#define TWO_THIRDS_UPPER 0x3fe55555u
#define UPPER_PLACES 20
#define WHOLE_UPPER 0x43300000u /* of 2^52 + an integer in the lower word */
#define WHOLE_ZERO 4503601774854144.0 /* 2^52 + 2^31 */
#define LEAST_NORMAL 2.2250738585072014e-308
#define SMALL 54

static LLVMValueRef word(const kiln__vm *m, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(LLVMGetModuleContext(m->module)),
                        value, 0);
}

static LLVMValueRef of_words(const kiln__vm *m, LLVMValueRef high,
                             LLVMValueRef low)
{
    const LLVMBuilderRef b = m->builder;

    high = LLVMBuildShl(b, LLVMBuildZExt(b, high, m->bits, ""),
                        vm_integer(m, 32), "");
    return vm_from_bits(
        m, LLVMBuildOr(b, high, LLVMBuildZExt(b, low, m->bits, ""), ""));
}

/* x = 2^n (1 + f). Of what is not positive and finite, n is the logarithm, and
   f is 0. */
static LLVMValueRef split(kiln__dm *d, LLVMValueRef x, LLVMValueRef *n)
{
    const kiln__vm *m = &d->m;
    const LLVMBuilderRef b = m->builder;
    LLVMValueRef high = LLVMBuildSub(b, upper(m, x), word(m, LEAST_UPPER), ""),
                 zero, moved;
    kiln__dm_detour detour = kiln__dm_leave(
        d, LLVMBuildICmp(b, LLVMIntUGE, high, word(m, NORMAL_UPPERS), ""));

    zero = kiln__vm_log_rest(m, x, vm_number(m, -SMALL));
    moved = vm_choose(m, vm_is(m, zero, -SMALL), vm_times(m, x, 0x1p54),
                      vm_number(m, 1));
    zero = vm_plus(m, zero, -WHOLE_ZERO);
    kiln__dm_meet(d, &detour);
    x = kiln__dm_either(d, &detour, x, moved);
    zero = kiln__dm_either(d, &detour, vm_number(m, -WHOLE_ZERO), zero);
    high = upper(m, x);
    moved =
        LLVMBuildAShr(b, LLVMBuildSub(b, high, word(m, TWO_THIRDS_UPPER), ""),
                      word(m, UPPER_PLACES), "");
    high = LLVMBuildSub(b, high,
                        LLVMBuildShl(b, moved, word(m, UPPER_PLACES), ""), "");
    moved = LLVMBuildXor(b, moved, word(m, 0x80000000u), "");
    *n = vm_add(m, of_words(m, word(m, WHOLE_UPPER), moved), zero);
    return vm_plus(
        m,
        of_words(m, high,
                 LLVMBuildTrunc(b, vm_to_bits(m, x), LLVMTypeOf(high), "")),
        -1);
}

static LLVMValueRef log_double(kiln__dm *d, LLVMValueRef const *x)
{
    LLVMValueRef n, f = split(d, x[0], &n);

    return kiln__double_log_of(&d->m, n, f, NULL);
}

/* ---- reciprocals ---- */

LLVMValueRef kiln__dm_inverse(const kiln__vm *m, LLVMValueRef a)
{
    const kiln__dm *d = (const kiln__dm *)m;
    const LLVMValueRef first = dm_one(d, d->has->reciprocal_f64, a);
    const LLVMValueRef rest =
        vm_fma(m, vm_negative(m, a), first, vm_number(m, 1));

    return vm_fma(m, first, vm_fma(m, rest, rest, rest), first);
}

/* With e = 1 - x y^2, 1 / sqrt(x) = y + y e (1 / 2 + 3 e / 8 + ...) */
static LLVMValueRef rsqrt_near(const kiln__dm *d, LLVMValueRef x,
                               LLVMValueRef *first)
{
    const kiln__vm *m = &d->m;
    LLVMValueRef rest;

    *first = dm_one(d, d->has->rsqrt_f64, x);
    rest = vm_fma(m, vm_negative(m, x), vm_square(m, *first), vm_number(m, 1));
    return vm_fma(m, vm_scaled(m, rest, 0.375, vm_number(m, 0.5)),
                  vm_mul(m, *first, rest), *first);
}

/* The first approximation takes subnormal numbers for 0, and is right where no
   step can be made. */
static LLVMValueRef rsqrt_double(kiln__dm *d, LLVMValueRef const *x)
{
    const kiln__vm *m = &d->m;
    const LLVMBuilderRef b = m->builder;
    LLVMValueRef first, value = rsqrt_near(d, x[0], &first), rare, is_small;
    const LLVMValueRef high =
        LLVMBuildSub(b, upper(m, x[0]), word(m, LEAST_UPPER), "");
    kiln__dm_detour detour = kiln__dm_leave(
        d, LLVMBuildICmp(b, LLVMIntUGE, high, word(m, NORMAL_UPPERS), ""));

    is_small = LLVMBuildAnd(b, vm_is_greater(m, x[0], 0),
                            vm_is_less(m, x[0], LEAST_NORMAL), "");
    rare = rsqrt_near(d, vm_times(m, x[0], 0x1p54), &first);
    rare = vm_choose(m, is_small, vm_times(m, rare, 0x1p27), first);
    kiln__dm_meet(d, &detour);
    return kiln__dm_either(d, &detour, value, rare);
}

const kiln__dm_function kiln__dm_doubles[] = {
    {"exp", exp_double}, {"exp10", exp10_double}, {"exp2", exp2_double},
    {"log", log_double}, {"rsqrt", rsqrt_double}, {NULL, NULL},
};
