/* foreign_converge.c - marks what the items of a group execute together. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A pass must not move a barrier under a condition, nor out of one. LLVM knows
 * that of calls with the attribute `convergent`. A frontend may have forgotten
 * it, so it is set on every collective device function and, by way of their
 * callers, on every function that reaches one. A function whose address is
 * taken is not followed: if it needs the running item, the module is refused,
 * and a bound module has the attribute where its frontend needs it.
 */

static const char convergent[] = "convergent";

static int mark(LLVMValueRef function)
{
    if (kiln__has_attribute(function, convergent))
        return 0;
    kiln__add_attribute(function, convergent);
    return 1;
}

/* Marks those that call the function; returns how many were not marked. */
static int mark_callers(LLVMValueRef function)
{
    int marked = 0;
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsACallInst(user) != NULL &&
            LLVMGetCalledValue(user) == function)
            marked +=
                mark(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
    }
    return marked;
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
            (void)mark(f);
    do {
        marked = 0;
        for (f = LLVMGetFirstFunction(job->module); f != NULL;
             f = LLVMGetNextFunction(f))
            if (LLVMGetIntrinsicID(f) == 0 &&
                kiln__has_attribute(f, convergent))
                marked += mark_callers(f);
    } while (marked > 0);
}
