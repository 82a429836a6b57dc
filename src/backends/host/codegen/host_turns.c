/* host_turns.c - kernels that are alone with their atomic operations. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "backends/host/codegen/host_wrap.h"

/*
 * A kernel with atomic operations on memory outside of groups gets a second
 * body in which they are plain, and an entry that lets the host choose
 * (host_abi.h, host_alone.c). What is not fit for a second body gets the entry
 * all the same: others must not be alone while it runs.
 */

#define LARGE 4000 /* instructions; a second body would take long to make */

static LLVMValueRef rename_body(const kiln__codegen_job *job,
                                LLVMValueRef function, const char *name)
{
    LLVMSetValueName2(function, name, strlen(name));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__host_attribute(job, function, -1, "noinline");
    return function;
}

static void call_host(const kiln__codegen_job *job, LLVMValueRef kernel,
                      LLVMValueRef shared, LLVMValueRef alone)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(job->context, 0);
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMTypeRef types[] = {pointer, pointer, i64,    i64,
                           pointer, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(kiln__job_i32(job), types, 7, 0);
    LLVMValueRef run = LLVMAddFunction(job->module, KILN__HOST_ALONE, type);
    LLVMValueRef arguments[7];
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);

    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, kernel, ""));
    LLVMGetParams(kernel, arguments);
    arguments[5] = shared;
    arguments[6] = alone != NULL ? alone : LLVMConstNull(pointer);
    LLVMBuildRet(builder, LLVMBuildCall2(builder, type, run, arguments, 7, ""));
    LLVMDisposeBuilder(builder);
}

kiln__host_turns kiln__host_find_turns(const kiln__codegen_job *job)
{
    if (!kiln__llvm_has_atomics(job->module) &&
        (job->checked_module == NULL ||
         !kiln__llvm_has_atomics(job->checked_module)))
        return KILN__HOST_NO_TURNS;
    if (job->settings->opt_level < 2 ||
        !kiln__llvm_is_quiet(
            LLVMGetNamedFunction(job->module, job->request->entry), LARGE))
        return KILN__HOST_SHARES;
    return KILN__HOST_MAY_BE_ALONE;
}

kiln_status kiln__host_take_turns(kiln__codegen_job *job,
                                  kiln__host_turns turns)
{
    const char *entry = job->request->entry;
    const char *shared_name =
        kiln__arena_format(&job->arena, "%s%s", entry, KILN__HOST_SHARED_BODY);
    const char *alone_name =
        kiln__arena_format(&job->arena, "%s%s", entry, KILN__HOST_ALONE_BODY);
    LLVMValueRef kernel = LLVMGetNamedFunction(job->module, entry);
    LLVMValueRef alone = NULL;

    if (turns == KILN__HOST_NO_TURNS)
        return KILN_OK;
    if (shared_name == NULL || alone_name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    if (turns == KILN__HOST_MAY_BE_ALONE)
        alone = rename_body(job, kiln__llvm_copy_plain(kernel), alone_name);
    kernel = rename_body(job, kernel, shared_name);
    call_host(job, kiln__host_add_kernel(job, entry), kernel, alone);
    return KILN_OK;
}
