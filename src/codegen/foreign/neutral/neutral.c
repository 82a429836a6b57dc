/* neutral.c - turns a neutral module into the bound form. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/foreign/neutral/neutral.h"
#include "base/error.h"
#include "codegen/module/codegen_stages.h"

/*
 * The order of the passes. Each one leaves a module that LLVM's verifier
 * accepts.
 */

int kiln__neutral_is(LLVMValueRef entry)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(entry);

    return LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind;
}

/* Tells all that is wrong at once, before anything is changed. */
static kiln_status check(kiln__codegen_job *job, LLVMValueRef entry)
{
    kiln__foreign_findings found = {.job = job, .entry = entry};

    KILN_TRY(kiln__neutral_check_entry(&found));
    KILN_TRY(kiln__neutral_check_layout(&found));
    KILN_TRY(kiln__neutral_check_spaces(&found));
    KILN_TRY(kiln__neutral_check_scopes(&found));
    return kiln__foreign_tell(&found);
}

kiln_status kiln__neutral_adapt(kiln__codegen_job *job, LLVMValueRef *entry)
{
    LLVMValueRef inner;
    int gathered;

    KILN_TRY(check(job, *entry));
    KILN_TRY(kiln__neutral_choose_addresses(job));
    KILN_TRY(kiln__neutral_gather(job, *entry, &gathered));
    KILN_TRY(kiln__neutral_raise(job));
    inner = LLVMGetNamedFunction(job->module, job->request->entry);
    if (gathered)
        KILN_TRY(kiln__neutral_meet(job, inner));
    KILN_TRY(kiln__neutral_map_spaces(job));
    KILN_TRY(kiln__neutral_fences(job));
    KILN_TRY(kiln__neutral_map_scopes(job));
    KILN_TRY(kiln__neutral_dynamic_memory(job));
    kiln__target_describe(job);
    inner = LLVMGetNamedFunction(job->module, job->request->entry);
    kiln__neutral_copy_aggregates(job, inner);
    KILN_TRY(kiln__neutral_pass_item(job, &inner));
    return kiln__neutral_bind_entry(job, inner, entry);
}
