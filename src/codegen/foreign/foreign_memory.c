/* foreign_memory.c - functions of C that fill, copy, compare and measure
   memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/foreign/foreign.h"
#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_values.h"

/*
 * Compilers of C make calls of these by themselves, of an assignment of a
 * struct for example. A target whose images cannot import one gets a
 * definition here: an intrinsic of LLVM, or a loop over bytes, which LLVM
 * unrolls where the size is a small constant.
 */

typedef enum way { WAY_COPY, WAY_MOVE, WAY_FILL, WAY_COMPARE, WAY_LENGTH } way;

/* `form`: the result and the parameters: p a pointer, i and l numbers. */
static const struct function {
    const char *name;
    const char *form;
    way way;
} functions[] = {
    {"bcmp", "ippl", WAY_COMPARE}, {"memcmp", "ippl", WAY_COMPARE},
    {"memcpy", "pppl", WAY_COPY},  {"memmove", "pppl", WAY_MOVE},
    {"memset", "ppil", WAY_FILL},  {"strlen", "lp", WAY_LENGTH},
};

typedef struct body {
    kiln__codegen_job *job;
    LLVMValueRef function;
    LLVMBuilderRef builder;
} body;

static int is_of(char letter, LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);

    if (letter == 'p')
        return kind == LLVMPointerTypeKind;
    return kind == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(type) == (letter == 'i' ? 32u : 64u);
}

static const struct function *find(LLVMValueRef f)
{
    const LLVMTypeRef type = LLVMGlobalGetValueType(f);
    size_t size;
    const char *name = LLVMGetValueName2(f, &size);

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const char *form = functions[i].form;
        unsigned at = 0;

        if (strcmp(functions[i].name, name) != 0)
            continue;
        if (LLVMIsFunctionVarArg(type) ||
            LLVMCountParams(f) + 1 != strlen(form) ||
            !is_of(form[0], LLVMGetReturnType(type)))
            return NULL;
        while (at < LLVMCountParams(f) &&
               is_of(form[at + 1], LLVMTypeOf(LLVMGetParam(f, at))))
            at++;
        return form[at + 1] == '\0' ? &functions[i] : NULL;
    }
    return NULL;
}

static LLVMBasicBlockRef add_block(const body *b)
{
    return LLVMAppendBasicBlockInContext(b->job->context, b->function, "");
}

/* ---- intrinsics ---- */

static void copy(const body *b, way how)
{
    const LLVMValueRef to = LLVMGetParam(b->function, 0);
    const LLVMValueRef from = LLVMGetParam(b->function, 1);
    const LLVMValueRef size = LLVMGetParam(b->function, 2);

    LLVMPositionBuilderAtEnd(b->builder, add_block(b));
    if (how == WAY_FILL)
        LLVMBuildMemSet(b->builder, to,
                        LLVMBuildTrunc(b->builder, from,
                                       LLVMInt8TypeInContext(b->job->context),
                                       ""),
                        size, 1);
    else if (how == WAY_MOVE)
        LLVMBuildMemMove(b->builder, to, 1, from, 1, size);
    else
        LLVMBuildMemCpy(b->builder, to, 1, from, 1, size);
    LLVMBuildRet(b->builder, to);
}

/* ---- loops ---- */

/* A loop over bytes: `at` counts them from the head on. */
typedef struct loop {
    LLVMBasicBlockRef head;
    LLVMValueRef at;
} loop;

static loop begin_loop(const body *b)
{
    const LLVMBasicBlockRef entry = add_block(b);
    LLVMBasicBlockRef before = entry;
    loop l = {.head = add_block(b)};
    LLVMValueRef zero = kiln__job_number64(b->job, 0);

    LLVMPositionBuilderAtEnd(b->builder, entry);
    LLVMBuildBr(b->builder, l.head);
    LLVMPositionBuilderAtEnd(b->builder, l.head);
    l.at = LLVMBuildPhi(b->builder, kiln__job_i64(b->job), "");
    LLVMAddIncoming(l.at, &zero, &before, 1);
    return l;
}

static LLVMValueRef load_byte(const body *b, const loop *l, unsigned parameter)
{
    const LLVMTypeRef byte = LLVMInt8TypeInContext(b->job->context);
    LLVMValueRef at = l->at;

    return LLVMBuildLoad2(
        b->builder, byte,
        LLVMBuildInBoundsGEP2(b->builder, byte,
                              LLVMGetParam(b->function, parameter), &at, 1, ""),
        "");
}

/* Goes on with the next byte if the condition is true, or else to the block. */
static void end_loop(const body *b, const loop *l, LLVMValueRef condition,
                     LLVMBasicBlockRef leave)
{
    LLVMBasicBlockRef last = LLVMGetInsertBlock(b->builder);
    LLVMValueRef next =
        LLVMBuildNUWAdd(b->builder, l->at, kiln__job_number64(b->job, 1), "");

    LLVMBuildCondBr(b->builder, condition, l->head, leave);
    LLVMAddIncoming(l->at, &next, &last, 1);
}

static void compare(const body *b)
{
    const loop l = begin_loop(b);
    const LLVMTypeRef i32 = kiln__job_i32(b->job);
    const LLVMBasicBlockRef equal = add_block(b), inside = add_block(b);
    const LLVMBasicBlockRef differ = add_block(b);
    LLVMValueRef x, y;

    LLVMBuildCondBr(b->builder,
                    LLVMBuildICmp(b->builder, LLVMIntEQ, l.at,
                                  LLVMGetParam(b->function, 2), ""),
                    equal, inside);
    LLVMPositionBuilderAtEnd(b->builder, inside);
    x = load_byte(b, &l, 0);
    y = load_byte(b, &l, 1);
    end_loop(b, &l, LLVMBuildICmp(b->builder, LLVMIntEQ, x, y, ""), differ);
    LLVMPositionBuilderAtEnd(b->builder, differ);
    LLVMBuildRet(b->builder,
                 LLVMBuildSub(b->builder, LLVMBuildZExt(b->builder, x, i32, ""),
                              LLVMBuildZExt(b->builder, y, i32, ""), ""));
    LLVMPositionBuilderAtEnd(b->builder, equal);
    LLVMBuildRet(b->builder, LLVMConstNull(i32));
}

static void measure(const body *b)
{
    const loop l = begin_loop(b);
    const LLVMBasicBlockRef found = add_block(b);
    const LLVMValueRef x = load_byte(b, &l, 0);

    end_loop(b, &l,
             LLVMBuildICmp(b->builder, LLVMIntNE, x,
                           LLVMConstNull(LLVMTypeOf(x)), ""),
             found);
    LLVMPositionBuilderAtEnd(b->builder, found);
    LLVMBuildRet(b->builder, l.at);
}

/* ---- the module ---- */

/* What a frontend said of the function is true of the definition, too, but for
   where it is defined. */
static void define(kiln__codegen_job *job, LLVMValueRef function, way how)
{
    const body b = {.job = job,
                    .function = function,
                    .builder = LLVMCreateBuilderInContext(job->context)};

    if (how == WAY_COMPARE)
        compare(&b);
    else if (how == WAY_LENGTH)
        measure(&b);
    else
        copy(&b, how);
    LLVMDisposeBuilder(b.builder);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMSetVisibility(function, LLVMDefaultVisibility);
    LLVMSetDLLStorageClass(function, LLVMDefaultStorageClass);
}

void kiln__foreign_define_memory(kiln__codegen_job *job)
{
    LLVMValueRef f;
    size_t size;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        const struct function *known =
            LLVMIsDeclaration(f) && LLVMGetFirstUse(f) != NULL ? find(f) : NULL;

        if (known != NULL && !kiln__math_is_given(job, f) &&
            !job->backend->symbols.may_import(LLVMGetValueName2(f, &size)))
            define(job, f, known->way);
    }
}
