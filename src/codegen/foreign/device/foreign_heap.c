/* foreign_heap.c - memory that the items of a foreign module allocate. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/device/foreign_device.h"
#include "codegen/module/codegen_values.h"

/*
 * The heap is that of the kernel language (abi/heap_abi.h), and functions of
 * the runtime library manage it (src/runtime/heap.kiln). The request has them
 * if the module names kiln_allocate() or kiln_free(), and they are lowered
 * after the module was bound: lower_called.c. They count in bytes from the
 * heap's beginning; here these become pointers.
 */

static int is_given(const kiln__codegen_job *job, const char *name)
{
    const kiln__codegen_request *request = job->request;

    for (size_t i = 0; i < request->function_count; i++)
        if (request->functions[i].called != NULL &&
            strcmp(request->functions[i].called, name) == 0)
            return 1;
    return 0;
}

/* Builds a call of a function of the runtime library, whose arguments are the
   item and then i64; NULL: the job has failed. */
static LLVMValueRef call_library(const kiln__device_call *c, const char *name,
                                 LLVMTypeRef result, LLVMValueRef *arguments,
                                 unsigned count)
{
    LLVMTypeRef types[3] = {kiln__job_item_pointer(c->job),
                            kiln__job_i64(c->job), kiln__job_i64(c->job)};
    LLVMValueRef values[3] = {c->item}, function;
    LLVMTypeRef type;

    if (!is_given(c->job, name)) {
        (void)kiln__foreign_refuse_call(
            c->job, c->name,
            "the module's name of it was not found: LLVM before version 5 "
            "wrote the bitcode");
        return NULL;
    }
    memcpy(values + 1, arguments, count * sizeof *arguments);
    type = LLVMFunctionType(result, types, 1 + count, 0);
    function = LLVMGetNamedFunction(c->job->module, name);
    if (function == NULL)
        function = LLVMAddFunction(c->job->module, name, type);
    return LLVMBuildCall2(c->builder, type, function, values, 1 + count, "");
}

/* Returns the heap's address as a pointer of a type; NULL: the job has
   failed. */
static LLVMValueRef heap_as(const kiln__device_call *c, LLVMTypeRef type)
{
    const LLVMValueRef heap =
        c->job->backend->item->heap(c->job, c->builder, c->item);
    const unsigned *spaces = c->job->backend->foreign->neutral_spaces;
    const unsigned space = LLVMGetPointerAddressSpace(type);

    if (LLVMTypeOf(heap) == type)
        return heap;
    if (space == spaces[0] || space == spaces[1])
        return LLVMBuildAddrSpaceCast(c->builder, heap, type, "");
    (void)kiln__foreign_refuse_call(c->job, c->name,
                                    "its pointer is generic, or to global "
                                    "memory");
    return NULL;
}

/* Returns the next multiple of `align`, a power of two or 0. */
static LLVMValueRef round_up(const kiln__device_call *c, LLVMValueRef begin,
                             LLVMValueRef align)
{
    const LLVMTypeRef i64 = kiln__job_i64(c->job);
    const LLVMValueRef address = LLVMBuildPtrToInt(c->builder, begin, i64, "");
    const LLVMValueRef is_none =
        LLVMBuildICmp(c->builder, LLVMIntEQ, align, LLVMConstNull(i64), "");
    const LLVMValueRef mask = LLVMBuildSelect(
        c->builder, is_none, LLVMConstNull(i64),
        LLVMBuildSub(c->builder, align, kiln__job_number64(c->job, 1), ""), "");
    LLVMValueRef distance = LLVMBuildAnd(
        c->builder, LLVMBuildNeg(c->builder, address, ""), mask, "");

    return LLVMBuildGEP2(c->builder, LLVMInt8TypeInContext(c->job->context),
                         begin, &distance, 1, "");
}

LLVMValueRef kiln__foreign_allocate(const kiln__device_call *c)
{
    const LLVMTypeRef type = LLVMTypeOf(c->call), i64 = kiln__job_i64(c->job);
    LLVMValueRef arguments[2] = {c->arguments[0], c->arguments[1]};
    const LLVMValueRef heap = heap_as(c, type);
    LLVMValueRef place, begin;

    if (heap == NULL)
        return NULL;
    place = call_library(c, KILN__CALLED_ALLOCATE, i64, arguments, 2);
    if (place == NULL)
        return NULL;
    c->job->uses_heap = 1;
    begin = LLVMBuildGEP2(c->builder, LLVMInt8TypeInContext(c->job->context),
                          heap, &place, 1, "");
    return LLVMBuildSelect(
        c->builder,
        LLVMBuildICmp(c->builder, LLVMIntSLT, place, LLVMConstNull(i64), ""),
        LLVMConstNull(type), round_up(c, begin, arguments[1]), "");
}

LLVMValueRef kiln__foreign_free(const kiln__device_call *c)
{
    const LLVMTypeRef type = LLVMTypeOf(c->arguments[0]);
    const LLVMTypeRef i64 = kiln__job_i64(c->job);
    const LLVMValueRef heap = heap_as(c, type);
    LLVMValueRef place;

    if (heap == NULL)
        return NULL;
    place = LLVMBuildSub(
        c->builder, LLVMBuildPtrToInt(c->builder, c->arguments[0], i64, ""),
        LLVMBuildPtrToInt(c->builder, heap, i64, ""), "");
    place = LLVMBuildSelect(c->builder,
                            LLVMBuildIsNull(c->builder, c->arguments[0], ""),
                            LLVMConstNull(i64), place, "");
    (void)call_library(c, KILN__CALLED_FREE,
                       LLVMInt1TypeInContext(c->job->context), &place, 1);
    c->job->uses_heap = 1;
    return NULL;
}
