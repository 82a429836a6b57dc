/* neutral_item.c - passes the running item to all functions that need it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"

/*
 * A neutral module's functions ask for ids without naming the item. Here each
 * function that reaches a device function, through any number of calls, gets
 * the item as its first parameter, and so do the device functions themselves.
 * Other functions stay as they are. A pointer to a function that needs the item
 * cannot be called, because nobody would pass the item.
 */

static const char device_prefix[] = "kiln_";

/* A function that needs the item, before and after it got the parameter. */
typedef struct needing {
    LLVMValueRef old;
    LLVMValueRef with_item;
    LLVMValueRef callee; /* why it needs the item; NULL: it is the reason */
} needing;

typedef struct passing {
    kiln__codegen_job *job;
    needing *functions;
    size_t count;
} passing;

/* ---- which functions need the item ---- */

static int is_device_function(LLVMValueRef function)
{
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);

    return LLVMIsDeclaration(function) &&
           strncmp(name, device_prefix, sizeof device_prefix - 1) == 0 &&
           strncmp(name, KILN__SITE_PREFIX, sizeof KILN__SITE_PREFIX - 1) != 0;
}

static void add_needing(passing *p, LLVMValueRef function, LLVMValueRef callee)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->functions[i].old == function)
            return;
    p->functions[p->count++] = (needing){.old = function, .callee = callee};
}

/* Returns the function that the use is a direct call in, or NULL. */
static LLVMValueRef caller_of(LLVMValueRef user, LLVMValueRef callee)
{
    const int is_call =
        LLVMIsACallInst(user) != NULL && LLVMGetCalledValue(user) == callee;
    unsigned arguments;

    if (!is_call)
        return NULL;
    arguments = LLVMGetNumArgOperands(user);
    for (unsigned i = 0; i < arguments; i++)
        if (LLVMGetOperand(user, i) == callee)
            return NULL;
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
}

static kiln_status refuse_pointer(const passing *p, const needing *n)
{
    const char *why;

    if (n->callee == NULL)
        return kiln__job_fail(p->job, KILN_ECODEGEN,
                              "device function '%s': it may be called only",
                              kiln__plain_name(p->job, n->old));
    why = kiln__arena_format(&p->job->arena,
                             "its address is taken, and it calls '%s', which "
                             "needs the running item",
                             kiln__plain_name(p->job, n->callee));
    return kiln__foreign_refuse(p->job, "function", n->old,
                                why != NULL ? why : "its address is taken");
}

static kiln_status add_callers(passing *p, size_t at)
{
    const needing *n = &p->functions[at];
    const LLVMValueRef callee = n->old;
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(callee); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef caller = caller_of(LLVMGetUser(use), callee);

        if (caller == NULL)
            return refuse_pointer(p, n);
        add_needing(p, caller, callee);
    }
    return KILN_OK;
}

static kiln_status find_needing(passing *p, LLVMValueRef entry)
{
    kiln__foreign_findings found = {.job = p->job, .entry = entry};
    size_t count = 0;
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(p->job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        count++;
    p->functions =
        kiln__arena_allocate_array(&p->job->arena, count, sizeof *p->functions);
    if (p->functions == NULL)
        return kiln__job_fail(p->job, KILN_ENOMEM, "out of memory");
    p->functions[p->count++] = (needing){.old = entry, .callee = entry};
    for (f = LLVMGetFirstFunction(p->job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (is_device_function(f))
            add_needing(p, f, NULL);
    for (size_t i = 0; i < p->count; i++)
        KILN_TRY(kiln__foreign_finding(&found, add_callers(p, i),
                                       p->functions[i].old, NULL));
    return kiln__foreign_tell(&found);
}

/* ---- the parameter ---- */

static void pass_in_calls(const needing *n)
{
    LLVMUseRef use;

    while ((use = LLVMGetFirstUse(n->old)) != NULL) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMValueRef caller =
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));

        kiln__llvm_prepend_argument(call, n->with_item,
                                    LLVMGetParam(caller, 0));
    }
    LLVMDeleteFunction(n->old);
}

kiln_status kiln__neutral_pass_item(kiln__codegen_job *job, LLVMValueRef *entry)
{
    const LLVMTypeRef item = kiln__job_item_pointer(job);
    passing p = {.job = job};

    KILN_TRY(find_needing(&p, *entry));
    for (size_t i = 0; i < p.count; i++)
        p.functions[i].with_item =
            kiln__llvm_prepend_parameter(p.functions[i].old, item);
    for (size_t i = 0; i < p.count; i++)
        pass_in_calls(&p.functions[i]);
    *entry = p.functions[0].with_item;
    return KILN_OK;
}
