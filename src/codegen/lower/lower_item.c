/* lower_item.c - makes the item function: the kernel with flat arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include <string.h>

/*
 * codegen_job.h says how arguments are flattened. This file applies that three
 * times to each parameter: to describe it, to add its types to the signature,
 * and to build its value in register form.
 */

/* A list of flat types or values that grows. */
typedef struct flat {
    LLVMTypeRef *types;
    size_t count;
} flat;

static int32_t passing(const kiln__lowering *l, uint32_t type)
{
    const int32_t kind = kiln__ir_kind(l->ir, type);

    if (kind == KILN_TYPE_ARRAY)
        return KILN__PARAMETER_ARRAY;
    if (kiln__kind_is_scalar(kind))
        return KILN__PARAMETER_SCALAR;
    return l->f->types[type].size > 0 ? KILN__PARAMETER_BYTES
                                      : KILN__PARAMETER_EMPTY;
}

kiln__parameter kiln__lower_describe(const kiln__lowering *l, uint32_t index)
{
    const kiln__ir_type *type = kiln__ir_type_at(l->ir, index);
    kiln__parameter parameter = {
        .passing = passing(l, index),
        .size = l->f->types[index].size,
        .alignment = l->f->types[index].alignment,
    };

    if (parameter.passing == KILN__PARAMETER_SCALAR)
        parameter.kind = type->kind;
    if (parameter.passing == KILN__PARAMETER_ARRAY) {
        parameter.rank = type->length;
        parameter.strided = type->strided;
        parameter.size = 8 + 8 * (uint64_t)type->length * (1 + type->strided);
        parameter.alignment = 8;
        parameter.element_size = l->f->types[type->element].size;
        parameter.element_alignment = l->f->types[type->element].alignment;
    }
    return parameter;
}

static kiln_status describe_all(kiln__lowering *l)
{
    kiln__codegen_job *job = l->job;
    const size_t count = l->ir->parameter_count;

    job->parameters =
        kiln__arena_allocate_array(&job->arena, count, sizeof *job->parameters);
    if (job->parameters == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    job->parameter_count = count;
    for (size_t i = 0; i < count; i++)
        job->parameters[i] =
            kiln__lower_describe(l, l->ir->locals.items[i].type);
    return KILN_OK;
}

/* ---- the signature ---- */

size_t kiln__lower_flat_count(const kiln__parameter *parameter)
{
    switch (parameter->passing) {
    case KILN__PARAMETER_EMPTY:
        return 0;
    case KILN__PARAMETER_ARRAY:
        return 1 + (size_t)parameter->rank * (1 + parameter->strided);
    default:
        return 1;
    }
}

static void add_types(kiln__lowering *l, const kiln__parameter *parameter,
                      flat *out)
{
    const size_t count = kiln__lower_flat_count(parameter);
    const LLVMTypeRef pointer = parameter->passing == KILN__PARAMETER_ARRAY
                                    ? kiln__job_array_pointer(l->job)
                                    : kiln__job_bytes_pointer(l->job);

    if (count == 0)
        return;
    if (parameter->passing != KILN__PARAMETER_SCALAR)
        out->types[out->count++] = pointer;
    else if (parameter->kind == KILN_TYPE_BOOL)
        out->types[out->count++] = LLVMInt8TypeInContext(l->context);
    else
        out->types[out->count++] = kiln__job_scalar(l->job, parameter->kind);
    for (size_t i = 1; i < count; i++)
        out->types[out->count++] = l->i64;
}

LLVMTypeRef kiln__lower_signature(kiln__lowering *l)
{
    kiln__codegen_job *job = l->job;
    flat all = {NULL, 0};
    size_t count = 1;

    for (size_t i = 0; i < job->parameter_count; i++)
        count += kiln__lower_flat_count(&job->parameters[i]);
    all.types =
        kiln__arena_allocate_array(&job->arena, count, sizeof *all.types);
    if (all.types == NULL)
        return NULL;
    all.types[all.count++] = kiln__job_item_pointer(l->job);
    for (size_t i = 0; i < job->parameter_count; i++)
        add_types(l, &job->parameters[i], &all);
    return LLVMFunctionType(LLVMInt32TypeInContext(l->context), all.types,
                            (unsigned)all.count, 0);
}

/* ---- the body ---- */

static void add_attribute(const kiln__lowering *l, LLVMValueRef function,
                          LLVMAttributeIndex at, const char *name,
                          uint64_t value)
{
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, at,
                            LLVMCreateEnumAttribute(l->context, kind, value));
}

/* Tells LLVM that the bytes of an aggregate are in the argument block, which
   nobody writes. */
static void describe_bytes(const kiln__lowering *l, LLVMValueRef function,
                           unsigned at, const kiln__parameter *parameter)
{
    add_attribute(l, function, at + 1, "readonly", 0);
    add_attribute(l, function, at + 1, "noalias", 0);
    add_attribute(l, function, at + 1, "nonnull", 0);
    add_attribute(l, function, at + 1, "align", parameter->alignment);
    add_attribute(l, function, at + 1, "dereferenceable", parameter->size);
}

/* Returns the register form of a parameter whose flat values begin at `at`. */
static LLVMValueRef gather(kiln__lowering *l, LLVMValueRef function,
                           unsigned at, uint32_t type,
                           const kiln__parameter *parameter)
{
    const LLVMTypeRef registers = kiln__lower_type_of(l, type);
    LLVMValueRef value;

    if (parameter->passing == KILN__PARAMETER_EMPTY)
        return LLVMConstNull(registers);
    value = LLVMGetParam(function, at);
    if (parameter->passing == KILN__PARAMETER_SCALAR)
        return parameter->kind == KILN_TYPE_BOOL
                   ? LLVMBuildICmp(l->builder, LLVMIntNE, value,
                                   LLVMConstNull(LLVMTypeOf(value)), "")
                   : value;
    if (parameter->passing == KILN__PARAMETER_BYTES) {
        describe_bytes(l, function, at, parameter);
        return kiln__lower_read(l, type, value);
    }
    value = LLVMGetPoison(registers);
    for (unsigned i = 0; i < kiln__lower_flat_count(parameter); i++)
        value = LLVMBuildInsertValue(l->builder, value,
                                     LLVMGetParam(function, at + i), i, "");
    return value;
}

LLVMValueRef *kiln__lower_gather(kiln__lowering *l, LLVMValueRef function)
{
    const kiln__codegen_job *job = l->job;
    const size_t count = job->parameter_count + 1;
    LLVMValueRef *arguments =
        kiln__arena_allocate_array(&l->job->arena, count, sizeof(LLVMValueRef));
    unsigned at = 1;

    if (arguments == NULL)
        return NULL;
    arguments[0] = LLVMGetParam(function, 0);
    for (size_t i = 0; i < job->parameter_count; i++) {
        arguments[1 + i] = gather(l, function, at, l->ir->locals.items[i].type,
                                  &job->parameters[i]);
        at += (unsigned)kiln__lower_flat_count(&job->parameters[i]);
    }
    return arguments;
}

static kiln_status build_item(kiln__lowering *l, LLVMValueRef function)
{
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(l->context);
    LLVMValueRef *arguments, failed;

    LLVMPositionBuilderAtEnd(
        l->builder, LLVMAppendBasicBlockInContext(l->context, function, ""));
    kiln__debug_wrapper(l->job, l->builder, function);
    arguments = kiln__lower_gather(l, function);
    if (arguments == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    failed = LLVMBuildCall2(l->builder, l->f->signature, l->f->value, arguments,
                            (unsigned)l->job->parameter_count + 1, "");
    LLVMBuildRet(l->builder, l->f->has_flag
                                 ? LLVMBuildZExt(l->builder, failed, i32, "")
                                 : LLVMConstNull(i32));
    LLVMSetCurrentDebugLocation2(l->builder, NULL);
    return KILN_OK;
}

kiln_status kiln__lower_parameters(kiln__lowering *l)
{
    l->f = &l->functions[0];
    l->ir = &l->f->ir;
    if (!kiln__ir_type_is_empty(l->ir, l->ir->result))
        return kiln__job_fail(l->job, KILN_EUNSUPPORTED,
                              "%s gives a value, so it is no entry",
                              l->ir->name);
    return describe_all(l);
}

kiln_status kiln__lower_item(kiln__lowering *l, const char *suffix,
                             LLVMValueRef *out)
{
    const LLVMAttributeIndex all =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    kiln__codegen_job *job = l->job;
    const char *name =
        kiln__arena_format(&job->arena, "%s.%s", job->request->entry, suffix);
    LLVMTypeRef type;
    LLVMValueRef function;

    l->f = &l->functions[0];
    l->ir = &l->f->ir;
    type = kiln__lower_signature(l);
    if (name == NULL || type == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    function = LLVMAddFunction(job->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    add_attribute(l, function, all, "nounwind", 0);
    add_attribute(
        l, function, all,
        l->f->size > KILN__LOWER_LOOPED_MAX ? "noinline" : "alwaysinline", 0);
    add_attribute(l, function, 1, "nonnull", 0);
    add_attribute(l, function, 1, "noundef", 0);
    *out = function;
    return build_item(l, function);
}
