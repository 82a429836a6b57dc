/* spirv_check.c - refuses what a SPIR-V target does not have. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/error.h"
#include "codegen/module/codegen_stages.h"

/*
 * The generator ends the process for most of what it does not know, and does
 * not report what a device lacks. So everything that it will see is checked
 * first: types, instructions, intrinsics. All findings are reported at once,
 * each thing once for each function.
 */

#define FINDINGS_MAX 8

typedef struct findings {
    kiln__codegen_job *job;
    LLVMValueRef function;
    const char *texts[FINDINGS_MAX];
    size_t count;
} findings;

static void add_finding(findings *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_finding(findings *f, const char *format, ...)
{
    const char *text;
    va_list arguments;

    va_start(arguments, format);
    text = kiln__arena_vformat(&f->job->arena, format, arguments);
    va_end(arguments);
    if (text != NULL && f->function != NULL)
        text = kiln__arena_format(&f->job->arena, "%s: %s",
                                  kiln__spirv_name(f->job, f->function), text);
    if (text == NULL) {
        (void)kiln__job_fail(f->job, KILN_ENOMEM, "out of memory");
        return;
    }
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->texts[i], text) == 0)
            return;
    if (f->count < FINDINGS_MAX)
        f->texts[f->count++] = text;
}

static kiln_status report(findings *f)
{
    const char *all = "";

    KILN_TRY(f->job->status);
    if (f->count == 0)
        return KILN_OK;
    for (size_t i = 0; i < f->count && all != NULL; i++)
        all = kiln__arena_format(&f->job->arena, "%s%s%s", all,
                                 i > 0 ? "; " : "", f->texts[i]);
    return kiln__job_fail(f->job, KILN_EUNSUPPORTED, "%s",
                          all != NULL ? all : "out of memory");
}

/* ---- types ---- */

static void check_integer(findings *f, unsigned width)
{
    if (width != 1 && width != 8 && width != 16 && width != 32 && width != 64)
        add_finding(f, "SPIR-V has no integers of %u bits", width);
}

static void check_float(findings *f, LLVMTypeKind kind)
{
    if (kind == LLVMHalfTypeKind) {
        if (!kiln__spirv_has(f->job, "fp16"))
            add_finding(f, "f16 needs the target's option fp16");
    } else if (kind == LLVMDoubleTypeKind) {
        if (!kiln__spirv_has(f->job, "fp64"))
            add_finding(f, "f64 needs the target's option fp64");
    } else if (kind != LLVMFloatTypeKind) {
        add_finding(f, "SPIR-V has floats of 16, 32 and 64 bits only");
    }
}

static void check_type(findings *f, LLVMTypeRef type);

static void check_vector(findings *f, LLVMTypeRef type)
{
    const unsigned length = LLVMGetVectorSize(type);

    if (length != 2 && length != 3 && length != 4 && length != 8 &&
        length != 16)
        add_finding(f, "SPIR-V has no vectors of %u elements", length);
    if (LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind)
        add_finding(f, "SPIR-V has no vectors of pointers");
    check_type(f, LLVMGetElementType(type));
}

static void check_type(findings *f, LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);

    switch ((int)kind) {
    case LLVMVoidTypeKind:
    case LLVMLabelTypeKind:
    case LLVMMetadataTypeKind:
        return;
    case LLVMIntegerTypeKind:
        check_integer(f, LLVMGetIntTypeWidth(type));
        return;
    case LLVMPointerTypeKind:
        if (LLVMGetPointerAddressSpace(type) > KILN__SPACE_GENERIC)
            add_finding(f, "SPIR-V has no address space %u",
                        LLVMGetPointerAddressSpace(type));
        return;
    case LLVMArrayTypeKind:
        check_type(f, LLVMGetElementType(type));
        return;
    case LLVMVectorTypeKind:
        check_vector(f, type);
        return;
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            check_type(f, LLVMStructGetTypeAtIndex(type, i));
        return;
    case LLVMScalableVectorTypeKind:
    case LLVMTargetExtTypeKind:
    case LLVMTokenTypeKind:
    case LLVMX86_AMXTypeKind:
    case LLVMFunctionTypeKind:
        add_finding(f, "a type that SPIR-V does not have");
        return;
    default:
        check_float(f, kind);
    }
}

/* ---- atomics ---- */

static void check_atomic(findings *f, LLVMTypeRef type)
{
    const uint64_t bits = LLVMSizeOfTypeInBits(f->job->layout, type);

    if (bits == 64 && !kiln__spirv_has(f->job, "int64_atomics"))
        add_finding(f, "atomic operations on 64 bits need the target's option "
                       "int64_atomics");
    else if (bits != 32 && bits != 64)
        add_finding(f, "SPIR-V has no atomic operations on %u bits",
                    (unsigned)bits);
}

/* Updates of floats have capabilities of their own. */
static int is_float_update(LLVMAtomicRMWBinOp operation)
{
    return operation == LLVMAtomicRMWBinOpFAdd ||
           operation == LLVMAtomicRMWBinOpFSub ||
           operation == LLVMAtomicRMWBinOpFMin ||
           operation == LLVMAtomicRMWBinOpFMax;
}

static void check_update(findings *f, LLVMValueRef update)
{
    const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(update);
    const LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(update, 1));

    if (!kiln__spirv_has_update(f->job, update))
        add_finding(f, "an atomic operation that SPIR-V does not have");
    if (!is_float_update(operation))
        check_atomic(f, type);
}

/* ---- calls ---- */

/* Intrinsics that the generator has code for on every type that is left, by the
   beginnings of their names. */
static const char *const known[] = {
    "llvm.abs.",        "llvm.acos.",   "llvm.asin.",      "llvm.atan.",
    "llvm.atan2.",      "llvm.bswap.",  "llvm.ceil.",      "llvm.copysign.",
    "llvm.cos.",        "llvm.cosh.",   "llvm.ctlz.",      "llvm.ctpop.",
    "llvm.cttz.",       "llvm.exp.",    "llvm.exp2.",      "llvm.fabs.",
    "llvm.floor.",      "llvm.fma.",    "llvm.fmuladd.",   "llvm.fptosi.sat.",
    "llvm.fptoui.sat.", "llvm.fshl.",   "llvm.fshr.",      "llvm.is.fpclass.",
    "llvm.log.",        "llvm.log10.",  "llvm.log2.",      "llvm.maxnum.",
    "llvm.memcpy.",     "llvm.minnum.", "llvm.nearbyint.", "llvm.pow.",
    "llvm.powi.",       "llvm.rint.",   "llvm.round.",     "llvm.roundeven.",
    "llvm.sadd.sat.",   "llvm.scmp.",   "llvm.sin.",       "llvm.sinh.",
    "llvm.smax.",       "llvm.smin.",   "llvm.sqrt.",      "llvm.ssub.sat.",
    "llvm.tan.",        "llvm.tanh.",   "llvm.trunc.",     "llvm.uadd.sat.",
    "llvm.ucmp.",       "llvm.umax.",   "llvm.umin.",      "llvm.usub.sat.",
};

/* For these the generator ends the process when the type has one bit. */
static const char *const wider[] = {
    "llvm.abs.i1",  "llvm.ctlz.i1", "llvm.cttz.i1",     "llvm.sadd.sat.i1",
    "llvm.smax.i1", "llvm.smin.i1", "llvm.ssub.sat.i1", "llvm.uadd.sat.i1",
    "llvm.umax.i1", "llvm.umin.i1", "llvm.usub.sat.i1",
};

static void check_intrinsic(findings *f, const char *name)
{
    int is_known = 0;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known |= strncmp(name, known[i], strlen(known[i])) == 0;
    for (size_t i = 0; i < sizeof wider / sizeof wider[0]; i++)
        is_known &= strcmp(name, wider[i]) != 0;
    if (!is_known)
        add_finding(f, "LLVM has no SPIR-V for %s", name);
}

static void check_call(findings *f, LLVMValueRef call)
{
    const LLVMValueRef called = LLVMGetCalledValue(call);
    const LLVMValueRef callee = LLVMIsAFunction(called);
    size_t size;
    const char *name;

    if (callee == NULL) {
        add_finding(f, LLVMIsAInlineAsm(called) ? "SPIR-V has no assembly"
                                                : "SPIR-V has no pointers to "
                                                  "functions");
        return;
    }
    name = LLVMGetValueName2(callee, &size);
    if (strcmp(name, KILN__SPIRV_CLOCK) == 0 &&
        !kiln__spirv_has(f->job, KILN__SPIRV_CLOCK_OPTION))
        add_finding(f, "the clock needs the target's option "
                       "" KILN__SPIRV_CLOCK_OPTION);
    if (LLVMGetIntrinsicID(callee) != 0)
        check_intrinsic(f, name);
    else if (LLVMGetInstructionCallConv(call) !=
             LLVMGetFunctionCallConv(callee))
        add_finding(f, "'%s' is called by another convention than it has",
                    name);
}

/* ---- instructions ---- */

static void check_operands(findings *f, LLVMValueRef instruction)
{
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        const LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);

        if (LLVMIsAFunction(operand) && !LLVMIsACallInst(instruction))
            add_finding(f, "SPIR-V has no pointers to functions");
        else
            check_type(f, LLVMTypeOf(operand));
    }
}

/* Pointers to constants are of their own kind; all others can be cast to and
   from generic ones. */
static void check_cast(findings *f, LLVMValueRef cast)
{
    const unsigned from =
        LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(cast, 0)));
    const unsigned to = LLVMGetPointerAddressSpace(LLVMTypeOf(cast));

    if (from == KILN__SPACE_CONSTANT || to == KILN__SPACE_CONSTANT)
        add_finding(f, "SPIR-V has no casts between pointers to constants and "
                       "others");
    else if (from != KILN__SPACE_GENERIC && to != KILN__SPACE_GENERIC)
        add_finding(f, "SPIR-V has no casts from address space %u to %u", from,
                    to);
}

static void check_instruction(findings *f, LLVMValueRef instruction)
{
    check_type(f, LLVMTypeOf(instruction));
    check_operands(f, instruction);
    switch ((int)LLVMGetInstructionOpcode(instruction)) {
    case LLVMCall:
        check_call(f, instruction);
        break;
    case LLVMAlloca:
        check_type(f, LLVMGetAllocatedType(instruction));
        if (!LLVMIsAConstantInt(LLVMGetOperand(instruction, 0)))
            add_finding(f, "SPIR-V has no variables whose size is computed");
        break;
    case LLVMAddrSpaceCast:
        if (LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMPointerTypeKind)
            check_cast(f, instruction);
        break;
    case LLVMAtomicRMW:
        check_update(f, instruction);
        break;
    case LLVMAtomicCmpXchg:
        check_atomic(f, LLVMTypeOf(LLVMGetOperand(instruction, 1)));
        break;
    case LLVMUnreachable:
    case LLVMIndirectBr:
    case LLVMVAArg:
    case LLVMFreeze:
        add_finding(f, "an instruction that SPIR-V does not have");
        break;
    default:
        break;
    }
}

static void check_function(findings *f)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(f->function);
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    if (LLVMGetIntrinsicID(f->function) != 0)
        return;
    if (LLVMIsFunctionVarArg(type))
        add_finding(f, "SPIR-V has no variable number of arguments");
    check_type(f, LLVMGetReturnType(type));
    for (unsigned i = 0; i < LLVMCountParams(f->function); i++)
        check_type(f, LLVMTypeOf(LLVMGetParam(f->function, i)));
    for (block = LLVMGetFirstBasicBlock(f->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            check_instruction(f, at);
}

static void check_global(findings *f, LLVMValueRef global)
{
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));

    check_type(f, LLVMGlobalGetValueType(global));
    if (space != KILN__SHARED_SPACE && space != KILN__SPACE_CONSTANT &&
        (space != KILN__SPACE_GLOBAL || !LLVMIsGlobalConstant(global) ||
         LLVMIsDeclaration(global)))
        add_finding(f,
                    "variable '%s' of the module: memory of a launch is its "
                    "arguments",
                    kiln__plain_name(f->job, global));
}

kiln_status kiln__spirv_check(kiln__codegen_job *job)
{
    findings f = {.job = job};
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at))
        check_global(&f, at);
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at)) {
        f.function = at;
        check_function(&f);
    }
    return report(&f);
}
