/* foreign_divide.c - divisions of integers end no process of the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_values.h"

/*
 * A division by zero, and that of the least number by -1, have no value, in
 * LLVM IR as in most languages that it comes from. Devices give some number.
 * Processors stop the process, which is the host's. So a divisor that has no
 * quotient becomes 1: then the result is the dividend, and the remainder 0.
 *
 * This is done before any pass, because passes may remove what they take for
 * impossible.
 */

static int is_signed(LLVMOpcode opcode)
{
    return opcode == LLVMSDiv || opcode == LLVMSRem;
}

static int is_division(LLVMOpcode opcode)
{
    return is_signed(opcode) || opcode == LLVMUDiv || opcode == LLVMURem;
}

/* True for a scalar constant that divides every number. */
static int is_harmless(LLVMValueRef divisor)
{
    const LLVMTypeRef type = LLVMTypeOf(divisor);

    return LLVMIsAConstantInt(divisor) != NULL && !LLVMIsNull(divisor) &&
           divisor != LLVMConstAllOnes(type);
}

/* The least number of a signed type of up to 128 bits, in every element. */
static LLVMValueRef least_of(LLVMTypeRef type)
{
    const LLVMTypeRef lane = kiln__lane_type(type);
    const unsigned width = LLVMGetIntTypeWidth(lane);
    uint64_t words[2] = {0, 0};

    words[(width - 1) / 64] = (uint64_t)1 << ((width - 1) % 64);
    return kiln__spread_constant(
        type, LLVMConstIntOfArbitraryPrecision(lane, 2, words));
}

static void guard(LLVMBuilderRef builder, LLVMValueRef division)
{
    const LLVMValueRef a = LLVMGetOperand(division, 0);
    const LLVMValueRef b = LLVMGetOperand(division, 1);
    const LLVMTypeRef type = LLVMTypeOf(division);
    const LLVMValueRef one =
        kiln__spread_constant(type, LLVMConstInt(kiln__lane_type(type), 1, 0));
    LLVMValueRef is_bad, is_least, is_minus;

    LLVMPositionBuilderBefore(builder, division);
    is_bad = LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstNull(type), "");
    if (is_signed(LLVMGetInstructionOpcode(division))) {
        is_least = LLVMBuildICmp(builder, LLVMIntEQ, a, least_of(type), "");
        is_minus =
            LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
        is_bad = LLVMBuildOr(builder, is_bad,
                             LLVMBuildAnd(builder, is_least, is_minus, ""), "");
    }
    LLVMSetOperand(division, 1, LLVMBuildSelect(builder, is_bad, one, b, ""));
}

static void guard_function(LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (is_division(LLVMGetInstructionOpcode(at)) &&
                !is_harmless(LLVMGetOperand(at, 1)) &&
                LLVMGetIntTypeWidth(kiln__lane_type(LLVMTypeOf(at))) <= 128)
                guard(builder, at);
}

void kiln__foreign_guard_divisions(const kiln__codegen_job *job)
{
    LLVMBuilderRef builder;
    LLVMValueRef f;

    if (job->backend->device != NULL)
        return;
    builder = LLVMCreateBuilderInContext(job->context);
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        guard_function(builder, f);
    LLVMDisposeBuilder(builder);
}
