/* lower_convert.c - lowers conversions from one scalar type to another. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include <math.h>

#include "abi/exception_values.h"

/*
 * An LLVM conversion whose result does not fit is poison. So a float is
 * converted, or its conversion used, only after a check of its range. Ranges
 * are compared in f32 or f64, where every power of two that bounds an integer
 * type is exact; a narrower float is widened first.
 */

static int32_t from_kind(const kiln__lowering *l, const kiln__ir_node *node)
{
    return kiln__lower_lane(l, kiln__ir_operand_at(l->ir, node, 0));
}

/* Resizes an integer. A Bool counts as an unsigned integer of one bit here. */
static LLVMValueRef resize(kiln__lowering *l, LLVMValueRef value, int32_t from,
                           int32_t to)
{
    return LLVMBuildIntCast2(l->builder, value, kiln__job_scalar(l->job, to),
                             kiln__kind_is_signed(from), "");
}

LLVMValueRef kiln__lower_float(kiln__lowering *l, LLVMValueRef value,
                               int32_t from, int32_t to)
{
    return kiln__float_cast(l->job, l->builder, value, from, to);
}

LLVMValueRef kiln__lower_wide(kiln__lowering *l, LLVMValueRef value,
                              int32_t *kind)
{
    const int32_t wide = kiln__scalar_of(*kind)->mathematics;

    value = kiln__lower_float(l, value, *kind, wide);
    *kind = wide;
    return value;
}

static LLVMValueRef to_float(kiln__lowering *l, LLVMValueRef value,
                             int32_t from, int32_t to)
{
    return kiln__float_from_integer(l->job, l->builder, value, from, to);
}

static LLVMValueRef convert(kiln__lowering *l, LLVMValueRef value, int32_t from,
                            int32_t to)
{
    if (kiln__kind_is_float(from))
        return kiln__lower_float(l, value, from, to);
    return kiln__kind_is_float(to) ? to_float(l, value, from, to)
                                   : resize(l, value, from, to);
}

/* ---- checked conversions ---- */

static int64_t highest(int32_t kind)
{
    const uint32_t width = kiln__kind_width(kind);

    if (kiln__kind_is_signed(kind))
        return (int64_t)(UINT64_MAX >> (65 - width));
    /* All ones, as a signed number. */
    return (int64_t)(UINT64_MAX >> (64 - width));
}

int kiln__lower_conversion_raises(int32_t from, int32_t to)
{
    const uint32_t from_width = kiln__kind_width(from);
    const uint32_t to_width = kiln__kind_width(to);

    if (kiln__kind_is_float(from))
        return 1;
    if (kiln__kind_is_signed(from))
        return !kiln__kind_is_signed(to) || to_width < from_width;
    return kiln__kind_is_signed(to) ? to_width <= from_width
                                    : to_width < from_width;
}

/* Returns an i1: the integer or Bool `value` is a value of `to`, too. */
static LLVMValueRef integer_fits(kiln__lowering *l, LLVMValueRef value,
                                 int32_t from, int32_t to)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef back;

    if (!kiln__kind_is_signed(from))
        return LLVMBuildICmp(l->builder, LLVMIntULE, value,
                             LLVMConstInt(type, (uint64_t)highest(to), 0), "");
    if (kiln__kind_width(to) >= kiln__kind_width(from))
        return LLVMBuildICmp(l->builder, LLVMIntSGE, value, LLVMConstNull(type),
                             "");
    back = LLVMBuildIntCast2(l->builder, resize(l, value, from, to), type,
                             kiln__kind_is_signed(to), "");
    return LLVMBuildICmp(l->builder, LLVMIntEQ, back, value, "");
}

static LLVMValueRef to_integer(kiln__lowering *l, LLVMValueRef value,
                               int32_t to)
{
    const LLVMTypeRef type = kiln__job_scalar(l->job, to);

    return kiln__kind_is_signed(to)
               ? LLVMBuildFPToSI(l->builder, value, type, "")
               : LLVMBuildFPToUI(l->builder, value, type, "");
}

/* Returns an i1: lowest <= value < 2^n. It is false for a NaN. */
static LLVMValueRef in_range(kiln__lowering *l, LLVMValueRef value, int32_t to)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const int is_signed = kiln__kind_is_signed(to);
    const int width = (int)kiln__kind_width(to) - is_signed;
    const double limit = ldexp(1, width);
    const LLVMValueRef low =
        LLVMBuildFCmp(l->builder, LLVMRealOGE, value,
                      LLVMConstReal(type, is_signed ? -limit : 0), "");
    const LLVMValueRef high = LLVMBuildFCmp(l->builder, LLVMRealOLT, value,
                                            LLVMConstReal(type, limit), "");

    return LLVMBuildAnd(l->builder, low, high, "");
}

/* Returns an i1: the f32 or f64 `value` is an integer of `to`. Out of range the
   conversion is poison, and the select does not use it. */
static LLVMValueRef float_fits(kiln__lowering *l, LLVMValueRef value,
                               int32_t from, int32_t to)
{
    const LLVMValueRef inside = in_range(l, value, to);
    const LLVMValueRef back = to_float(l, to_integer(l, value, to), to, from);
    const LLVMValueRef whole =
        LLVMBuildFCmp(l->builder, LLVMRealOEQ, back, value, "");
    const LLVMValueRef no =
        LLVMConstInt(LLVMInt1TypeInContext(l->context), 0, 0);

    return LLVMBuildSelect(l->builder, inside, whole, no, "");
}

/* Returns how an exception's reader is to interpret the value: see
   kiln_exception. */
static LLVMValueRef reading(kiln__lowering *l, int32_t from)
{
    return LLVMConstInt(l->i64, (unsigned long long)kiln__value_of_kind(from),
                        0);
}

/* Returns the value as an exception shows it: an integer, or the bits of the
   f64. */
static LLVMValueRef shown(kiln__lowering *l, LLVMValueRef value, int32_t from)
{
    if (!kiln__kind_is_float(from))
        return LLVMBuildIntCast2(l->builder, value, l->i64,
                                 kiln__kind_is_signed(from), "");
    value = kiln__lower_float(l, value, from, KILN_TYPE_F64);
    return LLVMBuildBitCast(l->builder, value, l->i64, "");
}

/* `given` is the type that the value had before it was widened to `from`. */
static void check_fits(kiln__lowering *l, const kiln__ir_node *node,
                       LLVMValueRef value, int32_t given, int32_t from,
                       int32_t to)
{
    const LLVMValueRef fits = kiln__kind_is_float(from)
                                  ? float_fits(l, value, from, to)
                                  : integer_fits(l, value, from, to);

    kiln__lower_check(
        l, node, LLVMBuildNot(l->builder, fits, ""),
        (kiln__codegen_exception){
            .kind = KILN_EXCEPTION_INEXACT,
            .message = kiln__kind_name(to),
            .values = {shown(l, value, from), reading(l, given)}});
}

static LLVMValueRef checked(kiln__lowering *l, const kiln__ir_node *node,
                            LLVMValueRef value, int32_t from, int32_t to)
{
    const int32_t given = from;

    if (!kiln__lower_conversion_raises(from, to))
        return resize(l, value, from, to);
    if (kiln__kind_is_float(from))
        value = kiln__lower_wide(l, value, &from);
    if (kiln__lower_raises(l, l->f, node))
        check_fits(l, node, value, given, from, to);
    return kiln__kind_is_float(from) ? to_integer(l, value, to)
                                     : resize(l, value, from, to);
}

/* ---- saturating conversions ---- */

static LLVMValueRef clamp(kiln__lowering *l, const char *name,
                          LLVMValueRef value, LLVMValueRef bound)
{
    LLVMValueRef both[2] = {value, bound};

    return kiln__lower_intrinsic(l, name, LLVMTypeOf(value), both, 2);
}

static LLVMValueRef saturate_integer(kiln__lowering *l, LLVMValueRef value,
                                     int32_t from, int32_t to)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMValueRef high = LLVMConstInt(type, (uint64_t)highest(to), 0);
    const uint32_t from_width = kiln__kind_width(from);

    if (!kiln__lower_conversion_raises(from, to))
        return resize(l, value, from, to);
    if (!kiln__kind_is_signed(from))
        return resize(l, clamp(l, "llvm.umin", value, high), from, to);
    if (!kiln__kind_is_signed(to)) {
        value = clamp(l, "llvm.smax", value, LLVMConstNull(type));
        if (kiln__kind_width(to) < from_width)
            value = clamp(l, "llvm.smin", value, high);
        return resize(l, value, from, to);
    }
    value = clamp(l, "llvm.smin", value, high);
    value = clamp(l, "llvm.smax", value,
                  LLVMConstInt(type, ~(uint64_t)highest(to), 1));
    return resize(l, value, from, to);
}

/* On processors, LLVM takes vectors apart for its saturating conversions. What
   follows gives the same numbers: 0 for a NaN. */

/* Returns `value` where the comparison with `bound` does not hold; so it is not
   `bound` where the value is a NaN. */
static LLVMValueRef bounded(kiln__lowering *l, LLVMRealPredicate predicate,
                            LLVMValueRef value, double bound)
{
    const LLVMValueRef number = LLVMConstReal(LLVMTypeOf(value), bound);

    return LLVMBuildSelect(
        l->builder, LLVMBuildFCmp(l->builder, predicate, value, number, ""),
        number, value, "");
}

/* To integers that are values of the float, all of them. */
static LLVMValueRef saturate_narrow(kiln__lowering *l, LLVMValueRef value,
                                    int32_t to)
{
    const int is_signed = kiln__kind_is_signed(to);
    const double limit = ldexp(1, (int)kiln__kind_width(to) - is_signed);
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(l->context);

    value = bounded(l, LLVMRealOLT, value, is_signed ? -limit : 0);
    value = bounded(l, LLVMRealOGT, value, limit - 1);
    value = LLVMBuildSelect(
        l->builder, LLVMBuildFCmp(l->builder, LLVMRealUNO, value, value, ""),
        LLVMConstNull(LLVMTypeOf(value)), value, "");
    if (kiln__kind_width(to) == 32)
        return to_integer(l, value, to);
    return LLVMBuildTrunc(l->builder,
                          LLVMBuildFPToSI(l->builder, value, i32, ""),
                          kiln__job_scalar(l->job, to), "");
}

/* To others: the greatest one is no value of the float, but the next one is. */
static LLVMValueRef saturate_wide(kiln__lowering *l, LLVMValueRef value,
                                  int32_t to)
{
    const int is_signed = kiln__kind_is_signed(to);
    const double limit = ldexp(1, (int)kiln__kind_width(to) - is_signed);
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMValueRef end = LLVMConstReal(type, limit);
    LLVMValueRef inside, above;

    value = bounded(l, LLVMRealOLT, value, is_signed ? -limit : 0);
    above = LLVMBuildFCmp(l->builder, LLVMRealOGE, value, end, "");
    inside = LLVMBuildFCmp(l->builder, LLVMRealOLT, value, end, "");
    value = LLVMBuildSelect(l->builder, inside, value, LLVMConstNull(type), "");
    return LLVMBuildSelect(
        l->builder, above,
        LLVMConstInt(kiln__job_scalar(l->job, to), (uint64_t)highest(to), 0),
        to_integer(l, value, to), "");
}

static LLVMValueRef saturate_as_float(kiln__lowering *l, LLVMValueRef value,
                                      int32_t from, int32_t to)
{
    const uint32_t exact = from == KILN_TYPE_F64 ? 32 : 16;

    return kiln__kind_width(to) <= exact ? saturate_narrow(l, value, to)
                                         : saturate_wide(l, value, to);
}

static LLVMValueRef saturate(kiln__lowering *l, LLVMValueRef value,
                             int32_t from, int32_t to)
{
    const char *name =
        kiln__kind_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef types[2];
    LLVMValueRef function;

    if (!kiln__kind_is_float(from))
        return saturate_integer(l, value, from, to);
    value = kiln__lower_wide(l, value, &from);
    if (l->job->backend->device == NULL)
        return saturate_as_float(l, value, from, to);
    types[0] = kiln__job_scalar(l->job, to);
    types[1] = LLVMTypeOf(value);
    function = LLVMGetIntrinsicDeclaration(
        l->job->module, LLVMLookupIntrinsicID(name, 15), types, 2);
    return LLVMBuildCall2(l->builder, LLVMGlobalGetValueType(function),
                          function, &value, 1, "");
}

LLVMValueRef kiln__lower_convert(kiln__lowering *l, const kiln__ir_node *node)
{
    const int32_t from = from_kind(l, node), to = kiln__lower_lane(l, node);
    const LLVMValueRef value =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));

    switch ((uint32_t)node->op) {
    case KILN__IR_CONVERT:
        return convert(l, value, from, to);
    case KILN__IR_CHECKED:
        return checked(l, node, value, from, to);
    case KILN__IR_SATURATE:
        return saturate(l, value, from, to);
    case KILN__IR_WRAP:
        return resize(l, value, from, to);
    default: /* BITCAST */
        return LLVMBuildBitCast(l->builder, value, kiln__job_scalar(l->job, to),
                                "");
    }
}
