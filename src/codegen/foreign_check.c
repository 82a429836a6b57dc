/* foreign_check.c - what a foreign module may not contain. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Comdat.h>

#include "codegen_parts.h"
#include "report.h"

/*
 * Kernel code reaches nothing but its arguments and the functions it may
 * import. So there is no assembly, no constructor, no variable of the
 * process, no exception handling; and nothing is visible but the kernel.
 * Undefined functions are looked at later, for every module.
 */

static kiln_status refuse(kiln__codegen_job *job, const char *kind,
                          const char *name, const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN, "%s '%s' of the module: %s", kind,
                          name, why);
}

/* ---- variables ---- */

static kiln_status check_special(kiln__codegen_job *job, LLVMValueRef global,
                                 const char *name)
{
    if (strcmp(name, "llvm.used") == 0 ||
        strcmp(name, "llvm.compiler.used") == 0) {
        LLVMDeleteGlobal(global); /* keeps names that nobody looks up */
        return KILN_OK;
    }
    return refuse(job, "variable", name, "constructors are not run");
}

/* A constant of a vendor's library, which depends on the target: closures that
   are kept for all processors stay without its value. */
static int is_left_to_us(const kiln__codegen_job *job, const char *name)
{
    uint64_t value;

    return job->request->form == KILN__EMIT_CLOSURE &&
           job->backend->constant != NULL &&
           job->backend->constant(job, name, &value);
}

static kiln_status check_global(kiln__codegen_job *job, LLVMValueRef global)
{
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);
    const char *section = LLVMGetSection(global);

    if (strncmp(name, "llvm.", 5) == 0)
        return check_special(job, global, name);
    if (LLVMIsDeclaration(global))
        return kiln__foreign_is_site(job, global) || is_left_to_us(job, name)
                   ? KILN_OK
                   : refuse(job, "variable", name, "it is not defined");
    if (LLVMIsThreadLocal(global))
        return refuse(job, "variable", name, "it is thread-local");
    if (section != NULL && *section != '\0')
        return refuse(job, "variable", name, "it names a section");
    if (LLVMIsExternallyInitialized(global))
        return refuse(job, "variable", name, "it is initialised elsewhere");
    LLVMSetComdat(global, NULL);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
    return KILN_OK;
}

/* ---- functions ---- */

/* What a library has for a device: text that the vendor's assembler reads, and
   that no processor of the host ever sees. libdevice has such functions. */
static int is_of_a_device(const kiln__codegen_job *job)
{
    return job->request->form == KILN__EMIT_CLOSURE &&
           job->backend->device != NULL;
}

static kiln_status check_instruction(kiln__codegen_job *job,
                                     LLVMValueRef instruction, const char *name)
{
    switch ((int)LLVMGetInstructionOpcode(instruction)) {
    case LLVMCall:
        if (LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)) &&
            !is_of_a_device(job))
            return refuse(job, "function", name, "it contains assembly");
        return KILN_OK;
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMLandingPad:
    case LLVMResume:
    case LLVMCatchPad:
    case LLVMCatchSwitch:
    case LLVMCleanupPad:
        return refuse(job, "function", name, "it handles C++ exceptions");
    default:
        return KILN_OK;
    }
}

static kiln_status check_body(kiln__codegen_job *job, LLVMValueRef function,
                              const char *name)
{
    LLVMBasicBlockRef block;
    LLVMValueRef instruction;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction))
            KILN_TRY(check_instruction(job, instruction, name));
    return KILN_OK;
}

/* Attributes that choose another processor than the target's, or that call
   functions which are not there. */
static void normalise_attributes(kiln__codegen_job *job, LLVMValueRef function)
{
    static const char *const strings[] = {
        "target-cpu",  "target-features",       "tune-cpu",
        "probe-stack", "stack-protector-guard", "split-stack"};
    static const char *const enums[] = {"ssp",
                                        "sspreq",
                                        "sspstrong",
                                        "uwtable",
                                        "safestack",
                                        "sanitize_address",
                                        "sanitize_thread",
                                        "sanitize_memory",
                                        "sanitize_hwaddress",
                                        "sanitize_memtag",
                                        "shadowcallstack"};
    static const char nounwind[] = "nounwind";
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned kind =
        LLVMGetEnumAttributeKindForName(nounwind, sizeof nounwind - 1);

    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        LLVMRemoveStringAttributeAtIndex(function, self, strings[i],
                                         (unsigned)strlen(strings[i]));
    for (size_t i = 0; i < sizeof enums / sizeof enums[0]; i++)
        LLVMRemoveEnumAttributeAtIndex(
            function, self,
            LLVMGetEnumAttributeKindForName(enums[i], strlen(enums[i])));
    LLVMAddAttributeAtIndex(function, self,
                            LLVMCreateEnumAttribute(job->context, kind, 0));
}

static kiln_status check_function(kiln__codegen_job *job, LLVMValueRef function)
{
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);
    const char *section = LLVMGetSection(function);

    if (LLVMIsDeclaration(function)) {
        if (strncmp(name, "llvm.", 5) == 0 && LLVMGetIntrinsicID(function) == 0)
            return refuse(job, "function", name, "there is no such intrinsic");
        return KILN_OK;
    }
    if (LLVMHasPersonalityFn(function))
        return refuse(job, "function", name, "it handles C++ exceptions");
    if (LLVMGetGC(function) != NULL)
        return refuse(job, "function", name, "it names a garbage collector");
    if (LLVMHasPrefixData(function) || LLVMHasPrologueData(function))
        return refuse(job, "function", name, "it has data in front");
    if (section != NULL && *section != '\0')
        return refuse(job, "function", name, "it names a section");
    LLVMSetComdat(function, NULL);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMSetVisibility(function, LLVMDefaultVisibility);
    normalise_attributes(job, function);
    return check_body(job, function, name);
}

kiln_status kiln__foreign_check(kiln__codegen_job *job)
{
    LLVMValueRef value;
    LLVMValueRef next;
    size_t size = 0;

    LLVMGetModuleInlineAsm(job->module, &size);
    if (size > 0)
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module contains assembly");
    value = LLVMGetFirstGlobalIFunc(job->module);
    if (value != NULL)
        return refuse(job, "ifunc", LLVMGetValueName2(value, &size),
                      "it is resolved by a loader");
    for (value = LLVMGetFirstGlobalAlias(job->module); value != NULL;
         value = LLVMGetNextGlobalAlias(value))
        LLVMSetLinkage(value, LLVMInternalLinkage);
    for (value = LLVMGetFirstGlobal(job->module); value != NULL; value = next) {
        next = LLVMGetNextGlobal(value);
        KILN_TRY(check_global(job, value));
    }
    for (value = LLVMGetFirstFunction(job->module); value != NULL;
         value = LLVMGetNextFunction(value))
        KILN_TRY(check_function(job, value));
    return KILN_OK;
}
