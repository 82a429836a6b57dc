/* type.c - makes types, and checks what each kind may be made of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "base/options.h"
#include "context/types/types.h"

#define FOREIGN_ALIGNMENT_MAX 4096u
#define FOREIGN_SIZE_MAX ((uint64_t)1 << 30)

static kiln_status check_owner(const kiln_type *type,
                               const kiln_context *context, kiln_error **error)
{
    KILN_REQUIRE(type != NULL, error);
    if (type->context == context)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL, "type %s is of another context",
                           type->text);
}

/* Checks that the type may be a part of another type. */
static kiln_status check_part(const kiln_type *type,
                              const kiln_context *context, const char *whole,
                              kiln_error **error)
{
    KILN_TRY(check_owner(type, context, error));
    if (type->kind != KILN_TYPE_ARRAY && type->kind != KILN_TYPE_NONE)
        return KILN_OK;
    return kiln__error_set(
        error, KILN_EINVAL,
        type->kind == KILN_TYPE_ARRAY
            ? "an array (%s) cannot be part of %s: arrays are "
              "arguments of their own"
            : "no value (%s) cannot be part of %s",
        type->text, whole);
}

static kiln_status check_limits(const kiln_type *draft, const char *whole,
                                kiln_error **error)
{
    if (draft->size > KILN__TYPE_SIZE_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s would be larger than %llu bytes", whole,
                               (unsigned long long)KILN__TYPE_SIZE_MAX);
    if (draft->parts > KILN__TYPE_PARTS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s would have more than %d parts", whole,
                               KILN__TYPE_PARTS_MAX);
    if (draft->depth > KILN__TYPE_DEPTH_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s would nest more than %d levels", whole,
                               KILN__TYPE_DEPTH_MAX);
    return KILN_OK;
}

kiln_status kiln_type_array(const kiln_type **out, kiln_context *context,
                            const kiln_type *element, uint32_t rank,
                            int32_t strided, kiln_error **error)
{
    kiln_type draft = {.kind = KILN_TYPE_ARRAY,
                       .element = element,
                       .rank = rank,
                       .strided = strided ? 1 : 0};

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_TRY(check_part(element, context, "an array", error));
    if (element->size == 0)
        return kiln__error_set(error, KILN_EINVAL,
                               "values of type %s have no bytes to make an "
                               "array of",
                               element->text);
    if (rank < 1 || rank > KILN_RANK_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "rank is %u; arrays have 1 to %d dimensions",
                               rank, KILN_RANK_MAX);
    kiln__type_layout_array(&draft);
    return kiln__type_make(out, context, &draft, error);
}

/* Lays out `fields` and interns the type. The caller frees `fields`. */
static kiln_status make_fields(const kiln_type **out, kiln_context *context,
                               kiln_type *draft, kiln__type_field *fields,
                               size_t count, kiln_error **error)
{
    const char *whole = draft->kind == KILN_TYPE_TUPLE ? "a tuple" : "a struct";

    for (size_t i = 0; i < count; i++)
        KILN_TRY(check_part(fields[i].type, context, whole, error));
    kiln__type_layout_fields(draft, fields, count);
    KILN_TRY(check_limits(draft, whole, error));
    draft->fields = fields;
    draft->field_count = count;
    return kiln__type_make(out, context, draft, error);
}

typedef struct field_list {
    const kiln_type *const *types;
    const char *const *names; /* NULL: they have none */
    size_t count;
} field_list;

/* Copies types and names (or NULL) into new fields, which the caller frees;
   NULL when out of memory. */
static kiln__type_field *fields_new(const kiln_context *context,
                                    const field_list *given)
{
    kiln__type_field *fields =
        kiln__allocate_array(&context->alloc, given->count, sizeof *fields);

    for (size_t i = 0; fields != NULL && i < given->count; i++) {
        fields[i].type = given->types[i];
        fields[i].name = given->names != NULL ? given->names[i] : NULL;
    }
    return fields;
}

static kiln_status make_with_fields(const kiln_type **out,
                                    kiln_context *context, kiln_type *draft,
                                    const field_list *given, kiln_error **error)
{
    const size_t count = given->count;
    kiln__type_field *fields;
    kiln_status status;

    if (count > KILN__TYPE_FIELDS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%zu fields; there may be %zu", count,
                               KILN__TYPE_FIELDS_MAX);
    fields = fields_new(context, given);
    if (fields == NULL)
        return kiln__error_no_memory(error);
    status = make_fields(out, context, draft, fields, count, error);
    kiln__deallocate(&context->alloc, fields, count * sizeof *fields);
    return status;
}

kiln_status kiln_type_tuple(const kiln_type **out, kiln_context *context,
                            const kiln_type *const *elements, size_t count,
                            kiln_error **error)
{
    kiln_type draft = {.kind = KILN_TYPE_TUPLE};

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(elements != NULL || count == 0, error);
    return make_with_fields(out, context, &draft,
                            &(field_list){elements, NULL, count}, error);
}

kiln_status kiln_type_vector(const kiln_type **out, kiln_context *context,
                             const kiln_type *element, uint32_t length,
                             kiln_error **error)
{
    kiln_type draft = {
        .kind = KILN_TYPE_VECTOR, .element = element, .length = length};

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_TRY(check_owner(element, context, error));
    if (!kiln__type_is_scalar(element))
        return kiln__error_set(error, KILN_EINVAL,
                               "vectors are made of scalars, not of %s",
                               element->text);
    if (length < 1 || length > KILN__TYPE_LANES_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "length is %u; vectors have 1 to %u elements",
                               length, KILN__TYPE_LANES_MAX);
    kiln__type_layout_vector(&draft);
    return kiln__type_make(out, context, &draft, error);
}

kiln_status kiln_type_static(const kiln_type **out, kiln_context *context,
                             int64_t value, kiln_error **error)
{
    kiln_type draft = {
        .kind = KILN_TYPE_STATIC, .alignment = 1, .value = value};

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    return kiln__type_make(out, context, &draft, error);
}

kiln_status kiln_type_function(const kiln_type **out, kiln_context *context,
                               const kiln_function *function,
                               kiln_error **error)
{
    kiln_type draft = {
        .kind = KILN_TYPE_FUNCTION, .alignment = 1, .function = function};

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(function != NULL, error);
    if (function->frontend->context != context)
        return kiln__error_set(error, KILN_EINVAL,
                               "function %s is of another context",
                               function->name);
    return kiln__type_make(out, context, &draft, error);
}

kiln_status kiln__type_type(const kiln_type **out, kiln_context *context,
                            const kiln_type *of, kiln_error **error)
{
    kiln_type draft = {.kind = KILN_TYPE_TYPE, .alignment = 1, .element = of};

    KILN_TRY(check_owner(of, context, error));
    return kiln__type_make(out, context, &draft, error);
}

kiln_status kiln__type_struct(const kiln_type **out, kiln_context *context,
                              const kiln__struct_type *description,
                              kiln_error **error)
{
    kiln_type draft = {.kind = KILN_TYPE_STRUCT,
                       .package = description->package,
                       .name = description->name,
                       .definition = description->definition,
                       .parameters = description->parameters,
                       .parameter_count = description->parameter_count,
                       .origin = description->origin};

    for (size_t i = 0; i < description->parameter_count; i++)
        KILN_TRY(check_owner(description->parameters[i], context, error));
    return make_with_fields(out, context, &draft,
                            &(field_list){description->field_types,
                                          description->field_names,
                                          description->field_count},
                            error);
}

/* ---- foreign types ---- */

static int is_printable(const char *text)
{
    if (text == NULL || !*text)
        return 0;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return 0;
    return 1;
}

static kiln_status check_foreign(const kiln_foreign_type *type,
                                 kiln_error **error)
{
    const uint32_t alignment = type->value_alignment;

    if (!is_printable(type->package) || !is_printable(type->name))
        return kiln__error_set(error, KILN_EINVAL,
                               "a foreign type needs a package and a name, "
                               "without control characters");
    if (type->value_size > FOREIGN_SIZE_MAX)
        return kiln__error_set(
            error, KILN_EINVAL, "%s's values would be larger than %llu bytes",
            type->name, (unsigned long long)FOREIGN_SIZE_MAX);
    if (type->value_size == 0 && alignment == 0)
        return KILN_OK;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 ||
        alignment > FOREIGN_ALIGNMENT_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s's alignment is %u; it takes a power of two "
                               "up to %u",
                               type->name, alignment, FOREIGN_ALIGNMENT_MAX);
    if (type->value_size % alignment != 0)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s's size is %llu, no multiple of its "
                               "alignment %u",
                               type->name, (unsigned long long)type->value_size,
                               alignment);
    return KILN_OK;
}

kiln_status kiln_type_foreign(const kiln_type **out, kiln_context *context,
                              const kiln_foreign_type *description,
                              kiln_error **error)
{
    kiln_foreign_type known;
    kiln_type draft = {.kind = KILN_TYPE_FOREIGN};

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(description != NULL, error);
    KILN_TRY(KILN__OPTIONS_READ(&known, description, kiln_foreign_type, error));
    KILN_TRY(check_foreign(&known, error));
    draft.package = known.package;
    draft.name = known.name;
    draft.definition = known.definition;
    draft.size = known.value_size;
    draft.alignment = known.value_alignment ? known.value_alignment : 1;
    return kiln__type_make(out, context, &draft, error);
}
