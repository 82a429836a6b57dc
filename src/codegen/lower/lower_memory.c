/* lower_memory.c - lowers accesses to elements of arrays and of vectors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include "kiln/error.h"

/*
 * Indices are compared as unsigned numbers, so one comparison also finds
 * negative ones. An access that is not checked and is out of bounds is
 * undefined, as in C. So the offset of a defined access never overflows, and
 * LLVM is told so.
 */

typedef struct element {
    const kiln__ir_type *type;
    LLVMValueRef array; /* in register form */
    LLVMValueRef indices[KILN_RANK_MAX];
} element;

static LLVMValueRef size_of(kiln__lowering *l, LLVMValueRef array,
                            unsigned dimension)
{
    return LLVMBuildExtractValue(l->builder, array, 1 + dimension, "");
}

/* Returns the value of 32 bits that was extended to the index; NULL: there is
   none, or it is of no use. */
static LLVMValueRef narrow_index(const kiln__lowering *l, LLVMValueRef index)
{
    const kiln__codegen_device *device = l->job->backend->device;
    LLVMValueRef narrow;

    if (device == NULL || !device->has_32_bits || l->loop == NULL ||
        LLVMIsASExtInst(index) == NULL)
        return NULL;
    narrow = LLVMGetOperand(index, 0);
    return LLVMTypeOf(narrow) == LLVMInt32TypeInContext(l->context) ? narrow
                                                                    : NULL;
}

/* An index of 32 bits is in an array of more than 2^31 elements just if it is
   in one of 2^31: if it is not negative. What is computed from the size, LLVM
   moves out of the loop. */
static LLVMValueRef is_outside(kiln__lowering *l, LLVMValueRef index,
                               LLVMValueRef size)
{
    const LLVMValueRef most = LLVMConstInt(l->i64, UINT64_C(1) << 31, 0);
    const LLVMValueRef narrow = narrow_index(l, index);

    if (narrow == NULL)
        return LLVMBuildICmp(l->builder, LLVMIntUGE, index, size, "");
    size = LLVMBuildSelect(
        l->builder, LLVMBuildICmp(l->builder, LLVMIntULT, size, most, ""), size,
        most, "");
    return LLVMBuildICmp(
        l->builder, LLVMIntUGE, narrow,
        LLVMBuildTrunc(l->builder, size, LLVMTypeOf(narrow), ""), "");
}

static void check_index(kiln__lowering *l, const kiln__ir_node *node,
                        LLVMValueRef index, LLVMValueRef size)
{
    const LLVMValueRef bad = is_outside(l, index, size);

    kiln__lower_check(l, node, bad,
                      (kiln__codegen_exception){.kind = KILN_EXCEPTION_BOUNDS,
                                                .message = "",
                                                .values = {index, size}});
}

/* ---- arrays ---- */

static void evaluate(kiln__lowering *l, const kiln__ir_node *node, element *out)
{
    out->type =
        kiln__ir_type_at(l->ir, kiln__ir_operand_at(l->ir, node, 0)->type);
    out->array = kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    for (uint32_t i = 0; i < out->type->length; i++)
        out->indices[i] =
            kiln__lower_value(l, kiln__ir_operand(l->ir, node, 1 + i));
}

static LLVMValueRef multiply(kiln__lowering *l, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildNSWMul(l->builder, a, b, "");
}

/* No part of a dense offset is negative. */
static LLVMValueRef positive(const kiln__lowering *l, LLVMValueRef value)
{
    if (l->job->is_known && LLVMIsAInstruction(value) &&
        LLVMIsATruncInst(value) == NULL)
        LLVMSetNUW(value, 1);
    return value;
}

/* Where arrays are known to be small, offsets have 32 bits. */
static LLVMValueRef offset_part(kiln__lowering *l, LLVMValueRef value)
{
    return l->job->is_known
               ? LLVMBuildTrunc(l->builder, value,
                                LLVMInt32TypeInContext(l->context), "")
               : value;
}

/* An element's offset is less than 2^31. So what loops add to an index with a
   sign is added to the address, too. */
static LLVMValueRef widened(kiln__lowering *l, LLVMValueRef offset)
{
    const LLVMValueRef wide = LLVMBuildZExt(l->builder, offset, l->i64, "");

    if (LLVMIsAZExtInst(wide) != NULL)
        LLVMSetNNeg(wide, 1);
    return wide;
}

/* The first index is the contiguous one. */
static LLVMValueRef dense_offset(kiln__lowering *l, const element *to)
{
    uint32_t i = to->type->length - 1;
    LLVMValueRef offset = offset_part(l, to->indices[i]);

    while (i-- > 0) {
        offset = positive(
            l, multiply(l, offset, offset_part(l, size_of(l, to->array, i))));
        offset =
            positive(l, LLVMBuildNSWAdd(l->builder, offset,
                                        offset_part(l, to->indices[i]), ""));
    }
    return offset;
}

static LLVMValueRef strided_offset(kiln__lowering *l, const element *to)
{
    LLVMValueRef offset = NULL;

    for (uint32_t i = 0; i < to->type->length; i++) {
        const LLVMValueRef stride = size_of(l, to->array, to->type->length + i);
        const LLVMValueRef part =
            multiply(l, offset_part(l, to->indices[i]), offset_part(l, stride));

        offset = offset == NULL ? part
                                : LLVMBuildNSWAdd(l->builder, offset, part, "");
    }
    return offset;
}

/* Checks the indices where that is asked for, and returns the element's
   address. */
static LLVMValueRef address(kiln__lowering *l, const kiln__ir_node *node,
                            const element *to)
{
    const LLVMValueRef data =
        LLVMBuildExtractValue(l->builder, to->array, 0, "");
    LLVMValueRef offset;

    if (kiln__lower_raises(l, l->f, node))
        for (uint32_t i = 0; i < to->type->length; i++)
            check_index(l, node, to->indices[i], size_of(l, to->array, i));
    else if (l->f->proved == NULL || !l->f->proved[node - l->ir->nodes.items])
        l->job->has_unchecked = 1;
    offset = to->type->strided ? strided_offset(l, to) : dense_offset(l, to);
    if (l->job->is_known)
        offset = to->type->strided
                     ? LLVMBuildSExt(l->builder, offset, l->i64, "")
                     : widened(l, offset);
    return LLVMBuildInBoundsGEP2(l->builder,
                                 kiln__lower_cell(l, to->type->element), data,
                                 &offset, 1, "");
}

LLVMValueRef kiln__lower_address(kiln__lowering *l, const kiln__ir_node *access,
                                 uint32_t *type)
{
    element to;

    evaluate(l, access, &to);
    *type = to.type->element;
    return address(l, access, &to);
}

static LLVMAtomicRMWBinOp atomic_op(int64_t atomic, int32_t kind)
{
    const int is_float = kiln__kind_is_float(kind);
    const int is_signed = kiln__kind_is_signed(kind);

    switch (atomic) {
    case KILN__ATOMIC_ADD:
        return is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    case KILN__ATOMIC_SUB:
        return is_float ? LLVMAtomicRMWBinOpFSub : LLVMAtomicRMWBinOpSub;
    case KILN__ATOMIC_MIN:
        return is_float    ? LLVMAtomicRMWBinOpFMin
               : is_signed ? LLVMAtomicRMWBinOpMin
                           : LLVMAtomicRMWBinOpUMin;
    case KILN__ATOMIC_MAX:
        return is_float    ? LLVMAtomicRMWBinOpFMax
               : is_signed ? LLVMAtomicRMWBinOpMax
                           : LLVMAtomicRMWBinOpUMax;
    case KILN__ATOMIC_AND:
        return LLVMAtomicRMWBinOpAnd;
    case KILN__ATOMIC_OR:
        return LLVMAtomicRMWBinOpOr;
    case KILN__ATOMIC_XOR:
        return LLVMAtomicRMWBinOpXor;
    default: /* EXCHANGE */
        return LLVMAtomicRMWBinOpXchg;
    }
}

/* Compares bits, also those of floats. */
static LLVMValueRef compare_and_swap(kiln__lowering *l, LLVMValueRef at,
                                     LLVMTypeRef type, LLVMValueRef expected,
                                     LLVMValueRef desired, uint32_t width)
{
    const LLVMTypeRef bits = LLVMIntTypeInContext(l->context, width);
    LLVMValueRef both;

    expected = LLVMBuildBitCast(l->builder, expected, bits, "");
    desired = LLVMBuildBitCast(l->builder, desired, bits, "");
    both = LLVMBuildAtomicCmpXchg(l->builder, at, expected, desired,
                                  LLVMAtomicOrderingMonotonic,
                                  LLVMAtomicOrderingMonotonic, 0);
    kiln__lower_scope(l, both);
    both = LLVMBuildExtractValue(l->builder, both, 0, "");
    return LLVMBuildBitCast(l->builder, both, type, "");
}

/* Says whether LLVM is to make code for the operation. */
static int has_atomic(const kiln__lowering *l, uint32_t operation, int32_t kind)
{
    const kiln__codegen_device *device = l->job->backend->device;

    if (kiln__kind_is_float(kind) && operation != KILN__ATOMIC_EXCHANGE &&
        kiln__scalar_of(kind)->arithmetic != kind)
        return 0; /* rounded by code of Kiln's */
    return device == NULL || device->has_atomic == NULL ||
           device->has_atomic(l->job, operation, kind);
}

static LLVMValueRef atomic(kiln__lowering *l, const kiln__ir_node *node)
{
    const int32_t kind = kiln__lower_lane(l, node);
    const size_t first = node->count - (size_t)kiln__ir_atomic[node->imm].count;
    LLVMValueRef values[2] = {NULL, NULL}, at;
    element to;

    evaluate(l, node, &to);
    for (size_t i = first; i < node->count; i++)
        values[i - first] =
            kiln__lower_value(l, kiln__ir_operand(l->ir, node, i));
    at = address(l, node, &to);
    if (node->imm == KILN__ATOMIC_CAS)
        return compare_and_swap(l, at, kiln__lower_type_of(l, node->type),
                                values[0], values[1], kiln__kind_width(kind));
    if (!has_atomic(l, (uint32_t)node->imm, kind))
        return kiln__lower_atomic_loop(l, node->imm, kind, at, values[0]);
    return kiln__lower_scope(
        l, LLVMBuildAtomicRMW(l->builder, atomic_op(node->imm, kind), at,
                              values[0], LLVMAtomicOrderingMonotonic, 0));
}

static LLVMValueRef length(kiln__lowering *l, const kiln__ir_node *node)
{
    const kiln__ir_node *operand = kiln__ir_operand_at(l->ir, node, 0);
    const uint32_t rank = kiln__ir_type_at(l->ir, operand->type)->length;
    const LLVMValueRef array =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    LLVMValueRef product;

    if (node->op == KILN__IR_SIZE)
        return size_of(l, array, (unsigned)node->imm);
    product = size_of(l, array, 0);
    for (uint32_t i = 1; i < rank; i++)
        product = LLVMBuildMul(l->builder, product, size_of(l, array, i), "");
    return product;
}

static LLVMValueRef load(kiln__lowering *l, const kiln__ir_node *node)
{
    const kiln__lower_sum *sum = kiln__lower_sum_of(l, node);
    element to;

    if (sum != NULL)
        return LLVMBuildLoad2(l->builder, kiln__lower_type_of(l, node->type),
                              sum->place, "");
    evaluate(l, node, &to);
    return kiln__lower_read(l, to.type->element, address(l, node, &to));
}

static void store(kiln__lowering *l, const kiln__ir_node *node)
{
    kiln__lower_sum *sum = kiln__lower_sum_of(l, node);
    const uint32_t value = kiln__ir_operand(l->ir, node, node->count - 1);
    LLVMValueRef stored;
    element to;

    if (sum != NULL) {
        stored = kiln__lower_value(l, value);
        if (sum->start == (uint32_t)(node - l->ir->nodes.items))
            kiln__lower_start_sum(l, sum, stored);
        else
            LLVMBuildStore(l->builder, stored, sum->place);
        return;
    }
    evaluate(l, node, &to);
    stored = kiln__lower_value(l, value);
    kiln__lower_write(l, to.type->element, address(l, node, &to), stored);
}

LLVMValueRef kiln__lower_memory(kiln__lowering *l, const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_LENGTH:
    case KILN__IR_SIZE:
        return length(l, node);
    case KILN__IR_ATOMIC:
        return atomic(l, node);
    case KILN__IR_LOAD:
        return load(l, node);
    default: /* STORE */
        store(l, node);
        return LLVMConstNull(l->empty);
    }
}

/* ---- vectors ---- */

LLVMValueRef kiln__lower_element(kiln__lowering *l, const kiln__ir_node *node)
{
    const uint32_t type = kiln__ir_operand_at(l->ir, node, 0)->type;
    const uint32_t count = kiln__ir_type_at(l->ir, type)->length;
    const LLVMValueRef vector =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 0));
    const LLVMValueRef index =
        kiln__lower_value(l, kiln__ir_operand(l->ir, node, 1));
    LLVMValueRef value = NULL;

    if (node->op == KILN__IR_WITH_ELEMENT)
        value = kiln__lower_value(l, kiln__ir_operand(l->ir, node, 2));
    if (kiln__lower_raises(l, l->f, node))
        check_index(l, node, index, LLVMConstInt(l->i64, count, 0));
    return value == NULL
               ? LLVMBuildExtractElement(l->builder, vector, index, "")
               : LLVMBuildInsertElement(l->builder, vector, value, index, "");
}

/* ---- arrays of a group ---- */

LLVMValueRef kiln__lower_local_array(kiln__lowering *l,
                                     const kiln__ir_node *node)
{
    const size_t index = (size_t)(node - l->ir->nodes.items);
    LLVMValueRef at =
        l->job->backend->groups->memory(l->job, l->builder, l->item);
    LLVMValueRef offset = LLVMConstInt(l->i64, l->f->arrays[index] - 1, 0);
    LLVMValueRef value = LLVMGetPoison(kiln__lower_type_of(l, node->type));

    at = LLVMBuildInBoundsGEP2(l->builder, LLVMInt8TypeInContext(l->context),
                               at, &offset, 1, "");
    value = LLVMBuildInsertValue(l->builder, value, at, 0, "");
    for (unsigned i = 0; i < node->count; i++)
        value = LLVMBuildInsertValue(
            l->builder, value,
            LLVMConstInt(l->i64,
                         (uint64_t)kiln__ir_operand_at(l->ir, node, i)->imm, 0),
            1 + i, "");
    return value;
}
