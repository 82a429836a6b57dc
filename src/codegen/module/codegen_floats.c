/* codegen_floats.c - floats as code has them in registers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/codegen_floats.h"

#include "abi/scalars.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * LLVM has a type for bf16, but not code for it on all targets: SPIR-V has no
 * such type, and for a host LLVM calls functions of a compiler's library, which
 * kernels are not linked with. So a bf16 is carried as an integer of 16 bits.
 * These bits are the upper half of the f32 of the same value, so widening is a
 * shift. Everything is computed in f32, and each result is rounded to 16 bits
 * here, in integer arithmetic. LLVM's flags do not reach over integers, so
 * neither `contract` nor `fast` can leave a rounding out. A target may have an
 * instruction that rounds in the same way (`rounds_bf16`); then rounding is
 * LLVM's fptrunc. The instruction of x86 takes subnormal numbers for zero and
 * is not used.
 *
 * A value is rounded once. An f64 first becomes an f32 that is rounded to odd:
 * where bits are lost, the last bit that stays is set. That bit stands for the
 * lost ones when the f32 is rounded to a bf16, which is shorter by more than
 * two bits. Integers of more than 24 bits go the same way.
 */

/* Each kind that is carried as bits has its casts in this file. */
#define KILN__X(name, category, bits, significand, exponent, carried, ...) \
    _Static_assert(KILN_TYPE_##name == KILN_TYPE_##carried || \
                       KILN_TYPE_##name == KILN_TYPE_BF16, \
                   "codegen_floats.c has no casts of " #name);
KILN__SCALAR_MAP(KILN__X)
#undef KILN__X

#define HALF_SIZE 16 /* of an f32, in bits */
#define F32_DIGITS 24
#define F32_BIAS 127
#define F32_INFINITY 0x7f800000u
#define QUIET 0x40u /* the bit of a bf16 that makes a NaN quiet */

static int is_carried_as_bits(int32_t kind)
{
    return !kiln__kind_is_float(kiln__scalar_of(kind)->carried);
}

/* Returns as many of `lane` as `like` has. */
static LLVMTypeRef shaped(LLVMTypeRef lane, LLVMTypeRef like)
{
    return LLVMGetTypeKind(like) == LLVMVectorTypeKind
               ? LLVMVectorType(lane, LLVMGetVectorSize(like))
               : lane;
}

/* Returns the number in each element of the integer type `type`. */
static LLVMValueRef number(LLVMTypeRef type, uint64_t value)
{
    LLVMValueRef all[KILN__IR_VECTOR_MAX];
    unsigned count;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMConstInt(type, value, 0);
    count = LLVMGetVectorSize(type);
    for (unsigned i = 0; i < count; i++)
        all[i] = LLVMConstInt(LLVMGetElementType(type), value, 0);
    return LLVMConstVector(all, count);
}

static LLVMValueRef upper_half(LLVMBuilderRef builder, LLVMValueRef bits)
{
    return LLVMBuildLShr(builder, bits, number(LLVMTypeOf(bits), HALF_SIZE),
                         "");
}

/* ---- bf16 and f32 ---- */

static LLVMValueRef widen(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef value)
{
    const LLVMTypeRef like = LLVMTypeOf(value);
    const LLVMTypeRef i32 = shaped(kiln__job_i32(job), like);

    value = LLVMBuildZExt(builder, value, i32, "");
    value = LLVMBuildShl(builder, value, number(i32, HALF_SIZE), "");
    return LLVMBuildBitCast(
        builder, value, shaped(kiln__job_scalar(job, KILN_TYPE_F32), like), "");
}

/* Halves go to even: the last bit that stays is added to just below a half. A
   NaN stays one, with the upper half of its payload. */
static LLVMValueRef round_bits(LLVMBuilderRef builder, LLVMValueRef bits)
{
    const LLVMTypeRef i32 = LLVMTypeOf(bits);
    LLVMValueRef last, rounded, size, is_nan, quiet;

    last = LLVMBuildAnd(builder, upper_half(builder, bits), number(i32, 1), "");
    rounded = LLVMBuildAdd(builder, bits, number(i32, 0x7fff), "");
    rounded = upper_half(builder, LLVMBuildAdd(builder, rounded, last, ""));
    size = LLVMBuildAnd(builder, bits, number(i32, 0x7fffffff), "");
    is_nan =
        LLVMBuildICmp(builder, LLVMIntUGT, size, number(i32, F32_INFINITY), "");
    quiet =
        LLVMBuildOr(builder, upper_half(builder, bits), number(i32, QUIET), "");
    return LLVMBuildSelect(builder, is_nan, quiet, rounded, "");
}

static LLVMValueRef narrow(const kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef value)
{
    const kiln__codegen_device *device = job->backend->device;
    const LLVMTypeRef like = LLVMTypeOf(value);
    const LLVMTypeRef i16 = shaped(kiln__job_scalar(job, KILN_TYPE_BF16), like);
    const LLVMTypeRef i32 = shaped(kiln__job_i32(job), like);

    if (device != NULL && device->rounds_bf16 != NULL &&
        device->rounds_bf16(job)) {
        value = LLVMBuildFPTrunc(
            builder, value, shaped(LLVMBFloatTypeInContext(job->context), like),
            "");
        return LLVMBuildBitCast(builder, value, i16, "");
    }
    value = round_bits(builder, LLVMBuildBitCast(builder, value, i32, ""));
    return LLVMBuildTrunc(builder, value, i16, "");
}

/* ---- rounding to odd ---- */

/* Returns the f64 as an f32. Where it is not one, it is between the f32 that is
   nearest and the next towards it, and one of the two is odd. */
static LLVMValueRef odd_single(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef value)
{
    const LLVMTypeRef f64 = LLVMTypeOf(value);
    const LLVMTypeRef f32 = shaped(kiln__job_scalar(job, KILN_TYPE_F32), f64);
    const LLVMTypeRef i32 = shaped(kiln__job_i32(job), f64);
    const LLVMValueRef near = LLVMBuildFPTrunc(builder, value, f32, "");
    const LLVMValueRef back = LLVMBuildFPExt(builder, near, f64, "");
    const LLVMValueRef bits = LLVMBuildBitCast(builder, near, i32, "");
    const LLVMValueRef negative =
        LLVMBuildICmp(builder, LLVMIntSLT, bits, number(i32, 0), "");
    LLVMValueRef change, step, even;

    step = LLVMBuildFCmp(builder, LLVMRealOGT, back, value, "");
    step = LLVMBuildSelect(builder, LLVMBuildXor(builder, step, negative, ""),
                           number(i32, UINT32_MAX), number(i32, 1), "");
    even = LLVMBuildICmp(builder, LLVMIntEQ,
                         LLVMBuildAnd(builder, bits, number(i32, 1), ""),
                         number(i32, 0), "");
    change = LLVMBuildFCmp(builder, LLVMRealONE, back, value, "");
    change = LLVMBuildAnd(builder, change, even, "");
    step = LLVMBuildSelect(builder, change, step, number(i32, 0), "");
    return LLVMBuildBitCast(builder, LLVMBuildAdd(builder, bits, step, ""), f32,
                            "");
}

static LLVMValueRef call_with(LLVMBuilderRef builder, const char *name,
                              LLVMValueRef value, LLVMValueRef other)
{
    LLVMValueRef both[2] = {value, other};

    return kiln__call_intrinsic(builder, name, LLVMTypeOf(value), both, 2);
}

/* Returns the integer, 32 or 64 bits and not negative as an unsigned one, as an
   f32: its upper 24 bits, the last of them set where others are lost. */
static LLVMValueRef odd_size(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef size)
{
    const LLVMTypeRef type = LLVMTypeOf(size);
    const LLVMTypeRef i32 = kiln__job_i32(job);
    const LLVMTypeRef f32 = kiln__job_scalar(job, KILN_TYPE_F32);
    const LLVMValueRef no =
        LLVMConstInt(LLVMInt1TypeInContext(job->context), 0, 0);
    const uint64_t room = LLVMGetIntTypeWidth(type) - F32_DIGITS;
    LLVMValueRef shift, digits, lost, scale;

    shift = LLVMBuildSub(builder, number(type, room),
                         call_with(builder, "llvm.ctlz", size, no), "");
    shift = call_with(builder, "llvm.smax", shift, number(type, 0));
    digits = LLVMBuildLShr(builder, size, shift, "");
    lost = LLVMBuildICmp(builder, LLVMIntNE,
                         LLVMBuildShl(builder, digits, shift, ""), size, "");
    digits = LLVMBuildOr(builder, digits,
                         LLVMBuildZExt(builder, lost, type, ""), "");
    digits = LLVMBuildIntCast2(builder, digits, i32, 0, "");
    scale = LLVMBuildAdd(builder, LLVMBuildIntCast2(builder, shift, i32, 0, ""),
                         number(i32, F32_BIAS), "");
    scale = LLVMBuildShl(builder, scale, number(i32, F32_DIGITS - 1), "");
    return LLVMBuildFMul(builder, LLVMBuildSIToFP(builder, digits, f32, ""),
                         LLVMBuildBitCast(builder, scale, f32, ""), "");
}

static LLVMValueRef odd_integer(const kiln__codegen_job *job,
                                LLVMBuilderRef builder, LLVMValueRef value,
                                int is_signed)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMValueRef no =
        LLVMConstInt(LLVMInt1TypeInContext(job->context), 0, 0);
    LLVMValueRef size;

    if (!is_signed)
        return odd_size(job, builder, value);
    size = odd_size(job, builder, call_with(builder, "llvm.abs", value, no));
    return LLVMBuildSelect(
        builder, LLVMBuildICmp(builder, LLVMIntSLT, value, number(type, 0), ""),
        LLVMBuildFNeg(builder, size, ""), size, "");
}

/* ---- all kinds ---- */

LLVMValueRef kiln__float_constant(const kiln__codegen_job *job, int32_t kind,
                                  double value)
{
    const LLVMTypeRef type = kiln__job_scalar(job, kind);

    return is_carried_as_bits(kind)
               ? LLVMConstInt(type, kiln__float_bits(kind, value), 0)
               : LLVMConstReal(type, value);
}

/* A sign is the first bit. */
LLVMValueRef kiln__float_negate(LLVMBuilderRef builder, LLVMValueRef value,
                                int32_t kind)
{
    const uint64_t sign = UINT64_C(1) << (kiln__kind_width(kind) - 1);

    return is_carried_as_bits(kind)
               ? LLVMBuildXor(builder, value, number(LLVMTypeOf(value), sign),
                              "")
               : LLVMBuildFNeg(builder, value, "");
}

LLVMValueRef kiln__float_copysign(const kiln__codegen_job *job,
                                  LLVMBuilderRef builder, LLVMValueRef value,
                                  LLVMValueRef sign, int32_t kind)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMTypeRef bits = shaped(
        LLVMIntTypeInContext(job->context, kiln__kind_width(kind)), type);
    const uint64_t first = UINT64_C(1) << (kiln__kind_width(kind) - 1);

    value = LLVMBuildBitCast(builder, value, bits, "");
    sign = LLVMBuildBitCast(builder, sign, bits, "");
    value = LLVMBuildAnd(builder, value, number(bits, first - 1), "");
    sign = LLVMBuildAnd(builder, sign, number(bits, first), "");
    return LLVMBuildBitCast(builder, LLVMBuildOr(builder, value, sign, ""),
                            type, "");
}

static LLVMValueRef cast(const kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef value, int32_t from, int32_t to)
{
    const LLVMTypeRef type =
        shaped(kiln__job_scalar(job, to), LLVMTypeOf(value));

    if (from == to)
        return value;
    return kiln__kind_width(to) > kiln__kind_width(from)
               ? LLVMBuildFPExt(builder, value, type, "")
               : LLVMBuildFPTrunc(builder, value, type, "");
}

LLVMValueRef kiln__float_cast(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef value,
                              int32_t from, int32_t to)
{
    if (from == to)
        return value;
    if (is_carried_as_bits(from)) {
        value = widen(job, builder, value);
        from = KILN_TYPE_F32;
    }
    if (!is_carried_as_bits(to))
        return cast(job, builder, value, from, to);
    value = from == KILN_TYPE_F64
                ? odd_single(job, builder, value)
                : cast(job, builder, value, from, KILN_TYPE_F32);
    return narrow(job, builder, value);
}

/* Converts through f32 where the result is narrower: an integer that f32 has to
   round is beyond f16's range, and for bf16 is rounded to odd. */
LLVMValueRef kiln__float_from_integer(const kiln__codegen_job *job,
                                      LLVMBuilderRef builder,
                                      LLVMValueRef value, int32_t from,
                                      int32_t to)
{
    const int32_t over = kiln__scalar_of(to)->mathematics;
    const LLVMTypeRef type = kiln__job_scalar(job, over);
    const int is_signed = kiln__kind_is_signed(from);

    if (is_carried_as_bits(to) && kiln__kind_width(from) > F32_DIGITS)
        value = odd_integer(job, builder, value, is_signed);
    else
        value = is_signed ? LLVMBuildSIToFP(builder, value, type, "")
                          : LLVMBuildUIToFP(builder, value, type, "");
    return kiln__float_cast(job, builder, value, over, to);
}

/* ---- fma ---- */

/* Returns the bits of p + c, rounded to odd: `near` is the nearest sum, and the
   sign of `rest`, what it lacks, says where the sum really is. */
static LLVMValueRef odd_sum(LLVMBuilderRef builder, LLVMValueRef near,
                            LLVMValueRef rest, LLVMTypeRef bits)
{
    const LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(rest));
    LLVMValueRef sum = LLVMBuildBitCast(builder, near, bits, "");
    LLVMValueRef lost, inward, cut;

    lost = LLVMBuildFCmp(builder, LLVMRealONE, rest, zero, "");
    inward = LLVMBuildXor(
        builder, LLVMBuildFCmp(builder, LLVMRealOLT, rest, zero, ""),
        LLVMBuildICmp(builder, LLVMIntSLT, sum, number(bits, 0), ""), "");
    cut = LLVMBuildSub(builder, sum, LLVMBuildZExt(builder, inward, bits, ""),
                       "");
    cut = LLVMBuildOr(builder, cut, number(bits, 1), "");
    return LLVMBuildSelect(builder, lost, cut, sum, "");
}

/* Returns the kind in which products of two numbers of this kind are exact. */
static int32_t kind_of_products(int32_t kind)
{
    const kiln__scalar *narrow = kiln__scalar_of(kind);
    const kiln__scalar *f32 = kiln__scalar_of(KILN_TYPE_F32);

    return 2 * narrow->significand <= f32->significand &&
                   narrow->exponent < f32->exponent
               ? KILN_TYPE_F32
               : KILN_TYPE_F64;
}

LLVMValueRef kiln__float_fma(const kiln__codegen_job *job,
                             LLVMBuilderRef builder,
                             const LLVMValueRef arguments[3], int32_t kind)
{
    const int32_t wide = kind_of_products(kind);
    LLVMValueRef x[3], product, sum, part, rest;
    LLVMTypeRef bits;

    for (size_t i = 0; i < 3; i++)
        x[i] = kiln__float_cast(job, builder, arguments[i], kind, wide);
    bits = shaped(LLVMIntTypeInContext(job->context, kiln__kind_width(wide)),
                  LLVMTypeOf(x[0]));
    product = LLVMBuildFMul(builder, x[0], x[1], "");
    sum = LLVMBuildFAdd(builder, product, x[2], "");
    /* Knuth's: what the rounded sum lacks is exact. */
    part = LLVMBuildFSub(builder, sum, product, "");
    rest = LLVMBuildFSub(builder, sum, part, "");
    rest = LLVMBuildFSub(builder, product, rest, "");
    part = LLVMBuildFSub(builder, x[2], part, "");
    rest = LLVMBuildFAdd(builder, rest, part, "");
    sum = LLVMBuildBitCast(builder, odd_sum(builder, sum, rest, bits),
                           LLVMTypeOf(product), "");
    return kiln__float_cast(job, builder, sum, wide, kind);
}
