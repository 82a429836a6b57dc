/* spirv_calls.c - makes calls such as SPIR-V allows. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/codegen/llvm_gap_spirv.h"
#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/error.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A call with another convention than its callee has no meaning to LLVM. LLVM
 * makes the place unreachable: what the caller meant is lost, and nobody is
 * told. So modules with such calls are refused. Then all functions get the two
 * conventions that SPIR-V has.
 *
 * SPIR-V has no pointers to functions and no recursion.
 */

/* ---- walking ---- */

typedef kiln_status (*visit_fn)(kiln__codegen_job *job, LLVMValueRef function,
                                LLVMValueRef instruction, void *env);

static kiln_status visit_body(kiln__codegen_job *job, LLVMValueRef function,
                              visit_fn visit, void *env)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            next = LLVMGetNextInstruction(at);
            KILN_TRY(visit(job, function, at, env));
        }
    return KILN_OK;
}

static kiln_status visit_all(kiln__codegen_job *job, visit_fn visit, void *env)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        KILN_TRY(visit_body(job, f, visit, env));
    return KILN_OK;
}

static int is_intrinsic(LLVMValueRef function)
{
    return LLVMGetIntrinsicID(function) != 0;
}

/* Returns the function that the instruction calls, or NULL. */
static LLVMValueRef callee_of(LLVMValueRef instruction)
{
    LLVMValueRef callee =
        LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;

    return callee != NULL ? LLVMIsAFunction(callee) : NULL;
}

/* ---- conventions ---- */

static kiln_status check_call(kiln__codegen_job *job, LLVMValueRef function,
                              LLVMValueRef instruction, void *env)
{
    LLVMValueRef callee;

    (void)env;
    if (!LLVMIsACallInst(instruction))
        return KILN_OK;
    callee = callee_of(instruction);
    if (callee == NULL)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%s calls a function through a pointer; SPIR-V "
                              "has no pointers to functions",
                              kiln__spirv_name(job, function));
    if (LLVMGetInstructionCallConv(instruction) !=
        LLVMGetFunctionCallConv(callee))
        return kiln__job_fail(
            job, KILN_ECODEGEN,
            "%s calls '%s' by another calling convention (%u) than it has (%u)",
            kiln__spirv_name(job, function), kiln__plain_name(job, callee),
            LLVMGetInstructionCallConv(instruction),
            LLVMGetFunctionCallConv(callee));
    return KILN_OK;
}

static kiln_status set_call(kiln__codegen_job *job, LLVMValueRef function,
                            LLVMValueRef instruction, void *env)
{
    LLVMValueRef callee = callee_of(instruction);

    (void)job;
    (void)function;
    (void)env;
    if (callee != NULL && !is_intrinsic(callee))
        LLVMSetInstructionCallConv(instruction,
                                   LLVMGetFunctionCallConv(callee));
    return KILN_OK;
}

void kiln__spirv_set_conventions(kiln__codegen_job *job)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!is_intrinsic(f) && LLVMGetFunctionCallConv(f) != KILN__SPIR_KERNEL)
            LLVMSetFunctionCallConv(f, KILN__SPIR_FUNCTION);
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        (void)visit_body(job, f, set_call, NULL);
}

/* ---- recursion ---- */

#define CHAIN_MAX 64

/* The functions from the one where the search began to the current one. */
typedef struct chain {
    LLVMValueRef functions[CHAIN_MAX];
    size_t count;
} chain;

static kiln_status recurs(kiln__codegen_job *job, const chain *c, size_t first)
{
    const char *names = "";

    for (size_t i = first; i < c->count && names != NULL; i++)
        names = kiln__arena_format(&job->arena, "%s%s -> ", names,
                                   kiln__spirv_name(job, c->functions[i]));
    return kiln__job_fail(
        job, KILN_EUNSUPPORTED, "SPIR-V has no recursion: %s%s",
        names != NULL ? names : "", kiln__spirv_name(job, c->functions[first]));
}

static kiln_status search(kiln__codegen_job *job, LLVMValueRef function,
                          chain *c);

static kiln_status descend(kiln__codegen_job *job, LLVMValueRef function,
                           LLVMValueRef instruction, void *env)
{
    LLVMValueRef callee = callee_of(instruction);
    chain *c = env;

    (void)function;
    if (callee == NULL || LLVMIsDeclaration(callee))
        return KILN_OK;
    for (size_t i = 0; i < c->count; i++)
        if (c->functions[i] == callee)
            return recurs(job, c, i);
    return search(job, callee, c);
}

/* Marks functions that lead to no recursion, so that they are searched once. */
static const char mark[] = "kiln-calls-checked";

static kiln_status search(kiln__codegen_job *job, LLVMValueRef function,
                          chain *c)
{
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    if (LLVMGetStringAttributeAtIndex(function, self, mark, sizeof mark - 1) !=
        NULL)
        return KILN_OK;
    if (c->count == CHAIN_MAX)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "calls nest deeper than %d functions, in %s",
                              CHAIN_MAX, kiln__spirv_name(job, function));
    c->functions[c->count++] = function;
    KILN_TRY(visit_body(job, function, descend, c));
    c->count--;
    LLVMAddAttributeAtIndex(
        function, self,
        LLVMCreateStringAttribute(job->context, mark, sizeof mark - 1, "", 0));
    return KILN_OK;
}

static kiln_status check_recursion(kiln__codegen_job *job)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        chain c = {.count = 0};

        KILN_TRY(search(job, f, &c));
    }
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        LLVMRemoveStringAttributeAtIndex(
            f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark,
            sizeof mark - 1);
    return KILN_OK;
}

kiln_status kiln__spirv_bind_calls(kiln__codegen_job *job)
{
    KILN_TRY(visit_all(job, check_call, NULL));
    KILN_TRY(check_recursion(job));
    kiln__spirv_set_conventions(job);
    return job->status;
}

/* ---- one function ----
 *
 * Structs that are passed to calls, and pointers to unknown types, are where
 * SPIR-V's drivers and LLVM's generator have faults, and drivers inline all
 * functions anyway. So everything is inlined into the kernel.
 *
 * Modules of other frontends may stop an item by a trap. SPIR-V has none; but
 * when everything is inlined, the kernel can return instead.
 */

static void force_inline(const kiln__codegen_job *job, LLVMValueRef function)
{
    static const char *const others[] = {"noinline", "optnone", "inlinehint"};
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        LLVMRemoveEnumAttributeAtIndex(function, self,
                                       kiln__attribute_kind(others[i]));
    kiln__device_attribute(job, function, "alwaysinline");
}

static int is_entry_or_declaration(LLVMValueRef function)
{
    return LLVMIsDeclaration(function) ||
           LLVMGetFunctionCallConv(function) == KILN__SPIR_KERNEL;
}

static int is_trap(LLVMValueRef instruction)
{
    LLVMValueRef callee = callee_of(instruction);
    size_t size;
    const char *name;

    if (callee == NULL || !is_intrinsic(callee))
        return 0;
    name = LLVMGetValueName2(callee, &size);
    return strcmp(name, "llvm.trap") == 0 ||
           strcmp(name, "llvm.ubsantrap") == 0;
}

static kiln_status find_trap(kiln__codegen_job *job, LLVMValueRef function,
                             LLVMValueRef instruction, void *env)
{
    int *found = env;

    (void)job;
    (void)function;
    *found |= is_trap(instruction);
    return KILN_OK;
}

/* Replaces one trap and what follows it by a return; false when there is
   none. */
static int replace_trap(kiln__codegen_job *job, LLVMValueRef kernel)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(kernel); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at)) {
            LLVMBuilderRef builder;

            if (!is_trap(at))
                continue;
            kiln__llvm_cut(at);
            builder = LLVMCreateBuilderInContext(job->context);
            LLVMPositionBuilderAtEnd(builder, block);
            LLVMBuildRetVoid(builder);
            LLVMDisposeBuilder(builder);
            return 1;
        }
    return 0;
}

kiln_status kiln__spirv_inline_all(kiln__codegen_job *job)
{
    LLVMValueRef f;
    int found = 0;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!is_entry_or_declaration(f))
            force_inline(job, f);
    KILN_TRY(visit_all(job, find_trap, &found));
    if (!found)
        return KILN_OK;
    KILN_TRY(kiln__spirv_run_passes(job, "always-inline"));
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        while (LLVMGetFunctionCallConv(f) == KILN__SPIR_KERNEL &&
               replace_trap(job, f)) {
        }
    return KILN_OK;
}
