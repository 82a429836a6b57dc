/* codegen_deferred.c - bodies whose code is made when a launch needs it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/BitReader.h>

#include "base/error.h"
#include "codegen/generate.h"
#include "codegen/module/codegen_stages.h"
#include "kiln/compile.h"

/*
 * The checked module is complete before any pass has run on it: one kernel,
 * which calls nothing of the other module. Its bitcode is all that is kept. A
 * request DEFERRED gives it back, and it goes through the same stages as a
 * kernel with checks that nothing proves.
 */

/* A flag of the module: functions in it may recurse. */
static const char recurs[] = "kiln.recurs";

int kiln__defers(const kiln__codegen_job *job)
{
    return job->proof_function != NULL && job->backend->may_defer &&
           job->request->form == KILN_EMIT_BINARY &&
           !kiln__job_has_foreign(job) && job->request->site_count == 0;
}

kiln_status kiln__defer(kiln__codegen_job *job)
{
    kiln_status status;

    kiln__job_switch(job);
    if (job->recurs)
        LLVMAddModuleFlag(
            job->module, LLVMModuleFlagBehaviorWarning, recurs,
            sizeof recurs - 1,
            LLVMValueAsMetadata(LLVMConstInt(kiln__job_i32(job), 1, 0)));
    status = kiln__write_bitcode(job, &job->deferred);
    kiln__job_switch(job);
    LLVMDisposeModule(job->checked_module);
    job->checked_module = NULL;
    return status;
}

kiln_status kiln__deferred_open(kiln__codegen_job *job)
{
    const kiln__codegen_request *request = job->request;
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef buffer;
    int failed;

    KILN_TRY(kiln__target_open(job));
    buffer = LLVMCreateMemoryBufferWithMemoryRange(
        request->module, request->module_size, request->entry, 0);
    failed = LLVMParseBitcodeInContext2(job->context, buffer, &module);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return kiln__job_fail(job, KILN_ECORRUPT,
                              "the deferred body of %s is no bitcode",
                              request->entry);
    LLVMDisposeModule(job->module);
    job->module = module;
    if (LLVMGetNamedFunction(module, request->entry) == NULL)
        return kiln__job_fail(job, KILN_ECORRUPT,
                              "the deferred body of %s lacks the kernel",
                              request->entry);
    job->can_fail = 1;
    job->recurs = LLVMGetModuleFlag(module, recurs, sizeof recurs - 1) != NULL;
    return KILN_OK;
}
