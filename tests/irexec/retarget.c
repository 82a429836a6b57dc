/* retarget.c - makes a module of a device one of the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "engine.h"

/* ---- functions of the hardware ---- */

#define ASSEMBLY PREFIX "asm "
#define READ "mov.u32 $0, %"

static const named_function *find_in(const named_function *table,
                                     const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0)
        table++;
    return table->name != NULL ? table : NULL;
}

/* "mov.u32 $0, %tid.x;" is what the intrinsic of that name is. */
static const named_function *find_read(const char *text)
{
    char name[64];

    snprintf(name, sizeof name, "nvvm.read.ptx.sreg.%.*s",
             (int)strcspn(text, ";"), text);
    return find_in(nvvm_functions, name);
}

/* By what stands in the text and in no other. */
static const named_function *find_assembly(const char *text)
{
    const named_function *at = assembly_functions;

    if (strncmp(text, READ, strlen(READ)) == 0)
        return find_read(text + strlen(READ));
    while (at->name != NULL && strstr(text, at->name) == NULL)
        at++;
    return at->name != NULL ? at : NULL;
}

const named_function *find_function(LLVMValueRef declaration)
{
    static const named_function *const tables[] = {
        nvvm_functions, nvvm_math_functions, amdgcn_functions};
    size_t size;
    const char *name = LLVMGetValueName2(declaration, &size);
    const named_function *found = NULL;

    if (strncmp(name, ASSEMBLY, strlen(ASSEMBLY)) == 0)
        return find_assembly(name + strlen(ASSEMBLY));
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !found; i++)
        found = find_in(tables[i], name + strlen(PREFIX));
    return found;
}

/* ---- inline assembly becomes a call of a function of that name ---- */

static void replace_assembly(LLVMModuleRef module, LLVMValueRef call)
{
    const LLVMValueRef callee = LLVMGetCalledValue(call);
    const LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMValueRef function;
    char name[1024];
    size_t size;
    const char *text = LLVMGetInlineAsmAsmString(callee, &size);

    snprintf(name, sizeof name, ASSEMBLY "%.*s", (int)size, text);
    function = LLVMGetNamedFunction(module, name);
    if (function == NULL)
        function = LLVMAddFunction(module, name, type);
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, function);
}

/* An empty one that returns its operand. */
static int is_nothing(LLVMValueRef call)
{
    size_t size;

    (void)LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &size);
    return size == 0 && LLVMGetNumArgOperands(call) == 1 &&
           LLVMTypeOf(call) == LLVMTypeOf(LLVMGetOperand(call, 0));
}

static void drop(LLVMValueRef call)
{
    LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
    LLVMInstructionEraseFromParent(call);
}

static void replace_assemblies(LLVMModuleRef module, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            next = LLVMGetNextInstruction(at);
            if (!LLVMIsACallInst(at) ||
                !LLVMIsAInlineAsm(LLVMGetCalledValue(at)))
                continue;
            if (is_nothing(at))
                drop(at);
            else
                replace_assembly(module, at);
        }
}

/* ---- attributes ---- */

static void drop_attributes(LLVMValueRef function)
{
    static const char *const names[] = {"target-cpu", "target-features",
                                        "tune-cpu"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveStringAttributeAtIndex(
            function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, names[i],
            (unsigned)strlen(names[i]));
}

void retarget(LLVMModuleRef module)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        drop_attributes(f);
        replace_assemblies(module, f);
    }
}

/* ---- from a block of arguments to a call ---- */

static LLVMAttributeRef type_attribute(LLVMValueRef kernel, unsigned i,
                                       const char *name)
{
    return LLVMGetEnumAttributeAtIndex(
        kernel, i + 1, LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

typedef struct entering {
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    LLVMValueRef kernel;
    LLVMValueRef block;
    uint64_t end;
} entering;

/* Where the next parameter begins. */
static LLVMValueRef place(entering *e, LLVMTypeRef type, uint64_t alignment)
{
    const LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(e->kernel));
    LLVMValueRef offset;

    e->end = (e->end + alignment - 1) / alignment * alignment;
    offset = LLVMConstInt(LLVMInt64TypeInContext(context), e->end, 0);
    e->end += LLVMABISizeOfType(e->layout, type);
    return LLVMBuildGEP2(e->builder, LLVMInt8TypeInContext(context), e->block,
                         &offset, 1, "");
}

/* An aggregate is passed by the address of its bytes. */
static LLVMValueRef argument(entering *e, unsigned i)
{
    const LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(e->kernel, i));
    LLVMAttributeRef aggregate = type_attribute(e->kernel, i, "byval");
    LLVMValueRef at;

    if (aggregate == NULL)
        aggregate = type_attribute(e->kernel, i, "byref");
    if (aggregate != NULL) {
        const LLVMAttributeRef align = type_attribute(e->kernel, i, "align");

        return place(e, LLVMGetTypeAttributeValue(aggregate),
                     align != NULL ? LLVMGetEnumAttributeValue(align) : 1);
    }
    at = place(e, type, LLVMABIAlignmentOfType(e->layout, type));
    return LLVMBuildLoad2(e->builder, type, at, "");
}

static void copy_attribute(LLVMValueRef call, LLVMValueRef kernel, unsigned i,
                           const char *name)
{
    const LLVMAttributeRef attribute = type_attribute(kernel, i, name);

    if (attribute != NULL)
        LLVMAddCallSiteAttribute(call, i + 1, attribute);
}

#define PARAMETERS_MAX 512

static void build_call(entering *e)
{
    LLVMValueRef arguments[PARAMETERS_MAX], call;
    const unsigned count = LLVMCountParams(e->kernel);

    for (unsigned i = 0; i < count; i++)
        arguments[i] = argument(e, i);
    call = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(e->kernel),
                          e->kernel, arguments, count, "");
    for (unsigned i = 0; i < count; i++) {
        copy_attribute(call, e->kernel, i, "byval");
        copy_attribute(call, e->kernel, i, "align");
    }
    LLVMBuildRetVoid(e->builder);
}

uint64_t add_enter(LLVMModuleRef module, LLVMTargetDataRef layout,
                   LLVMValueRef kernel, const char *name)
{
    const LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    const LLVMValueRef enter = LLVMAddFunction(
        module, name,
        LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, 0));
    entering e = {.builder = LLVMCreateBuilderInContext(context),
                  .layout = layout,
                  .kernel = kernel,
                  .block = LLVMGetParam(enter, 0)};

    LLVMPositionBuilderAtEnd(e.builder,
                             LLVMAppendBasicBlockInContext(context, enter, ""));
    if (LLVMCountParams(kernel) <= PARAMETERS_MAX)
        build_call(&e);
    LLVMDisposeBuilder(e.builder);
    return e.end;
}
