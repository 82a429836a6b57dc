/* neutral_layout.c - the data layout that a neutral module names. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"

/*
 * Whoever names a layout may have computed offsets and sizes with it. The
 * layouts of x86-64, NVPTX, AMDGPU and SPIR-V have the same sizes and
 * alignments for most types, so it is enough that the types which the module
 * has in memory are laid out alike. Integers of more than 64 bits are not, nor
 * are pointers to the memory of a group or an item: so in memory they may only
 * be on their own, where accesses say their alignment.
 */

typedef struct comparing {
    kiln__foreign_findings *found;
    kiln__codegen_job *job;
    LLVMTargetDataRef given;
    LLVMValueRef function; /* where the type is used; NULL: in a variable */
} comparing;

#define WORD_BITS 64u

/* True for a type whose layout matters only inside of another one. Pointers are
   of other sizes on some targets, but an access of one is what it says. */
static int is_alone(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);

    return kind == LLVMPointerTypeKind ||
           (kind == LLVMIntegerTypeKind &&
            LLVMGetIntTypeWidth(type) > WORD_BITS);
}

static int is_long_float(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);

    if (kind == LLVMVectorTypeKind)
        return is_long_float(LLVMGetElementType(type));
    return kind == LLVMX86_FP80TypeKind || kind == LLVMFP128TypeKind ||
           kind == LLVMPPC_FP128TypeKind;
}

static int is_same(const comparing *c, LLVMTypeRef type)
{
    return LLVMABISizeOfType(c->given, type) ==
               LLVMABISizeOfType(c->job->layout, type) &&
           LLVMABIAlignmentOfType(c->given, type) ==
               LLVMABIAlignmentOfType(c->job->layout, type);
}

static int is_same_inside(const comparing *c, LLVMTypeRef type);

static int are_members_same(const comparing *c, LLVMTypeRef type)
{
    const unsigned count = LLVMCountStructElementTypes(type);

    for (unsigned i = 0; i < count; i++)
        if (LLVMOffsetOfElement(c->given, type, i) !=
                LLVMOffsetOfElement(c->job->layout, type, i) ||
            !is_same_inside(c, LLVMStructGetTypeAtIndex(type, i)))
            return 0;
    return 1;
}

/* A type inside another one has the alignment of its layout. */
static int is_same_inside(const comparing *c, LLVMTypeRef type)
{
    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMStructTypeKind:
        return is_same(c, type) && are_members_same(c, type);
    case LLVMArrayTypeKind:
        return is_same(c, type) && is_same_inside(c, LLVMGetElementType(type));
    default:
        return is_same(c, type);
    }
}

static kiln_status compare(const comparing *c, LLVMTypeRef type)
{
    kiln__codegen_job *job = c->job;
    const char *name = "a variable";
    char *text;

    if (!LLVMTypeIsSized(type) || is_alone(type) || is_same_inside(c, type))
        return KILN_OK;
    if (c->function != NULL)
        name = kiln__arena_format(&job->arena, "function '%s'",
                                  kiln__plain_name(job, c->function));
    text = LLVMPrintTypeToString(type);
    kiln__job_fail(job, KILN_ECODEGEN,
                   "%s of the module has the type %s in memory, of which the "
                   "module's data layout and the target's differ",
                   name != NULL ? name : "a function", text);
    LLVMDisposeMessage(text);
    return job->status;
}

/* Some targets would have them, but not all. */
static kiln_status refuse_long_floats(const comparing *c)
{
    return kiln__foreign_refuse(c->job, "function", c->function,
                                "it has floats of more than 64 bits");
}

/* Compares what an instruction has in memory or computes addresses with. */
static kiln_status compare_instruction(const comparing *c, LLVMValueRef at)
{
    if (is_long_float(LLVMTypeOf(at)))
        return refuse_long_floats(c);
    switch ((int)LLVMGetInstructionOpcode(at)) {
    case LLVMAlloca:
        return compare(c, LLVMGetAllocatedType(at));
    case LLVMLoad:
        return compare(c, LLVMTypeOf(at));
    case LLVMStore:
        return compare(c, LLVMTypeOf(LLVMGetOperand(at, 0)));
    case LLVMGetElementPtr:
        return compare(c, LLVMGetGEPSourceElementType(at));
    default:
        return KILN_OK;
    }
}

static kiln_status compare_function(const comparing *c)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(c->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            KILN_TRY(kiln__foreign_finding(c->found, compare_instruction(c, at),
                                           c->function, at));
    return KILN_OK;
}

static kiln_status compare_all(comparing *c)
{
    const LLVMModuleRef module = c->job->module;
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(module); at != NULL;
         at = LLVMGetNextGlobal(at))
        KILN_TRY(kiln__foreign_finding(
            c->found, compare(c, LLVMGlobalGetValueType(at)), NULL, NULL));
    for (at = LLVMGetFirstFunction(module); at != NULL;
         at = LLVMGetNextFunction(at)) {
        c->function = at;
        KILN_TRY(compare_function(c));
    }
    return KILN_OK;
}

kiln_status kiln__neutral_check_layout(kiln__foreign_findings *found)
{
    comparing c = {.found = found, .job = found->job};
    kiln_status status;

    c.given = LLVMCreateTargetData(LLVMGetDataLayoutStr(c.job->module));
    status = compare_all(&c);
    LLVMDisposeTargetData(c.given);
    return status;
}
