/* opencl_calls.c - finds calls of built-in functions, and replaces them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "clang/opencl_calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- what tables use ---- */

LLVMTypeRef kiln__opencl_i32(const kiln__opencl_call *call)
{
    return LLVMInt32TypeInContext(call->context);
}

LLVMTypeRef kiln__opencl_i64(const kiln__opencl_call *call)
{
    return LLVMInt64TypeInContext(call->context);
}

LLVMValueRef kiln__opencl_number(const kiln__opencl_call *call, uint64_t value)
{
    return LLVMConstInt(kiln__opencl_i32(call), value, 0);
}

/* An attribute of the whole function. A number of 0 says for `memory` that none
   is read or written. */
static void add_attribute(const kiln__opencl_call *call, LLVMValueRef function,
                          const char *name)
{
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function,
                            (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(call->context, kind, 0));
}

/* What the neutral form says of a function. Items that call one which is in
   neither list work together. */
static void add_attributes(const kiln__opencl_call *call, LLVMValueRef function,
                           const char *name)
{
    static const char *const queries[] = {
        "kiln_global_id",       "kiln_local_id",       "kiln_group_id",
        "kiln_global_size",     "kiln_local_size",     "kiln_group_count",
        "kiln_sub_group_count", "kiln_sub_group_size", "kiln_sub_group_id",
        "kiln_lane_id"};
    static const char *const alone[] = {"kiln_group_memory", "kiln_fence"};

    add_attribute(call, function, "nounwind");
    if (KILN__CLANG_LISTS(queries, name)) {
        add_attribute(call, function, "memory");
        add_attribute(call, function, "willreturn");
    } else if (!KILN__CLANG_LISTS(alone, name)) {
        add_attribute(call, function, "convergent");
    }
}

LLVMValueRef kiln__opencl_call_kiln(const kiln__opencl_call *call,
                                    const char *name, LLVMTypeRef result,
                                    LLVMValueRef *arguments, unsigned count)
{
    LLVMValueRef function = LLVMGetNamedFunction(call->module, name);
    LLVMTypeRef types[8];

    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    if (function == NULL) {
        function = LLVMAddFunction(call->module, name,
                                   LLVMFunctionType(result, types, count, 0));
        add_attributes(call, function, name);
    }
    return LLVMBuildCall2(call->builder, LLVMGlobalGetValueType(function),
                          function, arguments, count, "");
}

LLVMValueRef kiln__opencl_call_intrinsic(const kiln__opencl_call *call,
                                         const char *name, LLVMTypeRef type,
                                         LLVMValueRef *arguments,
                                         unsigned count)
{
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(call->module, id, &type, 1);
    LLVMValueRef made =
        LLVMBuildCall2(call->builder, LLVMGlobalGetValueType(function),
                       function, arguments, count, "");

    if (LLVMCanValueUseFastMathFlags(made) &&
        LLVMCanValueUseFastMathFlags(call->call))
        LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(call->call));
    return made;
}

LLVMValueRef kiln__opencl_truth(const kiln__opencl_call *call,
                                LLVMValueRef value)
{
    return LLVMBuildICmp(call->builder, LLVMIntNE, value,
                         LLVMConstNull(LLVMTypeOf(value)), "");
}

/* Skips what may stand before a type's own letter: pointers, qualifiers,
   vectors. */
static const char *skip_qualifiers(const char *at)
{
    for (;;) {
        if (strncmp(at, "U3AS", 4) == 0)
            at += 5;
        else if (strncmp(at, "U7_Atomic", 9) == 0)
            at += 9;
        else if (strncmp(at, "Dv", 2) == 0 && strchr(at, '_') != NULL)
            at = strchr(at, '_') + 1;
        else if (*at != '\0' && strchr("PVKr", *at) != NULL)
            at++;
        else
            return at;
    }
}

int kiln__opencl_is_unsigned(const kiln__opencl_call *call)
{
    const char letter = *skip_qualifiers(call->letters);

    return letter != '\0' && strchr("bhtjm", letter) != NULL;
}

LLVMTypeRef kiln__opencl_scalar(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMGetElementType(type)
               : type;
}

int kiln__opencl_is_float(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(kiln__opencl_scalar(type));

    return kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind ||
           kind == LLVMDoubleTypeKind;
}

/* ---- finding them ---- */

static const kiln__opencl_row *find_in(const kiln__opencl_table *table,
                                       const char *name, size_t size)
{
    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->rows[i].name, name, size) == 0 &&
            table->rows[i].name[size] == '\0')
            return &table->rows[i];
    return NULL;
}

/* Finds the row of a mangled name, and where its parameters are. */
static const kiln__opencl_row *find_row(const char *mangled,
                                        const char **letters)
{
    static const kiln__opencl_table *const tables[] = {
        &kiln__opencl_items, &kiln__opencl_groups, &kiln__opencl_atomics,
        &kiln__opencl_math};
    const kiln__opencl_row *row = NULL;
    unsigned long size;
    char *name;

    if (strncmp(mangled, "_Z", 2) != 0)
        return NULL;
    size = strtoul(mangled + 2, &name, 10);
    if (size == 0 || size > strlen(name))
        return NULL;
    *letters = name + size;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && row == NULL; i++)
        row = find_in(tables[i], name, size);
    return row;
}

#define LANES_MAX 16

/* True for types that built-in functions have. */
static int is_builtin_type(LLVMTypeRef type)
{
    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
    case LLVMPointerTypeKind:
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        return 1;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) <= 64;
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type) <= LANES_MAX &&
               is_builtin_type(LLVMGetElementType(type));
    default:
        return 0;
    }
}

/* False for a function that only has the name of a built-in one. */
static int is_builtin_call(const kiln__opencl_call *call,
                           const kiln__opencl_row *row)
{
    if (call->count < row->least || call->count > row->most ||
        !is_builtin_type(LLVMTypeOf(call->call)))
        return 0;
    for (unsigned i = 0; i < call->count; i++)
        if (!is_builtin_type(LLVMTypeOf(LLVMGetOperand(call->call, i))))
            return 0;
    return 1;
}

static void replace_call(kiln__opencl_call *call, const kiln__opencl_row *row)
{
    LLVMValueRef made;

    call->count = LLVMGetNumArgOperands(call->call);
    if (!is_builtin_call(call, row))
        return;
    memset(call->arguments, 0, sizeof call->arguments);
    for (unsigned i = 0; i < call->count; i++)
        call->arguments[i] = LLVMGetOperand(call->call, i);
    call->type = LLVMTypeOf(call->call);
    LLVMPositionBuilderBefore(call->builder, call->call);
    made = row->make(call, row);
    if (made == NULL)
        return;
    if (LLVMGetTypeKind(call->type) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(call->call, made);
    LLVMInstructionEraseFromParent(call->call);
}

static void replace_calls_of(const kiln__clang_job *job, LLVMBuilderRef builder,
                             LLVMValueRef function)
{
    size_t size;
    kiln__opencl_call call = {.module = job->module,
                              .context = LLVMGetModuleContext(job->module),
                              .builder = builder,
                              .groups_differ =
                                  kiln__clang_groups_differ(job->request)};
    const kiln__opencl_row *row =
        find_row(LLVMGetValueName2(function, &size), &call.letters);
    LLVMUseRef next;

    if (row == NULL)
        return;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = next) {
        next = LLVMGetNextUse(use);
        call.call = LLVMGetUser(use);
        if (LLVMIsACallInst(call.call) != NULL &&
            LLVMGetCalledValue(call.call) == function)
            replace_call(&call, row);
    }
    if (LLVMGetFirstUse(function) == NULL)
        LLVMDeleteFunction(function);
}

void kiln__opencl_replace_calls(const kiln__clang_job *job)
{
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(job->module));
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(job->module); f != NULL;
         f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f))
            replace_calls_of(job, builder, f);
    }
    LLVMDisposeBuilder(builder);
}
