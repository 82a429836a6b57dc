/* neutral_atomics.c - gives a neutral module's atomics the target's scopes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"

/*
 * Every target has its own names of scopes. For a name that it does not know,
 * code generation takes another scope, or ends the process. Neutral modules
 * have these: `subgroup`, `workgroup`, `agent` (or `device`, as clang calls it
 * for SPIR), and the system, which has no name. A single thread has the same
 * name everywhere.
 */

#define NAME_MAX_SIZE 64

/* Returns the target's name of a scope, or NULL: there is no such scope. */
static const char *name_for(const kiln__codegen_job *job, const char *name)
{
    const kiln__neutral_scopes *scopes = job->backend->foreign->neutral_scopes;

    if (*name == '\0' || strcmp(name, "singlethread") == 0)
        return name;
    if (strcmp(name, "subgroup") == 0)
        return scopes == NULL ? "" : scopes->sub_group;
    if (strcmp(name, "workgroup") == 0)
        return scopes == NULL ? "" : scopes->group;
    if (strcmp(name, "agent") == 0 || strcmp(name, "device") == 0)
        return scopes == NULL ? "" : scopes->device;
    return NULL;
}

static int is_atomic(LLVMValueRef at)
{
    if (LLVMIsALoadInst(at) != NULL || LLVMIsAStoreInst(at) != NULL)
        return LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic;
    return LLVMIsAFenceInst(at) != NULL || LLVMIsAAtomicRMWInst(at) != NULL ||
           LLVMIsAAtomicCmpXchgInst(at) != NULL;
}

/* Returns the target's name of an atomic's scope, or fails the job. */
static const char *find_scope(kiln__codegen_job *job, LLVMValueRef function,
                              LLVMValueRef atomic)
{
    char name[NAME_MAX_SIZE];
    const char *given = kiln__llvm_scope_name(
        job->context, LLVMGetAtomicSyncScopeID(atomic), name, sizeof name);
    const char *wanted = given != NULL ? name_for(job, given) : NULL;

    if (wanted == NULL)
        (void)kiln__job_fail(
            job, KILN_ECODEGEN,
            "function '%s' of the module: it has atomics of the scope '%s'; "
            "there are 'subgroup', 'workgroup', 'agent' and the system's, "
            "which has no name",
            kiln__plain_name(job, function), given != NULL ? given : "?");
    /* The name of a single thread is as it was given. */
    return wanted == given && wanted != NULL
               ? kiln__arena_text(&job->arena, given)
               : wanted;
}

/* Finds the scopes that have no meaning, or gives the others their names. */
static kiln_status visit(kiln__foreign_findings *found, LLVMValueRef function,
                         int map)
{
    kiln__codegen_job *job = found->job;
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at)) {
            const char *scope;

            if (!is_atomic(at))
                continue;
            scope = find_scope(job, function, at);
            KILN_TRY(kiln__foreign_finding(found, job->status, function, at));
            if (map && scope != NULL)
                LLVMSetAtomicSyncScopeID(
                    at, LLVMGetSyncScopeID(job->context, scope, strlen(scope)));
        }
    return KILN_OK;
}

static kiln_status visit_all(kiln__foreign_findings *found, int map)
{
    LLVMValueRef function;

    for (function = LLVMGetFirstFunction(found->job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        KILN_TRY(visit(found, function, map));
    return KILN_OK;
}

kiln_status kiln__neutral_check_scopes(kiln__foreign_findings *found)
{
    return visit_all(found, 0);
}

kiln_status kiln__neutral_map_scopes(kiln__codegen_job *job)
{
    kiln__foreign_findings found = {.job = job};

    return visit_all(&found, 1);
}
