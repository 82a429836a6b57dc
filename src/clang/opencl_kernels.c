/* opencl_kernels.c - gives functions the form in which libkiln takes them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "clang/opencl_calls.h"

/*
 * Clang makes two functions of a kernel k: k itself, which only calls the
 * other, and __clang_ocl_kern_imp_k, which has the body. The body moves to a
 * new k with the parameters that source_compile.h promises. If another kernel
 * calls the inner function, the body stays there, and the new k calls it.
 */

#define INNER "__clang_ocl_kern_imp_"

/* A function under construction. */
typedef struct shape {
    kiln__clang_job *job;
    const kiln__source_function *source;
    LLVMValueRef inner;
    LLVMValueRef made;
    LLVMBuilderRef builder;
} shape;

static LLVMTypeRef type_of_parameter(const shape *s, unsigned index)
{
    return LLVMTypeOf(LLVMGetParam(s->inner, index));
}

/* ---- the new function ---- */

static kiln_status add_function(shape *s)
{
    LLVMContextRef context = LLVMGetModuleContext(s->job->module);
    LLVMTypeRef number = LLVMInt64TypeInContext(context);
    const unsigned count = LLVMCountParams(s->inner);
    LLVMTypeRef *types;
    unsigned used = 0;

    if (count != s->source->parameter_count)
        return kiln__clang_fail(s->job, KILN_EUNSUPPORTED,
                                "%s: a parameter has no bytes, or too many",
                                s->source->name);
    types = kiln__arena_allocate_array(&s->job->out->arena, 2 * count + 1,
                                       sizeof *types);
    if (types == NULL)
        return KILN_ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        const int32_t kind = s->source->parameters[i].kind;

        types[used++] =
            kind == KILN__SOURCE_LOCAL ? number : type_of_parameter(s, i);
        if (kind == KILN__SOURCE_POINTER)
            types[used++] = number;
    }
    s->made = LLVMAddFunction(
        s->job->module, "",
        LLVMFunctionType(LLVMVoidTypeInContext(context), types, used, 0));
    return KILN_OK;
}

static void copy_attributes(const shape *s, unsigned from, unsigned to)
{
    LLVMAttributeRef all[32];
    const unsigned count = LLVMGetAttributeCountAtIndex(s->inner, from);

    if (count > sizeof all / sizeof *all)
        return;
    LLVMGetAttributesAtIndex(s->inner, from, all);
    for (unsigned i = 0; i < count; i++)
        LLVMAddAttributeAtIndex(s->made, to, all[i]);
}

/* Where the argument begins that is in group memory. */
static LLVMValueRef build_local(const shape *s, LLVMValueRef offset)
{
    LLVMContextRef context = LLVMGetModuleContext(s->job->module);
    const kiln__opencl_call call = {
        .module = s->job->module, .context = context, .builder = s->builder};
    LLVMValueRef base =
        kiln__opencl_call_kiln(&call, "kiln_group_memory",
                               LLVMPointerTypeInContext(context, 3), NULL, 0);

    return LLVMBuildInBoundsGEP2(s->builder, LLVMInt8TypeInContext(context),
                                 base, &offset, 1, "");
}

/* Fills `values` with what the inner function's parameters are now. */
static void build_values(const shape *s, LLVMValueRef *values)
{
    unsigned at = 0;

    for (unsigned i = 0; i < s->source->parameter_count; i++) {
        const int32_t kind = s->source->parameters[i].kind;

        values[i] = LLVMGetParam(s->made, at++);
        if (kind == KILN__SOURCE_LOCAL)
            values[i] = build_local(s, values[i]);
        else
            copy_attributes(s, i + 1, at);
        if (kind == KILN__SOURCE_POINTER)
            at++;
    }
}

/* ---- the body ---- */

static int is_called_elsewhere(const shape *s, LLVMValueRef outer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(s->inner); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) == NULL ||
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) != outer)
            return 1;
    }
    return 0;
}

static void move_body(const shape *s, LLVMValueRef *values)
{
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(
        LLVMGetModuleContext(s->job->module), s->made, "");
    LLVMBasicBlockRef place = last, next;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->inner); b != NULL;
         b = next) {
        next = LLVMGetNextBasicBlock(b);
        LLVMMoveBasicBlockAfter(b, place);
        place = b;
    }
    LLVMDeleteBasicBlock(last);
    LLVMPositionBuilderBefore(
        s->builder, LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(s->made)));
    build_values(s, values);
    for (unsigned i = 0; i < s->source->parameter_count; i++)
        LLVMReplaceAllUsesWith(LLVMGetParam(s->inner, i), values[i]);
    LLVMSetSubprogram(s->made, LLVMGetSubprogram(s->inner));
    LLVMDeleteFunction(s->inner);
}

static void call_body(const shape *s, LLVMValueRef *values)
{
    LLVMPositionBuilderAtEnd(
        s->builder, LLVMAppendBasicBlockInContext(
                        LLVMGetModuleContext(s->job->module), s->made, ""));
    build_values(s, values);
    (void)LLVMBuildCall2(s->builder, LLVMGlobalGetValueType(s->inner), s->inner,
                         values, (unsigned)s->source->parameter_count, "");
    (void)LLVMBuildRetVoid(s->builder);
}

static kiln_status shape_kernel(shape *s)
{
    LLVMValueRef outer = LLVMGetNamedFunction(s->job->module, s->source->name);
    const char *inner =
        kiln__arena_format(&s->job->out->arena, INNER "%s", s->source->name);
    LLVMValueRef *values = kiln__arena_allocate_array(
        &s->job->out->arena, s->source->parameter_count + 1, sizeof *values);
    int is_shared;

    if (inner == NULL || values == NULL)
        return KILN_ENOMEM;
    s->inner = LLVMGetNamedFunction(s->job->module, inner);
    if (outer == NULL || s->inner == NULL)
        return kiln__clang_fail(s->job, KILN_ECODEGEN,
                                "clang made no code of the kernel %s",
                                s->source->name);
    is_shared = is_called_elsewhere(s, outer);
    LLVMSetValueName2(s->inner, "", 0);
    KILN_TRY(add_function(s));
    LLVMDeleteFunction(outer);
    LLVMSetValueName2(s->made, s->source->name, strlen(s->source->name));
    if (is_shared)
        call_body(s, values);
    else
        move_body(s, values);
    return KILN_OK;
}

kiln_status kiln__opencl_shape_functions(kiln__clang_job *job)
{
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(job->module));
    kiln_status status = KILN_OK;

    for (size_t i = 0; i < job->out->function_count && status == KILN_OK; i++) {
        shape s = {
            .job = job, .source = &job->out->functions[i], .builder = builder};

        if (s.source->is_kernel && *s.source->refusal == '\0')
            status = shape_kernel(&s);
    }
    LLVMDisposeBuilder(builder);
    return status;
}
