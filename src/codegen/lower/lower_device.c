/* lower_device.c - memory and atomics of groups whose items run side by
   side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include <math.h>
#include <string.h>

/*
 * A local array is a variable in the memory of the group, one for each place
 * that makes one. Barriers and collective operations are the backend's.
 */

static LLVMValueRef number(const kiln__lowering *l, uint64_t value)
{
    return LLVMConstInt(l->i64, value, 0);
}

/* ---- memory of a group ---- */

static LLVMValueRef add_shared(kiln__lowering *l, uint64_t size,
                               uint32_t alignment)
{
    const LLVMTypeRef bytes =
        LLVMArrayType2(LLVMInt8TypeInContext(l->context), size);
    const char *name = kiln__arena_format(&l->job->arena, "%s.shared.%u",
                                          l->job->request->entry,
                                          (unsigned)l->job->static_local_bytes);
    const LLVMValueRef global = LLVMAddGlobalInAddressSpace(
        l->job->module, bytes, name != NULL ? name : "shared",
        KILN__SHARED_SPACE);

    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMGetUndef(bytes));
    LLVMSetAlignment(global, alignment);
    return global;
}

/* Elements are moved by one access, and so are neighbours where the target asks
   for aligned vectors. */
static uint32_t shared_alignment(const kiln__lowering *l,
                                 const kiln__lower_type *element)
{
    const int is_wide =
        l->job->backend->device->aligns_vectors ||
        (element->size > 0 && element->size % KILN__ACCESS_MOST == 0);

    return is_wide ? KILN__ACCESS_MOST : 8;
}

LLVMValueRef kiln__lower_shared_array(kiln__lowering *l,
                                      const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(l->ir, node->type);
    const kiln__lower_type *element = &l->f->types[type->element];
    const uint32_t alignment = shared_alignment(l, element);
    uint64_t size = element->size;
    LLVMValueRef value = LLVMGetPoison(kiln__lower_type_of(l, node->type));
    LLVMValueRef at;

    for (uint32_t i = 0; i < node->count; i++) {
        const uint64_t extent =
            (uint64_t)kiln__ir_operand_at(l->ir, node, i)->imm;

        value = LLVMBuildInsertValue(l->builder, value, number(l, extent),
                                     1 + i, "");
        size *= extent;
    }
    at = add_shared(l, size, alignment);
    l->job->static_local_bytes +=
        (uint32_t)((size + alignment - 1) & ~(uint64_t)(alignment - 1));
    at = LLVMConstAddrSpaceCast(at, kiln__job_array_pointer(l->job));
    return LLVMBuildInsertValue(l->builder, value, at, 0, "");
}

LLVMValueRef kiln__lower_collective(kiln__lowering *l,
                                    const kiln__ir_node *node)
{
    kiln__codegen_collective collective = {
        .operation = (uint32_t)node->imm,
        .kind = kiln__lower_lane(l, kiln__ir_operand_at(l->ir, node, 0)),
        .value = kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0)),
    };

    if (node->count > 1)
        collective.operand =
            kiln__lower_value(l, kiln__ir_operand(l->ir, node, 1));
    return l->job->backend->device->collective(l->job, l->builder, l->item,
                                               &collective);
}

/* ---- atomics ---- */

LLVMValueRef kiln__lower_scope(const kiln__lowering *l, LLVMValueRef atomic)
{
    const kiln__codegen_device *device = l->job->backend->device;

    if (device != NULL)
        LLVMSetAtomicSyncScopeID(atomic,
                                 LLVMGetSyncScopeID(l->context, device->scope,
                                                    strlen(device->scope)));
    return atomic;
}

/* Returns op(old, value) for an operation that a target may lack. */
static LLVMValueRef apply(kiln__lowering *l, int64_t operation, int32_t kind,
                          LLVMValueRef old, LLVMValueRef value)
{
    const int32_t in = kiln__scalar_of(kind)->arithmetic;
    LLVMValueRef both[2];

    if (operation == KILN__ATOMIC_EXCHANGE)
        return value;
    both[0] = kiln__lower_float(l, old, kind, in);
    both[1] = kiln__lower_float(l, value, kind, in);
    if (operation == KILN__ATOMIC_ADD)
        value = LLVMBuildFAdd(l->builder, both[0], both[1], "");
    else if (operation == KILN__ATOMIC_SUB)
        value = LLVMBuildFSub(l->builder, both[0], both[1], "");
    else
        value = kiln__lower_intrinsic(
            l, operation == KILN__ATOMIC_MIN ? "llvm.minnum" : "llvm.maxnum",
            LLVMTypeOf(both[0]), both, 2);
    return kiln__lower_float(l, value, in, kind);
}

/* The loop compares bits, so that it also ends when a NaN is in memory. */
LLVMValueRef kiln__lower_atomic_loop(kiln__lowering *l, int64_t operation,
                                     int32_t kind, LLVMValueRef at,
                                     LLVMValueRef value)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMTypeRef bits =
        LLVMIntTypeInContext(l->context, kiln__kind_width(kind));
    const LLVMBasicBlockRef again = kiln__lower_block(l);
    const LLVMBasicBlockRef done = kiln__lower_block(l);
    const LLVMBasicBlockRef before = LLVMGetInsertBlock(l->builder);
    LLVMValueRef first = LLVMBuildLoad2(l->builder, bits, at, "");
    LLVMValueRef old, fresh, both, seen;

    LLVMSetAlignment(first, kiln__kind_width(kind) / 8);
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    kiln__lower_scope(l, first);
    LLVMBuildBr(l->builder, again);
    LLVMPositionBuilderAtEnd(l->builder, again);
    old = LLVMBuildPhi(l->builder, bits, "");
    fresh = apply(l, operation, kind,
                  LLVMBuildBitCast(l->builder, old, type, ""), value);
    fresh = LLVMBuildBitCast(l->builder, fresh, bits, "");
    both = LLVMBuildAtomicCmpXchg(l->builder, at, old, fresh,
                                  LLVMAtomicOrderingMonotonic,
                                  LLVMAtomicOrderingMonotonic, 0);
    kiln__lower_scope(l, both);
    seen = LLVMBuildExtractValue(l->builder, both, 0, "");
    LLVMAddIncoming(old, &first, (LLVMBasicBlockRef[]){before}, 1);
    LLVMAddIncoming(old, &seen, (LLVMBasicBlockRef[]){again}, 1);
    LLVMBuildCondBr(l->builder, LLVMBuildExtractValue(l->builder, both, 1, ""),
                    done, again);
    LLVMPositionBuilderAtEnd(l->builder, done);
    return LLVMBuildBitCast(l->builder, old, type, "");
}
