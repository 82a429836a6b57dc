/* opencl_math.c - functions that LLVM has intrinsics or instructions for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "clang/opencl_calls.h"

#include <math.h>

/*
 * These are the functions whose code is one instruction on some target, so that
 * loops of them become vectors. All others stay calls, for libraries.
 */

/* An argument that is a scalar beside vectors stands for all elements. */
static LLVMValueRef argument(const kiln__opencl_call *call, unsigned index)
{
    LLVMValueRef value = call->arguments[index];
    LLVMValueRef vector;

    if (LLVMGetTypeKind(call->type) != LLVMVectorTypeKind ||
        LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind)
        return value;
    vector = LLVMBuildInsertElement(call->builder, LLVMGetPoison(call->type),
                                    value, kiln__opencl_number(call, 0), "");
    return LLVMBuildShuffleVector(
        call->builder, vector, LLVMGetPoison(call->type),
        LLVMConstNull(LLVMVectorType(kiln__opencl_i32(call),
                                     LLVMGetVectorSize(call->type))),
        "");
}

/* The scalar constant, for each element of the type. */
static LLVMValueRef splat(LLVMValueRef scalar, LLVMTypeRef type)
{
    LLVMValueRef all[16];
    unsigned size;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return scalar;
    size = LLVMGetVectorSize(type);
    for (unsigned i = 0; i < size; i++)
        all[i] = scalar;
    return LLVMConstVector(all, size);
}

/* The intrinsic of the row, with all arguments, and a last argument that is
   false where the row's number is 1. */
static LLVMValueRef make_intrinsic(const kiln__opencl_call *call,
                                   const kiln__opencl_row *row)
{
    LLVMValueRef arguments[4];

    for (unsigned i = 0; i < call->count; i++)
        arguments[i] = argument(call, i);
    arguments[call->count] =
        LLVMConstNull(LLVMInt1TypeInContext(call->context));
    return kiln__opencl_call_intrinsic(call, row->target, call->type, arguments,
                                       call->count + (row->number ? 1 : 0));
}

/* The same for integers, whose two forms are told apart by a letter: the row's
   target is that of signed ones, "llvm.sadd.sat". */
static LLVMValueRef make_signed(const kiln__opencl_call *call,
                                const kiln__opencl_row *row)
{
    char name[32] = "llvm.";
    LLVMValueRef arguments[] = {argument(call, 0), argument(call, 1)};

    (void)row;
    name[5] = kiln__opencl_is_unsigned(call) ? 'u' : 's';
    for (size_t i = 0; row->target[i] != '\0'; i++)
        name[6 + i] = row->target[i];
    return kiln__opencl_call_intrinsic(call, name, call->type, arguments, 2);
}

static LLVMValueRef build_min(const kiln__opencl_call *call, LLVMValueRef x,
                              LLVMValueRef y, int is_max)
{
    LLVMValueRef is_other;
    static const char *const names[] = {"llvm.smin", "llvm.umin", "llvm.smax",
                                        "llvm.umax"};

    if (!kiln__opencl_is_float(call->type))
        return kiln__opencl_call_intrinsic(
            call, names[2 * is_max + kiln__opencl_is_unsigned(call)],
            call->type, (LLVMValueRef[]){x, y}, 2);
    /* "y if y < x, otherwise x", and the other way round for the maximum */
    is_other = is_max ? LLVMBuildFCmp(call->builder, LLVMRealOLT, x, y, "")
                      : LLVMBuildFCmp(call->builder, LLVMRealOLT, y, x, "");
    return LLVMBuildSelect(call->builder, is_other, y, x, "");
}

static LLVMValueRef make_min(const kiln__opencl_call *call,
                             const kiln__opencl_row *row)
{
    return build_min(call, argument(call, 0), argument(call, 1), row->number);
}

static LLVMValueRef make_clamp(const kiln__opencl_call *call,
                               const kiln__opencl_row *row)
{
    LLVMValueRef raised =
        build_min(call, argument(call, 0), argument(call, 1), 1);

    (void)row;
    return build_min(call, raised, argument(call, 2), 0);
}

/* abs() of unsigned integers is nothing. */
static LLVMValueRef make_abs(const kiln__opencl_call *call,
                             const kiln__opencl_row *row)
{
    return kiln__opencl_is_unsigned(call) ? call->arguments[0]
                                          : make_intrinsic(call, row);
}

/* The greater minus the lesser, without a sign. */
static LLVMValueRef make_abs_diff(const kiln__opencl_call *call,
                                  const kiln__opencl_row *row)
{
    LLVMValueRef x = argument(call, 0), y = argument(call, 1);

    (void)row;
    return LLVMBuildSub(call->builder, build_min(call, x, y, 1),
                        build_min(call, x, y, 0), "");
}

static LLVMValueRef make_rotate(const kiln__opencl_call *call,
                                const kiln__opencl_row *row)
{
    LLVMValueRef arguments[] = {call->arguments[0], call->arguments[0],
                                argument(call, 1)};

    return kiln__opencl_call_intrinsic(call, row->target, call->type, arguments,
                                       3);
}

/* Operands of 24 bits are promised, so the lower word is all there is. */
static LLVMValueRef make_mul24(const kiln__opencl_call *call,
                               const kiln__opencl_row *row)
{
    LLVMValueRef product =
        LLVMBuildMul(call->builder, argument(call, 0), argument(call, 1), "");

    (void)row;
    return call->count == 3
               ? LLVMBuildAdd(call->builder, product, argument(call, 2), "")
               : product;
}

/* The upper half of a product; then plus the third argument (mad_hi). */
static LLVMValueRef make_mul_hi(const kiln__opencl_call *call,
                                const kiln__opencl_row *row)
{
    const LLVMOpcode extend =
        kiln__opencl_is_unsigned(call) ? LLVMZExt : LLVMSExt;
    LLVMTypeRef scalar = kiln__opencl_scalar(call->type);
    const unsigned bits = LLVMGetIntTypeWidth(scalar);
    LLVMTypeRef wide = LLVMIntTypeInContext(call->context, 2 * bits);
    LLVMValueRef x, y, high, by = LLVMConstInt(wide, bits, 0);

    (void)row;
    if (bits > 32)
        return NULL; /* not every target has 128 bits */
    if (scalar != call->type)
        wide = LLVMVectorType(wide, LLVMGetVectorSize(call->type));
    by = splat(by, wide);
    x = LLVMBuildCast(call->builder, extend, argument(call, 0), wide, "");
    y = LLVMBuildCast(call->builder, extend, argument(call, 1), wide, "");
    high = LLVMBuildLShr(call->builder, LLVMBuildMul(call->builder, x, y, ""),
                         by, "");
    high = LLVMBuildTrunc(call->builder, high, call->type, "");
    return call->count == 3
               ? LLVMBuildAdd(call->builder, high, argument(call, 2), "")
               : high;
}

/* ---- comparisons ---- */

/* Truth is 1 for scalars, and all bits for vectors. */
static LLVMValueRef as_truth(const kiln__opencl_call *call, LLVMValueRef bit)
{
    return LLVMGetTypeKind(call->type) == LLVMVectorTypeKind
               ? LLVMBuildSExt(call->builder, bit, call->type, "")
               : LLVMBuildZExt(call->builder, bit, call->type, "");
}

static LLVMValueRef make_comparison(const kiln__opencl_call *call,
                                    const kiln__opencl_row *row)
{
    LLVMValueRef right = call->arguments[call->count - 1];

    return as_truth(call,
                    LLVMBuildFCmp(call->builder, (LLVMRealPredicate)row->number,
                                  call->arguments[0], right, ""));
}

/* |x| compared with infinity */
static LLVMValueRef make_infinity(const kiln__opencl_call *call,
                                  const kiln__opencl_row *row)
{
    LLVMTypeRef type = LLVMTypeOf(call->arguments[0]);
    LLVMValueRef size = kiln__opencl_call_intrinsic(
        call, "llvm.fabs", type, (LLVMValueRef[]){call->arguments[0]}, 1);
    LLVMValueRef infinity =
        splat(LLVMConstReal(kiln__opencl_scalar(type), HUGE_VAL), type);

    return as_truth(call,
                    LLVMBuildFCmp(call->builder, (LLVMRealPredicate)row->number,
                                  size, infinity, ""));
}

/* ---- fast variants ---- */

/* x / y or 1 / x, as fast as the target can */
static LLVMValueRef make_quotient(const kiln__opencl_call *call,
                                  const kiln__opencl_row *row)
{
    LLVMValueRef x = call->arguments[0], y, made;

    (void)row;
    if (call->count == 2) {
        y = argument(call, 1);
    } else {
        y = x;
        x = splat(LLVMConstReal(kiln__opencl_scalar(call->type), 1),
                  call->type);
    }
    made = LLVMBuildFDiv(call->builder, x, y, "");
    if (LLVMCanValueUseFastMathFlags(made))
        LLVMSetFastMathFlags(made, LLVMFastMathAllowReciprocal |
                                       LLVMFastMathApproxFunc);
    return made;
}

/* prefetch() */
static LLVMValueRef make_nothing(const kiln__opencl_call *call,
                                 const kiln__opencl_row *row)
{
    (void)row;
    return call->call;
}

static const kiln__opencl_row rows[] = {
    {"fabs", make_intrinsic, "llvm.fabs", 0, 1, 1},
    {"floor", make_intrinsic, "llvm.floor", 0, 1, 1},
    {"ceil", make_intrinsic, "llvm.ceil", 0, 1, 1},
    {"trunc", make_intrinsic, "llvm.trunc", 0, 1, 1},
    {"rint", make_intrinsic, "llvm.rint", 0, 1, 1},
    {"round", make_intrinsic, "llvm.round", 0, 1, 1},
    {"sqrt", make_intrinsic, "llvm.sqrt", 0, 1, 1},
    {"native_sqrt", make_intrinsic, "llvm.sqrt", 0, 1, 1},
    {"half_sqrt", make_intrinsic, "llvm.sqrt", 0, 1, 1},
    {"fma", make_intrinsic, "llvm.fma", 0, 3, 3},
    {"mad", make_intrinsic, "llvm.fmuladd", 0, 3, 3},
    {"copysign", make_intrinsic, "llvm.copysign", 0, 2, 2},
    {"fmin", make_intrinsic, "llvm.minnum", 0, 2, 2},
    {"fmax", make_intrinsic, "llvm.maxnum", 0, 2, 2},
    {"native_divide", make_quotient, NULL, 0, 2, 2},
    {"half_divide", make_quotient, NULL, 0, 2, 2},
    {"native_recip", make_quotient, NULL, 0, 1, 1},
    {"half_recip", make_quotient, NULL, 0, 1, 1},
    {"min", make_min, NULL, 0, 2, 2},
    {"max", make_min, NULL, 1, 2, 2},
    {"clamp", make_clamp, NULL, 0, 3, 3},
    {"abs", make_abs, "llvm.abs", 1, 1, 1},
    {"abs_diff", make_abs_diff, NULL, 0, 2, 2},
    {"add_sat", make_signed, "add.sat", 0, 2, 2},
    {"sub_sat", make_signed, "sub.sat", 0, 2, 2},
    {"clz", make_intrinsic, "llvm.ctlz", 1, 1, 1},
    {"ctz", make_intrinsic, "llvm.cttz", 1, 1, 1},
    {"popcount", make_intrinsic, "llvm.ctpop", 0, 1, 1},
    {"rotate", make_rotate, "llvm.fshl", 0, 2, 2},
    {"mul24", make_mul24, NULL, 0, 2, 2},
    {"mad24", make_mul24, NULL, 0, 3, 3},
    {"mul_hi", make_mul_hi, NULL, 0, 2, 2},
    {"mad_hi", make_mul_hi, NULL, 0, 3, 3},
    {"isequal", make_comparison, NULL, LLVMRealOEQ, 2, 2},
    {"isnotequal", make_comparison, NULL, LLVMRealUNE, 2, 2},
    {"isgreater", make_comparison, NULL, LLVMRealOGT, 2, 2},
    {"isgreaterequal", make_comparison, NULL, LLVMRealOGE, 2, 2},
    {"isless", make_comparison, NULL, LLVMRealOLT, 2, 2},
    {"islessequal", make_comparison, NULL, LLVMRealOLE, 2, 2},
    {"islessgreater", make_comparison, NULL, LLVMRealONE, 2, 2},
    {"isordered", make_comparison, NULL, LLVMRealORD, 2, 2},
    {"isunordered", make_comparison, NULL, LLVMRealUNO, 2, 2},
    {"isnan", make_comparison, NULL, LLVMRealUNO, 1, 1},
    {"isinf", make_infinity, NULL, LLVMRealOEQ, 1, 1},
    {"isfinite", make_infinity, NULL, LLVMRealONE, 1, 1},
    {"prefetch", make_nothing, NULL, 0, 2, 2},
};

const kiln__opencl_table kiln__opencl_math = {rows, sizeof rows / sizeof *rows};
