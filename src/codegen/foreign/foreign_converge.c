/* foreign_converge.c - marks what the items of a group execute together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"

/*
 * A pass must not move a barrier under a condition, nor out of one. LLVM knows
 * that of calls with the attribute `convergent`. A frontend may have forgotten
 * it, so it is set on every collective device function and, by way of their
 * callers, on every function that reaches one. A function whose address is
 * taken is not followed: if it needs the running item, the module is refused,
 * and a bound module has the attribute where its frontend needs it.
 */

static const char convergent[] = "convergent";

static int mark(const kiln__codegen_job *job, LLVMValueRef function)
{
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned kind =
        LLVMGetEnumAttributeKindForName(convergent, sizeof convergent - 1);

    if (LLVMGetEnumAttributeAtIndex(function, self, kind) != NULL)
        return 0;
    LLVMAddAttributeAtIndex(function, self,
                            LLVMCreateEnumAttribute(job->context, kind, 0));
    return 1;
}

/* Marks those that call the function; returns how many were not marked. */
static int mark_callers(const kiln__codegen_job *job, LLVMValueRef function)
{
    int marked = 0;
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsACallInst(user) != NULL &&
            LLVMGetCalledValue(user) == function)
            marked += mark(
                job, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
    }
    return marked;
}

static int is_convergent(LLVMValueRef function)
{
    return LLVMGetEnumAttributeAtIndex(
               function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
               LLVMGetEnumAttributeKindForName(convergent,
                                               sizeof convergent - 1)) != NULL;
}

void kiln__foreign_mark_convergent(kiln__codegen_job *job)
{
    int marked;
    LLVMValueRef f;
    size_t size;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) &&
            kiln__foreign_is_collective(LLVMGetValueName2(f, &size)))
            (void)mark(job, f);
    do {
        marked = 0;
        for (f = LLVMGetFirstFunction(job->module); f != NULL;
             f = LLVMGetNextFunction(f))
            if (LLVMGetIntrinsicID(f) == 0 && is_convergent(f))
                marked += mark_callers(job, f);
    } while (marked > 0);
}
