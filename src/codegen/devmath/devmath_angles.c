/* devmath_angles.c - sine, cosine and tangent of f32. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/devmath/devmath_build.h"

#include <math.h>

/*
 * x = k pi / 2 + r, |r| <= pi / 4. For |x| below LARGE, pi / 2 in three parts
 * is enough: the product of k and the first part, taken from x, is exact.
 * Beyond, in code that is hardly ever run, x is multiplied by as many bits of 2
 * / pi as decide on k modulo 4 and on r.
 */

#define LARGE 65536.0
#define TWO_OVER_PI 0.63661977236758138
#define WHOLE 12582912.0 /* 1.5 * 2^23: adding it rounds to whole numbers */

static const double half_pi[] = {1.5707962512969971, 7.5497894158615964e-8,
                                 5.3903029534742384e-15};

typedef struct angle {
    LLVMValueRef rest;     /* r */
    LLVMValueRef quadrant; /* k: its two lowest bits count */
} angle;

static angle near_zero(const kiln__vm *m, LLVMValueRef x)
{
    const LLVMValueRef large =
        vm_scaled(m, x, TWO_OVER_PI, vm_number(m, WHOLE));
    const LLVMValueRef k = vm_plus(m, large, -WHOLE);
    angle a = {x, vm_to_bits(m, large)};

    for (int i = 0; i < 3; i++)
        a.rest = vm_scaled(m, k, -half_pi[i], a.rest);
    return a;
}

/* ---- large angles ---- */

/* 2 / pi in words behind the point, and a word before it. */
#define WORDS 8
static const uint32_t two_over_pi[WORDS] = {0,          0xa2f9836e, 0x4e441529,
                                            0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                            0x3c439041, 0xfe5163ab};

#define CONSTANTS 4u /* the address space, on CUDA and on ROCm */

static LLVMValueRef table(const kiln__vm *m)
{
    LLVMValueRef words[WORDS], made;
    LLVMTypeRef type = LLVMArrayType2(m->bits, WORDS);

    made = LLVMGetNamedGlobal(m->module, "kiln.device.two_over_pi");
    if (made != NULL)
        return made;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = LLVMConstInt(m->bits, two_over_pi[i], 0);
    made = LLVMAddGlobalInAddressSpace(m->module, type,
                                       "kiln.device.two_over_pi", CONSTANTS);
    LLVMSetInitializer(made, LLVMConstArray2(m->bits, words, WORDS));
    LLVMSetGlobalConstant(made, 1);
    LLVMSetLinkage(made, LLVMInternalLinkage);
    LLVMSetAlignment(made, sizeof two_over_pi[0]);
    return made;
}

/* Returns the 32 bits of 2 / pi from that place on, and i words later. */
static LLVMValueRef bits_from(const kiln__vm *m, LLVMValueRef place, uint64_t i)
{
    const LLVMBuilderRef b = m->builder;
    const LLVMValueRef word = LLVMBuildLShr(b, place, vm_integer(m, 5), "");
    LLVMValueRef funnel[3], index;

    for (uint64_t k = 0; k < 2; k++) {
        index = LLVMBuildAdd(b, word, vm_integer(m, i + k), "");
        funnel[k] = LLVMBuildLoad2(
            b, m->bits,
            LLVMBuildInBoundsGEP2(b, m->bits, table(m), &index, 1, ""), "");
    }
    funnel[2] = place; /* modulo 32 */
    return kiln__call_intrinsic(b, "llvm.fshl", m->bits, funnel, 3);
}

#define MANTISSA 0x7fffffu
#define HIDDEN 0x800000u
#define PLACES 23
/* The place from which bits count: what stands before it is a multiple of 4
   when it is multiplied by the mantissa of a float with the exponent 0. */
#define FIRST 120

/* Returns |x| 2 / pi modulo 4, with 62 bits behind the point, as an i64. */
static LLVMValueRef quarters(const kiln__vm *m, LLVMValueRef x)
{
    const LLVMBuilderRef b = m->builder;
    const LLVMTypeRef i64 =
        LLVMInt64TypeInContext(LLVMGetModuleContext(m->module));
    const LLVMValueRef bits = vm_to_bits(m, vm_size(m, x));
    const LLVMValueRef place =
        LLVMBuildSub(b, LLVMBuildLShr(b, bits, vm_integer(m, PLACES), ""),
                     vm_integer(m, FIRST), "");
    const LLVMValueRef mantissa =
        LLVMBuildOr(b, LLVMBuildAnd(b, bits, vm_integer(m, MANTISSA), ""),
                    vm_integer(m, HIDDEN), "");
    const LLVMValueRef wide = LLVMBuildZExt(b, mantissa, i64, "");
    const LLVMValueRef half = LLVMConstInt(i64, 32, 0);
    LLVMValueRef sum = NULL;

    for (uint64_t i = 0; i < 3; i++) {
        LLVMValueRef part = LLVMBuildZExt(b, bits_from(m, place, i), i64, "");

        part = LLVMBuildMul(b, part, wide, "");
        part = i == 0   ? LLVMBuildShl(b, part, half, "")
               : i == 2 ? LLVMBuildLShr(b, part, half, "")
                        : part;
        sum = sum == NULL ? part : LLVMBuildAdd(b, sum, part, "");
    }
    return sum;
}

/* Makes an angle of the first quarter and its half of the next one. The integer
   has 62 bits, and is rounded to f32 in two parts. */
static LLVMValueRef rest_of(const kiln__vm *m, LLVMValueRef fraction)
{
    const LLVMBuilderRef b = m->builder;
    const LLVMTypeRef i64 = LLVMTypeOf(fraction);
    const LLVMValueRef high = LLVMBuildSIToFP(b, fraction, m->type, "");
    const LLVMValueRef low = LLVMBuildSIToFP(
        b, LLVMBuildSub(b, fraction, LLVMBuildFPToSI(b, high, i64, ""), ""),
        m->type, "");
    LLVMValueRef rest = vm_times(m, high, half_pi[1] * 0x1p-62);

    rest = vm_scaled(m, low, half_pi[0] * 0x1p-62, rest);
    return vm_scaled(m, high, half_pi[0] * 0x1p-62, rest);
}

static angle far_away(const kiln__vm *m, LLVMValueRef x)
{
    const LLVMBuilderRef b = m->builder;
    const LLVMValueRef turned = quarters(m, x);
    const LLVMTypeRef i64 = LLVMTypeOf(turned);
    const LLVMValueRef fraction =
        LLVMBuildAShr(b, LLVMBuildShl(b, turned, LLVMConstInt(i64, 2, 0), ""),
                      LLVMConstInt(i64, 2, 0), "");
    const LLVMValueRef whole = LLVMBuildSub(b, turned, fraction, "");
    const LLVMValueRef k = LLVMBuildTrunc(
        b, LLVMBuildLShr(b, whole, LLVMConstInt(i64, 62, 0), ""), m->bits, "");
    const LLVMValueRef is_negative = vm_is_less(m, x, 0);
    const LLVMValueRef rest = rest_of(m, fraction);
    const LLVMValueRef none = vm_number(m, (double)NAN);
    angle a;

    a.rest = vm_choose(m, is_negative, vm_negative(m, rest), rest);
    a.rest = vm_choose(m, vm_is_less(m, vm_size(m, x), HUGE_VAL), a.rest, none);
    a.quadrant = vm_choose(m, is_negative, LLVMBuildNeg(b, k, ""), k);
    return a;
}

/* ---- all angles ---- */

static angle reduce(kiln__dm *d, LLVMValueRef x)
{
    const kiln__vm *m = &d->m;
    const angle near = near_zero(m, x);
    kiln__dm_detour detour =
        kiln__dm_leave(d, LLVMBuildFCmp(m->builder, LLVMRealUGE, vm_size(m, x),
                                        vm_number(m, LARGE), ""));
    const angle far = far_away(m, x);
    angle a;

    kiln__dm_meet(d, &detour);
    a.rest = kiln__dm_either(d, &detour, near.rest, far.rest);
    a.quadrant = kiln__dm_either(d, &detour, near.quadrant, far.quadrant);
    return a;
}

static LLVMValueRef has_bit(const kiln__vm *m, LLVMValueRef k, uint64_t bit)
{
    return LLVMBuildICmp(m->builder, LLVMIntNE,
                         LLVMBuildAnd(m->builder, k, vm_integer(m, bit), ""),
                         vm_integer(m, 0), "");
}

/* The sine of the angle, which is the cosine of r in odd quadrants: r or 1,
   plus that times r^2 times a polynomial. Zeros keep their sign. */
static LLVMValueRef sine_of(const kiln__vm *m, const angle *a)
{
    /* (sin(r) / r - 1) / r^2 and (cos(r) - 1) / r^2 */
    static const double sine[] = {-0.166666552, 0.0083321901, -0.000195184082};
    static const double cosine[] = {-0.5, 0.0416666456, -0.00138873013,
                                    2.44306684e-05};
    const LLVMValueRef is_odd = has_bit(m, a->quadrant, 1);
    const LLVMValueRef square = vm_square(m, a->rest);
    const LLVMValueRef first = vm_choose(m, is_odd, vm_number(m, 1), a->rest);
    LLVMValueRef sum = vm_choose(
        m, is_odd, vm_scaled(m, square, cosine[3], vm_number(m, cosine[2])),
        vm_number(m, sine[2]));

    for (int i = 2; i-- > 0;)
        sum = vm_fma(m, sum, square,
                     vm_choose(m, is_odd, vm_number(m, cosine[i]),
                               vm_number(m, sine[i])));
    sum = vm_fma(m, sum, vm_fma(m, first, square, vm_number(m, 0)), first);
    return vm_choose(m, has_bit(m, a->quadrant, 2), vm_negative(m, sum), sum);
}

static LLVMValueRef sin_single(kiln__dm *d, LLVMValueRef const *x)
{
    const angle a = reduce(d, x[0]);

    return sine_of(&d->m, &a);
}

/* The sine of an angle that is a quadrant larger. */
static LLVMValueRef cos_single(kiln__dm *d, LLVMValueRef const *x)
{
    angle a = reduce(d, x[0]);

    a.quadrant =
        LLVMBuildAdd(d->m.builder, a.quadrant, vm_integer(&d->m, 1), "");
    return sine_of(&d->m, &a);
}

static LLVMValueRef tan_single(kiln__dm *d, LLVMValueRef const *x)
{
    /* (tan(r) / r - 1) / r^2 */
    static const double tangent[] = {0.333331555,   0.133388445,
                                     0.0534070358,  0.0244465694,
                                     0.00309197837, 0.00940270629};
    const kiln__vm *m = &d->m;
    const angle a = reduce(d, x[0]);
    const LLVMValueRef square = vm_square(m, a.rest);
    const LLVMValueRef cube = vm_fma(m, square, a.rest, vm_number(m, 0));
    const LLVMValueRef value =
        vm_fma(m, KILN__VM_SUM(m, square, tangent), cube, a.rest);

    return vm_choose(m, has_bit(m, a.quadrant, 1),
                     dm_one(d, d->has->reciprocal, vm_negative(m, value)),
                     value);
}

const kiln__dm_function kiln__dm_angles[] = {
    {"cos", cos_single},
    {"sin", sin_single},
    {"tan", tan_single},
    {NULL, NULL},
};
