/* codegen_frames.c - how much of a thread's stack the compiled functions
   need. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "abi/host_abi.h"
#include "codegen/module/codegen_stages.h"

/*
 * The size of a frame is known only when machine code is made. LLVM then warns
 * of each function whose frame is above a limit, and on the host this limit is
 * zero, so every frame is reported. The number matters there because kernels
 * run on threads of the host process, whatever stack these have: the launcher
 * compares it with what a kernel needs.
 */

/* The largest frame that one function may have, in bytes. */
#define FRAME_MAX 524288
#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

/* Bytes beside the frame: saved registers, the return address, alignment. */
#define FRAME_MORE 128
/* Alignments up to this are covered by FRAME_MORE. */
#define ALIGNMENT_OF_ANY 64

/* LLVM's own product is a 64-bit number that wraps; this one saturates. */
static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Returns at least the size of the type, or more than a frame may have. */
static uint64_t size_of(const kiln__codegen_job *job, LLVMTypeRef type)
{
    uint64_t size = 0, part;

    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMArrayTypeKind:
        return times(LLVMGetArrayLength2(type),
                     size_of(job, LLVMGetElementType(type)));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
            part = size_of(job, LLVMStructGetTypeAtIndex(type, i));
            if (part > FRAME_MAX - size)
                return UINT64_MAX;
            size += part;
        }
        return size;
    default:
        return LLVMABISizeOfType(job->layout, type);
    }
}

static uint64_t alloca_size(const kiln__codegen_job *job, LLVMValueRef alloca)
{
    const uint64_t size = size_of(job, LLVMGetAllocatedType(alloca));
    LLVMValueRef count = LLVMGetOperand(alloca, 0);

    return LLVMIsAConstantInt(count)
               ? times(size, LLVMConstIntGetZExtValue(count))
               : size;
}

static int runs_on_threads(const kiln__codegen_job *job)
{
    return job->backend->item->exhausted != NULL;
}

/* Counts what LLVM's frame sizes do not tell: the bytes that an alignment may
   skip, and memory whose size is known only when the code runs. */
static void count_alloca(kiln__codegen_job *job, LLVMValueRef alloca)
{
    const unsigned alignment = LLVMGetAlignment(alloca);

    if (alloca_size(job, alloca) > FRAME_MAX)
        kiln__job_fail(
            job, KILN_ECODEGEN,
            "stack frame size exceeds limit (%d) in function '%s', "
            "by one variable",
            FRAME_MAX,
            kiln__plain_name(job, LLVMGetBasicBlockParent(
                                      LLVMGetInstructionParent(alloca))));
    if (alignment > ALIGNMENT_OF_ANY)
        job->frame_bytes += alignment;
    if (!LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) ||
        LLVMGetInstructionParent(alloca) !=
            LLVMGetEntryBasicBlock(
                LLVMGetBasicBlockParent(LLVMGetInstructionParent(alloca))))
        job->grows = 1;
}

static void count_allocas(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMBasicBlockRef b;
    LLVMValueRef i;

    for (b = LLVMGetFirstBasicBlock(function); b != NULL;
         b = LLVMGetNextBasicBlock(b))
        for (i = LLVMGetFirstInstruction(b); i != NULL;
             i = LLVMGetNextInstruction(i))
            if (LLVMIsAAllocaInst(i) != NULL)
                count_alloca(job, i);
}

void kiln__frames_ask(kiln__codegen_job *job, LLVMModuleRef module)
{
    static const char name[] = "warn-stack-size";
    const char *most = runs_on_threads(job) ? "0" : TEXT(FRAME_MAX);
    LLVMAttributeRef limit = LLVMCreateStringAttribute(
        job->context, name, sizeof name - 1, most, (unsigned)strlen(most));
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        LLVMAddAttributeAtIndex(
            f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, limit);
        count_allocas(job, f);
    }
}

static kiln_status fail_frame(kiln__codegen_job *job, unsigned long long size,
                              const char *text)
{
    static const char words[] = " in function '";
    const char *name = strstr(text, words);

    if (name == NULL)
        return kiln__job_fail(
            job, KILN_ECODEGEN,
            "LLVM: stack frame size (%llu) exceeds limit (%d)", size,
            FRAME_MAX);
    name += sizeof words - 1;
    return kiln__job_fail(
        job, KILN_ECODEGEN,
        "LLVM: stack frame size (%llu) exceeds limit (%d) in function '%s'",
        size, FRAME_MAX, kiln__plain_text(job, name, strcspn(name, "'")));
}

/* Parses "stack frame size (96) exceeds limit (0) in function 'f'". */
int kiln__frames_take(kiln__codegen_job *job, const char *text)
{
    static const char words[] = "stack frame size (";
    const char *at = strstr(text, words);
    unsigned long long size;

    if (at == NULL)
        return 0;
    size = strtoull(at + sizeof words - 1, NULL, 10);
    if (size == 0 || size > FRAME_MAX)
        (void)fail_frame(job, size, at);
    job->frame_bytes += size + FRAME_MORE;
    return 1;
}

/* True when the function calls a function of the module or an unknown one.
   Foreign code may recurse in either case. */
static int calls_another(LLVMValueRef function)
{
    LLVMBasicBlockRef b;
    LLVMValueRef i, callee;

    for (b = LLVMGetFirstBasicBlock(function); b != NULL;
         b = LLVMGetNextBasicBlock(b))
        for (i = LLVMGetFirstInstruction(b); i != NULL;
             i = LLVMGetNextInstruction(i)) {
            callee = LLVMIsACallInst(i) != NULL ? LLVMGetCalledValue(i) : NULL;
            if (callee == NULL || LLVMIsAInlineAsm(callee) != NULL)
                continue;
            if (LLVMIsAFunction(callee) == NULL || !LLVMIsDeclaration(callee))
                return 1;
        }
    return 0;
}

/* True for the entry and for the bodies that the entry calls by way of the host
   (host_polls.c, host_turns.c). */
static int is_kernel(const kiln__codegen_job *job, LLVMValueRef function)
{
    static const char *const suffixes[] = {
        "", KILN__HOST_BODY, KILN__HOST_SHARED_BODY, KILN__HOST_ALONE_BODY};
    const size_t size = strlen(job->request->entry);
    const char *name = LLVMGetValueName(function);

    if (strncmp(name, job->request->entry, size) != 0)
        return 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(name + size, suffixes[i]) == 0)
            return 1;
    return 0;
}

/* A function that calls itself is always called from another function first,
   and that other one need not be the kernel. So the kernel's own calls do not
   count. */
static int may_recur(const kiln__codegen_job *job)
{
    LLVMValueRef f;

    if (!kiln__job_has_foreign(job))
        return job->recurs;
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_kernel(job, f) && calls_another(f))
            return 1;
    return 0;
}

uint32_t kiln__frames_stack(kiln__codegen_job *job)
{
    uint64_t all = job->frame_bytes;

    if (!runs_on_threads(job))
        return 0;
    /* The last call that is within the bound may end beyond it, and the
       function that raises has a frame, too. */
    if (job->grows || may_recur(job))
        all = 2 * all + KILN__HOST_RECURSION;
    if (all <= KILN__HOST_STACK_MAX)
        return (uint32_t)all;
    kiln__job_fail(job, KILN_ECODEGEN,
                   "the functions of the kernel need %llu bytes of stack, of "
                   "%u at most",
                   (unsigned long long)all, KILN__HOST_STACK_MAX);
    return 0;
}
