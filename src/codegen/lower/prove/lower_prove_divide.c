/* lower_prove_divide.c - ranges of quotients, remainders, shifts and masks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/*
 * Only divisors that are always positive are understood. If at run time some
 * divisor is not, the range is the full one.
 */

static LLVMValueRef at_least(kiln__prover *p, LLVMValueRef a, int64_t b)
{
    return LLVMBuildICmp(p->l->builder, LLVMIntSGE, a, kiln__prove_number(p, b),
                         "");
}

/* Returns `a` where the condition holds, else the kind's full range. */
static kiln__range provided(kiln__prover *p, int32_t kind,
                            LLVMValueRef condition, kiln__range a)
{
    return kiln__range_select(p, condition, a, kiln__range_full(p, kind));
}

/* Returns a / b, truncated. A divisor that is not positive counts as 1. */
static LLVMValueRef quotient(kiln__prover *p, LLVMValueRef a, LLVMValueRef b)
{
    const LLVMValueRef one = kiln__prove_number(p, 1);

    b = kiln__prove_select(p, at_least(p, b, 1), b, one);
    return LLVMBuildSDiv(p->l->builder, a, b, "");
}

/* Truncation keeps the order of the dividends. A negative quotient is least for
   the least divisor. */
kiln__range kiln__range_divide(kiln__prover *p, int32_t kind, kiln__range a,
                               kiln__range b)
{
    const LLVMValueRef low_divisor =
        kiln__prove_select(p, at_least(p, a.low, 0), b.high, b.low);
    const LLVMValueRef high_divisor =
        kiln__prove_select(p, at_least(p, a.high, 0), b.low, b.high);
    const LLVMValueRef is_positive = at_least(p, b.low, 1);
    kiln__range out;

    if (kiln__prove_is(is_positive, 0))
        return kiln__range_full(p, kind);
    out.low = quotient(p, a.low, low_divisor);
    out.high = kiln__range_is_point(a) && kiln__range_is_point(b)
                   ? out.low
                   : quotient(p, a.high, high_divisor);
    return provided(p, kind, is_positive, out);
}

/* The remainder has the dividend's sign and is less than the divisor. A
   dividend that is small enough does not change. */
kiln__range kiln__range_remainder(kiln__prover *p, int32_t kind, kiln__range a,
                                  kiln__range b)
{
    const LLVMValueRef zero = kiln__prove_number(p, 0);
    const LLVMValueRef is_positive = at_least(p, b.low, 1);
    const LLVMValueRef most = kiln__prove_plus(p, b.high, -1);
    const LLVMValueRef is_not_negative = at_least(p, a.low, 0);
    const LLVMValueRef is_small = kiln__prove_and(
        p, is_not_negative,
        LLVMBuildICmp(p->l->builder, LLVMIntSLT, a.high, b.low, ""));
    const kiln__range bounds = {
        LLVMBuildSub(p->l->builder, zero, most, ""),
        most,
    };
    kiln__range out;

    if (kiln__prove_is(is_positive, 0))
        return kiln__range_full(p, kind);
    out = kiln__range_meet(p, bounds,
                           kiln__range_join(p, a, kiln__range_point(zero)));
    out = kiln__range_select(p, is_small, a, out);
    return provided(p, kind, is_positive, out);
}

kiln__range kiln__range_shift_right(kiln__prover *p, int32_t kind,
                                    kiln__range a, kiln__range b)
{
    const uint64_t mask = kiln__kind_width(kind) - 1;
    LLVMValueRef count;
    kiln__range out;

    if (!kiln__range_is_point(b))
        return kiln__range_full(p, kind);
    count = LLVMBuildAnd(p->l->builder, b.low,
                         kiln__prove_number(p, (int64_t)mask), "");
    out.low = LLVMBuildAShr(p->l->builder, a.low, count, "");
    out.high = kiln__range_is_point(a)
                   ? out.low
                   : LLVMBuildAShr(p->l->builder, a.high, count, "");
    return out;
}

/* With a mask that clears the low bits of numbers that are not negative, order
   is kept. */
static kiln__range clear_low(kiln__prover *p, kiln__range a, LLVMValueRef mask,
                             kiln__range otherwise)
{
    const LLVMBuilderRef builder = p->l->builder;
    const LLVMValueRef low = LLVMBuildNot(builder, mask, "");
    const LLVMValueRef carried =
        LLVMBuildAnd(builder, low, kiln__prove_plus(p, low, 1), "");
    const LLVMValueRef clears =
        kiln__prove_and(p, at_least(p, a.low, 0),
                        LLVMBuildICmp(builder, LLVMIntEQ, carried,
                                      kiln__prove_number(p, 0), ""));
    const kiln__range out = {LLVMBuildAnd(builder, a.low, mask, ""),
                             LLVMBuildAnd(builder, a.high, mask, "")};

    return kiln__range_select(p, clears, out, otherwise);
}

static int is_constant(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) != NULL;
}

/* With one operand not negative, the result is from 0 to that operand. */
kiln__range kiln__range_and(kiln__prover *p, int32_t kind, kiln__range a,
                            kiln__range b)
{
    const LLVMValueRef zero = kiln__prove_number(p, 0);
    const kiln__range full = kiln__range_full(p, kind);
    const kiln__range by_a = kiln__range_select(
        p, at_least(p, a.low, 0), (kiln__range){zero, a.high}, full);
    const kiln__range by_b = kiln__range_select(
        p, at_least(p, b.low, 0), (kiln__range){zero, b.high}, full);
    kiln__range out = kiln__range_meet(p, by_a, by_b);

    if (kiln__range_is_point(b) && !is_constant(b.low))
        out = clear_low(p, a, b.low, out);
    if (kiln__range_is_point(a) && !is_constant(a.low))
        out = clear_low(p, b, a.low, out);
    return out;
}

/* The least number has no positive counterpart. */
kiln__range kiln__range_abs(kiln__prover *p, int32_t kind, kiln__range a)
{
    const kiln__range full = kiln__range_full(p, kind);
    const LLVMValueRef zero = kiln__prove_number(p, 0);
    kiln__range minus, out;
    LLVMValueRef fits;

    if (a.low == NULL || full.low == NULL)
        return full;
    fits = LLVMBuildICmp(p->l->builder, LLVMIntSGT, a.low, full.low, "");
    minus.low = LLVMBuildNeg(p->l->builder, a.high, "");
    minus.high = LLVMBuildNeg(p->l->builder, a.low, "");
    out = kiln__range_join(p, a, minus);
    out.low = zero;
    out = kiln__range_select(p, at_least(p, a.low, 0), a, out);
    return kiln__kind_is_signed(kind) ? provided(p, kind, fits, out) : a;
}
