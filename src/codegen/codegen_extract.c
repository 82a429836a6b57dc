/* codegen_extract.c - extracts one function of a library with all that it
   needs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/generate.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_stages.h"

/*
 * The wanted function is declared in an empty module, and that module is linked
 * with the library. LLVM then reads only what the function needs: a library of
 * ten thousand functions is not read for one of them. The result is checked
 * like any other foreign code. All names but the wanted one are hidden, and the
 * wanted function gets the name that the request asks for.
 */

static LLVMModuleRef open_library(kiln__codegen_job *job)
{
    const kiln__codegen_request *request = job->request;
    /* LLVM requires a NUL after the buffer. libkiln appends one to its
       bytes. */
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
        request->module, request->module_size, request->library, 1);
    char *message = NULL;
    LLVMModuleRef library =
        kiln__llvm_read_lazily(job->context, buffer, &message);

    if (library == NULL) {
        kiln__join_lines(message);
        (void)kiln__job_fail(job, KILN_ECORRUPT, "library %s: %s",
                             request->library, message);
        LLVMDisposeMessage(message);
    }
    return library;
}

static kiln_status find_wanted(kiln__codegen_job *job, LLVMModuleRef library,
                               LLVMValueRef *out)
{
    const char *name = job->request->wanted;
    const char *problem = "is not defined";
    char shown[2 * KILN__MANGLED_NAME_SIZE];
    kiln__mangled_name mangled;

    *out = LLVMGetNamedFunction(library, name);
    if (*out != NULL && !LLVMIsDeclaration(*out))
        return KILN_OK;
    if (kiln__mangled_read(&mangled, name)) {
        kiln__mangled_show(shown, sizeof shown, &mangled);
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "undefined function '%s': neither the module nor "
                              "library %s defines '%s'",
                              shown, job->request->library, name);
    }
    if (LLVMGetNamedGlobal(library, name) != NULL)
        problem = "is a variable";
    else if (LLVMGetNamedGlobalAlias(library, name, strlen(name)) != NULL)
        problem = "is an alias";
    return kiln__job_fail(job, KILN_ENOTFOUND, "library %s: '%s' %s",
                          job->request->library, name, problem);
}

/* Makes the closure of the wanted function the job's module. */
static kiln_status take_closure(kiln__codegen_job *job, LLVMModuleRef library)
{
    LLVMValueRef wanted = NULL;

    if (find_wanted(job, library, &wanted) != KILN_OK) {
        LLVMDisposeModule(library);
        return job->status;
    }
    LLVMSetTarget(job->module, LLVMGetTarget(library));
    LLVMSetDataLayout(job->module, LLVMGetDataLayoutStr(library));
    (void)LLVMAddFunction(job->module, job->request->wanted,
                          LLVMGlobalGetValueType(wanted));
    if (kiln__llvm_link_needed(job->module, library) != 0)
        return kiln__job_fail(job, KILN_ECORRUPT,
                              "library %s: '%s' cannot be read",
                              job->request->library, job->request->wanted);
    return job->status;
}

static kiln_status verify(kiln__codegen_job *job)
{
    char *message = NULL;

    if (LLVMVerifyModule(job->module, LLVMReturnStatusAction, &message) != 0)
        return kiln__job_fail_llvm(job, KILN_ECORRUPT, "invalid LLVM IR",
                                   message);
    LLVMDisposeMessage(message);
    return KILN_OK;
}

kiln_status kiln__closure_extract(kiln__codegen_job *job)
{
    const char *name = job->request->entry;
    LLVMModuleRef library = open_library(job);
    LLVMValueRef wanted;

    if (library == NULL)
        return job->status;
    KILN_TRY(take_closure(job, library));
    LLVMStripModuleDebugInfo(job->module);
    KILN_TRY(verify(job));
    wanted = LLVMGetNamedFunction(job->module, job->request->wanted);
    KILN_TRY(kiln__foreign_trim(job, wanted));
    KILN_TRY(kiln__foreign_check(job, wanted));
    LLVMSetValueName2(wanted, name, strlen(name));
    return job->status;
}
