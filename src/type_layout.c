/* type_layout.c - size, alignment and offsets, as C lays values out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "types.h"

/*
 * A tuple is a C struct of its elements; a vector is a C array. What has no
 * bytes (static values, types, functions) takes no room in a struct, which C
 * has no word for. The empty struct has size 0 and alignment 1.
 */

void kiln__type_layout_scalar(kiln_type *type)
{
    static const uint8_t sizes[KILN_TYPE_F64 + 1] = {
        [KILN_TYPE_BOOL] = 1, [KILN_TYPE_I8] = 1,  [KILN_TYPE_I16] = 2,
        [KILN_TYPE_I32] = 4,  [KILN_TYPE_I64] = 8, [KILN_TYPE_U8] = 1,
        [KILN_TYPE_U16] = 2,  [KILN_TYPE_U32] = 4, [KILN_TYPE_U64] = 8,
        [KILN_TYPE_F16] = 2,  [KILN_TYPE_F32] = 4, [KILN_TYPE_F64] = 8,
    };

    type->size = sizes[type->kind];
    type->alignment = type->size ? (uint32_t)type->size : 1;
}

static uint64_t round_up(uint64_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

kiln_status kiln__type_layout_fields(kiln_type *type, kiln__type_field *fields,
                                     size_t count)
{
    uint64_t offset = 0;
    uint32_t alignment = 1;

    for (size_t i = 0; i < count; i++) {
        const kiln_type *field = fields[i].type;

        if (field->alignment > alignment)
            alignment = field->alignment;
        offset = round_up(offset, field->alignment);
        fields[i].offset = offset;
        offset += field->size;
        if (offset > KILN__TYPE_SIZE_MAX)
            return KILN_EINVAL;
    }
    type->alignment = alignment;
    type->size = round_up(offset, alignment);
    return type->size > KILN__TYPE_SIZE_MAX ? KILN_EINVAL : KILN_OK;
}

kiln_status kiln__type_layout_vector(kiln_type *type)
{
    type->alignment = type->element->alignment;
    type->size = type->element->size * type->length;
    return type->size > KILN__TYPE_SIZE_MAX ? KILN_EINVAL : KILN_OK;
}

void kiln__type_layout_array(kiln_type *type)
{
    const uint64_t words = type->strided ? 2 * type->rank : type->rank;

    type->alignment = sizeof(void *);
    type->size = sizeof(void *) + words * sizeof(int64_t);
}
