/* foreign_contract.c - products and sums that are to be rounded each. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "codegen/foreign/foreign.h"

/*
 * The setting `contract` decides whether a * b + c may be rounded once. A
 * module that leaves it open says so by llvm.fmuladd, or by the flag `contract`
 * of its operations. Without the setting, both are taken back. llvm.fma is no
 * such leave: it asks for one rounding.
 */

static void split(LLVMBuilderRef builder, LLVMValueRef call)
{
    LLVMFastMathFlags flags = LLVMGetFastMathFlags(call);
    LLVMValueRef product, sum;

    flags &= ~(LLVMFastMathFlags)LLVMFastMathAllowContract;
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    product = LLVMBuildFMul(builder, LLVMGetOperand(call, 0),
                            LLVMGetOperand(call, 1), "");
    sum = LLVMBuildFAdd(builder, product, LLVMGetOperand(call, 2), "");
    if (LLVMIsAInstruction(product))
        LLVMSetFastMathFlags(product, flags);
    if (LLVMIsAInstruction(sum))
        LLVMSetFastMathFlags(sum, flags);
    LLVMReplaceAllUsesWith(call, sum);
    LLVMInstructionEraseFromParent(call);
}

static int is_open(LLVMValueRef instruction)
{
    static const char name[] = "llvm.fmuladd";
    LLVMValueRef callee;
    size_t size;
    const char *of;

    if (!LLVMIsACallInst(instruction))
        return 0;
    callee = LLVMIsAFunction(LLVMGetCalledValue(instruction));
    if (callee == NULL || LLVMGetIntrinsicID(callee) == 0)
        return 0;
    of = LLVMIntrinsicGetName(LLVMGetIntrinsicID(callee), &size);
    return strcmp(of, name) == 0;
}

static void keep_rounding(LLVMBuilderRef builder, LLVMValueRef instruction)
{
    if (is_open(instruction))
        split(builder, instruction);
    else if (LLVMCanValueUseFastMathFlags(instruction))
        LLVMSetFastMathFlags(instruction,
                             LLVMGetFastMathFlags(instruction) &
                                 ~(LLVMFastMathFlags)LLVMFastMathAllowContract);
}

static void keep_in_function(LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            next = LLVMGetNextInstruction(at);
            keep_rounding(builder, at);
        }
}

void kiln__foreign_keep_roundings(const kiln__codegen_job *job)
{
    LLVMBuilderRef builder;
    LLVMValueRef function;

    if (job->settings->contract)
        return;
    builder = LLVMCreateBuilderInContext(job->context);
    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        keep_in_function(builder, function);
    LLVMDisposeBuilder(builder);
}
