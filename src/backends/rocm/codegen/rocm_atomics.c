/* rocm_atomics.c - tells LLVM which memory atomics are applied to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/rocm/codegen/rocm_codegen.h"

/*
 * Elements of arrays are in the device's own memory, where all operations on
 * integers work. LLVM has to be told, since in the memory of the host or of
 * another device most of them do nothing. Operations on floating-point numbers
 * may also treat the smallest numbers differently, so they are loops of compare
 * and swap unless the option "unsafe_fp_atomics" is given. The atomics that
 * tell the host of exceptions and prints have a wider scope and are left
 * unchanged.
 */

static void say(const kiln__codegen_job *job, LLVMValueRef atomic,
                const char *what)
{
    LLVMSetMetadata(
        atomic,
        LLVMGetMDKindIDInContext(job->context, what, (unsigned)strlen(what)),
        LLVMMetadataAsValue(job->context,
                            LLVMMDNodeInContext2(job->context, NULL, 0)));
}

static int is_within_device(const kiln__codegen_job *job, LLVMValueRef i)
{
    const char *scope = job->backend->device->scope;

    return LLVMGetInstructionOpcode(i) == LLVMAtomicRMW &&
           LLVMGetAtomicSyncScopeID(i) ==
               LLVMGetSyncScopeID(job->context, scope, strlen(scope));
}

static void describe_atomic(const kiln__codegen_job *job, LLVMValueRef atomic)
{
    const int is_integer =
        LLVMGetTypeKind(LLVMTypeOf(atomic)) == LLVMIntegerTypeKind;

    if (!is_integer && !kiln__rocm_has_option(job, "unsafe_fp_atomics"))
        return;
    say(job, atomic, "amdgpu.no.fine.grained.memory");
    say(job, atomic, "amdgpu.no.remote.memory");
    if (!is_integer)
        say(job, atomic, "amdgpu.ignore.denormal.mode");
}

void kiln__rocm_describe_atomics(kiln__codegen_job *job)
{
    LLVMValueRef f, i;
    LLVMBasicBlockRef block;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        for (block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            for (i = LLVMGetFirstInstruction(block); i != NULL;
                 i = LLVMGetNextInstruction(i))
                if (is_within_device(job, i))
                    describe_atomic(job, i);
}
