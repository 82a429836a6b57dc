/* host_private.c - whether the private memory of items becomes registers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "codegen/module/codegen_values.h"

/*
 * After inlining, the variables of an item are in the kernel's frame, once for
 * all iterations of the loop. Marking the loop as parallel is correct only if
 * the optimiser turns each of them into registers. It does so for a variable
 * all of whose uses read or write a fixed range of it, where any two ranges are
 * equal or disjoint. This file checks that, also through the functions that get
 * the variable's address. Any other variable counts as staying in memory.
 */

#define RANGES_MAX 128
#define DEPTH_MAX 16
#define FUNCTIONS_MAX 256

typedef struct range {
    uint64_t offset;
    uint64_t size;
} range;

typedef struct variable {
    const kiln__codegen_job *job;
    range ranges[RANGES_MAX];
    size_t count;
} variable;

/* ---- ranges ---- */

static int add_range(variable *v, uint64_t offset, uint64_t size)
{
    for (size_t i = 0; i < v->count; i++) {
        const range *r = &v->ranges[i];

        if (r->offset == offset && r->size == size)
            return 1;
        if (offset < r->offset + r->size && r->offset < offset + size)
            return 0;
    }
    if (v->count == RANGES_MAX)
        return 0;
    v->ranges[v->count++] = (range){offset, size};
    return 1;
}

/* Adds the ranges that an access of the type touches, one for each scalar.
   Returns false when there are too many, or ranges overlap in part. */
static int add_type(variable *v, uint64_t offset, LLVMTypeRef type,
                    unsigned depth)
{
    LLVMTargetDataRef layout = v->job->layout;
    const int is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    uint64_t count;

    if (!is_struct && LLVMGetTypeKind(type) != LLVMArrayTypeKind)
        return add_range(v, offset, LLVMStoreSizeOfType(layout, type));
    count = is_struct ? LLVMCountStructElementTypes(type)
                      : LLVMGetArrayLength2(type);
    if (depth == DEPTH_MAX || count > RANGES_MAX)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        LLVMTypeRef part = is_struct ? LLVMStructGetTypeAtIndex(type, i)
                                     : LLVMGetElementType(type);
        const uint64_t at = is_struct ? LLVMOffsetOfElement(layout, type, i)
                                      : i * LLVMABISizeOfType(layout, part);

        if (!add_type(v, offset + at, part, depth + 1))
            return 0;
    }
    return 1;
}

/* ---- uses ---- */

static int uses_are_simple(variable *v, LLVMValueRef pointer, uint64_t offset,
                           unsigned depth);

/* Adds the constant offset of a GEP; false when it is not constant. */
static int constant_offset(const variable *v, LLVMValueRef gep,
                           uint64_t *offset)
{
    LLVMTargetDataRef layout = v->job->layout;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    const unsigned count = LLVMGetNumIndices(gep);

    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i + 1);
        uint64_t n;

        if (!LLVMIsAConstantInt(index))
            return 0;
        n = (uint64_t)LLVMConstIntGetSExtValue(index);
        if (i > 0 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            *offset += LLVMOffsetOfElement(layout, type, (unsigned)n);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)n);
            continue;
        }
        if (i > 0)
            type = LLVMGetElementType(type);
        *offset += n * LLVMABISizeOfType(layout, type);
    }
    return 1;
}

/* Fills and copies of a constant size are split by the optimiser as needed. */
static int intrinsic_is_simple(LLVMValueRef call, LLVMValueRef function)
{
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);

    if (strncmp(name, "llvm.lifetime.", 14) == 0)
        return 1;
    if (strncmp(name, "llvm.memcpy.", 12) != 0 &&
        strncmp(name, "llvm.memset.", 12) != 0 &&
        strncmp(name, "llvm.memmove.", 13) != 0)
        return 0;
    return LLVMIsAConstantInt(LLVMGetOperand(call, 2)) != NULL &&
           LLVMIsNull(LLVMGetOperand(call, 3));
}

static int call_is_simple(variable *v, LLVMValueRef call, LLVMValueRef pointer,
                          uint64_t offset, unsigned depth)
{
    LLVMValueRef function = LLVMGetCalledValue(call);
    unsigned count;

    if (LLVMIsAFunction(function) == NULL)
        return 0;
    if (LLVMGetIntrinsicID(function) != 0)
        return intrinsic_is_simple(call, function);
    if (LLVMIsDeclaration(function))
        return 0;
    count = LLVMGetNumArgOperands(call);
    if (count != LLVMCountParams(function))
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetOperand(call, i) == pointer &&
            !uses_are_simple(v, LLVMGetParam(function, i), offset, depth + 1))
            return 0;
    return 1;
}

/* True when the use reads or writes a fixed range, or leads to uses that do. */
static int use_is_simple(variable *v, LLVMValueRef user, LLVMValueRef pointer,
                         uint64_t offset, unsigned depth)
{
    if (LLVMIsAInstruction(user) == NULL)
        return 0;
    switch ((int)LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        return !LLVMGetVolatile(user) &&
               LLVMGetOrdering(user) == LLVMAtomicOrderingNotAtomic &&
               add_type(v, offset, LLVMTypeOf(user), 0);
    case LLVMStore:
        return !LLVMGetVolatile(user) &&
               LLVMGetOrdering(user) == LLVMAtomicOrderingNotAtomic &&
               LLVMGetOperand(user, 0) != pointer &&
               add_type(v, offset, LLVMTypeOf(LLVMGetOperand(user, 0)), 0);
    case LLVMGetElementPtr:
        return constant_offset(v, user, &offset) &&
               uses_are_simple(v, user, offset, depth + 1);
    case LLVMCall:
        return call_is_simple(v, user, pointer, offset, depth);
    default:
        return 0;
    }
}

static int uses_are_simple(variable *v, LLVMValueRef pointer, uint64_t offset,
                           unsigned depth)
{
    LLVMUseRef use;

    if (depth > DEPTH_MAX)
        return 0;
    for (use = LLVMGetFirstUse(pointer); use != NULL; use = LLVMGetNextUse(use))
        if (!use_is_simple(v, LLVMGetUser(use), pointer, offset, depth))
            return 0;
    return 1;
}

/* ---- functions ---- */

/* The functions that an item runs, beginning with the item function. */
typedef struct closure {
    LLVMValueRef functions[FUNCTIONS_MAX];
    size_t count;
} closure;

static int add_function(closure *c, LLVMValueRef function)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->functions[i] == function)
            return 1;
    if (c->count == FUNCTIONS_MAX)
        return 0;
    c->functions[c->count++] = function;
    return 1;
}

/* True for a function that is never inlined. Its variables are its own, and a
   loop that calls it is not vectorised. */
static int is_never_inlined(LLVMValueRef function)
{
    return kiln__has_attribute(function, "noinline");
}

static int variable_is_simple(const kiln__codegen_job *job, LLVMValueRef alloca)
{
    variable v = {.job = job};
    LLVMValueRef count = LLVMGetOperand(alloca, 0);

    return LLVMIsAConstantInt(count) != NULL &&
           LLVMConstIntGetZExtValue(count) == 1 &&
           uses_are_simple(&v, alloca, 0, 0);
}

/* Variables become registers only past calls of known functions. A call of an
   unknown function keeps the loop from being vectorised anyway. */
static int instruction_is_simple(const kiln__codegen_job *job, closure *c,
                                 LLVMValueRef instruction)
{
    LLVMValueRef callee;

    if (LLVMIsAAllocaInst(instruction))
        return variable_is_simple(job, instruction);
    if (!LLVMIsACallInst(instruction))
        return 1;
    callee = LLVMGetCalledValue(instruction);
    if (LLVMIsAFunction(callee) == NULL)
        return 0;
    return LLVMIsDeclaration(callee) || is_never_inlined(callee) ||
           add_function(c, callee);
}

static int function_is_simple(const kiln__codegen_job *job, closure *c,
                              LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef instruction;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction))
            if (!instruction_is_simple(job, c, instruction))
                return 0;
    return 1;
}

int kiln__host_items_are_parallel(kiln__codegen_job *job,
                                  LLVMValueRef item_function)
{
    closure *c = kiln__arena_allocate(&job->arena, sizeof *c);

    if (c == NULL || !add_function(c, item_function))
        return 0;
    for (size_t i = 0; i < c->count; i++)
        if (!function_is_simple(job, c, c->functions[i]))
            return 0;
    return 1;
}
