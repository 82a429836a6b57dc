/* foreign_labels.c - whether code takes the addresses of labels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/foreign/foreign.h"

/*
 * An address may be deep in an expression of constants. So the search begins at
 * the labels, few of which have an address, and goes to the users.
 */

/* No sensible code has more constants on the way. Expressions may share parts,
   so that there are many more ways than constants. */
#define CONSTANTS_MAX 1000u

static int is_used_by_code(LLVMValueRef constant, unsigned *left)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(constant); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) != NULL || *left == 0)
            return 1;
        (*left)--;
        /* Initialisers have a check of their own. */
        if (LLVMIsAGlobalValue(user) == NULL && is_used_by_code(user, left))
            return 1;
    }
    return 0;
}

static int is_taken(LLVMValueRef label)
{
    unsigned left = CONSTANTS_MAX;
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(label); use != NULL; use = LLVMGetNextUse(use))
        if (LLVMIsABlockAddress(LLVMGetUser(use)) != NULL &&
            is_used_by_code(LLVMGetUser(use), &left))
            return 1;
    return 0;
}

int kiln__foreign_takes_labels(LLVMValueRef function)
{
    LLVMBasicBlockRef block;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        if (is_taken(LLVMBasicBlockAsValue(block)))
            return 1;
    return 0;
}
