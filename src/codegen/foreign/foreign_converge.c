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

/* The functions that are marked, in the order in which they were found. */
typedef struct marked {
    LLVMValueRef *functions;
    size_t count;
} marked;

static void mark(marked *m, LLVMValueRef function)
{
    kiln__add_attribute(function, convergent);
    m->functions[m->count++] = function;
}

/* Marks those that call the function, unless they are. */
static void mark_callers(marked *m, LLVMValueRef function)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);
        LLVMValueRef caller;

        if (LLVMIsACallInst(user) == NULL ||
            LLVMGetCalledValue(user) != function)
            continue;
        caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        if (!kiln__has_attribute(caller, convergent))
            mark(m, caller);
    }
}

static size_t count_functions(const kiln__codegen_job *job)
{
    size_t count = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        count++;
    return count;
}

/* True for a function whose callers are marked whatever they are. */
static int is_first(LLVMValueRef f)
{
    size_t size;

    return LLVMGetIntrinsicID(f) == 0 &&
           (kiln__has_attribute(f, convergent) ||
            (LLVMIsDeclaration(f) &&
             kiln__foreign_is_collective(LLVMGetValueName2(f, &size))));
}

kiln_status kiln__foreign_mark_convergent(kiln__codegen_job *job)
{
    marked m = {.functions = kiln__arena_allocate_array(
                    &job->arena, count_functions(job), sizeof *m.functions)};

    if (m.functions == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (LLVMValueRef f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (is_first(f))
            mark(&m, f);
    for (size_t i = 0; i < m.count; i++)
        mark_callers(&m, m.functions[i]);
    return KILN_OK;
}
