/* type_layout.c - size, alignment and offsets, as C lays values out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/types/types.h"

/*
 * A tuple is a C struct of its elements; a vector is a C array. Parts without
 * bytes (static values, types, functions) take no room in a struct; C has no
 * such members. The empty struct has size 0 and alignment 1.
 */

void kiln__type_layout_scalar(kiln_type *type)
{
    type->size = kiln__kind_bytes(type->kind);
    type->alignment = type->size ? (uint32_t)type->size : 1;
}

static uint64_t round_up(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

static void add_part(kiln_type *type, const kiln_type *part)
{
    type->parts += part->parts + (part->parts == 0);
    if (part->depth >= type->depth)
        type->depth = part->depth + 1;
}

void kiln__type_layout_fields(kiln_type *type, kiln__type_field *fields,
                              size_t count)
{
    uint64_t offset = 0;

    type->alignment = 1;
    type->parts = 1;
    for (size_t i = 0; i < count; i++) {
        const kiln_type *field = fields[i].type;

        if (field->alignment > type->alignment)
            type->alignment = field->alignment;
        offset = round_up(offset, field->alignment);
        fields[i].offset = offset;
        offset += field->size;
        add_part(type, field);
    }
    type->size = round_up(offset, type->alignment);
}

void kiln__type_layout_vector(kiln_type *type)
{
    type->alignment = type->element->alignment;
    type->size = type->element->size * type->length;
}

void kiln__type_layout_array(kiln_type *type)
{
    const uint64_t words = type->strided ? 2 * type->rank : type->rank;

    type->alignment = sizeof(void *);
    type->size = sizeof(void *) + words * sizeof(int64_t);
}

/*
 * ---- layout of the argument block ----
 *
 * The block is a C struct with the arguments as members. An array has the size
 * of its type: data pointer, sizes and, when strided, strides.
 */

uint32_t kiln__argument_layout(kiln_argument_info *out,
                               const kiln_type *const *types, size_t count)
{
    uint64_t offset = 0, widest = 1;

    for (size_t i = 0; i < count; i++)
        out[i] = (kiln_argument_info){.type = kiln_type_text(types[i])};
    for (size_t i = 0; i < count; i++) {
        const uint64_t size = kiln_type_size(types[i]);
        const uint64_t alignment = kiln_type_alignment(types[i]);

        if (size == 0)
            continue;
        if (alignment > widest)
            widest = alignment;
        offset = round_up(offset, alignment);
        if (size > UINT32_MAX || offset + size > UINT32_MAX)
            return UINT32_MAX;
        out[i].offset = (uint32_t)offset;
        out[i].size = (uint32_t)size;
        offset += size;
    }
    offset = round_up(offset, widest);
    return offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
}
