/* codegen_target.c - LLVM's targets and the machine of a job. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <string.h>

#include "codegen_parts.h"
#include "report.h"

/*
 * A target is initialised when the first job needs it: each one registers
 * passes and tables, and a process rarely needs more than one.
 */

static void initialise_x86(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

static void initialise_target(const char *triple)
{
    static pthread_once_t x86 = PTHREAD_ONCE_INIT;

    if (strncmp(triple, "x86_64-", 7) == 0)
        pthread_once(&x86, initialise_x86);
}

static LLVMCodeGenOptLevel machine_level(uint8_t opt_level)
{
    switch (opt_level) {
    case 0:
        return LLVMCodeGenLevelNone;
    case 1:
        return LLVMCodeGenLevelLess;
    case 2:
        return LLVMCodeGenLevelDefault;
    default:
        return LLVMCodeGenLevelAggressive;
    }
}

/* Code is position independent, since the loader puts it anywhere, and one
   image is far below 2 GiB. */
static LLVMTargetMachineRef machine_new(const kiln__codegen_settings *settings,
                                        LLVMTargetRef target)
{
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineRef machine;

    LLVMTargetMachineOptionsSetCPU(options, settings->processor);
    LLVMTargetMachineOptionsSetFeatures(options, settings->features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(
        options, machine_level(settings->opt_level));
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
    machine =
        LLVMCreateTargetMachineWithOptions(target, settings->triple, options);
    LLVMDisposeTargetMachineOptions(options);
    return machine;
}

/* A foreign module that comes later is given the same. */
static void describe_module(kiln__codegen_job *job)
{
    char *layout = LLVMCopyStringRepOfTargetData(job->layout);

    LLVMSetTarget(job->module, job->settings->triple);
    LLVMSetDataLayout(job->module, layout);
    LLVMDisposeMessage(layout);
}

kiln_status kiln__target_open(kiln__codegen_job *job)
{
    const kiln__codegen_settings *settings = job->settings;
    LLVMTargetRef target = NULL;
    char *message = NULL;
    char unknown[128];

    initialise_target(settings->triple);
    if (LLVMGetTargetFromTriple(settings->triple, &target, &message) != 0)
        return kiln__job_fail_llvm(job, KILN_EUNSUPPORTED, "target", message);
    if (!kiln__llvm_target_knows(settings->triple, settings->processor,
                                 settings->features, unknown, sizeof unknown))
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%s has no processor or feature '%s'",
                              settings->triple, unknown);
    job->machine = machine_new(settings, target);
    if (job->machine == NULL)
        return kiln__job_fail(job, KILN_EUNSUPPORTED, "no code for %s",
                              settings->triple);
    job->layout = LLVMCreateTargetDataLayout(job->machine);
    describe_module(job);
    return KILN_OK;
}
