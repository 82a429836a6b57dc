/* codegen_floats.c - floats as code has them in registers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/codegen_floats.h"

#include "abi/scalars.h"

LLVMValueRef kiln__float_constant(const kiln__codegen_job *job, int32_t kind,
                                  double value)
{
    return LLVMConstReal(kiln__job_scalar(job, kind), value);
}

LLVMValueRef kiln__float_negate(const kiln__codegen_job *job,
                                LLVMBuilderRef builder, LLVMValueRef value,
                                int32_t kind)
{
    (void)job;
    (void)kind;
    return LLVMBuildFNeg(builder, value, "");
}

/* As many of `lane` as `like` has. */
static LLVMTypeRef shaped(LLVMTypeRef lane, LLVMTypeRef like)
{
    return LLVMGetTypeKind(like) == LLVMVectorTypeKind
               ? LLVMVectorType(lane, LLVMGetVectorSize(like))
               : lane;
}

LLVMValueRef kiln__float_cast(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef value,
                              int32_t from, int32_t to)
{
    const LLVMTypeRef type =
        shaped(kiln__job_scalar(job, to), LLVMTypeOf(value));

    if (from == to)
        return value;
    return kiln__kind_width(to) > kiln__kind_width(from)
               ? LLVMBuildFPExt(builder, value, type, "")
               : LLVMBuildFPTrunc(builder, value, type, "");
}

/* Through f32 for f16: an integer that f32 rounds is beyond f16's range. */
LLVMValueRef kiln__float_from_integer(const kiln__codegen_job *job,
                                      LLVMBuilderRef builder,
                                      LLVMValueRef value, int32_t from,
                                      int32_t to)
{
    const int32_t over = to == KILN_TYPE_F16 ? KILN_TYPE_F32 : to;
    const LLVMTypeRef type =
        shaped(kiln__job_scalar(job, over), LLVMTypeOf(value));

    value = kiln__kind_is_signed(from)
                ? LLVMBuildSIToFP(builder, value, type, "")
                : LLVMBuildUIToFP(builder, value, type, "");
    return kiln__float_cast(job, builder, value, over, to);
}
