/* foreign_check.c - refuses what a foreign module may not contain. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/foreign_findings.h"
#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * Kernel code may use nothing but its arguments and the functions that it may
 * import. So there may be no assembly, no constructor, no variable of the
 * process, no exception handling, and nothing that LLVM has no code for or,
 * worse, code that means something else. Undefined functions are checked later,
 * for every module.
 *
 * When everything has been checked, what the module defines is renamed. LLVM
 * knows C's functions by their names and calls some of them by itself; it would
 * take a function of the module for one of them.
 */

kiln_status kiln__foreign_refuse(kiln__codegen_job *job, const char *kind,
                                 LLVMValueRef global, const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN, "%s '%s' of the module: %s", kind,
                          kiln__plain_name(job, global), why);
}

static kiln_status refuse_function(kiln__codegen_job *job,
                                   LLVMValueRef function, const char *why)
{
    return kiln__foreign_refuse(job, "function", function, why);
}

static const char no_labels[] =
    "it has addresses of labels, which the target has not";

/* ---- types ---- */

static const char *refused_scalar(const kiln__codegen_job *job,
                                  LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    const kiln__foreign_rules *rules = job->backend->foreign;
    unsigned space;

    if (kind == LLVMFP128TypeKind || kind == LLVMPPC_FP128TypeKind ||
        (kind == LLVMX86_FP80TypeKind && !rules->has_long_floats) ||
        (kind == LLVMBFloatTypeKind && !rules->has_bfloats))
        return "it has floats that the target has not";
    if (kind == LLVMScalableVectorTypeKind)
        return "it has vectors of unknown length";
    if (kind == LLVMTargetExtTypeKind || kind == LLVMX86_AMXTypeKind)
        return "it has types that are of no use to kernels";
    if (kind != LLVMPointerTypeKind)
        return NULL;
    space = LLVMGetPointerAddressSpace(type);
    if (space >= 32 || (rules->spaces & KILN__SPACE_BIT(space)) == 0)
        return "it has pointers into an address space that the target has not";
    return NULL;
}

/* LLVM has no code for a device that passes them to functions. */
static int is_odd_vector(const kiln__codegen_job *job, LLVMTypeRef type)
{
    const LLVMTypeRef lane = LLVMGetElementType(type);

    return job->backend->device != NULL &&
           LLVMGetTypeKind(lane) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(lane) > 64 && LLVMGetIntTypeWidth(lane) != 128;
}

const char *kiln__foreign_refused_type(const kiln__codegen_job *job,
                                       LLVMTypeRef type)
{
    const char *why = NULL;

    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind:
        if (is_odd_vector(job, type))
            return "it has vectors of integers of more than 64 bits that have "
                   "not 128";
        return kiln__foreign_refused_type(job, LLVMGetElementType(type));
    case LLVMArrayTypeKind:
        return kiln__foreign_refused_type(job, LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
            why = kiln__foreign_refused_type(job,
                                             LLVMStructGetTypeAtIndex(type, i));
            if (why != NULL)
                return why;
        }
        return NULL;
    default:
        return refused_scalar(job, type);
    }
}

/* ---- calls ---- */

/* True for what a library contains for a device only: text that the vendor's
   assembler reads and no processor of the host sees. libdevice has such
   functions. */
static int is_of_a_device(const kiln__codegen_job *job)
{
    return job->request->form == KILN__EMIT_CLOSURE &&
           job->backend->device != NULL;
}

static int is_text(const char *text, unsigned size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(text, wanted, size) == 0;
}

/* True for a call that asks for another rounding mode. The mode is the
   thread's, and no kernel may change it. */
static int rounds_otherwise(LLVMValueRef call, const char *name)
{
    static const char prefix[] = "llvm.experimental.constrained.";
    static const char mode[] = "round.";
    const unsigned count = LLVMGetNumArgOperands(call);

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned size = 0;
        const char *text = LLVMGetMDString(LLVMGetOperand(call, i), &size);

        if (text != NULL && size >= sizeof mode - 1 &&
            memcmp(text, mode, sizeof mode - 1) == 0 &&
            !is_text(text, size, "round.tonearest") &&
            !is_text(text, size, "round.dynamic"))
            return 1;
    }
    return 0;
}

static int has_unsupported_bundle(LLVMValueRef call)
{
    static const char fine[] = "convergencectrl";
    const unsigned count = LLVMGetNumOperandBundles(call);
    unsigned unsupported = 0;

    for (unsigned i = 0; i < count; i++) {
        LLVMOperandBundleRef bundle = LLVMGetOperandBundleAtIndex(call, i);
        size_t size;
        const char *tag = LLVMGetOperandBundleTag(bundle, &size);

        unsupported += size != sizeof fine - 1 || memcmp(tag, fine, size) != 0;
        LLVMDisposeOperandBundle(bundle);
    }
    return unsupported > 0;
}

/* True for arguments that only some targets can pass in this way. */
static int has_unsupported_passing(LLVMValueRef of, unsigned count)
{
    static const char *const names[] = {"inalloca", "preallocated",
                                        "swifterror", "swiftasync"};
    const int is_function = LLVMIsAFunction(of) != NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const unsigned kind = kiln__attribute_kind(names[i]);

        for (unsigned index = 1; index <= count; index++)
            if ((is_function
                     ? LLVMGetEnumAttributeAtIndex(of, index, kind)
                     : LLVMGetCallSiteEnumAttribute(of, index, kind)) != NULL)
                return 1;
    }
    return 0;
}

static const char unsupported_passing[] =
    "it passes arguments as only some processors can";

static int is_convention(unsigned convention)
{
    return convention == LLVMCCallConv || convention == LLVMFastCallConv ||
           convention == LLVMColdCallConv;
}

static const char unsupported_convention[] =
    "its calling convention is not C's, fast or cold";

/* Returns NULL, or why a known function may not be called so. */
static const char *refused_callee(const kiln__codegen_job *job,
                                  LLVMValueRef call, LLVMValueRef callee,
                                  const char *name)
{
    if (LLVMGetIntrinsicID(callee) != 0) {
        const char *why = kiln__foreign_refused_intrinsic(job, call, name);

        return why == NULL && rounds_otherwise(call, name)
                   ? "the mode of rounding is the thread's, to nearest"
                   : why;
    }
    if (LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(callee))
        return "it has another type";
    if (LLVMGetInstructionCallConv(call) != LLVMGetFunctionCallConv(callee))
        return "it has another calling convention";
    return NULL;
}

static kiln_status refuse_call(kiln__codegen_job *job, LLVMValueRef function,
                               const char *name, const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN,
                          "function '%s' of the module calls '%s': %s",
                          kiln__plain_name(job, function), name, why);
}

static kiln_status check_callee(kiln__codegen_job *job, LLVMValueRef call,
                                LLVMValueRef function, LLVMValueRef callee)
{
    size_t size;
    const char *name = LLVMGetValueName2(callee, &size);
    const char *why = refused_callee(job, call, callee, name);

    return why == NULL ? KILN_OK : refuse_call(job, function, name, why);
}

static int is_assume(LLVMValueRef callee)
{
    static const char name[] = "llvm.assume";

    return LLVMIsAFunction(callee) != NULL &&
           LLVMGetIntrinsicID(callee) ==
               LLVMLookupIntrinsicID(name, sizeof name - 1);
}

static kiln_status check_call(kiln__codegen_job *job, LLVMValueRef call,
                              LLVMValueRef function)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (LLVMIsAInlineAsm(callee))
        return is_of_a_device(job)
                   ? KILN_OK
                   : refuse_function(job, function, "it contains assembly");
    if (has_unsupported_passing(call, LLVMGetNumArgOperands(call)))
        return refuse_function(job, function, unsupported_passing);
    if (!is_convention(LLVMGetInstructionCallConv(call)))
        return refuse_function(job, function, unsupported_convention);
    if (!is_assume(callee) && has_unsupported_bundle(call))
        return refuse_function(job, function,
                               "it has a call with operands for a runtime");
    if (LLVMIsAFunction(callee) == NULL)
        return KILN_OK;
    return check_callee(job, call, function, callee);
}

/* ---- instructions ---- */

/* True for a scope that the target does not know. Code generation would take it
   for another scope, or end the process. */
static int has_unknown_scope(const kiln__codegen_job *job,
                             LLVMValueRef instruction)
{
    const char *const *known = job->backend->foreign->scopes;
    char name[64];

    if (!LLVMIsAFenceInst(instruction) && !LLVMIsAAtomicRMWInst(instruction) &&
        !LLVMIsAAtomicCmpXchgInst(instruction) &&
        !((LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction)) &&
          LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic))
        return 0;
    if (known == NULL)
        return 0;
    if (kiln__llvm_scope_name(job->context,
                              LLVMGetAtomicSyncScopeID(instruction), name,
                              sizeof name) == NULL)
        return 1;
    for (; *known != NULL; known++)
        if (strcmp(*known, name) == 0)
            return 0;
    return 1;
}

static const char *refused_operands(const kiln__codegen_job *job,
                                    LLVMValueRef instruction)
{
    const int count = LLVMGetNumOperands(instruction);

    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        const char *why = kiln__foreign_refused_type(job, LLVMTypeOf(operand));

        if (why == NULL && kiln__llvm_linker_constant(operand) != NULL)
            why = "it has an address that only a linker understands";
        if (why != NULL)
            return why;
    }
    return kiln__foreign_refused_type(job, LLVMTypeOf(instruction));
}

/* True for an alloca of constant size in the first block, which is a part of
   the fixed frame. */
static int is_sized(LLVMValueRef alloca)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(alloca);

    return LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) != NULL &&
           block == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block));
}

/* An alloca whose size is known only at run time is refused: nobody could bound
   the frame. */
static const char *refused_alloca(const kiln__codegen_job *job,
                                  LLVMValueRef alloca)
{
    if (LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(alloca, 0))) > 64)
        return "it has an alloca of a number of more than 64 bits";
    if (job->backend->foreign->has_fixed_frames && !is_sized(alloca))
        return "it has an alloca whose size is not constant, or which is not "
               "in the first block";
    return kiln__foreign_refused_type(job, LLVMGetAllocatedType(alloca));
}

static kiln_status check_instruction(kiln__codegen_job *job,
                                     LLVMValueRef instruction,
                                     LLVMValueRef function)
{
    const char *why = refused_operands(job, instruction);

    if (why == NULL && has_unknown_scope(job, instruction))
        why = "it has atomics of a scope that the target does not know";
    if (why == NULL)
        why = kiln__foreign_refused_code(job, instruction);
    if (why != NULL)
        return refuse_function(job, function, why);
    switch ((int)LLVMGetInstructionOpcode(instruction)) {
    case LLVMCall:
        return check_call(job, instruction, function);
    case LLVMAlloca:
        why = refused_alloca(job, instruction);
        return why == NULL ? KILN_OK : refuse_function(job, function, why);
    case LLVMIndirectBr:
        return job->backend->foreign->has_label_addresses
                   ? KILN_OK
                   : refuse_function(job, function, no_labels);
    case LLVMCallBr:
        return refuse_function(job, function, "it contains assembly");
    case LLVMInvoke:
    case LLVMLandingPad:
    case LLVMResume:
    case LLVMCatchPad:
    case LLVMCatchSwitch:
    case LLVMCleanupPad:
        return refuse_function(job, function, "it handles C++ exceptions");
    default:
        return KILN_OK;
    }
}

/* ---- functions ---- */

static kiln_status check_body(kiln__foreign_findings *found,
                              LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef instruction;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction))
            KILN_TRY(kiln__foreign_finding(
                found, check_instruction(found->job, instruction, function),
                function, instruction));
    return KILN_OK;
}

/* Returns NULL, or why a function cannot be defined so. */
static const char *refused_head(const kiln__codegen_job *job,
                                LLVMValueRef function)
{
    const char *section = LLVMGetSection(function);
    const char *why = NULL;

    if (LLVMHasPersonalityFn(function))
        return "it handles C++ exceptions";
    if (LLVMGetGC(function) != NULL)
        return "it names a garbage collector";
    if (LLVMHasPrefixData(function) || LLVMHasPrologueData(function))
        return "it has data in front";
    if (section != NULL && *section != '\0')
        return "it names a section";
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(function)) != 0)
        return "it is in another address space";
    if (kiln__has_attribute(function, "naked"))
        return "it is naked, and what its callers need saved is not";
    if (kiln__has_attribute(function, "presplitcoroutine"))
        return "it is a coroutine";
    if (has_unsupported_passing(function, LLVMCountParams(function)))
        return unsupported_passing;
    if (!is_convention(LLVMGetFunctionCallConv(function)))
        return unsupported_convention;
    for (unsigned i = 0; i < LLVMCountParams(function) && why == NULL; i++)
        why = kiln__foreign_refused_type(job,
                                         LLVMTypeOf(LLVMGetParam(function, i)));
    return why;
}

static kiln_status check_function(kiln__foreign_findings *found,
                                  LLVMValueRef function)
{
    kiln__codegen_job *job = found->job;
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);
    const char *why;

    if (LLVMIsDeclaration(function)) {
        if (strncmp(name, "llvm.", 5) == 0 && LLVMGetIntrinsicID(function) == 0)
            return refuse_function(job, function, "there is no such intrinsic");
        return KILN_OK;
    }
    why = refused_head(job, function);
    if (why == NULL && !job->backend->foreign->has_label_addresses &&
        kiln__foreign_takes_labels(function))
        why = no_labels;
    if (why != NULL)
        return refuse_function(job, function, why);
    return check_body(found, function);
}

/* ---- after the passes ---- */

static kiln_status check_code(kiln__codegen_job *job, LLVMValueRef function,
                              LLVMValueRef instruction)
{
    LLVMValueRef callee = NULL;
    const char *why, *name;
    size_t size;

    if (LLVMIsACallInst(instruction) != NULL)
        callee = LLVMIsAFunction(LLVMGetCalledValue(instruction));
    if (callee == NULL || LLVMGetIntrinsicID(callee) == 0) {
        why = kiln__foreign_refused_code(job, instruction);
        return why == NULL ? KILN_OK : refuse_function(job, function, why);
    }
    name = LLVMIntrinsicGetName(LLVMGetIntrinsicID(callee), &size);
    why = kiln__foreign_limited(job, instruction, name + sizeof "llvm." - 1);
    return why == NULL ? KILN_OK
                       : refuse_call(job, function,
                                     LLVMGetValueName2(callee, &size), why);
}

kiln_status kiln__foreign_check_code(kiln__codegen_job *job)
{
    LLVMValueRef function, instruction;
    LLVMBasicBlockRef block;

    KILN_TRY(kiln__foreign_math_again(job));
    KILN_TRY(kiln__foreign_check_tables(job));
    for (function = LLVMGetFirstFunction(job->module); function != NULL;
         function = LLVMGetNextFunction(function))
        for (block = LLVMGetFirstBasicBlock(function); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            for (instruction = LLVMGetFirstInstruction(block);
                 instruction != NULL;
                 instruction = LLVMGetNextInstruction(instruction))
                KILN_TRY(check_code(job, function, instruction));
    return KILN_OK;
}

/* ---- names ---- */

/* Renames a global. Kiln's own names are refused where they are looked up. */
static kiln_status rename_global(kiln__codegen_job *job, LLVMValueRef global)
{
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);

    if (LLVMIsDeclaration(global) || size == 0 ||
        strncmp(name, "kiln_", 5) == 0)
        return KILN_OK;
    name = kiln__arena_format(&job->arena, "%s.own", name);
    if (name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    LLVMSetValueName2(global, name, strlen(name));
    return KILN_OK;
}

kiln_status kiln__foreign_check(kiln__codegen_job *job, LLVMValueRef root)
{
    kiln__foreign_findings found = {.job = job, .entry = root};
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at))
        KILN_TRY(kiln__foreign_finding(
            &found, kiln__foreign_check_variable(job, at), NULL, NULL));
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        KILN_TRY(kiln__foreign_finding(&found, check_function(&found, at), at,
                                       NULL));
    KILN_TRY(kiln__foreign_tell(&found));
    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at))
        KILN_TRY(rename_global(job, at));
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        if (at != root)
            KILN_TRY(rename_global(job, at));
    return KILN_OK;
}
