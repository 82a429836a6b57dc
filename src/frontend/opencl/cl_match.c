/* cl_match.c - which argument types fit the parameters of a kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>

#include "abi/scalars.h"
#include "base/data/array.h"
#include "base/error.h"
#include "context/types/types.h"
#include "frontend/opencl/cl_program.h"

/*
 * OpenCL C converts arguments neither by itself nor by Kiln: scalars, vectors
 * and structs must be what the parameter is, bit for bit. Pointers are looser,
 * as in OpenCL: of an array only the memory counts, so it may have any rank,
 * its integers either sign, and scalars may be given for vectors of them.
 */

typedef struct matching {
    kiln_context *context;
    kiln__arena arena;
    const kiln__source_function *kernel;
    const kiln_type *const *types;
    size_t count;
    kiln_diagnostic diagnostics[KILN_ARGUMENTS_MAX];
    size_t wrong;
} matching;

/* ---- what fits ---- */

static int is_bytes(const kiln_type *type)
{
    const int32_t kind = kiln_type_kind(type);

    return kind == KILN_TYPE_STRUCT || kind == KILN_TYPE_TUPLE ||
           kind == KILN_TYPE_FOREIGN;
}

static int is_vector(const kiln_type *type, int32_t element, uint32_t lanes)
{
    return kiln_type_kind(type) == KILN_TYPE_VECTOR &&
           kiln_type_kind(kiln_type_element(type)) == element &&
           kiln_type_field_count(type) == lanes;
}

/* The integer with the other sign, or the kind itself. */
static int32_t other_sign(int32_t kind)
{
    if (kind >= KILN_TYPE_I8 && kind <= KILN_TYPE_I64)
        return kind + (KILN_TYPE_U8 - KILN_TYPE_I8);
    if (kind >= KILN_TYPE_U8 && kind <= KILN_TYPE_U64)
        return kind - (KILN_TYPE_U8 - KILN_TYPE_I8);
    return kind;
}

static int is_same_memory(int32_t kind, int32_t wanted)
{
    if (kind == KILN_TYPE_BOOL)
        kind = KILN_TYPE_U8;
    return kind == wanted || other_sign(kind) == wanted;
}

/* Memory for elements of `value`, which is not a scalar or vector. A pointer to
   void takes every array. Of scalars and vectors a whole number makes a struct:
   f32[:] is memory for points of three floats. */
static int fits_anything(const kiln__source_value *value,
                         const kiln_type *element)
{
    const uint64_t size = kiln_type_size(element);

    if (value->size == 0)
        return 1;
    if (is_bytes(element))
        return size == value->size &&
               kiln_type_alignment(element) >= value->alignment;
    return size > 0 && value->size % size == 0;
}

/* A vector of three has the size of one of four. */
static int fits_element(const kiln__source_value *value,
                        const kiln_type *element)
{
    const int32_t kind = kiln_type_kind(element);

    if (value->element == KILN_TYPE_NONE)
        return fits_anything(value, element);
    if (kind != KILN_TYPE_VECTOR)
        return is_same_memory(kind, value->element);
    return is_same_memory(kiln_type_kind(kiln_type_element(element)),
                          value->element) &&
           (value->lanes == 1 || kiln_type_size(element) == value->size);
}

static int fits_pointer(const kiln__source_value *value, const kiln_type *type)
{
    uint64_t block = sizeof(void *) + 8 * (uint64_t)kiln_type_rank(type);

    return kiln_type_kind(type) == KILN_TYPE_ARRAY &&
           kiln_type_size(type) == block && /* it has no strides */
           fits_element(value, kiln_type_element(type));
}

/* True for memory that no argument of a function is: an item's own, and a
   group's. Kernels get group memory from the launch. */
static int is_elsewhere(const matching *m, const kiln__source_value *value)
{
    return !m->kernel->is_kernel &&
           (value->kind == KILN__SOURCE_LOCAL ||
            (value->kind == KILN__SOURCE_POINTER && value->space == 0));
}

static int fits(const matching *m, const kiln__source_value *value,
                const kiln_type *type)
{
    if (is_elsewhere(m, value))
        return 0;
    switch (value->kind) {
    case KILN__SOURCE_SCALAR:
        return kiln_type_kind(type) == value->element;
    case KILN__SOURCE_VECTOR:
        return is_vector(type, value->element, value->lanes);
    case KILN__SOURCE_AGGREGATE:
        return is_bytes(type) && kiln_type_size(type) == value->size &&
               kiln_type_alignment(type) >= value->alignment;
    case KILN__SOURCE_POINTER:
        return fits_pointer(value, type);
    case KILN__SOURCE_LOCAL:
        return kiln_type_kind(type) == KILN_TYPE_U64;
    default:
        return 0;
    }
}

/* ---- what is wrong ---- */

static const char *scalar_name(const matching *m, int32_t kind)
{
    const kiln_type *type = kiln_type_scalar(m->context, kind);

    return type != NULL ? kiln_type_text(type) : "a type that Kiln lacks";
}

static const char *wanted_array(matching *m, const kiln__source_value *value)
{
    if (value->element == KILN_TYPE_NONE && value->size == 0)
        return "an array";
    if (value->element == KILN_TYPE_NONE)
        return kiln__arena_format(&m->arena,
                                  "an array of structs of %" PRIu64
                                  " bytes, aligned to %" PRIu64
                                  ", or of scalars that make up such structs",
                                  value->size, value->alignment);
    if (value->lanes == 1 || value->lanes == 3)
        return kiln__arena_format(&m->arena, "%s[:]",
                                  scalar_name(m, value->element));
    return kiln__arena_format(
        &m->arena, "%s[:] or Vec{%s, %u}[:]", scalar_name(m, value->element),
        scalar_name(m, value->element), (unsigned)value->lanes);
}

/* Which types a parameter takes, in words. */
static const char *wanted(matching *m, const kiln__source_value *value)
{
    if (is_elsewhere(m, value))
        return "private or group memory, which only OpenCL C can pass,";
    switch (value->kind) {
    case KILN__SOURCE_SCALAR:
        return scalar_name(m, value->element);
    case KILN__SOURCE_VECTOR:
        return kiln__arena_format(&m->arena, "Vec{%s, %u}",
                                  scalar_name(m, value->element),
                                  (unsigned)value->lanes);
    case KILN__SOURCE_AGGREGATE:
        return kiln__arena_format(
            &m->arena, "a struct of %" PRIu64 " bytes, aligned to %" PRIu64,
            value->size, value->alignment);
    case KILN__SOURCE_POINTER:
        return wanted_array(m, value);
    default:
        return "u64, the size of its memory in bytes";
    }
}

static void refuse(matching *m, const char *message)
{
    if (message == NULL || m->wrong == KILN_ARGUMENTS_MAX)
        return;
    m->diagnostics[m->wrong++] = (kiln_diagnostic){
        .severity = KILN_SEVERITY_ERROR,
        .code = "wrong-argument",
        .message = message,
    };
}

static void check(matching *m, size_t i)
{
    const kiln__source_value *value = &m->kernel->parameters[i];

    if (!fits(m, value, m->types[i]))
        refuse(m, kiln__arena_format(
                      &m->arena,
                      "parameter %zu of %s, '%s %s', takes %s and was given %s",
                      i + 1, m->kernel->name, value->type, value->name,
                      wanted(m, value), kiln_type_text(m->types[i])));
}

/* The declaration tells which ones are missing or too many. */
static void check_count(matching *m)
{
    const kiln__source_function *kernel = m->kernel;
    const char *list = "";

    for (size_t i = 0; list != NULL && i < kernel->parameter_count; i++)
        list = kiln__arena_format(&m->arena, "%s%s%s %s", list,
                                  i > 0 ? ", " : "", kernel->parameters[i].type,
                                  kernel->parameters[i].name);
    refuse(m, kiln__arena_format(&m->arena,
                                 "%s(%s) has %zu parameters and was given %zu "
                                 "arguments",
                                 kernel->name, list, kernel->parameter_count,
                                 m->count));
}

/* ---- the entry ---- */

static void write_parameter(kiln__text *out, const matching *m,
                            const kiln__source_value *value,
                            const kiln_type *type)
{
    if (value->kind == KILN__SOURCE_POINTER)
        kiln__text_format(out, "%s %u\n",
                          m->kernel->is_kernel ? "array" : "memory",
                          kiln_type_rank(type));
    else if (value->kind == KILN__SOURCE_LOCAL)
        kiln__text_format(out, "local %" PRIu64 "\n",
                          value->alignment > 0 ? value->alignment : 1);
    else
        kiln__text_add(out, "value\n");
}

static void write_entry(kiln__text *out, const matching *m)
{
    kiln__text_format(out, "%s\n%s\n",
                      m->kernel->is_kernel ? KILN__CL_KERNEL
                                           : KILN__CL_FUNCTION,
                      m->kernel->name);
    for (size_t i = 0; i < m->count; i++)
        write_parameter(out, m, &m->kernel->parameters[i], m->types[i]);
    if (m->kernel->result.kind != KILN__SOURCE_VOID)
        kiln__text_add(out, "result\n");
}

static kiln_status tell(matching *m, const kiln__cl_text *text,
                        kiln_error **error)
{
    kiln_diagnostic place = {0};

    kiln__cl_place(&place, text, m->kernel->name, &m->arena);
    for (size_t i = 0; i < m->wrong; i++) {
        m->diagnostics[i].location = place.location;
        m->diagnostics[i].source_line = place.source_line;
    }
    if (m->arena.failed)
        return kiln__error_no_memory(error);
    return kiln__error_set_diagnostics(error, KILN_ECOMPILE,
                                       m->diagnostics[0].message,
                                       m->diagnostics, m->wrong);
}

static kiln_status match(kiln__text *out, matching *m,
                         const kiln__cl_text *text, kiln_error **error)
{
    if (m->count == m->kernel->parameter_count)
        for (size_t i = 0; i < m->count; i++)
            check(m, i);
    else
        check_count(m);
    if (m->wrong > 0 || m->arena.failed)
        return tell(m, text, error);
    write_entry(out, m);
    return out->failed ? kiln__error_no_memory(error) : KILN_OK;
}

kiln_status kiln__cl_match(kiln__text *out, const kiln_signature *signature,
                           const kiln__source_function *kernel,
                           const kiln__cl_text *text, kiln_error **error)
{
    kiln_context *context = signature->function->frontend->context;
    matching *m = kiln__allocate(&context->alloc, sizeof *m);
    kiln_status status;

    if (m == NULL)
        return kiln__error_no_memory(error);
    m->context = context;
    m->kernel = kernel;
    m->types = signature->types;
    m->count = signature->count;
    kiln__arena_init(&m->arena, &context->alloc);
    status = match(out, m, text, error);
    kiln__arena_dispose(&m->arena);
    kiln__deallocate(&context->alloc, m, sizeof *m);
    return status;
}
