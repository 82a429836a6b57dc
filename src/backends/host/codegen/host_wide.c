/* host_wide.c - whether the groups of a row may run as one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/codegen/host_codegen.h"
#include "codegen/module/llvm_gap.h"

/*
 * What a kernel does along a row of items costs something for each row of each
 * group: bounds are computed, and the last items do not fill a vector. Groups
 * that were chosen for a GPU have short rows, of 32 items or fewer. Where no
 * item asks which group it is in, several groups may run as a wider one.
 *
 * An item with a loop may read much memory, which the other rows of its group
 * read again from the cache: its groups are left as they are.
 */

#define DEPTH_MAX 8

/* The only members of an item that are the same in a wider group. */
static int is_same(uint64_t offset)
{
    const uint64_t ids = offsetof(struct kiln__host_item, global_id);

    return offset == offsetof(struct kiln__host_item, launch) ||
           (offset >= ids && offset < ids + 3 * sizeof(uint64_t));
}

static int uses_are_same(LLVMValueRef item, unsigned depth);

/* The item is passed on to functions that ask for no more. */
static int call_is_same(LLVMValueRef call, LLVMValueRef item, unsigned depth)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    const unsigned count = LLVMGetNumArgOperands(call);

    if (LLVMIsAFunction(callee) == NULL || LLVMIsDeclaration(callee) ||
        count != LLVMCountParams(callee))
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetOperand(call, i) == item &&
            !uses_are_same(LLVMGetParam(callee, i), depth + 1))
            return 0;
    return 1;
}

static int use_is_same(LLVMValueRef user, LLVMValueRef item, unsigned depth)
{
    LLVMValueRef index;

    if (LLVMIsALoadInst(user))
        return is_same(0);
    if (LLVMIsACallInst(user))
        return call_is_same(user, item, depth);
    if (!LLVMIsAGetElementPtrInst(user) || LLVMGetNumIndices(user) != 1)
        return 0;
    index = LLVMGetOperand(user, 1);
    if (!LLVMIsAConstantInt(index) || !is_same(LLVMConstIntGetZExtValue(index)))
        return 0;
    for (LLVMUseRef use = LLVMGetFirstUse(user); use != NULL;
         use = LLVMGetNextUse(use))
        if (!LLVMIsALoadInst(LLVMGetUser(use)))
            return 0;
    return 1;
}

static int uses_are_same(LLVMValueRef item, unsigned depth)
{
    if (depth > DEPTH_MAX)
        return 0;
    for (LLVMUseRef use = LLVMGetFirstUse(item); use != NULL;
         use = LLVMGetNextUse(use))
        if (!use_is_same(LLVMGetUser(use), item, depth))
            return 0;
    return 1;
}

static int has_loops(LLVMModuleRef module)
{
    LLVMValueRef at;

    for (at = LLVMGetFirstFunction(module); at != NULL;
         at = LLVMGetNextFunction(at))
        if (!LLVMIsDeclaration(at) && kiln__llvm_has_loops(at))
            return 1;
    return 0;
}

int kiln__host_groups_may_join(const kiln__codegen_job *job,
                               LLVMValueRef item_function)
{
    return !has_loops(job->module) &&
           uses_are_same(LLVMGetParam(item_function, 0), 0);
}
