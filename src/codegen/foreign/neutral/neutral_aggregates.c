/* neutral_aggregates.c - aggregates that functions of a neutral module pass by
   value. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * `ptr byval(T)` is a pointer to a copy that the call makes. LLVM's inliner
 * makes the copy in the address space of the parameter, where the target may
 * have no variables. So each call makes its copy itself, as an alloca of the
 * target, and the parameter becomes a plain pointer. A result in memory is a
 * plain pointer, too. The entry is called by Kiln alone, which makes its copies
 * (neutral_entry.c).
 */

static LLVMAttributeRef attribute_of(LLVMValueRef call, unsigned at,
                                     const char *name)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    LLVMAttributeRef own =
        LLVMGetCallSiteEnumAttribute(call, at + 1, kiln__attribute_kind(name));

    if (own != NULL || callee == NULL || at >= LLVMCountParams(callee))
        return own;
    return LLVMGetEnumAttributeAtIndex(callee, at + 1,
                                       kiln__attribute_kind(name));
}

/* ---- copies ---- */

/* Returns a variable of the calling function. It is in the first block, so that
   a loop does not make more of them. */
static LLVMValueRef add_variable(kiln__codegen_job *job, LLVMValueRef call,
                                 LLVMTypeRef type, unsigned alignment)
{
    LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef variable;

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(first));
    variable = LLVMBuildAlloca(builder, type, "");
    LLVMSetAlignment(variable, alignment);
    LLVMDisposeBuilder(builder);
    return variable;
}

static void copy_argument(kiln__codegen_job *job, LLVMValueRef call,
                          unsigned at, LLVMTypeRef type)
{
    const LLVMAttributeRef aligned = attribute_of(call, at, "align");
    const unsigned own = LLVMABIAlignmentOfType(job->layout, type);
    const uint64_t given =
        aligned != NULL ? LLVMGetEnumAttributeValue(aligned) : 1;
    const unsigned alignment = given > own ? (unsigned)given : own;
    LLVMValueRef from = LLVMGetOperand(call, at);
    LLVMValueRef copy = add_variable(job, call, type, alignment);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);

    LLVMPositionBuilderBefore(builder, call);
    LLVMBuildMemCpy(
        builder, copy, alignment, from, (unsigned)given,
        kiln__job_number64(job, LLVMABISizeOfType(job->layout, type)));
    if (LLVMTypeOf(copy) != LLVMTypeOf(from))
        copy = LLVMBuildAddrSpaceCast(builder, copy, LLVMTypeOf(from), "");
    LLVMDisposeBuilder(builder);
    LLVMSetOperand(call, at, copy);
    LLVMSetTailCall(call, 0);
}

static void copy_arguments(kiln__codegen_job *job, LLVMValueRef call)
{
    const unsigned count = LLVMGetNumArgOperands(call);

    for (unsigned i = 0; i < count; i++) {
        const LLVMAttributeRef copied = attribute_of(call, i, "byval");

        if (copied != NULL)
            copy_argument(job, call, i, LLVMGetTypeAttributeValue(copied));
        LLVMRemoveCallSiteEnumAttribute(call, i + 1,
                                        kiln__attribute_kind("byval"));
        LLVMRemoveCallSiteEnumAttribute(call, i + 1,
                                        kiln__attribute_kind("sret"));
    }
}

/* ---- the module ---- */

static void copy_in(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (LLVMIsACallInst(at) != NULL)
                copy_arguments(job, at);
}

static void plain_parameters(LLVMValueRef function)
{
    const unsigned count = LLVMCountParams(function);

    for (unsigned i = 1; i <= count; i++) {
        LLVMRemoveEnumAttributeAtIndex(function, i,
                                       kiln__attribute_kind("byval"));
        LLVMRemoveEnumAttributeAtIndex(function, i,
                                       kiln__attribute_kind("sret"));
    }
}

void kiln__neutral_copy_aggregates(kiln__codegen_job *job, LLVMValueRef entry)
{
    LLVMValueRef function;

    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        copy_in(job, function);
    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        if (function != entry)
            plain_parameters(function);
}
