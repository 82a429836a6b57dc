/* codegen_values.c - attributes by their names, and the elements of vectors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/module/codegen_values.h"

#include <string.h>

static const LLVMAttributeIndex self =
    (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

unsigned kiln__attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

int kiln__has_attribute(LLVMValueRef function, const char *name)
{
    return LLVMGetEnumAttributeAtIndex(function, self,
                                       kiln__attribute_kind(name)) != NULL;
}

void kiln__add_attribute(LLVMValueRef function, const char *name)
{
    const LLVMContextRef context =
        LLVMGetModuleContext(LLVMGetGlobalParent(function));

    LLVMAddAttributeAtIndex(
        function, self,
        LLVMCreateEnumAttribute(context, kiln__attribute_kind(name), 0));
}

void kiln__remove_attribute(LLVMValueRef function, const char *name)
{
    LLVMRemoveEnumAttributeAtIndex(function, self, kiln__attribute_kind(name));
}

void kiln__inline_always(LLVMValueRef function)
{
    kiln__remove_attribute(function, "noinline");
    kiln__remove_attribute(function, "optnone");
    kiln__add_attribute(function, "alwaysinline");
}

static int calls_itself(LLVMValueRef function)
{
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) == NULL ||
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function)
            return 1;
    }
    return 0;
}

void kiln__inline_unless_recursive(LLVMValueRef function)
{
    if (!calls_itself(function))
        kiln__inline_always(function);
}

int kiln__is_call_of(LLVMValueRef user, LLVMValueRef function)
{
    unsigned count;

    if (LLVMIsACallInst(user) == NULL || LLVMGetCalledValue(user) != function)
        return 0;
    count = LLVMGetNumArgOperands(user);
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetOperand(user, i) == function)
            return 0;
    return 1;
}

LLVMValueRef kiln__call_intrinsic(LLVMBuilderRef builder, const char *name,
                                  LLVMTypeRef type, LLVMValueRef *arguments,
                                  unsigned count)
{
    const LLVMBasicBlockRef block = LLVMGetInsertBlock(builder);
    const LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
    const LLVMValueRef function = LLVMGetIntrinsicDeclaration(
        module, LLVMLookupIntrinsicID(name, strlen(name)), &type, type != NULL);

    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                          arguments, count, "");
}

LLVMTypeRef kiln__lane_type(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMGetElementType(type)
               : type;
}

unsigned kiln__lane_count(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type)
                                                       : 1;
}

/* LLVM folds the shuffle, whatever the number of elements. */
LLVMValueRef kiln__spread_constant(LLVMTypeRef type, LLVMValueRef one)
{
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    LLVMValueRef first;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return one;
    first = LLVMConstVector(&one, 1);
    return LLVMConstShuffleVector(
        first, LLVMGetPoison(LLVMTypeOf(first)),
        LLVMConstNull(LLVMVectorType(i32, LLVMGetVectorSize(type))));
}
