/* foreign_builtin_atomics.c - atomic functions of OpenCL C 1.2. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_stages.h"

/*
 * They are LLVM's atomic instructions, without an order among other accesses,
 * between all items of a launch. atom_ of the first extensions means the same.
 */

typedef struct operation {
    const char *name;
    unsigned count; /* of parameters */
    LLVMAtomicRMWBinOp as;
    LLVMAtomicRMWBinOp as_unsigned;
} operation;

static const operation operations[] = {
    {"add", 2, LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
    {"and", 2, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
    {"cmpxchg", 3, LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
    {"dec", 1, LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub},
    {"inc", 1, LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
    {"max", 2, LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
    {"min", 2, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
    {"or", 2, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
    {"sub", 2, LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub},
    {"xchg", 2, LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
    {"xor", 2, LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
};

static const operation *find(const kiln__mangled_name *name)
{
    const char *rest = NULL;

    if (strncmp(name->base, "atomic_", 7) == 0)
        rest = name->base + 7;
    else if (strncmp(name->base, "atom_", 5) == 0)
        rest = name->base + 5;
    for (size_t i = 0;
         rest != NULL && i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].name, rest) == 0)
            return &operations[i];
    return NULL;
}

/* A pointer to a whole number, or for xchg to a float, and numbers of its
   kind. */
static int fits(LLVMValueRef function, const kiln__mangled_name *name,
                const operation *to)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(function);
    const LLVMTypeRef number = LLVMGetReturnType(type);
    const char *element = name->parameters[0].element;

    if (name->count != to->count || LLVMCountParams(function) != to->count ||
        !name->parameters[0].is_pointer || name->parameters[0].lanes > 0 ||
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, 0))) !=
            LLVMPointerTypeKind)
        return 0;
    for (unsigned i = 1; i < to->count; i++)
        if (LLVMTypeOf(LLVMGetParam(function, i)) != number)
            return 0;
    if (strcmp(element, "f") == 0)
        return strcmp(to->name, "xchg") == 0;
    return element[1] == '\0' && strchr("ijlmxy", element[0]) != NULL &&
           LLVMGetTypeKind(number) == LLVMIntegerTypeKind;
}

static LLVMValueRef build(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef function, const operation *to,
                          int is_unsigned)
{
    const LLVMTypeRef type =
        LLVMGetReturnType(LLVMGlobalGetValueType(function));
    const char *scope =
        job->backend->device != NULL ? job->backend->device->scope : "";
    const unsigned id = LLVMGetSyncScopeID(job->context, scope, strlen(scope));
    const LLVMValueRef pointer = LLVMGetParam(function, 0);
    LLVMValueRef value;

    if (to->count == 3) {
        value = LLVMBuildAtomicCmpXchgSyncScope(
            builder, pointer, LLVMGetParam(function, 1),
            LLVMGetParam(function, 2), LLVMAtomicOrderingMonotonic,
            LLVMAtomicOrderingMonotonic, id);
        return LLVMBuildExtractValue(builder, value, 0, "");
    }
    value =
        to->count == 2 ? LLVMGetParam(function, 1) : LLVMConstInt(type, 1, 0);
    return LLVMBuildAtomicRMWSyncScope(
        builder, is_unsigned ? to->as_unsigned : to->as, pointer, value,
        LLVMAtomicOrderingMonotonic, id);
}

LLVMValueRef kiln__foreign_build_atomic(const kiln__codegen_job *job,
                                        LLVMBuilderRef builder,
                                        LLVMValueRef function,
                                        const kiln__mangled_name *name)
{
    return build(job, builder, function, find(name),
                 strchr("jmy", name->parameters[0].element[0]) != NULL);
}

int kiln__foreign_is_atomic(LLVMValueRef function,
                            const kiln__mangled_name *name)
{
    const operation *to = find(name);

    return to != NULL && fits(function, name, to);
}
