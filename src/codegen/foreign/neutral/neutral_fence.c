/* neutral_fence.c - fences of neutral modules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * `void @kiln_fence(i32 scope, i32 memory, i32 order)` is LLVM's own fence,
 * for frontends whose code comes from a table of calls. LLVM's fences order all
 * memory, so `memory` changes nothing.
 */

static const char fence_name[] = "kiln_fence";

/* The names that neutral_atomics.c knows, by number. */
static const char *const scopes[] = {NULL, "subgroup", "workgroup", "agent",
                                     ""};

/* C's numbers of orders. */
static const LLVMAtomicOrdering orders[] = {
    LLVMAtomicOrderingNotAtomic,      LLVMAtomicOrderingNotAtomic,
    LLVMAtomicOrderingAcquire,        LLVMAtomicOrderingRelease,
    LLVMAtomicOrderingAcquireRelease, LLVMAtomicOrderingSequentiallyConsistent,
};

/* Returns the constant at an operand, or `count`: it is none, or not below. */
static uint64_t constant_below(LLVMValueRef call, unsigned at, uint64_t count)
{
    const LLVMValueRef operand = LLVMGetOperand(call, at);
    const uint64_t number = LLVMIsAConstantInt(operand) != NULL
                                ? LLVMConstIntGetZExtValue(operand)
                                : count;

    return number < count ? number : count;
}

static kiln_status replace_call(kiln__codegen_job *job, LLVMValueRef call)
{
    const uint64_t scope_count = sizeof scopes / sizeof *scopes;
    const uint64_t order_count = sizeof orders / sizeof *orders;
    const uint64_t scope = constant_below(call, 0, scope_count);
    const uint64_t order = constant_below(call, 2, order_count);
    LLVMBuilderRef builder;
    LLVMValueRef fence;

    if (scope == scope_count || scopes[scope] == NULL)
        return kiln__foreign_refuse_call(
            job, fence_name,
            "its scope is the constant 1 (sub-group), 2 (group), 3 (device) "
            "or 4 (system)");
    if (order == order_count || orders[order] == LLVMAtomicOrderingNotAtomic)
        return kiln__foreign_refuse_call(
            job, fence_name,
            "its order is the constant 2 (acquire), 3 (release), 4 (both) or "
            "5 (sequentially consistent)");
    builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(builder, call);
    fence = LLVMBuildFence(builder, orders[order], 0, "");
    LLVMSetAtomicSyncScopeID(
        fence,
        LLVMGetSyncScopeID(job->context, scopes[scope], strlen(scopes[scope])));
    LLVMDisposeBuilder(builder);
    LLVMInstructionEraseFromParent(call);
    return KILN_OK;
}

static int has_type(const kiln__codegen_job *job, LLVMValueRef function)
{
    const LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMTypeRef types[] = {i32, i32, i32};

    return LLVMGlobalGetValueType(function) ==
           LLVMFunctionType(LLVMVoidTypeInContext(job->context), types, 3, 0);
}

kiln_status kiln__neutral_fences(kiln__codegen_job *job)
{
    const LLVMValueRef function = LLVMGetNamedFunction(job->module, fence_name);
    kiln__foreign_findings found = {
        .job = job,
        .entry = LLVMGetNamedFunction(job->module, job->request->entry)};
    LLVMUseRef use, next;

    if (function == NULL)
        return KILN_OK;
    if (!LLVMIsDeclaration(function))
        return kiln__foreign_refuse_call(job, fence_name,
                                         "the module may not define it");
    if (!has_type(job, function))
        return kiln__foreign_refuse_call(job, fence_name,
                                         "it is declared with another type");
    for (use = LLVMGetFirstUse(function); use != NULL; use = next) {
        const LLVMValueRef user = LLVMGetUser(use);

        next = LLVMGetNextUse(use);
        if (!kiln__is_call_of(user, function))
            return kiln__foreign_refuse_call(job, fence_name,
                                             "it may be called only");
        KILN_TRY(kiln__foreign_finding_of_call(&found, replace_call(job, user),
                                               user));
    }
    KILN_TRY(kiln__foreign_tell(&found));
    LLVMDeleteFunction(function);
    return KILN_OK;
}
