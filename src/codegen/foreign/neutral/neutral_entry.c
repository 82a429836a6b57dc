/* neutral_entry.c - the entry of a neutral module, and the bound one around
   it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"
#include "kiln/type.h"

/*
 * A neutral entry takes scalars as themselves (Bool as i8), an array as its
 * data pointer, its sizes and, when strided, its strides, all i64. What the
 * bound form passes as a pointer to bytes is taken in one of two ways: as a
 * pointer to a copy of the item's own (`ptr byval(T)`), or as a value that has
 * exactly these bytes, a vector for example. A plain `ptr` to such bytes is
 * fine, too; then they must not be written.
 */

/* ---- types ---- */

static LLVMTypeRef scalar_type(const kiln__codegen_job *job,
                               const kiln__parameter *parameter)
{
    return parameter->kind == KILN_TYPE_BOOL
               ? LLVMInt8TypeInContext(job->context)
               : kiln__job_scalar(job, parameter->kind);
}

static int is_pointer(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

/* Returns the type T of byval(T), or NULL. */
static LLVMTypeRef copied_type(LLVMValueRef function, unsigned at)
{
    LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(
        function, at + 1, kiln__attribute_kind("byval"));

    return attribute == NULL ? NULL : LLVMGetTypeAttributeValue(attribute);
}

/* Returns NULL, or why a parameter does not take these bytes. */
static const char *refused_bytes(const kiln__codegen_job *job,
                                 const kiln__parameter *parameter,
                                 LLVMValueRef function, unsigned at)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, at));
    LLVMTypeRef copied = copied_type(function, at);

    if (!is_pointer(type))
        return LLVMTypeIsSized(type) &&
                       LLVMStoreSizeOfType(job->layout, type) == parameter->size
                   ? NULL
                   : "its value has another size than the argument";
    if (copied != NULL &&
        (!LLVMTypeIsSized(copied) ||
         LLVMABISizeOfType(job->layout, copied) > parameter->size))
        return "byval() is larger than the argument";
    return NULL;
}

static const char *refused_word(const kiln__codegen_job *job,
                                const kiln__parameter *parameter, size_t word,
                                LLVMValueRef given)
{
    const LLVMTypeRef type = LLVMTypeOf(given);

    if (parameter->passing == KILN__PARAMETER_SCALAR)
        return type == scalar_type(job, parameter) ? NULL
                                                   : "it has another type";
    if (word == 0)
        return is_pointer(type) ? NULL : "the data of an array is a pointer";
    return type == kiln__job_i64(job) ? NULL
                                      : "sizes and strides of an array are i64";
}

static kiln_status refuse_parameter(kiln__codegen_job *job, size_t argument,
                                    unsigned at, const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN,
                          "entry '%s': parameter %u, for argument %zu (%s): %s",
                          job->request->entry, at + 1, argument + 1,
                          job->request->argument_types[argument], why);
}

static kiln_status check_argument(kiln__codegen_job *job, LLVMValueRef entry,
                                  size_t argument, unsigned first)
{
    const kiln__parameter *p = &job->parameters[argument];
    const unsigned words = (unsigned)kiln__parameter_words(p);

    for (unsigned at = first; at < first + words; at++) {
        const char *why;

        if (at >= LLVMCountParams(entry))
            return refuse_parameter(job, argument, at, "there is none");
        why = p->passing == KILN__PARAMETER_BYTES
                  ? refused_bytes(job, p, entry, at)
                  : refused_word(job, p, at - first, LLVMGetParam(entry, at));
        if (why == NULL && p->passing != KILN__PARAMETER_BYTES &&
            copied_type(entry, at) != NULL)
            why = "byval() is for what is passed by its bytes";
        if (why != NULL)
            return refuse_parameter(job, argument, at, why);
    }
    return KILN_OK;
}

static kiln_status check_count(kiln__codegen_job *job, LLVMValueRef entry,
                               unsigned words)
{
    if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(entry)))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "entry '%s' takes variable arguments",
                              job->request->entry);
    if (words >= LLVMCountParams(entry))
        return KILN_OK;
    return kiln__job_fail(job, KILN_ECODEGEN,
                          "entry '%s' has %u parameters, and its arguments "
                          "take %u",
                          job->request->entry, LLVMCountParams(entry), words);
}

kiln_status kiln__neutral_check_entry(kiln__foreign_findings *found)
{
    kiln__codegen_job *job = found->job;
    unsigned at = 0;

    for (size_t i = 0; i < job->parameter_count; i++) {
        KILN_TRY(kiln__foreign_finding(
            found, check_argument(job, found->entry, i, at), NULL, NULL));
        at += (unsigned)kiln__parameter_words(&job->parameters[i]);
    }
    return kiln__foreign_finding(found, check_count(job, found->entry, at),
                                 NULL, NULL);
}

/* ---- the bound entry ---- */

typedef struct binding {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef inner;
    LLVMValueRef bound;
    LLVMValueRef *values; /* the arguments of `inner` */
    unsigned count;
} binding;

static LLVMValueRef cast_pointer(const binding *b, LLVMValueRef value)
{
    LLVMTypeRef wanted = LLVMTypeOf(LLVMGetParam(b->inner, b->count));

    return LLVMTypeOf(value) == wanted
               ? value
               : LLVMBuildAddrSpaceCast(b->builder, value, wanted, "");
}

/* Copies the bytes for the item alone. */
static LLVMValueRef copy_bytes(const binding *b, LLVMValueRef from,
                               const kiln__parameter *p)
{
    const LLVMTypeRef bytes =
        LLVMArrayType2(LLVMInt8TypeInContext(b->job->context), p->size);
    LLVMValueRef copy = LLVMBuildAlloca(b->builder, bytes, "");

    LLVMSetAlignment(copy, p->alignment);
    LLVMBuildMemCpy(b->builder, copy, p->alignment, from, p->alignment,
                    kiln__job_number64(b->job, p->size));
    return copy;
}

static LLVMValueRef pass_bytes(const binding *b, LLVMValueRef bytes,
                               const kiln__parameter *p)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(b->inner, b->count));
    LLVMValueRef load;

    if (is_pointer(type))
        return cast_pointer(b, copied_type(b->inner, b->count) != NULL
                                   ? copy_bytes(b, bytes, p)
                                   : bytes);
    load = LLVMBuildLoad2(b->builder, type, bytes, "");
    LLVMSetAlignment(load, p->alignment);
    return load;
}

static void pass_argument(binding *b, const kiln__parameter *p)
{
    const size_t words = kiln__parameter_words(p);

    for (size_t word = 0; word < words; word++) {
        LLVMValueRef value = LLVMGetParam(b->bound, b->count);

        if (p->passing == KILN__PARAMETER_BYTES)
            value = pass_bytes(b, value, p);
        else if (p->passing == KILN__PARAMETER_ARRAY && word == 0)
            value = cast_pointer(b, value);
        b->values[b->count++] = value;
    }
}

static void return_flag(const binding *b, LLVMValueRef result)
{
    const LLVMTypeRef i32 = kiln__job_i32(b->job);

    if (LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMVoidTypeKind)
        LLVMBuildRet(b->builder, LLVMConstNull(i32));
    else
        LLVMBuildRet(b->builder, LLVMBuildZExt(b->builder, result, i32, ""));
}

/* The inner entry gets its copies made, and is inlined if it can be. */
static void prepare_inner(const binding *b)
{
    for (unsigned at = 1; at <= LLVMCountParams(b->inner); at++)
        LLVMRemoveEnumAttributeAtIndex(b->inner, at,
                                       kiln__attribute_kind("byval"));
    LLVMSetLinkage(b->inner, LLVMInternalLinkage);
    kiln__inline_unless_recursive(b->inner);
}

static kiln_status add_bound(binding *b)
{
    kiln__codegen_job *job = b->job;
    const char *entry = job->request->entry;
    const char *name = kiln__arena_format(&job->arena, "%s.neutral", entry);
    const LLVMTypeRef type = kiln__parameters_function_type(job);

    b->values = kiln__arena_allocate_array(
        &job->arena, LLVMCountParams(b->inner), sizeof *b->values);
    if (name == NULL || type == NULL || b->values == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    LLVMSetValueName2(b->inner, name, strlen(name));
    b->bound = LLVMAddFunction(job->module, entry, type);
    return KILN_OK;
}

kiln_status kiln__neutral_bind_entry(kiln__codegen_job *job, LLVMValueRef inner,
                                     LLVMValueRef *bound)
{
    binding b = {.job = job, .inner = inner};

    KILN_TRY(add_bound(&b));
    b.builder = LLVMCreateBuilderInContext(job->context);
    LLVMPositionBuilderAtEnd(
        b.builder, LLVMAppendBasicBlockInContext(job->context, b.bound, ""));
    kiln__debug_wrapper(job, b.builder, b.bound);
    b.values[b.count++] = LLVMGetParam(b.bound, 0);
    for (size_t i = 0; i < job->parameter_count; i++)
        pass_argument(&b, &job->parameters[i]);
    prepare_inner(&b);
    return_flag(&b, LLVMBuildCall2(b.builder, LLVMGlobalGetValueType(inner),
                                   inner, b.values, b.count, ""));
    LLVMDisposeBuilder(b.builder);
    *bound = b.bound;
    return KILN_OK;
}
