/* foreign_idioms.c - which functions of C the passes may make of loops. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/foreign/foreign.h"

/*
 * LLVM knows some loops by what they do, whoever wrote them, and calls C's
 * function in their place. Images may import those that fill, copy and compare
 * memory, and targets without a C library never get any. But nothing gives an
 * image the functions that look for a zero at the end of a text, and a search
 * of a few bytes in an item's own array is no call either. Whatever else the
 * passes make are functions in place of others that were called by name.
 *
 * LLVM reads these attributes of each function. A function is inlined only
 * where at least as much is forbidden, so all have the same.
 */
static const char *const forbidden[] = {"no-builtin-strlen",
                                        "no-builtin-wcslen"};
#define FORBIDDEN (sizeof forbidden / sizeof forbidden[0])

void kiln__foreign_keep_loops(LLVMModuleRef module)
{
    const LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMAttributeRef all[FORBIDDEN];
    LLVMValueRef f;

    for (size_t i = 0; i < FORBIDDEN; i++)
        all[i] = LLVMCreateStringAttribute(
            context, forbidden[i], (unsigned)strlen(forbidden[i]), "", 0);
    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        for (size_t i = 0; i < FORBIDDEN; i++)
            LLVMAddAttributeAtIndex(
                f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, all[i]);
    }
}
