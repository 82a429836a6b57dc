/* lower_math.c - lowers mathematical functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include <math.h>
#include <stdio.h>

#include "codegen/module/codegen_values.h"
#include "ir/ir_math_names.h"
#include "ir/ir_tables.h"

/*
 * Where LLVM has an intrinsic, it is used: LLVM folds it, vectorises it, and
 * lowers it to an instruction or to a call of C's function. The other functions
 * are called by their C name, with an f for f32. Code for a device calls the
 * functions of its library (ir_math_names.h). A float that is narrower than f32
 * is computed in f32 and rounded. Only the host's fma of such floats is rounded
 * once (codegen_floats.h).
 */

/* The others are functions of C of the same name (kiln__ir_math). */
static const char *const intrinsics[KILN__MATH_COUNT] = {
    [KILN__MATH_SQRT] = "llvm.sqrt",   [KILN__MATH_RSQRT] = "llvm.sqrt",
    [KILN__MATH_EXP] = "llvm.exp",     [KILN__MATH_EXP2] = "llvm.exp2",
    [KILN__MATH_EXP10] = "llvm.exp10", [KILN__MATH_LOG] = "llvm.log",
    [KILN__MATH_LOG2] = "llvm.log2",   [KILN__MATH_LOG10] = "llvm.log10",
    [KILN__MATH_SIN] = "llvm.sin",     [KILN__MATH_COS] = "llvm.cos",
    [KILN__MATH_TAN] = "llvm.tan",     [KILN__MATH_ASIN] = "llvm.asin",
    [KILN__MATH_ACOS] = "llvm.acos",   [KILN__MATH_ATAN] = "llvm.atan",
    [KILN__MATH_ATAN2] = "llvm.atan2", [KILN__MATH_SINH] = "llvm.sinh",
    [KILN__MATH_COSH] = "llvm.cosh",   [KILN__MATH_TANH] = "llvm.tanh",
    [KILN__MATH_POW] = "llvm.pow",     [KILN__MATH_FMA] = "llvm.fma",
    [KILN__MATH_FLOOR] = "llvm.floor", [KILN__MATH_CEIL] = "llvm.ceil",
    [KILN__MATH_ROUND] = "llvm.round", [KILN__MATH_RINT] = "llvm.rint",
    [KILN__MATH_TRUNC] = "llvm.trunc", [KILN__MATH_COPYSIGN] = "llvm.copysign",
    [KILN__MATH_ABS] = "llvm.fabs",    [KILN__MATH_MIN] = "llvm.minnum",
    [KILN__MATH_MAX] = "llvm.maxnum",
};

LLVMValueRef kiln__lower_intrinsic(kiln__lowering *l, const char *name,
                                   LLVMTypeRef type, LLVMValueRef *arguments,
                                   unsigned count)
{
    return kiln__call_intrinsic(l->builder, name, type, arguments, count);
}

/* ---- functions of C ---- */

/* Declares TYPE name(TYPE, ...). Nothing depends on its errno and rounding
   mode, so calls may be moved and repeated. */
static LLVMValueRef declare(kiln__lowering *l, const char *name,
                            LLVMTypeRef type, unsigned count)
{
    LLVMTypeRef parameters[3] = {type, type, type};
    LLVMValueRef function = LLVMGetNamedFunction(l->job->module, name);

    if (function != NULL)
        return function;
    function = LLVMAddFunction(l->job->module, name,
                               LLVMFunctionType(type, parameters, count, 0));
    kiln__add_attribute(function, "nounwind");
    kiln__add_attribute(function, "willreturn");
    kiln__add_attribute(function, "memory");
    return function;
}

/* Gives the call the flags of its node. Without leave to contract, as in a
   `strict` block, it stays a call of the library's function. */
static LLVMValueRef with_flags(kiln__lowering *l, const kiln__ir_node *node,
                               LLVMValueRef call)
{
    call = kiln__lower_flags(l, node, call);
    if (l->job->backend->has_vecmath && LLVMIsACallInst(call) != NULL &&
        (LLVMGetFastMathFlags(call) & LLVMFastMathAllowContract) == 0)
        LLVMAddCallSiteAttribute(
            call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(l->context, KILN__STRICT_MARK,
                                      sizeof KILN__STRICT_MARK - 1, "", 0));
    return call;
}

static LLVMValueRef call_scalar(kiln__lowering *l, const kiln__ir_node *node,
                                LLVMValueRef function, LLVMValueRef *arguments,
                                unsigned count)
{
    return with_flags(l, node,
                      LLVMBuildCall2(l->builder,
                                     LLVMGlobalGetValueType(function), function,
                                     arguments, count, ""));
}

/* Writes the function's name in the device's library, or else in C's. Returns 0
   when there is only an intrinsic. */
static int function_name(const kiln__lowering *l, const kiln__ir_node *node,
                         LLVMTypeRef lane, char out[KILN__MATH_NAME_SIZE])
{
    const kiln__codegen_settings *settings = l->job->settings;
    const int is_f32 = LLVMGetTypeKind(lane) == LLVMFloatTypeKind;

    if (l->job->backend->device != NULL)
        return kiln__device_math_name(
                   out,
                   kiln__lower_contracts(l, node)
                       ? settings->math_names
                       : kiln__strict_math_names(settings->math_names),
                   (uint32_t)node->imm,
                   is_f32 ? KILN_TYPE_F32 : KILN_TYPE_F64) != KILN__FROM_CODE;
    if (intrinsics[node->imm] != NULL || node->imm == KILN__MATH_FMOD)
        return 0;
    (void)snprintf(out, KILN__MATH_NAME_SIZE, "%s%s",
                   kiln__ir_math[node->imm].text, is_f32 ? "f" : "");
    return 1;
}

/* Calls a library's function, for vectors once for each element. */
static LLVMValueRef call_library(kiln__lowering *l, const kiln__ir_node *node,
                                 const char *name, LLVMValueRef *arguments,
                                 unsigned count)
{
    const LLVMTypeRef type = LLVMTypeOf(arguments[0]);
    const int is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    const LLVMValueRef function =
        declare(l, name, kiln__lane_type(type), count);
    LLVMValueRef all;

    if (!is_vector)
        return call_scalar(l, node, function, arguments, count);
    all = LLVMGetPoison(type);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        const LLVMValueRef index = LLVMConstInt(l->i64, i, 0);
        LLVMValueRef lane[3];

        for (unsigned j = 0; j < count; j++)
            lane[j] =
                LLVMBuildExtractElement(l->builder, arguments[j], index, "");
        all = LLVMBuildInsertElement(
            l->builder, all, call_scalar(l, node, function, lane, count), index,
            "");
    }
    return all;
}

/* ---- fast forms ---- */

LLVMValueRef kiln__lower_fast(kiln__lowering *l, const kiln__ir_node *node,
                              int64_t operation, LLVMValueRef *arguments,
                              unsigned count)
{
    const LLVMTypeRef type = LLVMTypeOf(arguments[0]);
    LLVMValueRef all;

    if (l->job->backend->fast == NULL || !kiln__lower_is_fast(l, node) ||
        LLVMGetTypeKind(kiln__lane_type(type)) != LLVMFloatTypeKind)
        return NULL;
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return l->job->backend->fast(l->job, l->builder, operation, arguments);
    all = LLVMGetPoison(type);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        const LLVMValueRef index = LLVMConstInt(l->i64, i, 0);
        LLVMValueRef lane[3], made;

        for (unsigned j = 0; j < count; j++)
            lane[j] =
                LLVMBuildExtractElement(l->builder, arguments[j], index, "");
        made = l->job->backend->fast(l->job, l->builder, operation, lane);
        if (made == NULL)
            return NULL;
        all = LLVMBuildInsertElement(l->builder, all, made, index, "");
    }
    return all;
}

/* ---- floats ---- */

/* Tests a float without the node's switches: under "no NaN" the answer would be
   poison. */
static LLVMValueRef test(kiln__lowering *l, int64_t math, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef size, infinity;

    if (math == KILN__MATH_ISNAN)
        return LLVMBuildFCmp(l->builder, LLVMRealUNO, value, value, "");
    size = kiln__lower_intrinsic(l, "llvm.fabs", type, &value, 1);
    infinity = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                   ? LLVMConstReal(LLVMGetElementType(type), HUGE_VAL)
                   : LLVMConstReal(type, HUGE_VAL);
    infinity = kiln__lower_spread(l, type, infinity);
    return LLVMBuildFCmp(l->builder,
                         math == KILN__MATH_ISINF ? LLVMRealOEQ : LLVMRealOLT,
                         size, infinity, "");
}

static LLVMValueRef one_over(kiln__lowering *l, const kiln__ir_node *node,
                             LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMValueRef one =
        kiln__lower_spread(l, type, LLVMConstReal(kiln__lane_type(type), 1));

    return kiln__lower_flags(l, node,
                             LLVMBuildFDiv(l->builder, one, value, ""));
}

static LLVMValueRef of_floats(kiln__lowering *l, const kiln__ir_node *node,
                              LLVMValueRef *arguments)
{
    const unsigned count = node->count;
    char name[KILN__MATH_NAME_SIZE];
    LLVMValueRef value = kiln__lower_fast(l, node, node->imm, arguments, count);

    if (value != NULL)
        return value;
    if (function_name(l, node, kiln__lane_type(LLVMTypeOf(arguments[0])), name))
        return call_library(l, node, name, arguments, count);
    if (node->imm == KILN__MATH_FMOD)
        return kiln__lower_flags(
            l, node, LLVMBuildFRem(l->builder, arguments[0], arguments[1], ""));
    if (intrinsics[node->imm] == NULL)
        return kiln__lower_unknown(l, node, kiln__ir_math[node->imm].text);
    value = kiln__lower_intrinsic(l, intrinsics[node->imm],
                                  LLVMTypeOf(arguments[0]), arguments, count);
    value = with_flags(l, node, value);
    return node->imm == KILN__MATH_RSQRT ? one_over(l, node, value) : value;
}

/* ---- integers ---- */

/* Calls an intrinsic whose second argument is false, which makes it defined for
   every value. */
static LLVMValueRef with_no(kiln__lowering *l, const char *name,
                            LLVMValueRef value)
{
    LLVMValueRef both[2] = {
        value, LLVMConstInt(LLVMInt1TypeInContext(l->context), 0, 0)};

    return kiln__lower_intrinsic(l, name, LLVMTypeOf(value), both, 2);
}

static LLVMValueRef of_integers(kiln__lowering *l, const kiln__ir_node *node,
                                LLVMValueRef *arguments, int32_t kind)
{
    const int is_signed = kiln__kind_is_signed(kind);
    const LLVMTypeRef type = LLVMTypeOf(arguments[0]);

    switch (node->imm) {
    case KILN__MATH_ABS: /* of MIN it is MIN */
        return is_signed ? with_no(l, "llvm.abs", arguments[0]) : arguments[0];
    case KILN__MATH_MIN:
        return kiln__lower_intrinsic(l, is_signed ? "llvm.smin" : "llvm.umin",
                                     type, arguments, 2);
    case KILN__MATH_MAX:
        return kiln__lower_intrinsic(l, is_signed ? "llvm.smax" : "llvm.umax",
                                     type, arguments, 2);
    case KILN__MATH_POPCOUNT:
        return kiln__lower_intrinsic(l, "llvm.ctpop", type, arguments, 1);
    case KILN__MATH_CLZ:
        return with_no(l, "llvm.ctlz", arguments[0]);
    case KILN__MATH_CTZ:
        return with_no(l, "llvm.cttz", arguments[0]);
    case KILN__MATH_BITREVERSE:
        return kiln__lower_intrinsic(l, "llvm.bitreverse", type, arguments, 1);
    case KILN__MATH_BYTESWAP: /* of one byte it is the byte */
        return kiln__kind_width(kind) == 8
                   ? arguments[0]
                   : kiln__lower_intrinsic(l, "llvm.bswap", type, arguments, 1);
    default:
        return kiln__lower_unknown(l, node, kiln__ir_math[node->imm].text);
    }
}

/* True for an fma of narrow floats that would be rounded to f32 first. Devices
   do that; docs/language.md says so. */
static int is_narrow_fma(const kiln__lowering *l, const kiln__ir_node *node,
                         int32_t kind)
{
    return node->imm == KILN__MATH_FMA && l->job->backend->device == NULL &&
           kiln__kind_is_float(kind) &&
           kiln__kind_width(kind) < kiln__kind_width(KILN_TYPE_F32);
}

LLVMValueRef kiln__lower_math(kiln__lowering *l, const kiln__ir_node *node)
{
    const int32_t kind =
        kiln__lower_lane(l, kiln__ir_operand_at(l->ir, node, 0));
    const int32_t in = kiln__scalar_of(kind)->mathematics;
    LLVMValueRef arguments[3] = {NULL, NULL, NULL};

    for (size_t i = 0; i < node->count; i++)
        arguments[i] = kiln__lower_value(l, kiln__ir_operand(l->ir, node, i));
    if (is_narrow_fma(l, node, kind))
        return kiln__float_fma(l->job, l->builder, arguments, kind);
    /* A way through f32 would change a NaN. */
    if (node->imm == KILN__MATH_COPYSIGN && in != kind)
        return kiln__float_copysign(l->job, l->builder, arguments[0],
                                    arguments[1], kind);
    for (size_t i = 0; i < node->count && kiln__kind_is_float(kind); i++)
        arguments[i] = kiln__lower_float(l, arguments[i], kind, in);
    if (!kiln__kind_is_float(kind))
        return of_integers(l, node, arguments, kind);
    if (node->imm == KILN__MATH_ISNAN || node->imm == KILN__MATH_ISINF ||
        node->imm == KILN__MATH_ISFINITE)
        return test(l, node->imm, arguments[0]);
    return kiln__lower_float(l, of_floats(l, node, arguments), in, kind);
}
