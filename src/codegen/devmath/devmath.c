/* devmath.c - gives functions for devices their bodies. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/devmath/devmath.h"

#include <string.h>

#include "codegen/devmath/devmath_build.h"
#include "ir/ir_math_names.h"

#define OPERANDS_MAX 2

LLVMValueRef kiln__dm_call(const kiln__dm *d, const char *name,
                           LLVMValueRef *arguments, unsigned count)
{
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));

    return kiln__call_intrinsic(
        d->m.builder, name, LLVMIntrinsicIsOverloaded(id) ? d->m.type : NULL,
        arguments, count);
}

/* As branch weights of LLVM: how often each way is taken. */
#define RARELY 1
#define MOSTLY 2000

static void branch(const kiln__dm *d, LLVMValueRef condition,
                   LLVMBasicBlockRef rare, LLVMBasicBlockRef next)
{
    const LLVMContextRef context = LLVMGetModuleContext(d->m.module);
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef weights[3] = {
        LLVMMDStringInContext2(context, "branch_weights", 14),
        LLVMValueAsMetadata(LLVMConstInt(i32, RARELY, 0)),
        LLVMValueAsMetadata(LLVMConstInt(i32, MOSTLY, 0))};
    const LLVMValueRef made =
        LLVMBuildCondBr(d->m.builder, condition, rare, next);

    LLVMSetMetadata(made, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(
                        context, LLVMMDNodeInContext2(context, weights, 3)));
}

static LLVMBasicBlockRef block(const kiln__dm *d)
{
    return LLVMAppendBasicBlockInContext(
        LLVMGetModuleContext(d->m.module),
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(d->m.builder)), "");
}

kiln__dm_detour kiln__dm_leave(const kiln__dm *d, LLVMValueRef condition)
{
    const kiln__dm_detour detour = {LLVMGetInsertBlock(d->m.builder), block(d),
                                    block(d)};

    branch(d, condition, detour.rare, detour.behind);
    LLVMPositionBuilderAtEnd(d->m.builder, detour.rare);
    return detour;
}

void kiln__dm_meet(const kiln__dm *d, kiln__dm_detour *detour)
{
    detour->rare = LLVMGetInsertBlock(d->m.builder);
    LLVMBuildBr(d->m.builder, detour->behind);
    LLVMPositionBuilderAtEnd(d->m.builder, detour->behind);
}

LLVMValueRef kiln__dm_either(const kiln__dm *d, const kiln__dm_detour *detour,
                             LLVMValueRef usual, LLVMValueRef rare)
{
    LLVMBasicBlockRef from[2] = {detour->before, detour->rare};
    LLVMValueRef values[2] = {usual, rare};
    const LLVMValueRef phi = LLVMBuildPhi(d->m.builder, LLVMTypeOf(usual), "");

    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

/* ---- names ---- */

static const kiln__dm_function *const singles[] = {
    kiln__dm_powers, kiln__dm_logs, kiln__dm_angles,
    kiln__dm_hyper,  kiln__dm_pows, NULL,
};

static const kiln__dm_function *const doubles[] = {kiln__dm_doubles, NULL};

/* What builds a function: one for devices, or else one of the host's. */
typedef struct builder {
    kiln__dm_body own;
    kiln__vm_body shared;
} builder;

static kiln__dm_body find_own(const char *name, int is_f64)
{
    for (const kiln__dm_function *const *list = is_f64 ? doubles : singles;
         *list != NULL; list++)
        for (const kiln__dm_function *f = *list; f->name != NULL; f++)
            if (strcmp(f->name, name) == 0)
                return f->body;
    return NULL;
}

#define NAME_SIZE 16

/* Returns what builds the function of that name, if anything. */
static builder find(const char *symbol)
{
    const char *start = symbol + sizeof KILN__OWN_PREFIX - 1, *end;
    char name[NAME_SIZE];
    unsigned operands;
    builder found = {NULL, NULL};

    if (strncmp(symbol, KILN__OWN_PREFIX, sizeof KILN__OWN_PREFIX - 1) != 0)
        return found;
    end = strchr(start, '.');
    if (end == NULL || end - start >= NAME_SIZE)
        return found;
    memcpy(name, start, (size_t)(end - start));
    name[end - start] = '\0';
    found.own = find_own(name, strcmp(end, ".f64") == 0);
    if (found.own == NULL && strcmp(end, ".f64") == 0)
        found.shared = kiln__vm_find(name, 1, &operands);
    return found;
}

/* ---- bodies ---- */

static void define(const kiln__codegen_job *job, LLVMValueRef function,
                   const builder *by)
{
    const LLVMBuilderRef b = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef x[OPERANDS_MAX];
    kiln__dm d = {.has = job->backend->approximate};

    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__inline_always(function);
    LLVMPositionBuilderAtEnd(
        b, LLVMAppendBasicBlockInContext(job->context, function, ""));
    LLVMGetParams(function, x);
    kiln__vm_init(&d.m, job->module, b, LLVMTypeOf(x[0]));
    d.m.inverse = kiln__dm_inverse;
    LLVMBuildRet(b, by->own != NULL ? by->own(&d, x) : by->shared(&d.m, x));
    LLVMDisposeBuilder(b);
}

void kiln__devmath_define(const kiln__codegen_job *job)
{
    LLVMValueRef f, next;

    if (job->backend->approximate == NULL)
        return;
    for (f = LLVMGetFirstFunction(job->module); f != NULL; f = next) {
        size_t size;
        builder by = {NULL, NULL};

        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f))
            by = find(LLVMGetValueName2(f, &size));
        if (by.own == NULL && by.shared == NULL)
            continue;
        if (LLVMGetFirstUse(f) == NULL)
            LLVMDeleteFunction(f);
        else
            define(job, f, &by);
    }
}
