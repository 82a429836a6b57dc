/* foreign_divide.c - divisions of integers end no process of the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

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
 *
 * Some intrinsics divide too. Those of masked vectors (llvm.vp.*) are treated
 * alike. A quotient of fixed-point numbers by 1 would be too large for most
 * dividends, so there 0 is divided, and the dividend is chosen afterwards.
 */

typedef struct division {
    const char *name; /* of the intrinsic, without types; NULL: instruction */
    int is_signed;
    int is_fixed;
    int saturates; /* the least number by -1 has a quotient */
} division;

static const division intrinsics[] = {
    {"llvm.sdiv.fix", 1, 1, 0}, {"llvm.sdiv.fix.sat", 1, 1, 1},
    {"llvm.udiv.fix", 0, 1, 0}, {"llvm.udiv.fix.sat", 0, 1, 1},
    {"llvm.vp.sdiv", 1, 0, 0},  {"llvm.vp.srem", 1, 0, 0},
    {"llvm.vp.udiv", 0, 0, 0},  {"llvm.vp.urem", 0, 0, 0},
};

static int is_signed(LLVMOpcode opcode)
{
    return opcode == LLVMSDiv || opcode == LLVMSRem;
}

static int is_division(LLVMOpcode opcode)
{
    return is_signed(opcode) || opcode == LLVMUDiv || opcode == LLVMURem;
}

static int find_intrinsic(LLVMValueRef call, division *found)
{
    const LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    const unsigned id = callee != NULL ? LLVMGetIntrinsicID(callee) : 0;
    const char *name;
    size_t size;

    if (id == 0)
        return 0;
    name = LLVMIntrinsicGetName(id, &size);
    for (size_t i = 0; i < sizeof intrinsics / sizeof intrinsics[0]; i++)
        if (strcmp(name, intrinsics[i].name) == 0) {
            *found = intrinsics[i];
            return 1;
        }
    return 0;
}

/* False for what divides no integers. */
static int find_division(LLVMValueRef instruction, division *found)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);

    if (opcode == LLVMCall)
        return find_intrinsic(instruction, found);
    *found = (division){.is_signed = is_signed(opcode)};
    return is_division(opcode);
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

/* Builds whether a divided by b has no value. */
static LLVMValueRef build_is_bad(LLVMBuilderRef builder, const division *d,
                                 LLVMValueRef a, LLVMValueRef b)
{
    const LLVMTypeRef type = LLVMTypeOf(b);
    const LLVMValueRef is_zero =
        LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstNull(type), "");
    LLVMValueRef is_least, is_minus;

    if (!d->is_signed || d->saturates)
        return is_zero;
    is_least = LLVMBuildICmp(builder, LLVMIntEQ, a, least_of(type), "");
    is_minus = LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
    return LLVMBuildOr(builder, is_zero,
                       LLVMBuildAnd(builder, is_least, is_minus, ""), "");
}

/* Makes the users of a division of fixed-point numbers use the dividend. */
static void choose_dividend(LLVMBuilderRef builder, LLVMValueRef at,
                            LLVMValueRef is_bad)
{
    const LLVMValueRef a = LLVMGetOperand(at, 0);
    const LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef chosen;

    LLVMSetOperand(
        at, 0, LLVMBuildSelect(builder, is_bad, LLVMConstNull(type), a, ""));
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(at));
    chosen = LLVMBuildSelect(builder, is_bad, a, at, "");
    LLVMReplaceAllUsesWith(at, chosen);
    LLVMSetOperand(chosen, 2, at);
}

static void guard(LLVMBuilderRef builder, LLVMValueRef at, const division *d)
{
    const LLVMValueRef b = LLVMGetOperand(at, 1);
    const LLVMTypeRef type = LLVMTypeOf(at);
    const LLVMValueRef one =
        kiln__spread_constant(type, LLVMConstInt(kiln__lane_type(type), 1, 0));
    LLVMValueRef is_bad;

    LLVMPositionBuilderBefore(builder, at);
    is_bad = build_is_bad(builder, d, LLVMGetOperand(at, 0), b);
    LLVMSetOperand(at, 1, LLVMBuildSelect(builder, is_bad, one, b, ""));
    if (d->is_fixed)
        choose_dividend(builder, at, is_bad);
}

static void guard_function(LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;
    division d;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (find_division(at, &d) && !is_harmless(LLVMGetOperand(at, 1)) &&
                LLVMGetIntTypeWidth(kiln__lane_type(LLVMTypeOf(at))) <= 128)
                guard(builder, at, &d);
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
