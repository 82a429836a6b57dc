/* spirv_atomics.c - loops for atomic updates that SPIR-V does not have. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/codegen/llvm_gap_spirv.h"
#include "backends/spirv/codegen/spirv_codegen.h"

/*
 * SPIR-V has updates of integers by the operations of OpenCL. Updates of floats
 * need extensions. All others become a loop that computes the new value and
 * puts it in place if nobody else was faster, as LLVM does on other targets.
 */

static int is_wide_float(LLVMValueRef update)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(update));

    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

int kiln__spirv_has_update(const kiln__codegen_job *job, LLVMValueRef update)
{
    switch ((int)LLVMGetAtomicRMWBinOp(update)) {
    case LLVMAtomicRMWBinOpXchg:
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub:
    case LLVMAtomicRMWBinOpAnd:
    case LLVMAtomicRMWBinOpOr:
    case LLVMAtomicRMWBinOpXor:
    case LLVMAtomicRMWBinOpMax:
    case LLVMAtomicRMWBinOpMin:
    case LLVMAtomicRMWBinOpUMax:
    case LLVMAtomicRMWBinOpUMin:
        return 1;
    case LLVMAtomicRMWBinOpFAdd:
    case LLVMAtomicRMWBinOpFSub:
        return is_wide_float(update) &&
               kiln__spirv_has(job, "SPV_EXT_shader_atomic_float_add");
    case LLVMAtomicRMWBinOpFMin:
    case LLVMAtomicRMWBinOpFMax:
        return is_wide_float(update) &&
               kiln__spirv_has(job, "SPV_EXT_shader_atomic_float_min_max");
    default:
        return 0;
    }
}

/* Values of some elements cannot be compared and swapped as a whole. */
static int needs_loop(const kiln__codegen_job *job, LLVMValueRef at)
{
    return LLVMIsAAtomicRMWInst(at) != NULL &&
           LLVMGetTypeKind(LLVMTypeOf(at)) != LLVMVectorTypeKind &&
           !kiln__spirv_has_update(job, at);
}

/* Returns an update that needs a loop, or NULL. */
static LLVMValueRef find_update(const kiln__codegen_job *job,
                                LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (needs_loop(job, at))
                return at;
    return NULL;
}

void kiln__spirv_expand_atomics(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMValueRef update;

    while ((update = find_update(job, function)) != NULL)
        kiln__llvm_expand_update(update);
}
