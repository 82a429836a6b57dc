/* foreign_forget.c - forgets what a frontend said of memory accesses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/module/codegen_values.h"

/*
 * A frontend may declare that asking for an id reads no memory, and its
 * optimiser then says the same of every function that asks for one. But the
 * code built in place of the call reads the item, which the host changes from
 * item to item. So all functions that reach such a call lose what was said of
 * their memory accesses, and LLVM infers again what is true.
 */

static const char *const said_of_memory[] = {"memory", "readnone", "readonly",
                                             "speculatable", "writeonly"};
#define SAID (sizeof said_of_memory / sizeof said_of_memory[0])

static void forget_memory(LLVMValueRef of, unsigned count)
{
    const int is_function = LLVMIsAFunction(of) != NULL;
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    for (size_t i = 0; i < SAID; i++) {
        const unsigned kind = kiln__attribute_kind(said_of_memory[i]);

        for (unsigned at = 0; at <= count + 1; at++) {
            const LLVMAttributeIndex index = at <= count ? at : self;

            if (is_function)
                LLVMRemoveEnumAttributeAtIndex(of, index, kind);
            else
                LLVMRemoveCallSiteEnumAttribute(of, index, kind);
        }
    }
}

typedef struct reaching {
    kiln__codegen_job *job;
    LLVMValueRef *functions; /* functions that reach a device function */
    size_t count;
    int is_address_taken; /* the address of one of them is taken */
} reaching;

static void add_reaching(reaching *r, LLVMValueRef function)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->functions[i] == function)
            return;
    r->functions[r->count++] = function;
}

/* Adds the functions that use the function; calls of it lose their
   attributes. */
static void add_users(reaching *r, LLVMValueRef function)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function)
            forget_memory(user, LLVMGetNumArgOperands(user));
        else
            r->is_address_taken = 1;
        if (LLVMIsAInstruction(user))
            add_reaching(
                r, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
    }
}

static void forget_all(const kiln__codegen_job *job)
{
    LLVMValueRef f, i;
    LLVMBasicBlockRef b;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        forget_memory(f, LLVMCountParams(f));
        for (b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (i = LLVMGetFirstInstruction(b); i != NULL;
                 i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i) &&
                    !LLVMIsAFunction(LLVMGetCalledValue(i)))
                    forget_memory(i, LLVMGetNumArgOperands(i));
    }
}

static size_t count_functions(const kiln__codegen_job *job)
{
    size_t count = 0;
    LLVMValueRef at;

    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        count++;
    return count;
}

kiln_status kiln__foreign_forget_memory(kiln__codegen_job *job,
                                        LLVMValueRef function)
{
    reaching r = {.job = job};

    r.functions = kiln__arena_allocate_array(
        &job->arena, count_functions(job) + 1, sizeof *r.functions);
    if (r.functions == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    add_users(&r, function);
    for (size_t i = 0; i < r.count; i++) {
        forget_memory(r.functions[i], LLVMCountParams(r.functions[i]));
        add_users(&r, r.functions[i]);
    }
    if (r.is_address_taken)
        forget_all(job);
    return KILN_OK;
}
