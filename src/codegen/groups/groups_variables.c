/* groups_variables.c - variables that the items of a group share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/groups/groups.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A variable of space 3 has a fixed place in the memory that each group gets.
 * The code finds that memory by a function of our own, which has no effect and
 * may be called again anywhere, until all regions are made. Space 3 is a number
 * only: on the host, pointers of all spaces are alike.
 */

int kiln__groups_is_variable(const kiln__codegen_job *job,
                             LLVMValueRef variable)
{
    return job->backend->groups != NULL &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) ==
               KILN__SHARED_SPACE;
}

kiln_status kiln__groups_reserve(kiln__codegen_job *job, uint64_t size,
                                 uint64_t alignment, uint32_t *offset)
{
    const uint64_t mask = alignment - 1;
    const uint64_t begin = ((uint64_t)job->static_local_bytes + mask) & ~mask;

    if (size > UINT32_MAX || begin + size > UINT32_MAX)
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module's variables of a group take more "
                              "than 4 GiB");
    *offset = (uint32_t)begin;
    job->static_local_bytes = (uint32_t)(begin + size);
    return KILN_OK;
}

static LLVMTypeRef memory_type(const kiln__codegen_job *job)
{
    LLVMTypeRef item = kiln__job_item_pointer(job);

    return LLVMFunctionType(LLVMPointerTypeInContext(job->context, 0), &item, 1,
                            0);
}

static LLVMValueRef memory_function(const kiln__codegen_job *job)
{
    LLVMValueRef function =
        LLVMGetNamedFunction(job->module, KILN__GROUPS_MEMORY);

    if (function != NULL)
        return function;
    function =
        LLVMAddFunction(job->module, KILN__GROUPS_MEMORY, memory_type(job));
    kiln__add_attribute(function, "memory"); /* none */
    return function;
}

/* Returns the variable's place, computed where the entry begins. */
static LLVMValueRef build_place(const kiln__codegen_job *job,
                                LLVMValueRef entry, LLVMValueRef variable,
                                uint32_t offset)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef index = kiln__job_number64(job, offset), place;
    LLVMValueRef item = LLVMGetParam(entry, 0);

    LLVMPositionBuilderBefore(
        builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(entry)));
    place = LLVMBuildCall2(builder, memory_type(job), memory_function(job),
                           &item, 1, "");
    place = LLVMBuildInBoundsGEP2(builder, LLVMInt8TypeInContext(job->context),
                                  place, &index, 1, "");
    place =
        LLVMBuildAddrSpaceCast(builder, place, LLVMTypeOf(variable), "group");
    LLVMDisposeBuilder(builder);
    return place;
}

static kiln_status place(kiln__codegen_job *job, LLVMValueRef entry,
                         LLVMValueRef variable)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(variable);
    const unsigned written = LLVMGetAlignment(variable);
    const unsigned least = LLVMABIAlignmentOfType(job->layout, type);
    uint32_t offset = 0;

    KILN_TRY(kiln__groups_reserve(job, LLVMABISizeOfType(job->layout, type),
                                  written > least ? written : least, &offset));
    kiln__llvm_expand_users(variable);
    LLVMReplaceAllUsesWith(variable, build_place(job, entry, variable, offset));
    LLVMDeleteGlobal(variable);
    return KILN_OK;
}

kiln_status kiln__groups_place(kiln__codegen_job *job, LLVMValueRef entry)
{
    LLVMValueRef variable = LLVMGetFirstGlobal(job->module), next;

    for (; variable != NULL; variable = next) {
        next = LLVMGetNextGlobal(variable);
        if (kiln__groups_is_variable(job, variable))
            KILN_TRY(place(job, entry, variable));
    }
    return KILN_OK;
}

void kiln__groups_bind_memory(kiln__codegen_job *job)
{
    LLVMValueRef function =
        LLVMGetNamedFunction(job->module, KILN__GROUPS_MEMORY);
    LLVMUseRef use;

    if (function == NULL)
        return;
    while ((use = LLVMGetFirstUse(function)) != NULL) {
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
        LLVMValueRef call = LLVMGetUser(use);

        LLVMPositionBuilderBefore(builder, call);
        LLVMReplaceAllUsesWith(
            call, job->backend->groups->memory(job, builder,
                                               LLVMGetOperand(call, 0)));
        LLVMDisposeBuilder(builder);
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(function);
}
