/* rocm_divide.c - divisions of narrow integers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/codegen/rocm_codegen.h"

#include "codegen/module/codegen_values.h"

/*
 * Without passes, LLVM makes one operation of a division and a remainder of the
 * same operands, and has no code for it on integers of less than 32 bits. Its
 * target has no division of its own anyway, so narrow integers are divided as
 * wide ones.
 */

#define WIDTH 32u

static int is_narrow_division(LLVMValueRef at)
{
    switch ((int)LLVMGetInstructionOpcode(at)) {
    case LLVMSDiv:
    case LLVMSRem:
    case LLVMUDiv:
    case LLVMURem:
        return LLVMGetIntTypeWidth(kiln__lane_type(LLVMTypeOf(at))) < WIDTH;
    default:
        return 0;
    }
}

static void widen(const kiln__codegen_job *job, LLVMBuilderRef builder,
                  LLVMValueRef at)
{
    const LLVMOpcode operation = LLVMGetInstructionOpcode(at);
    const LLVMOpcode extend =
        operation == LLVMSDiv || operation == LLVMSRem ? LLVMSExt : LLVMZExt;
    const LLVMTypeRef narrow = LLVMTypeOf(at), i32 = kiln__job_i32(job);
    const LLVMTypeRef wide =
        LLVMGetTypeKind(narrow) == LLVMVectorTypeKind
            ? LLVMVectorType(i32, LLVMGetVectorSize(narrow))
            : i32;
    LLVMValueRef result;

    LLVMPositionBuilderBefore(builder, at);
    result = LLVMBuildBinOp(
        builder, operation,
        LLVMBuildCast(builder, extend, LLVMGetOperand(at, 0), wide, ""),
        LLVMBuildCast(builder, extend, LLVMGetOperand(at, 1), wide, ""), "");
    LLVMReplaceAllUsesWith(at, LLVMBuildTrunc(builder, result, narrow, ""));
    LLVMInstructionEraseFromParent(at);
}

kiln_status kiln__rocm_widen_divisions(kiln__codegen_job *job)
{
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMBasicBlockRef block;
    LLVMValueRef f, at, next;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        for (block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
                next = LLVMGetNextInstruction(at);
                if (is_narrow_division(at))
                    widen(job, builder, at);
            }
    LLVMDisposeBuilder(builder);
    return KILN_OK;
}
