/* cuda_atomics.c - gives atomic updates the ordering that LLVM drops. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "base/error.h"

/*
 * LLVM's machine has one instruction for an `atomicrmw`: relaxed, between the
 * threads of one device, whatever ordering and scope it was given. Loads,
 * stores, fences, cmpxchg, and the loops that LLVM makes of operations which
 * PTX lacks, are correct. So an update with a stronger ordering or another
 * scope is written here as PTX text. One that is sequentially consistent begins
 * with a fence, as LLVM's loops do.
 *
 * A fence for a single thread does nothing, and the machine cannot emit it; it
 * is removed.
 */

typedef struct update {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef instruction;
    unsigned bits;
    int is_float;
} update;

typedef struct operation {
    LLVMAtomicRMWBinOp op;
    const char *texts[2]; /* for 32 and for 64 bits */
} operation;

static const operation integers[] = {
    {LLVMAtomicRMWBinOpXchg, {"exch.b32", "exch.b64"}},
    {LLVMAtomicRMWBinOpAdd, {"add.u32", "add.u64"}},
    {LLVMAtomicRMWBinOpSub, {"add.u32", "add.u64"}},
    {LLVMAtomicRMWBinOpAnd, {"and.b32", "and.b64"}},
    {LLVMAtomicRMWBinOpOr, {"or.b32", "or.b64"}},
    {LLVMAtomicRMWBinOpXor, {"xor.b32", "xor.b64"}},
    {LLVMAtomicRMWBinOpMax, {"max.s32", "max.s64"}},
    {LLVMAtomicRMWBinOpMin, {"min.s32", "min.s64"}},
    {LLVMAtomicRMWBinOpUMax, {"max.u32", "max.u64"}},
    {LLVMAtomicRMWBinOpUMin, {"min.u32", "min.u64"}},
    {LLVMAtomicRMWBinOpUIncWrap, {"inc.u32", NULL}},
    {LLVMAtomicRMWBinOpUDecWrap, {"dec.u32", NULL}},
};

/* Returns the PTX of the update. NULL: the machine makes a loop of it. */
static const char *text_of(const update *u)
{
    const LLVMAtomicRMWBinOp op = LLVMGetAtomicRMWBinOp(u->instruction);

    if (u->bits != 32 && u->bits != 64)
        return NULL;
    if (u->is_float && op == LLVMAtomicRMWBinOpFAdd)
        return u->bits == 32 ? "add.f32" : "add.f64";
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (integers[i].op == op)
            return integers[i].texts[u->bits == 64];
    return NULL;
}

static const char *order_of(LLVMAtomicOrdering order)
{
    switch ((int)order) {
    case LLVMAtomicOrderingAcquire:
        return "acquire";
    case LLVMAtomicOrderingRelease:
        return "release";
    case LLVMAtomicOrderingAcquireRelease:
    case LLVMAtomicOrderingSequentiallyConsistent:
        return "acq_rel";
    default:
        return "relaxed";
    }
}

static const char *scope_of(const update *u)
{
    static const char *const scopes[][2] = {{"", "sys"},
                                            {"device", "gpu"},
                                            {"cluster", "cluster"},
                                            {"block", "cta"},
                                            {"singlethread", "cta"}};
    char name[16];

    if (kiln__llvm_scope_name(u->job->context,
                              LLVMGetAtomicSyncScopeID(u->instruction), name,
                              sizeof name) == NULL)
        return "sys";
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        if (strcmp(name, scopes[i][0]) == 0)
            return scopes[i][1];
    return "sys";
}

/* True when the machine's own instruction is correct for the update. */
static int is_weak(const update *u)
{
    return LLVMGetOrdering(u->instruction) == LLVMAtomicOrderingMonotonic &&
           strcmp(scope_of(u), "sys") != 0;
}

static LLVMValueRef operand_of(const update *u, LLVMTypeRef type)
{
    LLVMValueRef value = LLVMGetOperand(u->instruction, 1);

    if (LLVMGetAtomicRMWBinOp(u->instruction) == LLVMAtomicRMWBinOpSub)
        return LLVMBuildNeg(u->builder, value, "");
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(u->builder, value, type, "");
    return LLVMBuildBitCast(u->builder, value, type, "");
}

static LLVMValueRef call_text(const update *u, const char *text,
                              LLVMTypeRef type)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(u->job->context, 0);
    LLVMTypeRef types[] = {pointer, type};
    LLVMTypeRef function = LLVMFunctionType(type, types, 2, 0);
    const int is_float = LLVMGetTypeKind(type) != LLVMIntegerTypeKind;
    const char *constraints =
        is_float ? u->bits == 32 ? "=f,l,f,~{memory}" : "=d,l,d,~{memory}"
        : u->bits == 32 ? "=r,l,r,~{memory}"
                        : "=l,l,l,~{memory}";
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text, strlen(text), constraints,
                         strlen(constraints), 1, 0, 0, 0);
    LLVMValueRef arguments[] = {
        LLVMBuildAddrSpaceCast(u->builder, LLVMGetOperand(u->instruction, 0),
                               pointer, ""),
        operand_of(u, type)};

    return LLVMBuildCall2(u->builder, function, code, arguments, 2, "");
}

static LLVMValueRef as_before(const update *u, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(u->instruction);

    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(u->builder, value, type, "");
    return LLVMBuildBitCast(u->builder, value, type, "");
}

static void build_fence(const update *u)
{
    LLVMValueRef fence = LLVMBuildFence(
        u->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, "");

    LLVMSetAtomicSyncScopeID(fence, LLVMGetAtomicSyncScopeID(u->instruction));
}

static kiln_status replace(const update *u, const char *name)
{
    const LLVMAtomicOrdering order = LLVMGetOrdering(u->instruction);
    const int adds_floats =
        LLVMGetAtomicRMWBinOp(u->instruction) == LLVMAtomicRMWBinOpFAdd;
    LLVMTypeRef type = adds_floats
                           ? LLVMTypeOf(u->instruction)
                           : LLVMIntTypeInContext(u->job->context, u->bits);
    const char *text =
        kiln__arena_format(&u->job->arena, "atom.%s.%s.%s $0, [$1], $2;",
                           order_of(order), scope_of(u), name);
    LLVMValueRef value;

    if (text == NULL)
        return kiln__job_fail(u->job, KILN_ENOMEM, "out of memory");
    if (order == LLVMAtomicOrderingSequentiallyConsistent &&
        LLVMGetAtomicSyncScopeID(u->instruction) != 0)
        build_fence(u);
    value = as_before(u, call_text(u, text, type));
    LLVMReplaceAllUsesWith(u->instruction, value);
    LLVMInstructionEraseFromParent(u->instruction);
    return KILN_OK;
}

static kiln_status adapt_update(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef instruction)
{
    const LLVMTypeRef type = LLVMTypeOf(instruction);
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    const update u = {.job = job,
                      .builder = builder,
                      .instruction = instruction,
                      .bits = (unsigned)LLVMSizeOfTypeInBits(job->layout, type),
                      .is_float = kind == LLVMFloatTypeKind ||
                                  kind == LLVMDoubleTypeKind};
    const char *name = kind == LLVMVectorTypeKind ? NULL : text_of(&u);

    if (name == NULL || is_weak(&u))
        return KILN_OK;
    LLVMPositionBuilderBefore(builder, instruction);
    return replace(&u, name);
}

static kiln_status adapt_block(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMBasicBlockRef block)
{
    LLVMValueRef next;

    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
         at = next) {
        next = LLVMGetNextInstruction(at);
        if (LLVMIsAAtomicRMWInst(at))
            KILN_TRY(adapt_update(job, builder, at));
        else if (LLVMIsAFenceInst(at) && LLVMGetAtomicSyncScopeID(at) == 0)
            LLVMInstructionEraseFromParent(at);
    }
    return KILN_OK;
}

kiln_status kiln__cuda_order_atomics(kiln__codegen_job *job)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    kiln_status status = KILN_OK;
    LLVMValueRef function;
    LLVMBasicBlockRef block;

    for (function = LLVMGetFirstFunction(job->module);
         function != NULL && status == KILN_OK;
         function = LLVMGetNextFunction(function))
        for (block = LLVMGetFirstBasicBlock(function);
             block != NULL && status == KILN_OK;
             block = LLVMGetNextBasicBlock(block))
            status = adapt_block(job, builder, block);
    LLVMDisposeBuilder(builder);
    return status;
}
