/* rocm_kernel.c - attributes of a kernel, and limits of what it may need. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "backends/rocm/codegen/rocm_codegen.h"
#include "base/error.h"

/* ---- limits ---- */

#define ARGUMENTS_MAX 4096u

int kiln__rocm_takes_arguments(const kiln__codegen_job *job, uint64_t bytes,
                               uint64_t parameters)
{
    (void)job;
    (void)parameters;
    return bytes <= ARGUMENTS_MAX;
}

static kiln_status check(kiln__codegen_job *job)
{
    KILN_TRY(kiln__rocm_check_target(job));
    KILN_TRY(kiln__device_check_group(job, "ROCm"));
    KILN_TRY(kiln__device_check_local(job, kiln__rocm_local_limit(job)));
    return kiln__device_check_arguments(job, ARGUMENTS_MAX, "a kernel of ROCm");
}

/* ---- the module ---- */

static const char object_version[] = "amdhsa_code_object_version";

/* Returns the version of code objects that a foreign module was made for, in
   hundreds; 0: it does not say. */
static uint64_t given_version(kiln__codegen_job *job)
{
    LLVMMetadataRef flag = LLVMGetModuleFlag(job->module, object_version,
                                             sizeof object_version - 1);
    LLVMValueRef node, number;

    if (flag == NULL)
        return 0;
    node = LLVMMetadataAsValue(job->context, flag);
    if (LLVMGetMDNodeNumOperands(node) != 1)
        return UINT64_MAX;
    LLVMGetMDNodeOperands(node, &number);
    return number != NULL && LLVMIsAConstantInt(number)
               ? LLVMConstIntGetZExtValue(number)
               : UINT64_MAX;
}

/* The offsets of implicit arguments have been the same since version 5. So code
   that reads them is right in an object of any later version. */
static kiln_status set_object_version(kiln__codegen_job *job)
{
    const unsigned version = 100 * kiln__rocm_object_version(job);
    const uint64_t given = given_version(job);

    if (given != 0 && (given < 500 || given > 600))
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "the module is for code objects of version "
                              "%llu.%02llu (%s), and these are 5 or 6",
                              (unsigned long long)(given / 100),
                              (unsigned long long)(given % 100),
                              object_version);
    kiln__llvm_set_flag(job->module, object_version, version);
    return KILN_OK;
}

/* Inputs that the hardware and the runtime prepare for a kernel unless
   attributes say that it does not use them. Where LLVM's optimiser runs, it
   finds that out itself; code that Kiln lowers is known to use none of
   these. */
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

/* With fewer, LLVM finds no registers for what one instruction needs. */
#define REGISTERS_LEAST 16u

/* Limits the vector registers. Where they and the accumulation registers are
   one file, LLVM takes the limit for each half of it, and would put into the
   second what it leaves out of the first. */
static void limit_registers(kiln__codegen_job *job, LLVMValueRef kernel)
{
    uint32_t most = job->settings->maximum_registers;

    if (most == 0)
        return;
    if (most < REGISTERS_LEAST)
        most = REGISTERS_LEAST;
    if (kiln__rocm_has_unified_registers(job))
        most = (most + 1) / 2;
    kiln__device_text_attribute(job, kernel, "amdgpu-num-vgpr", "%u", most);
    kiln__device_text_attribute(job, kernel, "amdgpu-agpr-alloc", "%u", 0u);
}

/* Sets how large groups are, and how many of them a processor is to hold. */
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
    limit_registers(job, kernel);
}

kiln_status kiln__rocm_describe_kernel(kiln__codegen_job *job,
                                       LLVMValueRef kernel)
{
    KILN_TRY(check(job));
    KILN_TRY(set_object_version(job));
    /* The runtime finds the kernel by its name, and no other object may replace
       it. */
    LLVMSetVisibility(kernel, LLVMProtectedVisibility);
    set_group(job, kernel);
    if (!kiln__job_has_foreign(job)) {
        say_what_is_unasked(job);
        kiln__rocm_describe_atomics(job);
    }
    return job->status;
}
