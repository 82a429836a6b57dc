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
 * That is only done where the items of a row touch neighbouring places. If each
 * touches a line of memory of its own, as in a transposition, a group's other
 * rows touch the same lines, and a wider row has driven them from the cache. An
 * item with a loop may do the same.
 */

#define DEPTH_MAX 8
#define USES_MAX 1000

typedef struct searching {
    unsigned left;  /* uses that may still be looked at */
    unsigned depth; /* of calls */
    int is_result;  /* the function that is looked at returns what it made of
                       the id */
} searching;

/* ---- where the items of a row are ---- */

static int are_neighbours(searching *s, LLVMValueRef x);

/* True if the callee computes neighbouring places from its parameters that are
   the id. Tells whether it returns one of them. */
static int are_neighbours_in_callee(searching *s, LLVMValueRef call,
                                    LLVMValueRef x, int *is_result)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    const unsigned count = LLVMGetNumArgOperands(call);
    const int outer = s->is_result;
    int result = 1;

    if (LLVMIsDeclaration(callee) || count != LLVMCountParams(callee))
        return 1;
    s->is_result = 0;
    s->depth++;
    for (unsigned i = 0; i < count && result; i++)
        if (LLVMGetOperand(call, i) == x)
            result = are_neighbours(s, LLVMGetParam(callee, i));
    s->depth--;
    *is_result = s->is_result;
    s->is_result = outer;
    return result;
}

/* A function gets the id. What it returns may be computed from the id, or be
   what it found there. */
static int is_neighbour_in_call(searching *s, LLVMValueRef call, LLVMValueRef x)
{
    int is_result = 1;

    if (LLVMIsAFunction(LLVMGetCalledValue(call)) == NULL ||
        s->depth == DEPTH_MAX)
        return 0;
    return are_neighbours_in_callee(s, call, x, &is_result) &&
           (!is_result || are_neighbours(s, call));
}

/* Functions are not optimised yet: what they keep is in variables. */
static int is_neighbour_in_variable(searching *s, LLVMValueRef store,
                                    LLVMValueRef x)
{
    const LLVMValueRef variable = LLVMGetOperand(store, 1);
    LLVMUseRef use;

    if (LLVMGetOperand(store, 0) != x || !LLVMIsAAllocaInst(variable))
        return 1;
    for (use = LLVMGetFirstUse(variable); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAGetElementPtrInst(user) ||
            (LLVMIsALoadInst(user) && !are_neighbours(s, user)))
            return 0;
    }
    return 1;
}

/* True if the places that the user computes from `x` are as close to each other
   as those that it computes them from. */
static int is_neighbour(searching *s, LLVMValueRef user, LLVMValueRef x)
{
    if (LLVMIsAInstruction(user) == NULL)
        return 0;
    switch ((int)LLVMGetInstructionOpcode(user)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
        return are_neighbours(s, user);
    case LLVMStore:
        return is_neighbour_in_variable(s, user, x);
    case LLVMCall:
        return is_neighbour_in_call(s, user, x);
    case LLVMRet:
        s->is_result = 1;
        return 1;
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return 0;
    default: /* an address, a comparison, a number */
        return 1;
    }
}

/* Functions have no loops, so this ends; how often two ways meet, it follows
   them more than once. */
static int are_neighbours(searching *s, LLVMValueRef x)
{
    for (LLVMUseRef use = LLVMGetFirstUse(x); use != NULL;
         use = LLVMGetNextUse(use)) {
        if (s->left == 0)
            return 0;
        s->left--;
        if (!is_neighbour(s, LLVMGetUser(use), x))
            return 0;
    }
    return 1;
}

/* ---- what is asked for ---- */

/* The only members of an item that are the same in a wider group. */
static int is_same(uint64_t offset)
{
    const uint64_t ids = offsetof(struct kiln__host_item, global_id);

    return offset == offsetof(struct kiln__host_item, launch) ||
           (offset >= ids && offset < ids + 3 * sizeof(uint64_t));
}

static int uses_are_same(searching *s, LLVMValueRef item);

/* The item is passed on to functions that ask for no more. */
static int call_is_same(searching *s, LLVMValueRef call, LLVMValueRef item)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    const unsigned count = LLVMGetNumArgOperands(call);
    int result = 1;

    if (LLVMIsAFunction(callee) == NULL || LLVMIsDeclaration(callee) ||
        count != LLVMCountParams(callee) || s->depth == DEPTH_MAX)
        return 0;
    s->depth++;
    for (unsigned i = 0; i < count && result; i++)
        if (LLVMGetOperand(call, i) == item)
            result = uses_are_same(s, LLVMGetParam(callee, i));
    s->depth--;
    return result;
}

static int load_is_same(searching *s, LLVMValueRef user, uint64_t offset)
{
    return LLVMIsALoadInst(user) && is_same(offset) &&
           (offset != offsetof(struct kiln__host_item, global_id) ||
            are_neighbours(s, user));
}

static int use_is_same(searching *s, LLVMValueRef user, LLVMValueRef item)
{
    LLVMValueRef index;
    LLVMUseRef use;

    if (LLVMIsACallInst(user))
        return call_is_same(s, user, item);
    if (!LLVMIsAGetElementPtrInst(user))
        return load_is_same(s, user, 0);
    index = LLVMGetOperand(user, 1);
    if (LLVMGetNumIndices(user) != 1 || !LLVMIsAConstantInt(index))
        return 0;
    for (use = LLVMGetFirstUse(user); use != NULL; use = LLVMGetNextUse(use))
        if (!load_is_same(s, LLVMGetUser(use), LLVMConstIntGetZExtValue(index)))
            return 0;
    return 1;
}

static int uses_are_same(searching *s, LLVMValueRef item)
{
    for (LLVMUseRef use = LLVMGetFirstUse(item); use != NULL;
         use = LLVMGetNextUse(use))
        if (!use_is_same(s, LLVMGetUser(use), item))
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
    searching s = {.left = USES_MAX};

    return !has_loops(job->module) &&
           uses_are_same(&s, LLVMGetParam(item_function, 0));
}
