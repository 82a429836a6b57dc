/* neutral_raise_type.c - the declaration of kiln_raise() in a neutral module.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_values.h"

/*
 * A module may declare kiln_raise() with pointers to any memory: with SPIR's
 * numbers, string literals are in constant memory. Its texts end up in no
 * memory of the target. So the function is declared anew with generic pointers,
 * and the passes, which add calls of their own, know one type.
 */

enum { OPERANDS = 6 };

/* Texts in generic memory become constants of the target. */
static LLVMTypeRef text_type(kiln__codegen_job *job)
{
    return LLVMPointerTypeInContext(job->context,
                                    kiln__neutral_generic_space(job));
}

LLVMTypeRef kiln__neutral_raise_type(kiln__codegen_job *job)
{
    const LLVMTypeRef pointer = text_type(job);
    const LLVMTypeRef i32 = kiln__job_i32(job), i64 = kiln__job_i64(job);
    LLVMTypeRef types[OPERANDS] = {i32, pointer, i32, pointer, i64, i64};

    return LLVMFunctionType(LLVMVoidTypeInContext(job->context), types,
                            OPERANDS, 0);
}

/* True for the type, but for the address spaces of its pointers. */
static int is_raise_type(kiln__codegen_job *job, LLVMTypeRef type)
{
    LLVMTypeRef wanted[OPERANDS], given[OPERANDS];
    const LLVMTypeRef raise = kiln__neutral_raise_type(job);

    if (LLVMCountParamTypes(type) != OPERANDS || LLVMIsFunctionVarArg(type) ||
        LLVMGetReturnType(type) != LLVMGetReturnType(raise))
        return 0;
    LLVMGetParamTypes(raise, wanted);
    LLVMGetParamTypes(type, given);
    for (unsigned i = 0; i < OPERANDS; i++)
        if (given[i] != wanted[i] &&
            (LLVMGetTypeKind(wanted[i]) != LLVMPointerTypeKind ||
             LLVMGetTypeKind(given[i]) != LLVMPointerTypeKind))
            return 0;
    return 1;
}

static int is_cast(LLVMValueRef value)
{
    return LLVMIsAAddrSpaceCastInst(value) != NULL ||
           (LLVMIsAConstantExpr(value) != NULL &&
            LLVMGetConstOpcode(value) == LLVMAddrSpaceCast);
}

/* Returns the text by a generic pointer, whatever space it was cast to. What is
   no constant is refused later, and its value does not matter. */
static LLVMValueRef generic_text(LLVMValueRef text, LLVMTypeRef type)
{
    while (is_cast(text))
        text = LLVMGetOperand(text, 0);
    if (LLVMIsAConstantPointerNull(text) != NULL)
        return LLVMConstNull(type);
    if (LLVMTypeOf(text) == type)
        return text;
    return LLVMIsAConstant(text) != NULL ? LLVMConstAddrSpaceCast(text, type)
                                         : LLVMGetPoison(type);
}

static void call_generic(kiln__codegen_job *job, LLVMValueRef call,
                         LLVMValueRef raise)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(raise);
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef operands[OPERANDS];

    for (unsigned i = 0; i < OPERANDS; i++) {
        operands[i] = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(operands[i])) == LLVMPointerTypeKind)
            operands[i] = generic_text(operands[i], text_type(job));
    }
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    LLVMBuildCall2(builder, type, raise, operands, OPERANDS, "");
    LLVMDisposeBuilder(builder);
    LLVMInstructionEraseFromParent(call);
}

kiln_status kiln__neutral_take_raise(kiln__codegen_job *job,
                                     LLVMValueRef *raise)
{
    const LLVMValueRef given = *raise;
    const LLVMTypeRef type = kiln__neutral_raise_type(job);
    LLVMUseRef use;

    if (given == NULL || job->status != KILN_OK)
        return job->status;
    if (!LLVMIsDeclaration(given))
        return kiln__foreign_refuse_call(job, KILN__NEUTRAL_RAISE,
                                         "the module may not define it");
    if (LLVMGlobalGetValueType(given) == type)
        return KILN_OK;
    if (!is_raise_type(job, LLVMGlobalGetValueType(given)))
        return kiln__foreign_refuse_call(job, KILN__NEUTRAL_RAISE,
                                         "it is declared with another type");
    for (use = LLVMGetFirstUse(given); use != NULL; use = LLVMGetNextUse(use))
        if (!kiln__is_call_of(LLVMGetUser(use), given) ||
            LLVMGetCalledFunctionType(LLVMGetUser(use)) !=
                LLVMGlobalGetValueType(given))
            return kiln__foreign_refuse_call(job, KILN__NEUTRAL_RAISE,
                                             "it may be called only");
    LLVMSetValueName2(given, "", 0);
    *raise = LLVMAddFunction(job->module, KILN__NEUTRAL_RAISE, type);
    while ((use = LLVMGetFirstUse(given)) != NULL)
        call_generic(job, LLVMGetUser(use), *raise);
    LLVMDeleteFunction(given);
    return KILN_OK;
}
