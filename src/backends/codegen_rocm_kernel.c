/* codegen_rocm_kernel.c - what is said of a kernel, and what it may ask for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "codegen_rocm.h"
#include "report.h"

/* ---- limits ---- */

#define ARGUMENTS_MAX 4096u

static kiln_status check_local(kiln__codegen_job *job)
{
    const uint32_t most = kiln__rocm_local_limit(job);

    if (job->static_local_bytes <= most)
        return KILN_OK;
    return kiln__job_fail(job, KILN_EUNSUPPORTED,
                          "local arrays take %u bytes; a group of %s has %u",
                          job->static_local_bytes, job->settings->processor,
                          most);
}

static kiln_status check(kiln__codegen_job *job)
{
    KILN_TRY(kiln__rocm_check_target(job));
    KILN_TRY(kiln__device_check_group(job, "ROCm"));
    KILN_TRY(check_local(job));
    return kiln__device_check_arguments(job, ARGUMENTS_MAX, "a kernel of ROCm");
}

/* ---- the module ---- */

/* A foreign module may say it already; then it is what it says. */
static kiln_status set_object_version(kiln__codegen_job *job)
{
    static const char name[] = "amdhsa_code_object_version";
    const unsigned version = 100 * kiln__rocm_object_version(job);
    LLVMMetadataRef flag =
        LLVMGetModuleFlag(job->module, name, sizeof name - 1);

    if (flag == NULL) {
        flag = LLVMValueAsMetadata(
            LLVMConstInt(LLVMInt32TypeInContext(job->context), version, 0));
        LLVMAddModuleFlag(job->module, LLVMModuleFlagBehaviorError, name,
                          sizeof name - 1, flag);
        return KILN_OK;
    }
    if (LLVMConstIntGetZExtValue(LLVMMetadataAsValue(job->context, flag)) ==
        version)
        return KILN_OK;
    return kiln__job_fail(job, KILN_EUNSUPPORTED,
                          "the module is for another version of code objects "
                          "than %u",
                          version / 100);
}

/* What the hardware and the runtime prepare for a kernel unless it is said
   that nobody asks. The optimiser finds out by itself where it runs; our own
   code is known to ask for none of these. */
static const char *const unasked[] = {
    "amdgpu-no-completion-action", "amdgpu-no-default-queue",
    "amdgpu-no-dispatch-id",       "amdgpu-no-dispatch-ptr",
    "amdgpu-no-heap-ptr",          "amdgpu-no-hostcall-ptr",
    "amdgpu-no-lds-kernel-id",     "amdgpu-no-multigrid-sync-arg",
    "amdgpu-no-queue-ptr",
};

static int asks_for_shape(const kiln__codegen_job *job)
{
    return LLVMGetNamedFunction(job->module, "llvm.amdgcn.implicitarg.ptr") !=
           NULL;
}

static void say_what_is_unasked(kiln__codegen_job *job)
{
    const int has_shape = asks_for_shape(job);
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        for (size_t i = 0; i < sizeof unasked / sizeof *unasked; i++)
            kiln__device_text_attribute(job, f, unasked[i], "%s", "");
        if (!has_shape)
            kiln__device_text_attribute(job, f, "amdgpu-no-implicitarg-ptr",
                                        "%s", "");
    }
}

/* ---- the kernel ---- */

/* Says how large groups are, and how many a processor shall hold. */
static void set_group(kiln__codegen_job *job, LLVMValueRef kernel)
{
    const kiln__codegen_settings *settings = job->settings;
    const uint32_t most = kiln__device_group_most(job);

    kiln__device_text_attribute(job, kernel, "amdgpu-flat-work-group-size",
                                "%u,%u", kiln__device_group_items(job), most);
    kiln__device_text_attribute(job, kernel, "uniform-work-group-size", "%s",
                                "true");
    kiln__device_require_group(job, kernel);
    if (settings->minimum_groups != 0)
        kiln__device_text_attribute(
            job, kernel, "amdgpu-waves-per-eu", "%u",
            kiln__rocm_waves(job, settings->minimum_groups, most));
}

kiln_status kiln__rocm_describe_kernel(kiln__codegen_job *job,
                                       LLVMValueRef kernel)
{
    KILN_TRY(check(job));
    KILN_TRY(set_object_version(job));
    /* The runtime finds the kernel by its name, and no other object may take
       its place. */
    LLVMSetVisibility(kernel, LLVMProtectedVisibility);
    set_group(job, kernel);
    if (job->request->module == NULL) {
        say_what_is_unasked(job);
        kiln__rocm_describe_atomics(job);
    }
    return job->status;
}
