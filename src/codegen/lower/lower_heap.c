/* lower_heap.c - the heap of a launch, and arrays in it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include <string.h>

#include "abi/heap_abi.h"
#include "kiln/error.h"

/* heap_abi.h describes the beginning of the heap. Only src/runtime/heap.kiln
   decides where in the heap an array begins. */

static LLVMValueRef address_of_heap(kiln__lowering *l)
{
    return l->job->backend->item->heap(l->job, l->builder, l->item);
}

static LLVMValueRef at_offset(kiln__lowering *l, LLVMValueRef base,
                              LLVMValueRef offset)
{
    return LLVMBuildInBoundsGEP2(l->builder, LLVMInt8TypeInContext(l->context),
                                 base, &offset, 1, "");
}

static LLVMValueRef words(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMValueRef begin = address_of_heap(l);
    const LLVMValueRef place = at_offset(
        l, begin, LLVMConstInt(l->i64, offsetof(struct kiln__heap, words), 0));
    const LLVMValueRef count = LLVMBuildLoad2(
        l->builder, LLVMInt32TypeInContext(l->context), place, "");
    const LLVMValueRef size = LLVMBuildZExt(l->builder, count, l->i64, "");
    LLVMValueRef value = LLVMGetPoison(kiln__lower_type_of(l, node->type));

    value = LLVMBuildInsertValue(l->builder, value, begin, 0, "");
    return LLVMBuildInsertValue(l->builder, value, size, 1, "");
}

static LLVMValueRef offset(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMValueRef array =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    const LLVMValueRef data = LLVMBuildExtractValue(l->builder, array, 0, "");
    const LLVMValueRef begin = address_of_heap(l);

    return LLVMBuildSub(l->builder,
                        LLVMBuildPtrToInt(l->builder, data, l->i64, ""),
                        LLVMBuildPtrToInt(l->builder, begin, l->i64, ""), "");
}

/* For an array that did not fit, heap.kiln returns ~size in bytes instead of an
   offset. The exception shows the size. */
static LLVMValueRef array(kiln__lowering *l, const kiln__ir_node *node)
{
    const uint32_t rank = kiln__ir_type_at(l->ir, node->type)->length;
    const LLVMValueRef place =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    const LLVMValueRef begin = LLVMBuildExtractValue(l->builder, place, 0, "");
    LLVMValueRef value = LLVMGetPoison(kiln__lower_type_of(l, node->type));

    if (kiln__lower_raises(l, l->f, node))
        kiln__lower_check(l, node,
                          LLVMBuildICmp(l->builder, LLVMIntSLT, begin,
                                        LLVMConstNull(l->i64), ""),
                          (kiln__codegen_exception){
                              .kind = KILN_EXCEPTION_MEMORY,
                              .message = KILN__HEAP_MESSAGE,
                              .values = {LLVMBuildNot(l->builder, begin, ""),
                                         LLVMConstNull(l->i64)}});
    value = LLVMBuildInsertValue(
        l->builder, value, at_offset(l, address_of_heap(l), begin), 0, "");
    for (unsigned i = 1; i <= rank; i++)
        value = LLVMBuildInsertValue(
            l->builder, value, LLVMBuildExtractValue(l->builder, place, i, ""),
            i, "");
    return value;
}

LLVMValueRef kiln__lower_heap(kiln__lowering *l, const kiln__ir_node *node)
{
    if (node->op == KILN__IR_HEAP)
        return words(l, node);
    return node->op == KILN__IR_HEAP_OFFSET ? offset(l, node) : array(l, node);
}

void kiln__lower_fence(const kiln__lowering *l)
{
    const kiln__codegen_device *device = l->job->backend->device;
    const LLVMValueRef fence = LLVMBuildFence(
        l->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, "");

    if (device != NULL)
        LLVMSetAtomicSyncScopeID(fence,
                                 LLVMGetSyncScopeID(l->context, device->scope,
                                                    strlen(device->scope)));
}
