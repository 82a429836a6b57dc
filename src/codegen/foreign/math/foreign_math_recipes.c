/* foreign_math_recipes.c - mathematical functions that are made of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdlib.h>

#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * Each recipe is exact, or as exact as the functions that it calls. It works on
 * numbers and on vectors alike, since LLVM's instructions do.
 */

typedef struct recipe {
    const kiln__math_place *at;
    LLVMBuilderRef builder;
    LLVMTypeRef type; /* T */
    LLVMValueRef x, y;
} recipe;

/* The type with another type for its elements. */
static LLVMTypeRef shaped(const recipe *r, LLVMTypeRef lane)
{
    return LLVMGetTypeKind(r->type) == LLVMVectorTypeKind
               ? LLVMVectorType(lane, LLVMGetVectorSize(r->type))
               : lane;
}

static LLVMValueRef number(const recipe *r, double value)
{
    return kiln__spread_constant(
        r->type, LLVMConstReal(kiln__lane_type(r->type), value));
}

static LLVMValueRef integer(LLVMTypeRef type, int64_t value)
{
    return kiln__spread_constant(
        type, LLVMConstInt(kiln__lane_type(type), (uint64_t)value, 1));
}

static LLVMValueRef call(const recipe *r, const char *name, LLVMValueRef a,
                         LLVMValueRef b)
{
    LLVMValueRef arguments[3] = {a, b, NULL};

    return kiln__math_build(r->at, kiln__math_named(name), arguments);
}

static LLVMValueRef choose(const recipe *r, LLVMValueRef condition,
                           LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(r->builder, condition, yes, no, "");
}

/* ---- one result ---- */

/* A NaN compares as false and comes out of the difference. */
static LLVMValueRef positive_difference(const recipe *r)
{
    const LLVMValueRef is_less =
        LLVMBuildFCmp(r->builder, LLVMRealOLE, r->x, r->y, "");

    return choose(r, is_less, number(r, 0),
                  LLVMBuildFSub(r->builder, r->x, r->y, ""));
}

/* Floats that are narrower than f32 are subnormal in f32 nowhere. */
static LLVMValueRef canonical(const recipe *r)
{
    const LLVMTypeRef wide =
        shaped(r, LLVMFloatTypeInContext(r->at->job->context));
    LLVMValueRef value;

    if (LLVMGetTypeKind(kiln__lane_type(r->type)) == LLVMFloatTypeKind ||
        LLVMGetTypeKind(kiln__lane_type(r->type)) == LLVMDoubleTypeKind)
        return r->x;
    value = LLVMBuildFPExt(r->builder, r->x, wide, "");
    value = call(r, "canonicalize", value, NULL);
    return LLVMBuildFPTrunc(r->builder, value, r->type, "");
}

/* Without an exact instruction the library is called. */
static LLVMValueRef remainder_of(const recipe *r)
{
    const kiln__codegen_job *job = r->at->job;

    return job->backend->foreign->has_exact_remainders
               ? LLVMBuildFRem(r->builder, r->x, r->y, "")
               : NULL;
}

/* What does not fit is any number, but not poison. */
static LLVMValueRef to_integer(const recipe *r, const char *rounding)
{
    const LLVMTypeRef type = LLVMTypeOf(r->at->call);
    LLVMValueRef value = call(r, rounding, r->x, NULL);

    value = LLVMBuildFPToSI(r->builder, value, type, "");
    return LLVMBuildFreeze(r->builder, value, "");
}

/* The exponents of floats are far smaller than the bounds. */
#define SCALE_MOST 100000

static LLVMValueRef scale(const recipe *r)
{
    const LLVMTypeRef type = LLVMTypeOf(r->y);
    const LLVMTypeRef i32 =
        LLVMGetTypeKind(type) == LLVMVectorTypeKind
            ? LLVMVectorType(kiln__job_i32(r->at->job), LLVMGetVectorSize(type))
            : kiln__job_i32(r->at->job);
    const LLVMValueRef most = integer(type, SCALE_MOST);
    const LLVMValueRef least = integer(type, -SCALE_MOST);
    LLVMValueRef by = r->y;

    /* Every number of fewer bits fits. */
    if (LLVMGetIntTypeWidth(kiln__lane_type(type)) < 32)
        return call(r, "ldexp", r->x,
                    LLVMBuildIntCast2(r->builder, by, i32, 1, ""));
    by = choose(r, LLVMBuildICmp(r->builder, LLVMIntSGT, by, most, ""), most,
                by);
    by = choose(r, LLVMBuildICmp(r->builder, LLVMIntSLT, by, least, ""), least,
                by);
    return call(r, "ldexp", r->x,
                LLVMBuildIntCast2(r->builder, by, i32, 1, ""));
}

/* Multiplies for a constant exponent of this size. */
#define POWER_MOST 64

static LLVMValueRef multiply(const recipe *r, int64_t exponent)
{
    uint64_t left = (uint64_t)(exponent < 0 ? -exponent : exponent);
    LLVMValueRef square = r->x, value = number(r, 1);
    int is_one = 1;

    for (; left > 0; left /= 2) {
        if (left % 2 != 0)
            value =
                is_one ? square : LLVMBuildFMul(r->builder, value, square, "");
        is_one &= left % 2 == 0;
        if (left > 1)
            square = LLVMBuildFMul(r->builder, square, square, "");
    }
    return exponent < 0 ? LLVMBuildFDiv(r->builder, number(r, 1), value, "")
                        : value;
}

/* On the host, in f64: there every exponent is exact. Libraries of devices have
   the function. */
static LLVMValueRef power(const recipe *r)
{
    const kiln__codegen_job *job = r->at->job;
    const LLVMTypeRef wide = shaped(r, LLVMDoubleTypeInContext(job->context));
    LLVMValueRef x = r->x, y = r->y, value;

    if (LLVMIsAConstantInt(y) != NULL &&
        llabs(LLVMConstIntGetSExtValue(y)) <= POWER_MOST)
        return multiply(r, LLVMConstIntGetSExtValue(y));
    if (job->backend->device != NULL)
        return NULL;
    if (LLVMTypeOf(x) != wide)
        x = LLVMBuildFPExt(r->builder, x, wide, "");
    if (LLVMGetTypeKind(LLVMTypeOf(y)) != LLVMGetTypeKind(wide))
        y = LLVMBuildSIToFP(r->builder, y, kiln__lane_type(wide), "");
    else
        y = LLVMBuildSIToFP(r->builder, y, wide, "");
    if (LLVMTypeOf(y) != wide) {
        LLVMValueRef all = LLVMGetPoison(wide);

        for (unsigned i = 0; i < LLVMGetVectorSize(wide); i++)
            all = LLVMBuildInsertElement(
                r->builder, all, y,
                LLVMConstInt(kiln__job_i32(r->at->job), i, 0), "");
        y = all;
    }
    value = call(r, "pow", x, y);
    return LLVMTypeOf(value) == r->type
               ? value
               : LLVMBuildFPTrunc(r->builder, value, r->type, "");
}

/* ---- two results ---- */

/* An infinity's fraction is zero, of its sign; so is a whole number's. */
static LLVMValueRef split_whole(const recipe *r, LLVMValueRef *whole)
{
    const LLVMValueRef infinity = number(r, HUGE_VAL);
    LLVMValueRef rest, is_infinite;

    *whole = call(r, "trunc", r->x, NULL);
    is_infinite = LLVMBuildFCmp(r->builder, LLVMRealOEQ,
                                call(r, "fabs", r->x, NULL), infinity, "");
    rest = LLVMBuildFSub(r->builder, r->x, *whole, "");
    return call(r, "copysign", choose(r, is_infinite, number(r, 0), rest),
                r->x);
}

/* The layout of a float: how many bits its fraction has, how many its
   exponent. */
static unsigned fraction_bits(LLVMTypeRef type)
{
    switch ((int)LLVMGetTypeKind(kiln__lane_type(type))) {
    case LLVMHalfTypeKind:
        return 10;
    case LLVMBFloatTypeKind:
        return 7;
    case LLVMFloatTypeKind:
        return 23;
    default:
        return 52;
    }
}

static unsigned exponent_bits(LLVMTypeRef type)
{
    switch ((int)LLVMGetTypeKind(kiln__lane_type(type))) {
    case LLVMHalfTypeKind:
        return 5;
    case LLVMDoubleTypeKind:
        return 11;
    default:
        return 8;
    }
}

/* The exponent is replaced by that of 0.5. A subnormal number is made normal
   first; zeros, infinities and NaNs stay, with exponent 0. */
static LLVMValueRef split_exponent(const recipe *r, LLVMValueRef *exponent)
{
    const unsigned fraction = fraction_bits(r->type);
    const unsigned width = 1 + fraction + exponent_bits(r->type);
    const int64_t most = ((int64_t)1 << exponent_bits(r->type)) - 1;
    const int64_t half = most / 2 - 1;
    const LLVMTypeRef bits =
        shaped(r, LLVMIntTypeInContext(r->at->job->context, width));
    const LLVMTypeRef i32 = shaped(r, kiln__job_i32(r->at->job));
    const LLVMValueRef places = integer(bits, fraction);
    const LLVMValueRef mask = integer(bits, most);
    LLVMValueRef word, field, scaled, is_small, is_special, result;

    word = LLVMBuildBitCast(r->builder, r->x, bits, "");
    field = LLVMBuildAnd(r->builder,
                         LLVMBuildLShr(r->builder, word, places, ""), mask, "");
    is_small =
        LLVMBuildICmp(r->builder, LLVMIntEQ, field, integer(bits, 0), "");
    scaled = LLVMBuildFMul(r->builder, r->x,
                           number(r, ldexp(1, (int)fraction + 1)), "");
    scaled = choose(r, is_small, scaled, r->x);
    is_special = LLVMBuildOr(
        r->builder, LLVMBuildICmp(r->builder, LLVMIntEQ, field, mask, ""),
        LLVMBuildFCmp(r->builder, LLVMRealOEQ, r->x, number(r, 0), ""), "");
    word = LLVMBuildBitCast(r->builder, scaled, bits, "");
    field = LLVMBuildAnd(r->builder,
                         LLVMBuildLShr(r->builder, word, places, ""), mask, "");
    field = LLVMBuildSub(r->builder, field, integer(bits, half), "");
    *exponent = LLVMBuildIntCast2(r->builder, field, i32, 1, "");
    *exponent =
        LLVMBuildSub(r->builder, *exponent,
                     choose(r, is_small, integer(i32, (int64_t)fraction + 1),
                            integer(i32, 0)),
                     "");
    *exponent = choose(r, is_special, integer(i32, 0), *exponent);
    word =
        LLVMBuildAnd(r->builder, word,
                     integer(bits, ~(int64_t)((uint64_t)most << fraction)), "");
    word =
        LLVMBuildOr(r->builder, word,
                    integer(bits, (int64_t)((uint64_t)half << fraction)), "");
    result = LLVMBuildBitCast(r->builder, word, r->type, "");
    return choose(r, is_special, r->x, result);
}

/* The gamma function of a negative number is negative if the number's floor is
   odd. */
static LLVMValueRef gamma_sign(const recipe *r, LLVMValueRef *sign)
{
    const LLVMTypeRef i32 = shaped(r, kiln__job_i32(r->at->job));
    const LLVMValueRef floor = call(r, "floor", r->x, NULL);
    LLVMValueRef half = LLVMBuildFMul(r->builder, floor, number(r, 0.5), "");
    LLVMValueRef is_odd, is_below, is_zero, positive;

    half = LLVMBuildFCmp(r->builder, LLVMRealONE, half,
                         call(r, "floor", half, NULL), "");
    is_below = LLVMBuildFCmp(r->builder, LLVMRealOLT, r->x, number(r, 0), "");
    is_odd = LLVMBuildAnd(r->builder, half, is_below, "");
    is_zero = LLVMBuildFCmp(r->builder, LLVMRealOEQ, r->x, number(r, 0), "");
    positive = call(r, "copysign", number(r, 1), r->x);
    positive =
        LLVMBuildFCmp(r->builder, LLVMRealOGT, positive, number(r, 0), "");
    *sign = choose(r, is_odd, integer(i32, -1), integer(i32, 1));
    *sign =
        choose(r, is_zero,
               choose(r, positive, integer(i32, 1), integer(i32, -1)), *sign);
    return call(r, "lgamma", r->x, NULL);
}

/* The quotient's low bits, of x / y rounded to even: of |x| modulo 8|y|, which
   is exact, three comparisons give them. */
static LLVMValueRef quotient(const recipe *r, LLVMValueRef *out)
{
    const LLVMTypeRef i32 = shaped(r, kiln__job_i32(r->at->job));
    const LLVMValueRef size = call(r, "fabs", r->y, NULL);
    const LLVMValueRef result = call(r, "remainder", r->x, r->y);
    const LLVMValueRef eight =
        LLVMBuildFMul(r->builder, size, number(r, 8), "");
    const LLVMValueRef is_huge =
        LLVMBuildFCmp(r->builder, LLVMRealOEQ, eight, number(r, HUGE_VAL), "");
    LLVMValueRef left = call(r, "fabs", r->x, NULL), count, is_negative, odd;

    left = choose(r, is_huge, left, call(r, "fmod", left, eight));
    count = integer(i32, 0);
    for (int part = 4; part > 0; part /= 2) {
        const LLVMValueRef step =
            LLVMBuildFMul(r->builder, size, number(r, part), "");
        const LLVMValueRef fits =
            LLVMBuildFCmp(r->builder, LLVMRealOGE, left, step, "");

        left = choose(r, fits, LLVMBuildFSub(r->builder, left, step, ""), left);
        count = LLVMBuildAdd(
            r->builder, count,
            choose(r, fits, integer(i32, part), integer(i32, 0)), "");
    }
    /* Rounded up if the rest is more than a half, or a half and odd. */
    odd = LLVMBuildTrunc(r->builder, count,
                         shaped(r, LLVMInt1TypeInContext(r->at->job->context)),
                         "");
    {
        const LLVMValueRef rest = LLVMBuildFSub(r->builder, size, left, "");
        const LLVMValueRef more =
            LLVMBuildFCmp(r->builder, LLVMRealOGT, left, rest, "");
        const LLVMValueRef equal =
            LLVMBuildFCmp(r->builder, LLVMRealOEQ, left, rest, "");
        const LLVMValueRef up = LLVMBuildOr(
            r->builder, more, LLVMBuildAnd(r->builder, equal, odd, ""), "");

        count = LLVMBuildAdd(r->builder, count,
                             LLVMBuildZExt(r->builder, up, i32, ""), "");
    }
    count = LLVMBuildAnd(r->builder, count, integer(i32, 7), "");
    is_negative = LLVMBuildFCmp(
        r->builder, LLVMRealOLT,
        LLVMBuildFMul(r->builder, call(r, "copysign", number(r, 1), r->x),
                      call(r, "copysign", number(r, 1), r->y), ""),
        number(r, 0), "");
    *out = choose(r, is_negative, LLVMBuildNeg(r->builder, count, ""), count);
    return result;
}

static LLVMValueRef both(const recipe *r, const char *first, const char *second,
                         LLVMValueRef *out)
{
    *out = call(r, second, r->x, NULL);
    return call(r, first, r->x, NULL);
}

LLVMValueRef kiln__math_cook(const kiln__math_place *at,
                             const kiln__math_call *given,
                             LLVMValueRef *arguments, LLVMValueRef *second)
{
    const recipe r = {.at = at,
                      .builder = at->builder,
                      .type = given->type,
                      .x = arguments[0],
                      .y = arguments[1]};

    switch (given->function->recipe) {
    case KILN__RECIPE_CANONICAL:
        return canonical(&r);
    case KILN__RECIPE_FDIM:
        return positive_difference(&r);
    case KILN__RECIPE_FMOD:
        return remainder_of(&r);
    case KILN__RECIPE_FREXP:
        return split_exponent(&r, second);
    case KILN__RECIPE_MODF:
        return split_whole(&r, second);
    case KILN__RECIPE_LGAMMA_R:
        return gamma_sign(&r, second);
    case KILN__RECIPE_POWI:
        return power(&r);
    case KILN__RECIPE_REMQUO:
        return quotient(&r, second);
    case KILN__RECIPE_RINT:
        return to_integer(&r, "rint");
    case KILN__RECIPE_ROUND:
        return to_integer(&r, "round");
    case KILN__RECIPE_SCALE:
        return scale(&r);
    case KILN__RECIPE_SINCOS:
        return both(&r, "sin", "cos", second);
    case KILN__RECIPE_SINCOSPI:
        return both(&r, "sinpi", "cospi", second);
    case KILN__RECIPE_NONE:
        break;
    }
    return NULL;
}
