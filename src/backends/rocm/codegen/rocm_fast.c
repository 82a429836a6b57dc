/* rocm_fast.c - fast, approximate instructions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/codegen/rocm_codegen.h"

#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/*
 * With these flags, LLVM uses AMD's instructions as they are. Sine and cosine
 * lose most precision: their operand is first divided by two pi.
 */

#define FAST \
    (LLVMFastMathAllowReassoc | LLVMFastMathAllowContract | \
     LLVMFastMathNoNaNs | LLVMFastMathNoInfs | LLVMFastMathAllowReciprocal | \
     LLVMFastMathApproxFunc)

static const char *const names[KILN__MATH_COUNT] = {
    [KILN__MATH_SQRT] = "llvm.sqrt",   [KILN__MATH_RSQRT] = "llvm.amdgcn.rsq",
    [KILN__MATH_SIN] = "llvm.sin",     [KILN__MATH_COS] = "llvm.cos",
    [KILN__MATH_EXP] = "llvm.exp",     [KILN__MATH_EXP2] = "llvm.exp2",
    [KILN__MATH_EXP10] = "llvm.exp10", [KILN__MATH_LOG] = "llvm.log",
    [KILN__MATH_LOG2] = "llvm.log2",   [KILN__MATH_LOG10] = "llvm.log10",
};

static LLVMValueRef quick(LLVMValueRef value)
{
    if (LLVMCanValueUseFastMathFlags(value))
        LLVMSetFastMathFlags(value, FAST);
    return value;
}

static LLVMValueRef call(LLVMBuilderRef builder, const char *name,
                         LLVMValueRef *arguments)
{
    return quick(kiln__call_intrinsic(builder, name, LLVMTypeOf(arguments[0]),
                                      arguments, 1));
}

/* x^y = 2^(y log2(x)), for positive x, of the instructions themselves. */
static LLVMValueRef power(LLVMBuilderRef builder, LLVMValueRef *arguments)
{
    LLVMValueRef log = call(builder, "llvm.amdgcn.log", arguments);

    log = quick(LLVMBuildFMul(builder, arguments[1], log, ""));
    return call(builder, "llvm.amdgcn.exp2", &log);
}

LLVMValueRef kiln__rocm_fast(kiln__codegen_job *job, LLVMBuilderRef builder,
                             int64_t operation, LLVMValueRef *arguments)
{
    LLVMValueRef sine;

    (void)job;
    switch (operation) {
    case KILN__FAST_DIVIDE:
        return quick(LLVMBuildFDiv(builder, arguments[0], arguments[1], ""));
    case KILN__MATH_TAN:
        sine = call(builder, "llvm.sin", arguments);
        return quick(LLVMBuildFDiv(builder, sine,
                                   call(builder, "llvm.cos", arguments), ""));
    case KILN__MATH_POW:
        return power(builder, arguments);
    default:
        return names[operation] == NULL
                   ? NULL
                   : call(builder, names[operation], arguments);
    }
}
