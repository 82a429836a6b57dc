/* type_access.c - the public functions that read types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/types/types.h"

int32_t kiln_type_kind(const kiln_type *type)
{
    return type->kind;
}

const char *kiln_type_text(const kiln_type *type)
{
    return type->text;
}

uint64_t kiln_type_size(const kiln_type *type)
{
    return type->size;
}

uint32_t kiln_type_alignment(const kiln_type *type)
{
    return type->alignment;
}

const kiln_type *kiln_type_element(const kiln_type *type)
{
    return type->kind == KILN_TYPE_ARRAY || type->kind == KILN_TYPE_VECTOR
               ? type->element
               : NULL;
}

uint32_t kiln_type_rank(const kiln_type *type)
{
    return type->rank;
}

size_t kiln_type_field_count(const kiln_type *type)
{
    return type->kind == KILN_TYPE_VECTOR ? type->length : type->field_count;
}

const kiln_type *kiln_type_field(const kiln_type *type, size_t index)
{
    if (index >= kiln_type_field_count(type))
        return NULL;
    return type->kind == KILN_TYPE_VECTOR ? type->element
                                          : type->fields[index].type;
}

uint64_t kiln_type_field_offset(const kiln_type *type, size_t index)
{
    if (index >= kiln_type_field_count(type))
        return 0;
    return type->kind == KILN_TYPE_VECTOR ? index * type->element->size
                                          : type->fields[index].offset;
}

const char *kiln_type_field_name(const kiln_type *type, size_t index)
{
    return index < type->field_count ? type->fields[index].name : NULL;
}
