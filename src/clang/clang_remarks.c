/* clang_remarks.c - removes what attributes say to other tools. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Core.h>

#include "clang/clang_job.h"

/*
 * Clang makes lists of what has the attributes "annotate" and "used", and so
 * on, and calls that stand for annotated variables and values. They tell no
 * kernel anything, and refer to functions that Kiln replaces.
 */

static void drop_lists(LLVMModuleRef module)
{
    LLVMValueRef next;

    for (LLVMValueRef at = LLVMGetFirstGlobal(module); at != NULL; at = next) {
        next = LLVMGetNextGlobal(at);
        if (LLVMGetLinkage(at) == LLVMAppendingLinkage)
            LLVMDeleteGlobal(at);
    }
}

static int is_annotation(LLVMValueRef function)
{
    static const char *const names[] = {
        "llvm.annotation", "llvm.ptr.annotation", "llvm.var.annotation"};
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return 1;
    return 0;
}

/* The value of such a call is its first argument. */
static void drop_calls(LLVMValueRef function)
{
    LLVMUseRef use;

    while ((use = LLVMGetFirstUse(function)) != NULL) {
        LLVMValueRef call = LLVMGetUser(use);

        if (LLVMGetFirstUse(call) != NULL)
            LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(function);
}

void kiln__clang_module_drop_remarks(LLVMModuleRef module)
{
    LLVMValueRef next;

    drop_lists(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        if (is_annotation(f))
            drop_calls(f);
    }
}
