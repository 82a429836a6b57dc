/* foreign_small.c - finds modules that Kiln's own passes are enough for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * Many modules are one item function and what it calls, each once, without
 * loops. Inlined, that is what lowering makes of a kernel of the language, and
 * almost the same passes are enough for it (codegen_passes.c). They take half
 * of the time of LLVM's own, whose inliner has nothing to decide here. The same
 * holds for kernels with barriers, which have loops over items between them.
 * Loops of the kernel itself are worth all passes of LLVM.
 */
#define INSTRUCTIONS_MAX 4000

static size_t count_instructions(LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;
    size_t count = 0;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            count++;
    return count;
}

/* True when the function's only use is one direct call. */
static int is_called_once(LLVMValueRef function)
{
    const LLVMUseRef use = LLVMGetFirstUse(function);
    const LLVMValueRef user = use != NULL ? LLVMGetUser(use) : NULL;

    return user != NULL && LLVMGetNextUse(use) == NULL &&
           LLVMIsACallInst(user) != NULL &&
           LLVMGetCalledValue(user) == function;
}

/* Loops that the kernel had are told from those over items before these are
   made. */
static int has_own_loops(const kiln__codegen_job *job, LLVMValueRef function)
{
    return job->for_group && function == job->item_function
               ? job->has_loops
               : kiln__llvm_has_loops(function);
}

static int can_inline(const kiln__codegen_job *job, LLVMValueRef function)
{
    return !kiln__has_attribute(function, "noinline") &&
           !kiln__has_attribute(function, "optnone") &&
           is_called_once(function) && !has_own_loops(job, function);
}

void kiln__foreign_find_small(kiln__codegen_job *job)
{
    LLVMValueRef f;
    size_t count = 0;

    if (job->backend->device != NULL)
        return;
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        count += count_instructions(f);
        if (count > INSTRUCTIONS_MAX ||
            (LLVMGetLinkage(f) == LLVMInternalLinkage && !can_inline(job, f)))
            return;
    }
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMInternalLinkage)
            kiln__add_attribute(f, "alwaysinline");
    job->is_small = 1;
}
