/* spirv_expand.c - replaces what the generator lacks by simpler
   instructions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/codegen/llvm_gap_spirv.h"
#include "backends/spirv/codegen/spirv_codegen.h"
#include "codegen/module/codegen_values.h"

/*
 * LLVM's generator for SPIR-V ends the process when it has no instruction for
 * an intrinsic. Some intrinsics it takes for others, whose results differ. A
 * few have instructions that older drivers do not read.
 */

typedef struct expansion {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef call;
    LLVMTypeRef type; /* type of the first argument */
    LLVMValueRef a, b;
} expansion;

static unsigned width_of(const expansion *e)
{
    return (unsigned)LLVMSizeOfTypeInBits(e->job->layout,
                                          kiln__lane_type(e->type));
}

/* Returns the number in every element of a type. */
static LLVMValueRef number_of(LLVMTypeRef type, uint64_t value)
{
    return kiln__spread_constant(type,
                                 LLVMConstInt(kiln__lane_type(type), value, 0));
}

static LLVMValueRef number(const expansion *e, uint64_t value)
{
    return number_of(e->type, value);
}

/* ---- functions of OpenCL ---- */

static void attribute(const kiln__codegen_job *job, LLVMValueRef function,
                      const char *name)
{
    kiln__device_attribute(job, function, name);
}

LLVMValueRef kiln__spirv_builtin(kiln__codegen_job *job, const char *name,
                                 LLVMTypeRef result, LLVMTypeRef *parameters,
                                 unsigned count)
{
    LLVMValueRef function = LLVMGetNamedFunction(job->module, name);

    if (function != NULL)
        return function;
    function = LLVMAddFunction(job->module, name,
                               LLVMFunctionType(result, parameters, count, 0));
    attribute(job, function, "nounwind");
    attribute(job, function, "willreturn");
    attribute(job, function, "memory"); /* reads and writes no memory */
    return function;
}

/* Calls the function once for each element. */
static LLVMValueRef call_builtin(const expansion *e, const char *name,
                                 LLVMValueRef *arguments, unsigned count)
{
    const LLVMTypeRef lane = kiln__lane_type(e->type);
    const LLVMTypeRef i32 = kiln__job_i32(e->job);
    const int is_vector = LLVMGetTypeKind(e->type) == LLVMVectorTypeKind;
    const unsigned lanes = is_vector ? LLVMGetVectorSize(e->type) : 1;
    LLVMTypeRef types[2];
    LLVMValueRef function, all = LLVMGetPoison(e->type);

    for (unsigned i = 0; i < count; i++)
        types[i] = kiln__lane_type(LLVMTypeOf(arguments[i]));
    function = kiln__spirv_builtin(e->job, name, lane, types, count);
    LLVMSetFunctionCallConv(function, KILN__SPIR_FUNCTION);
    for (unsigned l = 0; l < lanes; l++) {
        const LLVMValueRef at = LLVMConstInt(i32, l, 0);
        LLVMValueRef values[2], value;

        for (unsigned i = 0; i < count; i++)
            values[i] =
                LLVMGetTypeKind(LLVMTypeOf(arguments[i])) == LLVMVectorTypeKind
                    ? LLVMBuildExtractElement(e->builder, arguments[i], at, "")
                    : arguments[i];
        value = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(function),
                               function, values, count, "");
        LLVMSetInstructionCallConv(value, KILN__SPIR_FUNCTION);
        if (!is_vector)
            return value;
        all = LLVMBuildInsertElement(e->builder, all, value, at, "");
    }
    return all;
}

static LLVMValueRef call_intrinsic(const expansion *e, const char *name,
                                   LLVMValueRef *arguments, unsigned count)
{
    return kiln__call_intrinsic(e->builder, name, LLVMTypeOf(arguments[0]),
                                arguments, count);
}

/* ---- integers ---- */

/* Swaps halves, then halves of halves, down to bits. */
static LLVMValueRef reverse_bits(const expansion *e)
{
    const unsigned width = width_of(e);
    LLVMValueRef value = e->a;

    for (unsigned shift = width / 2; shift > 0; shift /= 2) {
        const LLVMValueRef by = number(e, shift);
        uint64_t mask = 0;
        LLVMValueRef high, low;

        for (unsigned bit = 0; bit < width; bit++)
            if ((bit & shift) == 0)
                mask |= (uint64_t)1 << bit;
        high = LLVMBuildLShr(e->builder, value, by, "");
        high = LLVMBuildAnd(e->builder, high, number(e, mask), "");
        low = LLVMBuildAnd(e->builder, value, number(e, mask), "");
        low = LLVMBuildShl(e->builder, low, by, "");
        value = LLVMBuildOr(e->builder, high, low, "");
    }
    return value;
}

static LLVMValueRef is_negative(const expansion *e, LLVMValueRef value)
{
    return LLVMBuildICmp(e->builder, LLVMIntSLT, value, number(e, 0), "");
}

/* Returns a pair {result, overflow}, as intrinsics with overflow do. */
static LLVMValueRef pair(const expansion *e, LLVMValueRef result,
                         LLVMValueRef overflow)
{
    LLVMValueRef both = LLVMGetPoison(LLVMTypeOf(e->call));

    both = LLVMBuildInsertValue(e->builder, both, result, 0, "");
    return LLVMBuildInsertValue(e->builder, both, overflow, 1, "");
}

static LLVMValueRef unsigned_add(const expansion *e)
{
    const LLVMValueRef sum = LLVMBuildAdd(e->builder, e->a, e->b, "");

    return pair(e, sum, LLVMBuildICmp(e->builder, LLVMIntULT, sum, e->a, ""));
}

static LLVMValueRef unsigned_subtract(const expansion *e)
{
    return pair(e, LLVMBuildSub(e->builder, e->a, e->b, ""),
                LLVMBuildICmp(e->builder, LLVMIntULT, e->a, e->b, ""));
}

/* Adds. The sum has overflowed when its sign is neither operand's. */
static LLVMValueRef signed_add(const expansion *e)
{
    const LLVMValueRef sum = LLVMBuildAdd(e->builder, e->a, e->b, "");
    const LLVMValueRef changes =
        LLVMBuildAnd(e->builder, LLVMBuildXor(e->builder, e->a, sum, ""),
                     LLVMBuildXor(e->builder, e->b, sum, ""), "");

    return pair(e, sum, is_negative(e, changes));
}

static LLVMValueRef signed_subtract(const expansion *e)
{
    const LLVMValueRef rest = LLVMBuildSub(e->builder, e->a, e->b, "");
    const LLVMValueRef changes =
        LLVMBuildAnd(e->builder, LLVMBuildXor(e->builder, e->a, e->b, ""),
                     LLVMBuildXor(e->builder, e->a, rest, ""), "");

    return pair(e, rest, is_negative(e, changes));
}

/* Returns the upper half of a product. Numbers up to 32 bits are multiplied
   with 64 bits. */
static LLVMValueRef high_half(const expansion *e, int is_signed)
{
    LLVMValueRef both[2] = {e->a, e->b};
    LLVMTypeRef wide = kiln__job_i64(e->job);
    LLVMValueRef product;

    if (width_of(e) == 64)
        return call_builtin(e, is_signed ? "_Z6mul_hill" : "_Z6mul_himm", both,
                            2);
    if (LLVMGetTypeKind(e->type) == LLVMVectorTypeKind)
        wide = LLVMVectorType(wide, LLVMGetVectorSize(e->type));
    for (int i = 0; i < 2; i++)
        both[i] = is_signed ? LLVMBuildSExt(e->builder, both[i], wide, "")
                            : LLVMBuildZExt(e->builder, both[i], wide, "");
    product = LLVMBuildMul(e->builder, both[0], both[1], "");
    product =
        LLVMBuildLShr(e->builder, product, number_of(wide, width_of(e)), "");
    return LLVMBuildTrunc(e->builder, product, e->type, "");
}

static LLVMValueRef multiply(const expansion *e, int is_signed)
{
    const LLVMValueRef product = LLVMBuildMul(e->builder, e->a, e->b, "");
    LLVMValueRef expected = number(e, 0);

    if (is_signed)
        expected =
            LLVMBuildAShr(e->builder, product, number(e, width_of(e) - 1), "");
    return pair(e, product,
                LLVMBuildICmp(e->builder, LLVMIntNE, high_half(e, is_signed),
                              expected, ""));
}

/* Saturates: when bits are lost, the result is the greatest or the least
   number. */
static LLVMValueRef shift_left(const expansion *e, int is_signed)
{
    const unsigned width = width_of(e);
    const LLVMValueRef shifted = LLVMBuildShl(e->builder, e->a, e->b, "");
    const LLVMValueRef back =
        is_signed ? LLVMBuildAShr(e->builder, shifted, e->b, "")
                  : LLVMBuildLShr(e->builder, shifted, e->b, "");
    const LLVMValueRef fits =
        LLVMBuildICmp(e->builder, LLVMIntEQ, back, e->a, "");
    LLVMValueRef limit = number(e, ~(uint64_t)0);

    if (is_signed) /* the greatest number, or its complement below zero */
        limit = LLVMBuildXor(
            e->builder, number(e, ((uint64_t)1 << (width - 1)) - 1),
            LLVMBuildAShr(e->builder, e->a, number(e, width - 1), ""), "");
    return LLVMBuildSelect(e->builder, fits, shifted, limit, "");
}

/* ---- floats ---- */

/* OpenCL's fmin and fmax do not respect the signs of zeros. */
static LLVMValueRef ordered(const expansion *e, int is_least)
{
    LLVMValueRef both[2] = {e->a, e->b};
    LLVMTypeRef bits = LLVMIntTypeInContext(e->job->context, width_of(e));
    const LLVMValueRef same =
        LLVMBuildFCmp(e->builder, LLVMRealOEQ, e->a, e->b, "");
    const LLVMValueRef other =
        call_intrinsic(e, is_least ? "llvm.minnum" : "llvm.maxnum", both, 2);
    LLVMValueRef a, b;

    if (LLVMGetTypeKind(e->type) == LLVMVectorTypeKind)
        bits = LLVMVectorType(bits, LLVMGetVectorSize(e->type));
    a = LLVMBuildBitCast(e->builder, e->a, bits, "");
    b = LLVMBuildBitCast(e->builder, e->b, bits, "");
    a = is_least ? LLVMBuildOr(e->builder, a, b, "")
                 : LLVMBuildAnd(e->builder, a, b, "");
    return LLVMBuildSelect(e->builder, same,
                           LLVMBuildBitCast(e->builder, a, e->type, ""), other,
                           "");
}

/* If an operand is a NaN, the result is a NaN. */
static LLVMValueRef ordered_or_nan(const expansion *e, int is_least)
{
    const LLVMValueRef has_nan =
        LLVMBuildFCmp(e->builder, LLVMRealUNO, e->a, e->b, "");

    return LLVMBuildSelect(e->builder, has_nan,
                           LLVMBuildFAdd(e->builder, e->a, e->b, ""),
                           ordered(e, is_least), "");
}

static LLVMValueRef scale(const expansion *e)
{
    LLVMValueRef both[2] = {e->a, e->b};

    if (width_of(e) == 16)
        return NULL; /* spirv_check.c refuses it */
    return call_builtin(e, width_of(e) == 32 ? "_Z5ldexpfi" : "_Z5ldexpdi",
                        both, 2);
}

static LLVMValueRef power_of_ten(const expansion *e)
{
    LLVMValueRef value = e->a;

    if (width_of(e) == 16)
        return NULL;
    return call_builtin(e, width_of(e) == 32 ? "_Z5exp10f" : "_Z5exp10d",
                        &value, 1);
}

/* ---- the list of intrinsics ---- */

typedef enum way {
    WAY_REVERSE,
    WAY_UADD,
    WAY_USUB,
    WAY_UMUL,
    WAY_SADD,
    WAY_SSUB,
    WAY_SMUL,
    WAY_USHL,
    WAY_SSHL,
    WAY_MINIMUM,
    WAY_MAXIMUM,
    WAY_MINIMUM_NUMBER,
    WAY_MAXIMUM_NUMBER,
    WAY_SCALE,
    WAY_POWER,
    WAY_FIRST,   /* the first argument is the result */
    WAY_NOTHING, /* only passes use it */
    WAY_MEMORY
} way;

/* Intrinsics, by the beginning of the name. */
static const struct intrinsic {
    const char *name;
    way way;
} intrinsics[] = {
    {"llvm.bitreverse.", WAY_REVERSE},
    {"llvm.uadd.with.overflow.", WAY_UADD},
    {"llvm.usub.with.overflow.", WAY_USUB},
    {"llvm.umul.with.overflow.", WAY_UMUL},
    {"llvm.sadd.with.overflow.", WAY_SADD},
    {"llvm.ssub.with.overflow.", WAY_SSUB},
    {"llvm.smul.with.overflow.", WAY_SMUL},
    {"llvm.ushl.sat.", WAY_USHL},
    {"llvm.sshl.sat.", WAY_SSHL},
    {"llvm.minimum.", WAY_MINIMUM},
    {"llvm.maximum.", WAY_MAXIMUM},
    {"llvm.minimumnum.", WAY_MINIMUM_NUMBER},
    {"llvm.maximumnum.", WAY_MAXIMUM_NUMBER},
    {"llvm.ldexp.", WAY_SCALE},
    {"llvm.exp10.", WAY_POWER},
    {"llvm.canonicalize.", WAY_FIRST},
    {"llvm.expect.", WAY_FIRST},
    {"llvm.arithmetic.fence.", WAY_FIRST},
    {"llvm.assume", WAY_NOTHING},
    {"llvm.lifetime.", WAY_NOTHING},
    {"llvm.invariant.", WAY_NOTHING},
    {"llvm.experimental.noalias.scope.decl", WAY_NOTHING},
    {"llvm.donothing", WAY_NOTHING},
    {"llvm.sideeffect", WAY_NOTHING},
    {"llvm.dbg.", WAY_NOTHING},
    {"llvm.debugtrap", WAY_NOTHING},
    {"llvm.memcpy.", WAY_MEMORY},
    {"llvm.memmove.", WAY_MEMORY},
    {"llvm.memset.", WAY_MEMORY},
};

/* Makes the replacement; NULL: it is impossible. */
static LLVMValueRef make(const expansion *e, way as)
{
    switch (as) {
    case WAY_REVERSE:
        return reverse_bits(e);
    case WAY_UADD:
        return unsigned_add(e);
    case WAY_USUB:
        return unsigned_subtract(e);
    case WAY_SADD:
        return signed_add(e);
    case WAY_SSUB:
        return signed_subtract(e);
    case WAY_UMUL:
    case WAY_SMUL:
        return multiply(e, as == WAY_SMUL);
    case WAY_USHL:
    case WAY_SSHL:
        return shift_left(e, as == WAY_SSHL);
    case WAY_MINIMUM:
    case WAY_MAXIMUM:
        return ordered_or_nan(e, as == WAY_MINIMUM);
    case WAY_MINIMUM_NUMBER:
    case WAY_MAXIMUM_NUMBER:
        return ordered(e, as == WAY_MINIMUM_NUMBER);
    case WAY_SCALE:
        return scale(e);
    case WAY_POWER:
        return power_of_ten(e);
    case WAY_FIRST:
        return e->a;
    case WAY_NOTHING:
    case WAY_MEMORY:
        break;
    }
    return NULL;
}

static const struct intrinsic *find_intrinsic(LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t size;
    const char *name = LLVMGetValueName2(callee, &size);

    for (size_t i = 0; i < sizeof intrinsics / sizeof intrinsics[0]; i++)
        if (strncmp(name, intrinsics[i].name, strlen(intrinsics[i].name)) == 0)
            return &intrinsics[i];
    return NULL;
}

/* True for a copy of a constant number of bytes between places that do not
   overlap: SPIR-V has an instruction for it. */
static int is_simple_copy(LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t size;

    return strncmp(LLVMGetValueName2(callee, &size), "llvm.memcpy.", 12) == 0 &&
           LLVMIsAConstantInt(LLVMGetOperand(call, 2));
}

static int can_be_made(LLVMValueRef call)
{
    const LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(call, 0));
    const LLVMTypeRef lane = kiln__lane_type(type);

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
        LLVMGetVectorSize(type) > 256)
        return 0;
    return LLVMGetTypeKind(lane) != LLVMIntegerTypeKind ||
           LLVMGetIntTypeWidth(lane) <= 64;
}

int kiln__spirv_expand(kiln__codegen_job *job, LLVMValueRef call)
{
    const struct intrinsic *found = find_intrinsic(call);
    expansion e = {.job = job, .call = call};
    LLVMValueRef value;

    if (found == NULL)
        return 0;
    if (found->way == WAY_MEMORY)
        return !is_simple_copy(call) && kiln__llvm_expand_memory(call);
    if (found->way == WAY_NOTHING) {
        if (LLVMGetFirstUse(call) != NULL)
            LLVMReplaceAllUsesWith(call, LLVMGetPoison(LLVMTypeOf(call)));
        LLVMInstructionEraseFromParent(call);
        return 1;
    }
    if (!can_be_made(call))
        return 0;
    e.builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(e.builder, call);
    e.a = LLVMGetOperand(call, 0);
    e.b = LLVMGetNumArgOperands(call) > 1 ? LLVMGetOperand(call, 1) : NULL;
    e.type = LLVMTypeOf(e.a);
    value = make(&e, found->way);
    LLVMDisposeBuilder(e.builder);
    if (value == NULL)
        return 0;
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
    return 1;
}

/* ---- the bits of an f64 ----
 *
 * An exception shows a float as an f64, in two words that only the host reads.
 * Kernels that use only f32 should not need f64 for that.
 */

static LLVMValueRef constant64(const expansion *e, uint64_t value)
{
    return kiln__job_number64(e->job, value);
}

/* Returns exponent and fraction, as an f64, of a number whose exponent is 0. It
   is below the least normal f32, but normal as an f64. */
static LLVMValueRef small_bits(const expansion *e, LLVMValueRef fraction)
{
    LLVMValueRef arguments[2] = {
        fraction, LLVMConstInt(LLVMInt1TypeInContext(e->job->context), 0, 0)};
    const LLVMValueRef zeros = call_intrinsic(e, "llvm.ctlz", arguments, 2);
    /* The highest set bit has the number n = 63 - zeros, 0 to 22, and stands
       for 2^(n - 149). */
    const LLVMValueRef by =
        LLVMBuildSub(e->builder, zeros, constant64(e, 11), "");
    const LLVMValueRef exponent =
        LLVMBuildSub(e->builder, constant64(e, 1023 - 149 + 63), zeros, "");
    const LLVMValueRef bits =
        LLVMBuildAnd(e->builder, LLVMBuildShl(e->builder, fraction, by, ""),
                     constant64(e, ((uint64_t)1 << 52) - 1), "");
    const LLVMValueRef is_zero =
        LLVMBuildICmp(e->builder, LLVMIntEQ, fraction, constant64(e, 0), "");

    return LLVMBuildSelect(
        e->builder, is_zero, constant64(e, 0),
        LLVMBuildOr(e->builder,
                    LLVMBuildShl(e->builder, exponent, constant64(e, 52), ""),
                    bits, ""),
        "");
}

static LLVMValueRef f64_bits(const expansion *e, LLVMValueRef f32)
{
    const LLVMTypeRef i32 = kiln__job_i32(e->job);
    const LLVMTypeRef i64 = kiln__job_i64(e->job);
    LLVMValueRef word = LLVMBuildZExt(
        e->builder, LLVMBuildBitCast(e->builder, f32, i32, ""), i64, "");
    LLVMValueRef sign =
        LLVMBuildAnd(e->builder, word, constant64(e, 0x80000000u), "");
    LLVMValueRef rest =
        LLVMBuildAnd(e->builder, word, constant64(e, 0x7fffffffu), "");
    LLVMValueRef fraction =
        LLVMBuildAnd(e->builder, word, constant64(e, 0x7fffffu), "");
    LLVMValueRef normal = LLVMBuildAdd(
        e->builder, LLVMBuildShl(e->builder, rest, constant64(e, 29), ""),
        constant64(e, (uint64_t)(1023 - 127) << 52), "");
    LLVMValueRef endless = LLVMBuildOr(
        e->builder, LLVMBuildShl(e->builder, fraction, constant64(e, 29), ""),
        constant64(e, (uint64_t)2047 << 52), "");
    LLVMValueRef is_small = LLVMBuildICmp(e->builder, LLVMIntULT, rest,
                                          constant64(e, 0x800000u), "");
    LLVMValueRef is_endless = LLVMBuildICmp(e->builder, LLVMIntUGE, rest,
                                            constant64(e, 0x7f800000u), "");
    LLVMValueRef value = LLVMBuildSelect(e->builder, is_small,
                                         small_bits(e, fraction), normal, "");

    value = LLVMBuildSelect(e->builder, is_endless, endless, value, "");
    return LLVMBuildOr(e->builder, value,
                       LLVMBuildShl(e->builder, sign, constant64(e, 32), ""),
                       "");
}

static int is_bits(LLVMValueRef user)
{
    return LLVMIsABitCastInst(user) &&
           LLVMGetTypeKind(LLVMTypeOf(user)) == LLVMIntegerTypeKind;
}

int kiln__spirv_expand_bits(kiln__codegen_job *job, LLVMValueRef value)
{
    expansion e = {.job = job, .call = value};
    LLVMValueRef from, bits;
    LLVMUseRef use;

    if (!LLVMIsAFPExtInst(value) ||
        LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMDoubleTypeKind)
        return 0;
    from = LLVMGetOperand(value, 0);
    if (LLVMGetTypeKind(LLVMTypeOf(from)) != LLVMFloatTypeKind)
        return 0;
    for (use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use))
        if (!is_bits(LLVMGetUser(use)))
            return 0;
    e.builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(e.builder, value);
    bits = f64_bits(&e, from);
    LLVMDisposeBuilder(e.builder);
    while ((use = LLVMGetFirstUse(value)) != NULL) {
        const LLVMValueRef user = LLVMGetUser(use);

        LLVMReplaceAllUsesWith(user, bits);
        LLVMInstructionEraseFromParent(user);
    }
    LLVMInstructionEraseFromParent(value);
    return 1;
}
