/* lower_types.c - types in registers and in memory, and moves between them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

/*
 * The memory form is computed here and not by LLVM's data layout. It is C's on
 * the host for every target (kiln/type.h), and an LLVM vector has another
 * alignment and size than an array.
 */

static LLVMTypeRef array_registers(const kiln__lowering *l,
                                   const kiln__ir_type *type)
{
    LLVMTypeRef members[1 + 2 * KILN_RANK_MAX];
    const unsigned count =
        1 + type->length + (type->strided ? type->length : 0);

    members[0] = kiln__job_array_pointer(l->job);
    for (unsigned i = 1; i < count; i++)
        members[i] = l->i64;
    return LLVMStructTypeInContext(l->context, members, count, 0);
}

static void describe_scalar(const kiln__lowering *l, int32_t kind,
                            kiln__lower_type *out)
{
    out->registers = kiln__job_scalar(l->job, kind);
    out->size = kiln__kind_bytes(kind);
    out->alignment = (uint32_t)out->size;
}

static kiln_status describe_fields(kiln__lowering *l, kiln__lower_function *f,
                                   const kiln__ir_type *type,
                                   kiln__lower_type *out)
{
    LLVMTypeRef *members = kiln__arena_allocate_array(
        &l->job->arena, type->length, sizeof(LLVMTypeRef));

    if (members == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < type->length; i++) {
        const kiln__lower_type *field =
            &f->types[kiln__ir_field(&f->ir, type, i)];

        members[i] = field->registers;
        out->size = (out->size + field->alignment - 1) &
                    ~(uint64_t)(field->alignment - 1);
        out->size += field->size;
        if (field->alignment > out->alignment)
            out->alignment = field->alignment;
    }
    out->size =
        (out->size + out->alignment - 1) & ~(uint64_t)(out->alignment - 1);
    out->registers =
        LLVMStructTypeInContext(l->context, members, type->length, 0);
    return KILN_OK;
}

static kiln_status describe_type(kiln__lowering *l, kiln__lower_function *f,
                                 const kiln__ir_type *type,
                                 kiln__lower_type *out)
{
    *out = (kiln__lower_type){.registers = l->empty, .alignment = 1};
    if (kiln__kind_is_scalar(type->kind))
        describe_scalar(l, type->kind, out);
    else if (type->kind == KILN_TYPE_ARRAY)
        out->registers = array_registers(l, type);
    else if (kiln__kind_has_fields(type->kind))
        return describe_fields(l, f, type, out);
    else if (type->kind == KILN_TYPE_VECTOR) {
        const kiln__lower_type *element = &f->types[type->element];

        out->registers = LLVMVectorType(element->registers, type->length);
        out->size = element->size * type->length;
        out->alignment = element->alignment;
    }
    return KILN_OK;
}

kiln_status kiln__lower_types(kiln__lowering *l, kiln__lower_function *f)
{
    f->types = kiln__arena_allocate_array(&l->job->arena, f->ir.types.count,
                                          sizeof *f->types);
    if (f->types == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < f->ir.types.count; i++) {
        kiln_status status =
            describe_type(l, f, &f->ir.types.items[i], &f->types[i]);

        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

LLVMTypeRef kiln__lower_type_of(const kiln__lowering *l, uint32_t type)
{
    return l->f->types[type].registers;
}

LLVMTypeRef kiln__lower_cell(const kiln__lowering *l, uint32_t type)
{
    const kiln__lower_type *described = &l->f->types[type];
    const int32_t kind = kiln__ir_kind(l->ir, type);
    const LLVMTypeRef byte = LLVMInt8TypeInContext(l->context);

    if (kind == KILN_TYPE_BOOL)
        return byte;
    return kiln__kind_is_scalar(kind) ? described->registers
                                      : LLVMArrayType2(byte, described->size);
}

/* ---- moving values ---- */

/* Returns the type that is loaded and stored for a scalar or vector: a byte for
   a Bool. */
static LLVMTypeRef moved_type(const kiln__lowering *l, uint32_t type)
{
    const LLVMTypeRef byte = LLVMInt8TypeInContext(l->context);

    if (kiln__ir_lane_kind(l->ir, type) != KILN_TYPE_BOOL)
        return l->f->types[type].registers;
    return kiln__ir_kind(l->ir, type) == KILN_TYPE_BOOL
               ? byte
               : LLVMVectorType(byte, kiln__ir_type_at(l->ir, type)->length);
}

static LLVMValueRef read_plain(kiln__lowering *l, uint32_t type,
                               LLVMValueRef address)
{
    const LLVMTypeRef moved = moved_type(l, type);
    LLVMValueRef value = LLVMBuildLoad2(l->builder, moved, address, "");

    LLVMSetAlignment(value, l->f->types[type].alignment);
    if (kiln__ir_lane_kind(l->ir, type) == KILN_TYPE_BOOL)
        value = LLVMBuildICmp(l->builder, LLVMIntNE, value,
                              LLVMConstNull(moved), "");
    return value;
}

static void write_plain(kiln__lowering *l, uint32_t type, LLVMValueRef address,
                        LLVMValueRef value)
{
    LLVMValueRef store;

    if (kiln__ir_lane_kind(l->ir, type) == KILN_TYPE_BOOL)
        value = LLVMBuildZExt(l->builder, value, moved_type(l, type), "");
    store = LLVMBuildStore(l->builder, value, address);
    LLVMSetAlignment(store, l->f->types[type].alignment);
}

/* Walks over the fields that have bytes. */
typedef struct field_walk {
    const kiln__ir_type *type;
    unsigned index;
    uint32_t field;       /* type of the field */
    uint64_t end;         /* end of the fields so far, in bytes */
    LLVMValueRef address; /* of the field */
} field_walk;

/* Goes to the next field that has bytes; false: there is none. */
static int next_field(kiln__lowering *l, field_walk *walk, LLVMValueRef base)
{
    const kiln__lower_type *described;
    LLVMValueRef offset;

    do {
        if (++walk->index >= walk->type->length)
            return 0;
        walk->field = kiln__ir_field(l->ir, walk->type, walk->index);
        described = &l->f->types[walk->field];
    } while (described->size == 0);
    walk->end = (walk->end + described->alignment - 1) &
                ~(uint64_t)(described->alignment - 1);
    offset = LLVMConstInt(l->i64, walk->end, 0);
    walk->address = walk->end == 0
                        ? base
                        : LLVMBuildInBoundsGEP2(
                              l->builder, LLVMInt8TypeInContext(l->context),
                              base, &offset, 1, "");
    walk->end += described->size;
    return 1;
}

LLVMValueRef kiln__lower_read(kiln__lowering *l, uint32_t type,
                              LLVMValueRef address)
{
    field_walk walk = {.type = kiln__ir_type_at(l->ir, type), .index = ~0u};
    LLVMValueRef all;

    if (l->f->types[type].size > 0 && !kiln__kind_has_fields(walk.type->kind))
        return read_plain(l, type, address);
    all = LLVMConstNull(l->f->types[type].registers);
    if (!kiln__kind_has_fields(walk.type->kind))
        return all;
    while (next_field(l, &walk, address)) {
        LLVMValueRef one = kiln__lower_read(l, walk.field, walk.address);

        all = LLVMBuildInsertValue(l->builder, all, one, walk.index, "");
    }
    return all;
}

void kiln__lower_write(kiln__lowering *l, uint32_t type, LLVMValueRef address,
                       LLVMValueRef value)
{
    field_walk walk = {.type = kiln__ir_type_at(l->ir, type), .index = ~0u};

    if (l->f->types[type].size == 0)
        return;
    if (!kiln__kind_has_fields(walk.type->kind)) {
        write_plain(l, type, address, value);
        return;
    }
    while (next_field(l, &walk, address)) {
        LLVMValueRef one =
            LLVMBuildExtractValue(l->builder, value, walk.index, "");

        kiln__lower_write(l, walk.field, walk.address, one);
    }
}
