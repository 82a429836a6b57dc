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

LLVMBasicBlockRef kiln__dm_block(const kiln__dm *d)
{
    return LLVMAppendBasicBlockInContext(
        LLVMGetModuleContext(d->m.module),
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(d->m.builder)), "");
}

/* As branch weights of LLVM: how often each way is taken. */
#define RARELY 1
#define MOSTLY 2000

void kiln__dm_branch(const kiln__dm *d, LLVMValueRef condition,
                     LLVMBasicBlockRef cold, LLVMBasicBlockRef next)
{
    const LLVMContextRef context = LLVMGetModuleContext(d->m.module);
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef weights[3] = {
        LLVMMDStringInContext2(context, "branch_weights", 14),
        LLVMValueAsMetadata(LLVMConstInt(i32, RARELY, 0)),
        LLVMValueAsMetadata(LLVMConstInt(i32, MOSTLY, 0))};
    const LLVMValueRef branch =
        LLVMBuildCondBr(d->m.builder, condition, cold, next);

    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(
                        context, LLVMMDNodeInContext2(context, weights, 3)));
}

/* ---- names ---- */

static const kiln__dm_function *const singles[] = {
    kiln__dm_powers, kiln__dm_logs, kiln__dm_angles,
    kiln__dm_hyper,  kiln__dm_pows, NULL,
};

static const kiln__dm_function *const *const lists[2] = {singles, NULL};

static int is_named(const kiln__dm_function *f, const char *name, size_t size)
{
    return strncmp(f->name, name, size) == 0 && f->name[size] == '\0';
}

/* Returns what builds the function of that name, or NULL. */
static kiln__dm_body find(const char *symbol)
{
    const char *name = symbol + sizeof KILN__OWN_PREFIX - 1, *end;

    if (strncmp(symbol, KILN__OWN_PREFIX, sizeof KILN__OWN_PREFIX - 1) != 0)
        return NULL;
    end = strchr(name, '.');
    if (end == NULL)
        return NULL;
    for (const kiln__dm_function *const *list = lists[strcmp(end, ".f64") == 0];
         list != NULL && *list != NULL; list++)
        for (const kiln__dm_function *f = *list; f->name != NULL; f++)
            if (is_named(f, name, (size_t)(end - name)))
                return f->body;
    return NULL;
}

/* ---- bodies ---- */

static void define(const kiln__codegen_job *job, LLVMValueRef function,
                   kiln__dm_body body)
{
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef x[OPERANDS_MAX];
    kiln__dm d = {.has = job->backend->approximate};

    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__inline_always(function);
    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, function, ""));
    LLVMGetParams(function, x);
    kiln__vm_init(&d.m, job->module, builder, LLVMTypeOf(x[0]));
    LLVMBuildRet(builder, body(&d, x));
    LLVMDisposeBuilder(builder);
}

void kiln__devmath_define(const kiln__codegen_job *job)
{
    LLVMValueRef f, next;

    if (job->backend->approximate == NULL)
        return;
    for (f = LLVMGetFirstFunction(job->module); f != NULL; f = next) {
        size_t size;
        const kiln__dm_body body =
            LLVMIsDeclaration(f) ? find(LLVMGetValueName2(f, &size)) : NULL;

        next = LLVMGetNextFunction(f);
        if (body == NULL)
            continue;
        if (LLVMGetFirstUse(f) == NULL)
            LLVMDeleteFunction(f);
        else
            define(job, f, body);
    }
}
