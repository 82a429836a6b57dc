/* codegen_split.c - the checked kernel in a module of its own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_parts.h"

/*
 * A kernel with a proof runs its checked body for the few groups that are not
 * proved. Making that body fast would take most of the time that the job does,
 * so it goes to a second module, whose code is made quickly; the linker joins
 * the two. Each module is the whole one, less the other's kernel: what only
 * that one needed is dropped by the first pass.
 */

/* Defined in the other object of the image, and seen by nobody else. */
static void share(LLVMValueRef function)
{
    LLVMSetLinkage(function, LLVMExternalLinkage);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
}

static void copy_attributes(LLVMValueRef from, LLVMValueRef to)
{
    const unsigned count = LLVMCountParams(from);

    for (unsigned i = 0; i <= count + 1; i++) {
        /* The function's own have the largest number. */
        const LLVMAttributeIndex at =
            i <= count ? i : (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
        LLVMAttributeRef list[32];
        const unsigned n = LLVMGetAttributeCountAtIndex(from, at);

        if (n > sizeof list / sizeof *list)
            continue;
        LLVMGetAttributesAtIndex(from, at, list);
        for (unsigned k = 0; k < n; k++)
            LLVMAddAttributeAtIndex(to, at, list[k]);
    }
}

/* Leaves a declaration in the place of the function. */
static void declare_only(kiln__codegen_job *job, LLVMValueRef function)
{
    size_t size;
    const char *name = kiln__arena_format(&job->arena, "%s",
                                          LLVMGetValueName2(function, &size));
    LLVMValueRef declaration =
        LLVMAddFunction(job->module, "", LLVMGlobalGetValueType(function));

    copy_attributes(function, declaration);
    LLVMReplaceAllUsesWith(function, declaration);
    LLVMDeleteFunction(function);
    if (name == NULL)
        (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    else
        LLVMSetValueName2(declaration, name, size);
    share(declaration);
}

kiln_status kiln__split_checked(kiln__codegen_job *job)
{
    size_t size;
    const char *name;

    if (job->checked_kernel == NULL)
        return KILN_OK;
    name = LLVMGetValueName2(job->checked_kernel, &size);
    job->checked_module = LLVMCloneModule(job->module);
    share(LLVMGetNamedFunction(job->checked_module, name));
    LLVMDeleteFunction(
        LLVMGetNamedFunction(job->checked_module, job->request->entry));
    declare_only(job, job->checked_kernel);
    job->checked_kernel = NULL;
    return job->status;
}
