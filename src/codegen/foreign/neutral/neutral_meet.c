/* neutral_meet.c - items that raised go to the barriers that others wait at. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/foreign/neutral/neutral_meet.h"
#include "codegen/groups/groups.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * neutral_meet.h says what meetings are, and why. All of them are brought into
 * the entry first. Then blocks are split where meetings are, so that each
 * begins a block, and paths are added: from where the entry returns after an
 * exception to the next meeting, and from each meeting to the one after it, for
 * a group that is over. A value that such a path does not make is never used
 * there, but LLVM wants it to exist. So values that are used in other blocks
 * are moved into memory before, from where later passes bring them back.
 */

/* ---- calls that items of a group execute together ---- */

static int takes_scope(const char *name)
{
    static const char shuffle[] = "kiln_shuffle";

    return kiln__foreign_is_collective(name) &&
           strncmp(name, shuffle, sizeof shuffle - 1) != 0;
}

/* True for a call that all items of the group execute together. */
static int is_together(LLVMValueRef instruction)
{
    LLVMValueRef callee, scope;
    size_t size;

    if (LLVMIsACallInst(instruction) == NULL ||
        LLVMGetNumArgOperands(instruction) == 0)
        return 0;
    callee = LLVMGetCalledValue(instruction);
    scope = LLVMGetOperand(instruction, 0);
    return LLVMIsAFunction(callee) != NULL && LLVMIsDeclaration(callee) &&
           takes_scope(LLVMGetValueName2(callee, &size)) &&
           LLVMIsAConstantInt(scope) != NULL &&
           LLVMConstIntGetZExtValue(scope) == KILN__SCOPE_GROUP;
}

static int has_together(LLVMValueRef callee)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(callee); use != NULL; use = LLVMGetNextUse(use))
        if (is_together(LLVMGetUser(use)))
            return 1;
    return 0;
}

/* Finds the declared functions with such calls, in an array that has room for
   all functions. */
static size_t find_callees(const kiln__codegen_job *job, LLVMValueRef *out)
{
    size_t count = 0;
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && has_together(f))
            out[count++] = f;
    return count;
}

static size_t count_functions(const kiln__codegen_job *job)
{
    size_t count = 0;
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        count++;
    return count;
}

kiln_status kiln__neutral_gather(kiln__codegen_job *job, LLVMValueRef entry,
                                 int *gathered)
{
    LLVMValueRef *callees, culprit;
    const char *why;
    size_t count;

    *gathered = 0;
    if (job->backend->device == NULL ||
        job->backend->device->converge == NULL || !kiln__foreign_raises(job))
        return KILN_OK;
    callees = kiln__arena_allocate_array(&job->arena, count_functions(job),
                                         sizeof *callees);
    if (callees == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    count = find_callees(job, callees);
    if (count == 0)
        return KILN_OK;
    *gathered = 1;
    why = kiln__groups_inline(entry, callees, count, &culprit);
    return why == NULL ? KILN_OK
                       : kiln__foreign_refuse(job, "function", culprit, why);
}

/* ---- blocks that begin with a meeting ---- */

LLVMValueRef kiln__meet_after_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef at = LLVMGetFirstInstruction(block);

    while (LLVMIsAPHINode(at) != NULL)
        at = LLVMGetNextInstruction(at);
    return at;
}

/* Static variables stay in the first block, whose rest may become another. */
static void raise_variables(const kiln__meet_job *m)
{
    const LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(m->function);
    LLVMValueRef first = LLVMGetFirstInstruction(entry), at, next;

    while (LLVMIsAAllocaInst(first) != NULL)
        first = LLVMGetNextInstruction(first);
    for (at = first; at != NULL; at = next) {
        next = LLVMGetNextInstruction(at);
        if (LLVMIsAAllocaInst(at) == NULL ||
            LLVMIsAConstantInt(LLVMGetOperand(at, 0)) == NULL)
            continue;
        LLVMInstructionRemoveFromParent(at);
        LLVMPositionBuilderBefore(m->builder, first);
        LLVMInsertIntoBuilder(m->builder, at);
    }
}

LLVMBasicBlockRef kiln__meet_add(const kiln__meet_job *m, LLVMValueRef before)
{
    const LLVMBasicBlockRef head = LLVMGetInstructionParent(before);
    const LLVMBasicBlockRef rest = kiln__llvm_split_before(before);
    const LLVMBasicBlockRef block =
        LLVMInsertBasicBlockInContext(m->job->context, rest, "");

    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(head), 0, block);
    LLVMPositionBuilderAtEnd(m->builder, block);
    LLVMSetCurrentDebugLocation2(m->builder,
                                 LLVMInstructionGetDebugLoc(before));
    LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(m->meet), m->meet, NULL,
                   0, "");
    LLVMBuildBr(m->builder, rest);
    return block;
}

static int is_barrier(LLVMValueRef call)
{
    size_t size;

    return strcmp(LLVMGetValueName2(LLVMGetCalledValue(call), &size),
                  "kiln_barrier") == 0;
}

/* Gives each loop a first block that does not branch, so that it decides
   nothing. */
static kiln_status split_loops(const kiln__meet_job *m)
{
    const unsigned count = LLVMCountBasicBlocks(m->function);
    LLVMBasicBlockRef *blocks = kiln__arena_allocate_array(
        &m->job->arena, 3 * (size_t)count, sizeof *blocks);

    if (blocks == NULL)
        return kiln__job_fail(m->job, KILN_ENOMEM, "out of memory");
    LLVMGetBasicBlocks(m->function, blocks);
    kiln__llvm_find_loops(m->function, blocks + count, blocks + 2 * count);
    for (unsigned b = 0; b < count; b++)
        if (blocks[count + b] == blocks[b])
            (void)kiln__llvm_split_before(kiln__meet_after_phis(blocks[b]));
    return KILN_OK;
}

static void meet_at_calls(const kiln__meet_job *m)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(m->function); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        for (at = LLVMGetFirstInstruction(block);
             at != NULL && !is_together(at); at = LLVMGetNextInstruction(at))
            continue;
        if (at == NULL)
            continue;
        (void)kiln__meet_add(m, at);
        block = LLVMGetInstructionParent(at);
        if (is_barrier(at))
            LLVMInstructionEraseFromParent(at);
        else
            block = kiln__llvm_split_before(LLVMGetNextInstruction(at));
        block = LLVMGetPreviousBasicBlock(block);
    }
}

/* ---- the entry ---- */

static LLVMValueRef declare(const kiln__codegen_job *job, const char *name,
                            LLVMTypeRef result)
{
    return LLVMAddFunction(job->module, name,
                           LLVMFunctionType(result, NULL, 0, 0));
}

kiln_status kiln__neutral_meet(kiln__codegen_job *job, LLVMValueRef entry)
{
    kiln__meet_job m = {.job = job, .function = entry};
    kiln_status status;

    if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(entry))) ==
        LLVMVoidTypeKind)
        return KILN_OK; /* nothing raises */
    m.meet =
        declare(job, KILN__DEVICE_MEET, LLVMInt1TypeInContext(job->context));
    m.raised =
        declare(job, KILN__DEVICE_RAISED, LLVMVoidTypeInContext(job->context));
    m.builder = LLVMCreateBuilderInContext(job->context);
    kiln__remove_attribute(entry, "optnone"); /* passes would leave it out */
    raise_variables(&m);
    meet_at_calls(&m);
    status = split_loops(&m);
    if (status == KILN_OK)
        status = kiln__meet_add_paths(&m);
    LLVMDisposeBuilder(m.builder);
    return status;
}
