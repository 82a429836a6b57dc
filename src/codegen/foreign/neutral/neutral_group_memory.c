/* neutral_group_memory.c - variables that stand for dynamic group memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"

/*
 * CUDA's `extern __shared__` becomes a declaration `external addrspace(3)
 * global [0 x T]`. All of them have the same address, that of the dynamic
 * memory. Only some targets have such variables, so they are replaced by calls
 * of kiln_group_memory(), which are bound like any other device function.
 */

static const char function_name[] = "kiln_group_memory";

static int is_dynamic(LLVMValueRef variable)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(variable);

    return LLVMIsDeclaration(variable) &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) ==
               KILN__SHARED_SPACE &&
           LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
           LLVMGetArrayLength2(type) == 0;
}

static LLVMValueRef declare(const kiln__codegen_job *job)
{
    LLVMValueRef function = LLVMGetNamedFunction(job->module, function_name);

    if (function == NULL)
        function = LLVMAddFunction(
            job->module, function_name,
            LLVMFunctionType(
                LLVMPointerTypeInContext(job->context, KILN__SHARED_SPACE),
                NULL, 0, 0));
    return function;
}

/* Makes all of a function's uses of the variable uses of one call in its first
   block. */
static void call_in(const kiln__codegen_job *job, LLVMValueRef function,
                    LLVMValueRef variable)
{
    const LLVMValueRef callee = declare(job);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef call;
    LLVMUseRef use, next;

    LLVMPositionBuilderBefore(
        builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(callee), callee, NULL,
                          0, "");
    LLVMDisposeBuilder(builder);
    for (use = LLVMGetFirstUse(variable); use != NULL; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        const int count = LLVMGetNumOperands(user);

        next = LLVMGetNextUse(use);
        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) != function)
            continue;
        for (int i = 0; i < count; i++)
            if (LLVMGetOperand(user, (unsigned)i) == variable) {
                LLVMSetOperand(user, (unsigned)i, call);
                break;
            }
    }
}

static kiln_status replace(kiln__codegen_job *job, LLVMValueRef variable)
{
    LLVMUseRef use;

    if (LLVMGetAlignment(variable) > KILN__DYNAMIC_ALIGNMENT)
        return kiln__foreign_refuse(job, "variable", variable,
                                    "dynamic group memory is aligned to 16 "
                                    "bytes");
    kiln__llvm_expand_users(variable);
    while ((use = LLVMGetFirstUse(variable)) != NULL) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) == NULL)
            return kiln__foreign_refuse(job, "variable", variable,
                                        "its address is in a constant, and is "
                                        "known only at run time");
        call_in(job, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)),
                variable);
    }
    LLVMDeleteGlobal(variable);
    return KILN_OK;
}

kiln_status kiln__neutral_dynamic_memory(kiln__codegen_job *job)
{
    kiln__foreign_findings found = {.job = job};
    LLVMValueRef at, next;

    for (at = LLVMGetFirstGlobal(job->module); at != NULL; at = next) {
        next = LLVMGetNextGlobal(at);
        if (is_dynamic(at))
            KILN_TRY(
                kiln__foreign_finding(&found, replace(job, at), NULL, NULL));
    }
    return kiln__foreign_tell(&found);
}
