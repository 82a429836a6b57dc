/* foreign.c - turns a module of another frontend into the job's own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/math/foreign_math.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/groups/groups.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * The module is parsed, verified, trimmed and checked (kiln/sys/frontend.h,
 * "The module"). Then its entry becomes the item function, and calls of device
 * functions become code of the backend. After that nothing distinguishes it
 * from a module that Kiln lowered.
 */

/* Parts that a struct may have: a kernel has no use for more, and each of them
   takes time at each use. */
#define PARTS_MAX 65536

static kiln_status parse(kiln__codegen_job *job)
{
    const kiln__codegen_request *request = job->request;
    const size_t head =
        kiln__foreign_head(request->module, request->module_size);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        (const char *)request->module + head, request->module_size - head,
        "module");
    char *layout = LLVMCopyStringRepOfTargetData(job->layout);
    char *message = NULL;
    int is_invalid = 0;
    LLVMModuleRef module = kiln__llvm_read_module(job->context, buffer, layout,
                                                  &is_invalid, &message);

    LLVMDisposeMessage(layout);
    if (module == NULL)
        return kiln__job_fail_llvm(job, KILN_ECODEGEN,
                                   is_invalid ? "invalid LLVM IR" : "LLVM IR",
                                   message);
    LLVMDisposeModule(job->module);
    job->module = module;
    if (kiln__llvm_has_large_type(module, PARTS_MAX))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "a struct of the module has more than %d parts",
                              PARTS_MAX);
    if (head > 0 && job->status == KILN_OK)
        return kiln__foreign_wrap(job, request->module);
    return job->status;
}

/* Sets the module's target. If it has a data layout, that must be the target's,
   since its code contains offsets that depend on the layout. */
static kiln_status set_target(kiln__codegen_job *job)
{
    char *layout = LLVMCopyStringRepOfTargetData(job->layout);
    const char *given = LLVMGetDataLayoutStr(job->module);

    if (strcmp(given, layout) != 0)
        kiln__job_fail(job, KILN_ECODEGEN,
                       "data layout '%s' of the module is not the target's "
                       "'%s'",
                       given, layout);
    LLVMDisposeMessage(layout);
    kiln__target_describe(job);
    return job->status;
}

/* Some targets refuse what neutral modules may have, allocas in generic memory
   for example. So a neutral module has no target until it is adapted. */
static kiln_status choose_target(kiln__codegen_job *job, LLVMValueRef entry)
{
    if (entry == NULL || !kiln__neutral_is(entry))
        return set_target(job);
    LLVMSetTarget(job->module, "");
    return KILN_OK;
}

static kiln_status verify(kiln__codegen_job *job)
{
    char *message = NULL;

    if (LLVMVerifyModule(job->module, LLVMReturnStatusAction, &message) != 0)
        return kiln__job_fail_llvm(job, KILN_ECODEGEN, "invalid LLVM IR",
                                   message);
    LLVMDisposeMessage(message);
    return KILN_OK;
}

/* Only Kiln's own passes make calls of these. */
static kiln_status refuse_own_names(kiln__codegen_job *job)
{
    static const char *const names[] = {KILN__DEVICE_MEET, KILN__DEVICE_RAISED};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (LLVMGetNamedFunction(job->module, names[i]) != NULL ||
            LLVMGetNamedGlobal(job->module, names[i]) != NULL ||
            LLVMGetNamedGlobalAlias(job->module, names[i], strlen(names[i])) !=
                NULL)
            return kiln__foreign_refuse_call(
                job, names[i], "the module may not have such a name");
    return KILN_OK;
}

/* ---- the entry ---- */

static kiln_status check_type(kiln__codegen_job *job, LLVMValueRef entry)
{
    LLVMTypeRef wanted = kiln__parameters_function_type(job);
    LLVMTypeRef given = LLVMGlobalGetValueType(entry);
    char *wanted_text;
    char *given_text;

    if (wanted == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    if (wanted == given)
        return KILN_OK;
    wanted_text = LLVMPrintTypeToString(wanted);
    given_text = LLVMPrintTypeToString(given);
    kiln__job_fail(job, KILN_ECODEGEN,
                   "entry '%s' is %s and must be %s, or return void",
                   job->request->entry, given_text, wanted_text);
    LLVMDisposeMessage(given_text);
    LLVMDisposeMessage(wanted_text);
    return job->status;
}

/* Refuses attributes by which a parameter is not passed as its type says. Only
   a neutral entry may have the first one. */
static kiln_status check_attributes(kiln__codegen_job *job, LLVMValueRef entry)
{
    static const char *const names[] = {
        "byval",        "byref", "sret",       "inreg",     "inalloca",
        "preallocated", "nest",  "swifterror", "swiftself", "swiftasync"};
    const unsigned count = LLVMCountParams(entry);

    for (size_t i = kiln__neutral_is(entry) ? 1 : 0;
         i < sizeof names / sizeof names[0]; i++) {
        const unsigned kind = kiln__attribute_kind(names[i]);

        for (unsigned index = 1; kind != 0 && index <= count; index++)
            if (LLVMGetEnumAttributeAtIndex(entry, index, kind) != NULL)
                return kiln__job_fail(job, KILN_ECODEGEN,
                                      "entry '%s': parameter %u is '%s'",
                                      job->request->entry, index, names[i]);
    }
    return KILN_OK;
}

/* A neutral entry may be one of SPIR's, which kiln__foreign_trim() makes one of
   C's. */
static int is_entry_convention(LLVMValueRef entry)
{
    const unsigned convention = LLVMGetFunctionCallConv(entry);

    return convention == LLVMCCallConv ||
           (kiln__neutral_is(entry) && (convention == 75 || convention == 76));
}

static kiln_status check_entry(kiln__codegen_job *job, LLVMValueRef entry)
{
    if (entry == NULL || LLVMIsDeclaration(entry))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module does not define '%s'",
                              job->request->entry);
    if (!is_entry_convention(entry))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "entry '%s' has not C's calling convention",
                              job->request->entry);
    if (!kiln__neutral_is(entry))
        KILN_TRY(check_type(job, entry));
    return check_attributes(job, entry);
}

int kiln__foreign_may_fail(LLVMValueRef function)
{
    LLVMBasicBlockRef block;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        LLVMValueRef value;

        if (LLVMGetInstructionOpcode(end) != LLVMRet)
            continue;
        value = LLVMGetOperand(end, 0);
        if (!LLVMIsAConstantInt(value) || LLVMConstIntGetZExtValue(value) != 0)
            return 1;
    }
    return 0;
}

/* Makes the entry the job's item function: internal, and inlined if it can
   be. */
static kiln_status adopt(kiln__codegen_job *job, LLVMValueRef entry)
{
    const char *name =
        kiln__arena_format(&job->arena, "%s.item", job->request->entry);

    if (name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    LLVMSetValueName2(entry, name, strlen(name));
    LLVMSetLinkage(entry, LLVMInternalLinkage);
    kiln__inline_unless_recursive(entry);
    job->item_function = entry;
    job->can_fail = kiln__foreign_may_fail(entry);
    return KILN_OK;
}

/* A neutral module is verified again, so that a mistake of the passes that
   adapted it is an error and not wrong code. */
static kiln_status adapt(kiln__codegen_job *job, LLVMValueRef *entry)
{
    KILN_TRY(kiln__neutral_adapt(job, entry));
    return verify(job);
}

/* ---- from bytes to a module of the target ---- */

static kiln_status read_module(kiln__codegen_job *job, LLVMValueRef *entry)
{
    KILN_TRY(kiln__parameters_read(job));
    KILN_TRY(parse(job));
    *entry = LLVMGetNamedFunction(job->module, job->request->entry);
    KILN_TRY(choose_target(job, *entry));
    KILN_TRY(verify(job));
    KILN_TRY(refuse_own_names(job));
    KILN_TRY(check_entry(job, *entry));
    if (kiln__neutral_is(*entry))
        KILN_TRY(kiln__neutral_end_programs(job));
    kiln__foreign_guard_divisions(job);
    kiln__foreign_keep_roundings(job);
    KILN_TRY(kiln__foreign_mark_convergent(job));
    return kiln__foreign_trim(job, *entry);
}

static kiln_status check_module(kiln__codegen_job *job, LLVMValueRef entry)
{
    KILN_TRY(kiln__foreign_math(job));
    kiln__foreign_define_memory(job);
    KILN_TRY(kiln__foreign_check(job, entry));
    if (job->settings->debug_level == KILN_DEBUG_NONE)
        LLVMStripModuleDebugInfo(job->module); /* findings have told it */
    return kiln__foreign_sites(job);
}

kiln_status kiln__foreign_lower(kiln__codegen_job *job)
{
    LLVMValueRef entry;

    KILN_TRY(read_module(job, &entry));
    if (kiln__neutral_is(entry))
        KILN_TRY(adapt(job, &entry));
    KILN_TRY(check_module(job, entry));
    KILN_TRY(kiln__foreign_bind_collectives(job));
    KILN_TRY(kiln__groups_lower(job, &entry));
    KILN_TRY(kiln__foreign_bind(job));
    return adopt(job, entry);
}

/* ---- a function that other code calls ---- */

/* Returns why no other code can call a function that refers to the global, or
   NULL. The caller may be at any place of a group's loops, and need not be
   reached by all items. */
static const char *refused_alone(const kiln__codegen_job *job,
                                 LLVMValueRef global)
{
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);

    if (LLVMGetFirstUse(global) == NULL)
        return NULL;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == KILN__SHARED_SPACE ||
        (LLVMIsDeclaration(global) && (kiln__foreign_is_collective(name) ||
                                       kiln__foreign_asks_for_memory(name))))
        return "items of a group execute it together";
    if (kiln__foreign_allocates(name))
        return "it allocates";
    return kiln__foreign_is_site(job, global) ? "it refers to host objects"
                                              : NULL;
}

static kiln_status check_alone(kiln__codegen_job *job)
{
    const char *why = NULL;
    LLVMValueRef at;

    for (at = LLVMGetFirstFunction(job->module); at != NULL && why == NULL;
         at = LLVMGetNextFunction(at))
        why = refused_alone(job, at);
    for (at = LLVMGetFirstGlobal(job->module); at != NULL && why == NULL;
         at = LLVMGetNextGlobal(at))
        why = refused_alone(job, at);
    if (why == NULL)
        return KILN_OK;
    return kiln__job_fail(job, KILN_EUNSUPPORTED,
                          "%s, so code of another language cannot call it",
                          why);
}

kiln_status kiln__foreign_adapt_function(kiln__codegen_job *job,
                                         LLVMValueRef *entry)
{
    KILN_TRY(read_module(job, entry));
    if (!kiln__neutral_is(*entry))
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "only a module in the neutral form has functions "
                              "that other code can call");
    KILN_TRY(check_alone(job));
    KILN_TRY(adapt(job, entry));
    KILN_TRY(check_module(job, *entry));
    KILN_TRY(kiln__foreign_bind(job));
    kiln__inline_unless_recursive(*entry);
    return job->status;
}
