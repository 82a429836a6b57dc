/* host_polls.c - makes host code stoppable while it runs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "backends/host/codegen/host_wrap.h"

/*
 * The kernels of both modules know their launch, and return when it is to stop.
 * Functions that were not inlined into them do not know it. They leave by a
 * function of the host that does not return. For that, the kernel becomes the
 * body of another kernel, which calls it in a way that allows this
 * (host_abi.h).
 */

static void rename_body(const kiln__codegen_job *job, LLVMValueRef body,
                        const char *name)
{
    LLVMSetValueName2(body, name, strlen(name));
    LLVMSetLinkage(body, LLVMInternalLinkage);
    kiln__host_attribute(job, body, -1, "noinline");
}

static void call_body(const kiln__codegen_job *job, LLVMValueRef kernel,
                      LLVMValueRef body)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(job->context, 0);
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMTypeRef types[] = {pointer, pointer, i64, i64, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(kiln__job_i32(job), types, 6, 0);
    LLVMValueRef run = LLVMAddFunction(job->module, KILN__HOST_RUN, type);
    LLVMValueRef arguments[6];
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);

    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, kernel, ""));
    LLVMGetParams(kernel, arguments);
    arguments[5] = body;
    LLVMBuildRet(builder, LLVMBuildCall2(builder, type, run, arguments, 6, ""));
    LLVMDisposeBuilder(builder);
}

static kiln_status wrap_kernel(kiln__codegen_job *job)
{
    const char *entry = job->request->entry;
    LLVMValueRef body = LLVMGetNamedFunction(job->module, entry);
    const char *name =
        kiln__arena_format(&job->arena, "%s%s", entry, KILN__HOST_BODY);

    if (name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    rename_body(job, body, name);
    call_body(job, kiln__host_add_kernel(job, entry), body);
    return KILN_OK;
}

/* Renames foreign functions that have the name of one of the host's; they are
   internal. */
static void free_names(LLVMModuleRef module)
{
    static const char *const names[] = {KILN__HOST_ALARM, KILN__HOST_POLL,
                                        KILN__HOST_RUN, KILN__HOST_ALONE};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        LLVMValueRef global = LLVMGetNamedFunction(module, names[i]);

        if (global == NULL)
            global = LLVMGetNamedGlobal(module, names[i]);
        if (global != NULL)
            LLVMSetValueName2(global, "", 0);
    }
}

static int add_polls(LLVMModuleRef module, const kiln__poll_plan *plan)
{
    free_names(module);
    return kiln__llvm_add_polls(module, plan);
}

kiln_status kiln__host_add_polls(kiln__codegen_job *job, int *wraps)
{
    const char *entry = job->request->entry;
    kiln__poll_plan plan = {
        .entries = {entry,
                    kiln__arena_format(&job->arena, "%s.checked", entry)},
        .offset = offsetof(struct kiln__host_launch_state, stop),
        .alarm = KILN__HOST_ALARM,
        .poll = KILN__HOST_POLL,
        .is_slow = job->settings->opt_level < 2,
    };

    if (plan.entries[1] == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    *wraps = add_polls(job->module, &plan);
    plan.is_slow = 1;
    if (job->checked_module != NULL)
        *wraps |= add_polls(job->checked_module, &plan);
    return *wraps ? wrap_kernel(job) : KILN_OK;
}
