/* spirv_adapt.c - turns LLVM IR into what SPIR-V can express. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "backends/spirv/codegen/llvm_gap_spirv.h"
#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/error.h"

/*
 * This runs after the passes, right before the generator. It removes what only
 * passes understand, and what the generator would silently take for something
 * else:
 *
 *   freeze            has no instruction: its operand, made defined
 *   unreachable       becomes a return, of zero if of a value
 *   atomic updates    that there are none of: spirv_atomics.c
 *   atomic load, store  would become plain ones: atomic read-modify-writes
 *   pointers          compared, or in atomics: spirv_pointers.c
 *   pointers at the head of an alloca  would make it one of a pointer
 *   scopes            none is wider than a device, which needs no more
 *   constants         tables in the address space for them
 *   structs           spirv_aggregates.c
 *   vectors           of 2, 3, 4, 8 and 16 numbers; others one by one
 *   intrinsics        spirv_expand.c
 *
 */

/* ---- atomics ---- */

#define SYSTEM_SCOPE 1u

static unsigned device_scope(const kiln__codegen_job *job)
{
    return LLVMGetSyncScopeID(job->context, "device", 6);
}

static void narrow_scope(const kiln__codegen_job *job, LLVMValueRef atomic)
{
    if (LLVMGetAtomicSyncScopeID(atomic) == SYSTEM_SCOPE)
        LLVMSetAtomicSyncScopeID(atomic, device_scope(job));
}

static LLVMTypeRef word_of(const kiln__codegen_job *job, LLVMTypeRef type)
{
    return LLVMIntTypeInContext(
        job->context, (unsigned)LLVMSizeOfTypeInBits(job->layout, type));
}

static LLVMValueRef to_word(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);

    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(builder, value, word_of(job, type), "");
    return LLVMBuildBitCast(builder, value, word_of(job, type), "");
}

static LLVMValueRef from_word(LLVMBuilderRef builder, LLVMValueRef word,
                              LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(builder, word, type, "");
    return LLVMBuildBitCast(builder, word, type, "");
}

/* Replaces a store by an exchange, and a load by an addition of zero. */
static void replace_access(kiln__codegen_job *job, LLVMValueRef access)
{
    const int is_load = LLVMIsALoadInst(access) != NULL;
    const LLVMAtomicOrdering ordering = LLVMGetOrdering(access);
    const unsigned scope = LLVMGetAtomicSyncScopeID(access);
    const LLVMTypeRef type =
        is_load ? LLVMTypeOf(access) : LLVMTypeOf(LLVMGetOperand(access, 0));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef at = LLVMGetOperand(access, is_load ? 0 : 1), word;

    LLVMPositionBuilderBefore(builder, access);
    word = is_load ? LLVMConstNull(word_of(job, type))
                   : to_word(job, builder, LLVMGetOperand(access, 0));
    word = LLVMBuildAtomicRMW(
        builder, is_load ? LLVMAtomicRMWBinOpOr : LLVMAtomicRMWBinOpXchg, at,
        word,
        ordering == LLVMAtomicOrderingUnordered ? LLVMAtomicOrderingMonotonic
                                                : ordering,
        0);
    LLVMSetAtomicSyncScopeID(word, scope);
    narrow_scope(job, word);
    if (is_load)
        LLVMReplaceAllUsesWith(access, from_word(builder, word, type));
    LLVMInstructionEraseFromParent(access);
    LLVMDisposeBuilder(builder);
}

static int is_atomic_access(LLVMValueRef instruction)
{
    return (LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction)) &&
           LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
}

/* ---- pointers in memory ---- */

/* LLVM 22's generator takes memory that a pointer is stored to, or loaded from,
   for memory of one pointer, even where an alloca says that there is more. */
static int is_pointer_at_head(LLVMValueRef instruction)
{
    const int is_load = LLVMIsALoadInst(instruction) != NULL;
    LLVMValueRef value, at;

    if (!is_load && !LLVMIsAStoreInst(instruction))
        return 0;
    value = is_load ? instruction : LLVMGetOperand(instruction, 0);
    at = LLVMGetOperand(instruction, is_load ? 0 : 1);
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind &&
           LLVMIsAAllocaInst(at) != NULL &&
           LLVMGetTypeKind(LLVMGetAllocatedType(at)) != LLVMPointerTypeKind;
}

/* Replaces the access of a pointer by the same access of a number. */
static void access_number(const kiln__codegen_job *job, LLVMValueRef access)
{
    const int is_load = LLVMIsALoadInst(access) != NULL;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef at = LLVMGetOperand(access, is_load ? 0 : 1), made;

    LLVMPositionBuilderBefore(builder, access);
    if (is_load)
        made =
            LLVMBuildLoad2(builder, word_of(job, LLVMTypeOf(access)), at, "");
    else
        made = LLVMBuildStore(
            builder, to_word(job, builder, LLVMGetOperand(access, 0)), at);
    LLVMSetAlignment(made, LLVMGetAlignment(access));
    LLVMSetVolatile(made, LLVMGetVolatile(access));
    if (is_load)
        LLVMReplaceAllUsesWith(access,
                               from_word(builder, made, LLVMTypeOf(access)));
    LLVMInstructionEraseFromParent(access);
    LLVMDisposeBuilder(builder);
}

/* ---- control flow ---- */

static void return_anything(const kiln__codegen_job *job, LLVMValueRef end)
{
    const LLVMBasicBlockRef block = LLVMGetInstructionParent(end);
    const LLVMTypeRef type = LLVMGetReturnType(
        LLVMGlobalGetValueType(LLVMGetBasicBlockParent(block)));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);

    LLVMInstructionEraseFromParent(end);
    LLVMPositionBuilderAtEnd(builder, block);
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(builder);
    else
        LLVMBuildRet(builder, LLVMConstNull(type));
    LLVMDisposeBuilder(builder);
}

/* ---- instructions ---- */

/* Before SPIR-V 1.4 a select chooses element by element and cannot choose a
   whole vector by one Bool. The generator does not check that. */
#define WHOLE_SELECT_MINOR 4u

static int selects_whole_vectors(const kiln__codegen_job *job, LLVMValueRef at)
{
    return LLVMIsASelectInst(at) != NULL &&
           kiln__spirv_minor(job) < WHOLE_SELECT_MINOR &&
           LLVMGetTypeKind(LLVMTypeOf(at)) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(at, 0))) !=
               LLVMVectorTypeKind;
}

static void select_elements(const kiln__codegen_job *job, LLVMValueRef select)
{
    const LLVMValueRef condition = LLVMGetOperand(select, 0);
    const unsigned count = LLVMGetVectorSize(LLVMTypeOf(select));
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef all =
        LLVMGetPoison(LLVMVectorType(LLVMTypeOf(condition), count));

    LLVMPositionBuilderBefore(builder, select);
    for (unsigned i = 0; i < count; i++)
        all = LLVMBuildInsertElement(builder, all, condition,
                                     kiln__job_number32(job, i), "");
    LLVMReplaceAllUsesWith(
        select, LLVMBuildSelect(builder, all, LLVMGetOperand(select, 1),
                                LLVMGetOperand(select, 2), ""));
    LLVMInstructionEraseFromParent(select);
    LLVMDisposeBuilder(builder);
}

static void adapt_instruction(kiln__codegen_job *job, LLVMValueRef instruction)
{
    if (LLVMIsAFreezeInst(instruction))
        kiln__llvm_replace_freeze(instruction);
    else if (LLVMIsAGetElementPtrInst(instruction))
        /* LLVM counts members from OpConstantNull, not from 0. */
        kiln__llvm_count_bytes(instruction);
    else if (LLVMIsAUnreachableInst(instruction))
        return_anything(job, instruction);
    else if (is_atomic_access(instruction))
        replace_access(job, instruction);
    else if (is_pointer_at_head(instruction))
        access_number(job, instruction);
    else if (LLVMIsAAtomicRMWInst(instruction) ||
             LLVMIsAAtomicCmpXchgInst(instruction) ||
             LLVMIsAFenceInst(instruction))
        narrow_scope(job, instruction);
    else if (selects_whole_vectors(job, instruction))
        select_elements(job, instruction);
    else if (LLVMIsACallInst(instruction) &&
             !kiln__spirv_expand(job, instruction))
        kiln__spirv_pass_bytes(job, instruction);
}

static void adapt_body(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            next = LLVMGetNextInstruction(at);
            adapt_instruction(job, at);
        }
}

/* Expands one conversion to f64; false when there is none. This erases users of
   the conversion wherever they are, so the caller begins again. */
static int expand_one(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (kiln__spirv_expand_bits(job, at))
                return 1;
    return 0;
}

/* ---- tables ----
 *
 * A constant of a module has its own address space, which cannot be cast to any
 * other. So all code that reads it must be found. One whose address goes
 * elsewhere, to a function of the driver or to a pointer that may point to
 * others too, stays in global memory.
 */

static kiln_status move_users(kiln__codegen_job *job, LLVMValueRef from,
                              LLVMValueRef to, const char *name);

/* Builds the address that `user`, a GEP, computes, with `to` as its base. */
static LLVMValueRef same_place(kiln__codegen_job *job, LLVMValueRef user,
                               LLVMValueRef to)
{
    const unsigned count = (unsigned)LLVMGetNumOperands(user) - 1;
    LLVMValueRef *indices =
        kiln__arena_allocate_array(&job->arena, count + 1, sizeof *indices);
    LLVMBuilderRef builder;
    LLVMValueRef place;

    if (indices == NULL) {
        (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        indices[i] = LLVMGetOperand(user, i + 1);
    builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(builder, user);
    place = LLVMBuildGEP2(builder, LLVMGetGEPSourceElementType(user), to,
                          indices, count, "");
    LLVMDisposeBuilder(builder);
    return place;
}

static int is_copy(LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMIsACallInst(call)
                                    ? LLVMIsAFunction(LLVMGetCalledValue(call))
                                    : NULL;

    return callee != NULL &&
           LLVMGetIntrinsicID(callee) ==
               LLVMLookupIntrinsicID("llvm.memcpy", sizeof "llvm.memcpy" - 1);
}

static uint32_t argument_alignment(LLVMValueRef call, unsigned at)
{
    const LLVMAttributeRef given = LLVMGetCallSiteEnumAttribute(
        call, at + 1, LLVMGetEnumAttributeKindForName("align", 5));

    return given != NULL ? (uint32_t)LLVMGetEnumAttributeValue(given) : 1;
}

/* Replaces a call that copies from a constant. Returns false when the call is
   something else. */
static int copy_from(kiln__codegen_job *job, LLVMValueRef call, LLVMValueRef to)
{
    LLVMBuilderRef builder;

    if (!is_copy(call))
        return 0;
    builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderBefore(builder, call);
    LLVMBuildMemCpy(builder, LLVMGetOperand(call, 0),
                    argument_alignment(call, 0), to,
                    argument_alignment(call, 1), LLVMGetOperand(call, 2));
    LLVMDisposeBuilder(builder);
    LLVMInstructionEraseFromParent(call);
    return 1;
}

/* Makes a user of a constant, and its own users, refer to `to`, which is the
   same constant in its own address space. */
static kiln_status move_user(kiln__codegen_job *job, LLVMValueRef user,
                             LLVMValueRef to, const char *name)
{
    LLVMValueRef place = to;

    if (LLVMIsALoadInst(user)) {
        LLVMSetOperand(user, 0, to);
        return KILN_OK;
    }
    if (copy_from(job, user, to))
        return KILN_OK;
    if (LLVMIsAGetElementPtrInst(user))
        place = same_place(job, user, to);
    else if (!LLVMIsAAddrSpaceCastInst(user))
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "constant '%s' is used by its address; SPIR-V "
                              "can only read it",
                              name);
    if (place == NULL)
        return job->status;
    KILN_TRY(move_users(job, user, place, name));
    LLVMInstructionEraseFromParent(user);
    return KILN_OK;
}

static kiln_status move_users(kiln__codegen_job *job, LLVMValueRef from,
                              LLVMValueRef to, const char *name)
{
    LLVMUseRef use;

    while ((use = LLVMGetFirstUse(from)) != NULL)
        KILN_TRY(move_user(job, LLVMGetUser(use), to, name));
    return KILN_OK;
}

/* True if code takes the address of a constant, or of a part of it, and other
   constants do not. */
static int gives_address(LLVMValueRef from)
{
    int gives = 0;

    for (LLVMUseRef use = LLVMGetFirstUse(from); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) == NULL)
            return 0;
        if (LLVMIsAGetElementPtrInst(user) || LLVMIsAAddrSpaceCastInst(user))
            gives |= gives_address(user);
        else
            gives |= !LLVMIsALoadInst(user) && !is_copy(user);
    }
    return gives;
}

static kiln_status move_table(kiln__codegen_job *job, LLVMValueRef global)
{
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);
    LLVMValueRef table;

    kiln__llvm_expand_users(global);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == KILN__SPACE_GLOBAL &&
        gives_address(global))
        return KILN_OK;
    table =
        LLVMAddGlobalInAddressSpace(job->module, LLVMGlobalGetValueType(global),
                                    name, KILN__SPACE_CONSTANT);
    LLVMSetInitializer(table, LLVMGetInitializer(global));
    LLVMSetGlobalConstant(table, 1);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMSetAlignment(table, LLVMGetAlignment(global));
    KILN_TRY(move_users(job, global, table, name));
    LLVMDeleteGlobal(global);
    return KILN_OK;
}

static kiln_status adapt_globals(kiln__codegen_job *job)
{
    LLVMValueRef global, next;

    for (global = LLVMGetFirstGlobal(job->module); global != NULL;
         global = next) {
        const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));

        next = LLVMGetNextGlobal(global);
        if (LLVMGetFirstUse(global) == NULL)
            LLVMDeleteGlobal(global);
        else if (space == KILN__SHARED_SPACE)
            kiln__llvm_expand_users(global);
        else if (space != KILN__SPACE_CONSTANT &&
                 LLVMIsGlobalConstant(global) && !LLVMIsDeclaration(global))
            KILN_TRY(move_table(job, global));
    }
    return KILN_OK;
}

/* ---- aggregates and vectors ---- */

static int is_supported_length(unsigned length)
{
    return length == 2 || length == 3 || length == 4 || length == 8 ||
           length == 16;
}

static int is_unsupported_vector(LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           (!is_supported_length(LLVMGetVectorSize(type)) ||
            LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind);
}

static int has_unsupported_vectors(LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at)) {
            if (is_unsupported_vector(at))
                return 1;
            for (int i = 0; i < LLVMGetNumOperands(at); i++)
                if (is_unsupported_vector(LLVMGetOperand(at, (unsigned)i)))
                    return 1;
        }
    return 0;
}

kiln_status kiln__spirv_run_passes(kiln__codegen_job *job, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error =
        LLVMRunPasses(job->module, passes, job->machine, options);

    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) {
        char *text = LLVMGetErrorMessage(error);

        kiln__job_fail(job, KILN_ECODEGEN, "optimiser: %s", text);
        LLVMDisposeErrorMessage(text);
    }
    return job->status;
}

/* Splits aggregates. The passes then remove those that nobody needs as a
   whole. */
static kiln_status split_aggregates(kiln__codegen_job *job)
{
    LLVMValueRef f;
    int count = 0;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        count += kiln__spirv_split_aggregates(job, f);
    return count > 0 ? kiln__spirv_run_passes(job, "function(instsimplify,dce)")
                     : KILN_OK;
}

static kiln_status split_vectors(kiln__codegen_job *job)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (has_unsupported_vectors(f))
            return kiln__spirv_run_passes(job, "function(expand-reductions,"
                                               "scalarizer<load-store>,dce)");
    return KILN_OK;
}

/* ---- floats ---- */

static int is_sum_or_product(LLVMValueRef instruction)
{
    switch ((int)LLVMGetInstructionOpcode(instruction)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
        return 1;
    default:
        return 0;
    }
}

static int is_exact(LLVMValueRef instruction)
{
    return is_sum_or_product(instruction) &&
           (LLVMGetFastMathFlags(instruction) &
            (unsigned)LLVMFastMathAllowContract) == 0;
}

static int has_exact(LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (is_exact(at))
                return 1;
    return 0;
}

/* Sets the execution mode: a kernel contracts all operations or none. */
static void set_contraction(const kiln__codegen_job *job)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (has_exact(f))
            return;
    (void)LLVMGetOrInsertNamedMetadata(job->module, "opencl.enable.FP_CONTRACT",
                                       25);
}

/* ---- the module ---- */

kiln_status kiln__spirv_adapt(kiln__codegen_job *job)
{
    LLVMValueRef f, next;

    kiln__llvm_drop_named_metadata(job->module);
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        kiln__spirv_number_pointers(job, f);
        kiln__spirv_expand_atomics(job, f);
    }
    KILN_TRY(split_aggregates(job));
    KILN_TRY(split_vectors(job));
    KILN_TRY(adapt_globals(job));
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        adapt_body(job, f);
        while (!kiln__spirv_has(job, "fp64") && expand_one(job, f)) {
        }
    }
    kiln__llvm_spirv_addresses(job->module);
    for (f = LLVMGetFirstFunction(job->module); f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) == NULL)
            LLVMDeleteFunction(f);
    }
    kiln__spirv_set_conventions(job);
    set_contraction(job);
    KILN_TRY(job->status);
    return kiln__spirv_check(job);
}
