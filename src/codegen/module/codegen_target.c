/* codegen_target.c - LLVM's targets and the target machine of a job. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system/thread.h"
#include "codegen/module/codegen_stages.h"

/*
 * A target is initialised when the first job needs it: each one registers
 * passes and tables, and a process rarely needs more than one. But the names of
 * all targets are registered at once. LLVM keeps them in one list without a
 * lock, and every job walks that list.
 */

static void name_targets(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeSPIRVTargetInfo();
}

static void initialise_x86(void)
{
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

static void initialise_nvptx(void)
{
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

static void initialise_amdgpu(void)
{
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
}

static void initialise_spirv(void)
{
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    LLVMInitializeSPIRVAsmPrinter();
}

static void initialise_target(const char *triple)
{
    static kiln__once names = KILN__ONCE_INIT;
    static kiln__once x86 = KILN__ONCE_INIT;
    static kiln__once nvptx = KILN__ONCE_INIT;
    static kiln__once amdgpu = KILN__ONCE_INIT;
    static kiln__once spirv = KILN__ONCE_INIT;

    kiln__once_run(&names, name_targets);
    if (strncmp(triple, "x86_64-", 7) == 0)
        kiln__once_run(&x86, initialise_x86);
    else if (strncmp(triple, "nvptx64-", 8) == 0)
        kiln__once_run(&nvptx, initialise_nvptx);
    else if (strncmp(triple, "amdgcn-", 7) == 0)
        kiln__once_run(&amdgpu, initialise_amdgpu);
    else if (strncmp(triple, "spirv64", 7) == 0)
        kiln__once_run(&spirv, initialise_spirv);
}

/* The third level of NVIDIA's backend adds one pass that finds what is computed
   twice on some of the ways to a place. It merges the steps of a loop and of
   what unrolling left over of it into one value. CUDA's assembler would have
   multiplied and added in one instruction; it does not for a value that may
   come from several places. */
static LLVMCodeGenOptLevel machine_level(const char *triple, uint8_t opt_level)
{
    if (opt_level > 2 && strncmp(triple, "nvptx64-", 8) == 0)
        opt_level = 2;
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

/* Code is position independent, because the loader puts it anywhere. The code
   model is the small one: an image is far below 2 GiB. */
static LLVMTargetMachineRef machine_new(const kiln__codegen_settings *settings,
                                        LLVMTargetRef target)
{
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineRef machine;

    LLVMTargetMachineOptionsSetCPU(options, settings->processor);
    LLVMTargetMachineOptionsSetFeatures(options, settings->features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(
        options, machine_level(settings->triple, settings->opt_level));
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
    machine =
        LLVMCreateTargetMachineWithOptions(target, settings->triple, options);
    LLVMDisposeTargetMachineOptions(options);
    return machine;
}

/* ---- machines of a thread ----
 *
 * A machine describes a processor to the last detail. Making one takes a good
 * part of the time that a small kernel does, so a thread keeps the machines of
 * the settings that it used last.
 */

typedef struct machines {
    char *triple;
    char *processor;
    char *features;
    uint8_t opt_level;
    LLVMTargetMachineRef machine;
} machines;

static kiln__thread_slot machines_slot;
static int has_slot;

static void machines_free(void *bytes)
{
    machines *kept = bytes;

    free(kept->triple);
    free(kept->processor);
    free(kept->features);
    if (kept->machine != NULL)
        LLVMDisposeTargetMachine(kept->machine);
    free(kept);
}

static void make_slot(void)
{
    has_slot = kiln__thread_slot_init(&machines_slot, machines_free) == KILN_OK;
}

static int are_for(const machines *kept, const kiln__codegen_settings *settings)
{
    return strcmp(kept->triple, settings->triple) == 0 &&
           strcmp(kept->processor, settings->processor) == 0 &&
           strcmp(kept->features, settings->features) == 0 &&
           kept->opt_level == settings->opt_level;
}

static machines *machines_new(const kiln__codegen_settings *settings,
                              LLVMTargetRef target)
{
    machines *made = calloc(1, sizeof *made);

    if (made == NULL)
        return NULL;
    *made = (machines){
        .triple = strdup(settings->triple),
        .processor = strdup(settings->processor),
        .features = strdup(settings->features),
        .opt_level = settings->opt_level,
        .machine = machine_new(settings, target),
    };
    if (made->triple != NULL && made->processor != NULL &&
        made->features != NULL && made->machine != NULL)
        return made;
    machines_free(made);
    return NULL;
}

static kiln_status find_target(kiln__codegen_job *job, LLVMTargetRef *out)
{
    const kiln__codegen_settings *settings = job->settings;
    char *message = NULL;
    char unknown[128];

    initialise_target(settings->triple);
    if (LLVMGetTargetFromTriple(settings->triple, out, &message) != 0)
        return kiln__job_fail_llvm(job, KILN_EUNSUPPORTED, "target", message);
    if (!kiln__llvm_target_knows(settings->triple, settings->processor,
                                 settings->features, unknown, sizeof unknown))
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%s has no processor or feature '%s'",
                              settings->triple, unknown);
    return KILN_OK;
}

static kiln_status no_machine(kiln__codegen_job *job)
{
    return kiln__job_fail(job, KILN_EUNSUPPORTED, "no code for %s",
                          job->settings->triple);
}

static kiln_status machines_make(kiln__codegen_job *job, machines **out)
{
    LLVMTargetRef target = NULL;

    KILN_TRY(find_target(job, &target));
    *out = machines_new(job->settings, target);
    return *out != NULL ? KILN_OK : no_machine(job);
}

void kiln__target_abandon(void)
{
    if (has_slot)
        (void)kiln__thread_slot_set(machines_slot, NULL);
}

/* Returns the thread's machines if they are for these settings; else makes them
   and drops the others. */
static kiln_status machines_get(kiln__codegen_job *job, machines **out)
{
    static kiln__once once = KILN__ONCE_INIT;
    machines *kept;

    kiln__once_run(&once, make_slot);
    if (!has_slot)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    kept = kiln__thread_slot_get(machines_slot);
    if (kept != NULL && are_for(kept, job->settings)) {
        *out = kept;
        return KILN_OK;
    }
    KILN_TRY(machines_make(job, out));
    if (kiln__thread_slot_set(machines_slot, *out) != KILN_OK) {
        machines_free(*out);
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    }
    if (kept != NULL)
        machines_free(kept);
    return KILN_OK;
}

/* ---- a job's target ---- */

void kiln__target_describe(kiln__codegen_job *job)
{
    char *layout = LLVMCopyStringRepOfTargetData(job->layout);

    LLVMSetTarget(job->module, job->settings->triple);
    LLVMSetDataLayout(job->module, layout);
    LLVMDisposeMessage(layout);
}

/* Makes a machine that this job alone uses. */
static kiln_status make_own_machine(kiln__codegen_job *job)
{
    const kiln__codegen_backend *backend = job->backend;
    LLVMTargetRef target = NULL;

    KILN_TRY(find_target(job, &target));
    if (backend->machine != NULL)
        KILN_TRY(backend->machine->begin(job));
    job->own_machine = machine_new(job->settings, target);
    if (backend->machine != NULL)
        backend->machine->end();
    job->machine = job->own_machine;
    return job->machine != NULL ? KILN_OK : no_machine(job);
}

static kiln_status open_machine(kiln__codegen_job *job)
{
    machines *own = NULL;

    if (job->backend->owns_machine)
        return make_own_machine(job);
    KILN_TRY(machines_get(job, &own));
    job->machine = own->machine;
    return KILN_OK;
}

kiln_status kiln__target_open(kiln__codegen_job *job)
{
    if (job->backend->open != NULL)
        job->backend->open(job);
    KILN_TRY(open_machine(job));
    job->layout = LLVMCreateTargetDataLayout(job->machine);
    kiln__target_describe(job);
    return KILN_OK;
}
