/* lower_group_slot.c - keeps variables of items in the group's memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

/*
 * A slot is one array over the group's items for each scalar of the value.
 * Neighbours are side by side, so a loop over items moves vectors.
 */

static uint64_t word_count(const kiln__ir_type *array)
{
    return 1 + (uint64_t)array->length * (1u + array->strided);
}

uint64_t kiln__group_slot_size(const kiln__lower_function *f, uint32_t type)
{
    const kiln__ir_type *t = kiln__ir_type_at(&f->ir, type);
    uint64_t size = 0;

    if (t->kind == KILN_TYPE_ARRAY)
        return 8 * word_count(t);
    if (!kiln__kind_has_fields(t->kind))
        return f->types[type].size;
    for (size_t i = 0; i < t->length; i++)
        size += kiln__group_slot_size(f, kiln__ir_field(&f->ir, t, i));
    return size;
}

/* Moves one value; `offset` advances with each scalar. */
typedef struct mover {
    kiln__lowering *l;
    LLVMValueRef number;
    uint64_t offset;
    int is_write;
} mover;

static LLVMValueRef address(mover *m, uint64_t size)
{
    kiln__lowering *l = m->l;
    const LLVMValueRef before = LLVMBuildNSWMul(
        l->builder, l->group->count, LLVMConstInt(l->i64, m->offset, 0), "");
    LLVMValueRef at = LLVMBuildNSWMul(l->builder, m->number,
                                      LLVMConstInt(l->i64, size, 0), "");

    at = LLVMBuildNSWAdd(l->builder, before, at, "");
    m->offset += size;
    return LLVMBuildInBoundsGEP2(l->builder, LLVMInt8TypeInContext(l->context),
                                 l->group->slots, &at, 1, "");
}

static LLVMValueRef move_word(mover *m, LLVMTypeRef type, LLVMValueRef value)
{
    const LLVMValueRef at = address(m, 8);

    if (m->is_write)
        return LLVMBuildStore(m->l->builder, value, at);
    return LLVMBuildLoad2(m->l->builder, type, at, "");
}

/* Moves a value of the type between registers and its slot, part by part.
   Returns the value. */
static LLVMValueRef move(mover *m, uint32_t type, LLVMValueRef value)
{
    kiln__lowering *l = m->l;
    const kiln__ir_type *t = kiln__ir_type_at(l->ir, type);
    const LLVMTypeRef registers = kiln__lower_type_of(l, type);
    const int is_array = t->kind == KILN_TYPE_ARRAY;
    const uint64_t parts = is_array ? word_count(t) : t->length;
    LLVMValueRef at, part = NULL;

    if (kiln__ir_type_is_empty(l->ir, type))
        return LLVMConstNull(registers);
    if (!is_array && !kiln__kind_has_fields(t->kind)) {
        at = address(m, l->f->types[type].size);
        if (!m->is_write)
            return kiln__lower_read(l, type, at);
        kiln__lower_write(l, type, at, value);
        return value;
    }
    if (!m->is_write)
        value = LLVMConstNull(registers);
    for (unsigned i = 0; i < parts; i++) {
        const LLVMTypeRef part_type = LLVMStructGetTypeAtIndex(registers, i);

        if (m->is_write)
            part = LLVMBuildExtractValue(l->builder, value, i, "");
        part = is_array ? move_word(m, part_type, part)
                        : move(m, kiln__ir_field(l->ir, t, i), part);
        if (!m->is_write)
            value = LLVMBuildInsertValue(l->builder, value, part, i, "");
    }
    return value;
}

LLVMValueRef kiln__group_slot_read(kiln__lowering *l,
                                   const kiln__group_variable *variable,
                                   uint32_t type, LLVMValueRef number)
{
    mover m = {l, number, variable->offset, 0};

    return move(&m, type, NULL);
}

void kiln__group_slot_write(kiln__lowering *l,
                            const kiln__group_variable *variable, uint32_t type,
                            LLVMValueRef number, LLVMValueRef value)
{
    mover m = {l, number, variable->offset, 1};

    (void)move(&m, type, value);
}
