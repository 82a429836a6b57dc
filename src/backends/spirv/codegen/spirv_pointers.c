/* spirv_pointers.c - makes numbers of pointers where SPIR-V has nothing for
   pointers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/codegen/spirv_codegen.h"

/*
 * SPIR-V's atomic operations are on numbers. It compares pointers since version
 * 1.4 only, for equality only; some drivers that read 1.4 do not know that. As
 * numbers, pointers of one kind of memory compare as they do in LLVM.
 *
 * LLVM 22's generator passes the address of a variable to a function of the
 * driver as a pointer to the whole variable, whatever the function takes; the
 * address of a byte it converts.
 */

static int is_pointer(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

/* Returns the type of numbers, or of vectors of numbers, for these pointers. */
static LLVMTypeRef number_type(const kiln__codegen_job *job, LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMVectorType(kiln__job_i64(job), LLVMGetVectorSize(type))
               : kiln__job_i64(job);
}

static LLVMValueRef to_number(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef pointer)
{
    return LLVMBuildPtrToInt(builder, pointer,
                             number_type(job, LLVMTypeOf(pointer)), "");
}

static LLVMValueRef compare(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef at)
{
    return LLVMBuildICmp(builder, LLVMGetICmpPredicate(at),
                         to_number(job, builder, LLVMGetOperand(at, 0)),
                         to_number(job, builder, LLVMGetOperand(at, 1)), "");
}

static void copy_atomic(LLVMValueRef to, LLVMValueRef from)
{
    LLVMSetAtomicSyncScopeID(to, LLVMGetAtomicSyncScopeID(from));
    LLVMSetVolatile(to, LLVMGetVolatile(from));
}

static LLVMValueRef exchange(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef at)
{
    const LLVMValueRef made = LLVMBuildAtomicRMW(
        builder, LLVMGetAtomicRMWBinOp(at), LLVMGetOperand(at, 0),
        to_number(job, builder, LLVMGetOperand(at, 1)), LLVMGetOrdering(at), 0);

    copy_atomic(made, at);
    return LLVMBuildIntToPtr(builder, made, LLVMTypeOf(at), "");
}

/* Replaces the parts that are taken of the result by the value or the flag. */
static void replace_parts(LLVMValueRef at, LLVMValueRef value,
                          LLVMValueRef flag)
{
    LLVMUseRef use, next;

    for (use = LLVMGetFirstUse(at); use != NULL; use = next) {
        const LLVMValueRef user = LLVMGetUser(use);

        next = LLVMGetNextUse(use);
        if (LLVMIsAExtractValueInst(user) == NULL)
            continue;
        LLVMReplaceAllUsesWith(user,
                               LLVMGetIndices(user)[0] == 0 ? value : flag);
        LLVMInstructionEraseFromParent(user);
    }
}

static LLVMValueRef compare_and_swap(const kiln__codegen_job *job,
                                     LLVMBuilderRef builder, LLVMValueRef at)
{
    const LLVMTypeRef pointer = LLVMTypeOf(LLVMGetOperand(at, 1));
    const LLVMValueRef made =
        LLVMBuildAtomicCmpXchg(builder, LLVMGetOperand(at, 0),
                               to_number(job, builder, LLVMGetOperand(at, 1)),
                               to_number(job, builder, LLVMGetOperand(at, 2)),
                               LLVMGetCmpXchgSuccessOrdering(at),
                               LLVMGetCmpXchgFailureOrdering(at), 0);
    const LLVMValueRef flag = LLVMBuildExtractValue(builder, made, 1, "");
    const LLVMValueRef value = LLVMBuildIntToPtr(
        builder, LLVMBuildExtractValue(builder, made, 0, ""), pointer, "");
    LLVMValueRef both = LLVMGetPoison(LLVMTypeOf(at));

    copy_atomic(made, at);
    replace_parts(at, value, flag);
    if (LLVMGetFirstUse(at) == NULL)
        return both;
    both = LLVMBuildInsertValue(builder, both, value, 0, "");
    return LLVMBuildInsertValue(builder, both, flag, 1, "");
}

/* Returns what stands for the instruction, or NULL. */
static LLVMValueRef of_numbers(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef at)
{
    if (LLVMIsAICmpInst(at) != NULL && is_pointer(LLVMGetOperand(at, 0)))
        return compare(job, builder, at);
    if (LLVMIsAAtomicRMWInst(at) != NULL && is_pointer(at))
        return exchange(job, builder, at);
    if (LLVMIsAAtomicCmpXchgInst(at) != NULL &&
        is_pointer(LLVMGetOperand(at, 1)))
        return compare_and_swap(job, builder, at);
    return NULL;
}

void kiln__spirv_number_pointers(const kiln__codegen_job *job,
                                 LLVMValueRef function)
{
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMBasicBlockRef block;
    LLVMValueRef at, next, made;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            LLVMPositionBuilderBefore(builder, at);
            made = of_numbers(job, builder, at);
            next = LLVMGetNextInstruction(at);
            if (made == NULL)
                continue;
            LLVMReplaceAllUsesWith(at, made);
            LLVMInstructionEraseFromParent(at);
        }
    LLVMDisposeBuilder(builder);
}

/* ---- arguments ---- */

/* True for the address of a variable of several elements. */
static int is_variable(LLVMValueRef value)
{
    LLVMTypeRef type;

    if (LLVMIsAGlobalVariable(value) != NULL)
        type = LLVMGlobalGetValueType(value);
    else if (LLVMIsAAllocaInst(value) != NULL)
        type = LLVMGetAllocatedType(value);
    else
        return 0;
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind ||
           LLVMGetTypeKind(type) == LLVMStructTypeKind;
}

/* Returns the address of the variable's first byte. The builder would fold an
   index that is constant at once. */
static LLVMValueRef first_byte(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef variable)
{
    const LLVMValueRef zero = kiln__job_number64(job, 0);
    LLVMValueRef index = LLVMBuildFreeze(builder, zero, "");
    const LLVMValueRef made = LLVMBuildInBoundsGEP2(
        builder, LLVMInt8TypeInContext(job->context), variable, &index, 1, "");

    LLVMSetOperand(made, 1, zero);
    LLVMInstructionEraseFromParent(index);
    return made;
}

void kiln__spirv_pass_bytes(const kiln__codegen_job *job, LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    LLVMBuilderRef builder;

    if (callee == NULL || !LLVMIsDeclaration(callee) ||
        LLVMGetIntrinsicID(callee) != 0)
        return;
    builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(builder, call);
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (is_variable(LLVMGetOperand(call, i)))
            LLVMSetOperand(call, i,
                           first_byte(job, builder, LLVMGetOperand(call, i)));
    LLVMDisposeBuilder(builder);
}
