/* cl_call.c - functions of the kernel language that OpenCL C calls. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "base/data/array.h"
#include "base/error.h"
#include "context/types/types.h"
#include "frontend/opencl/cl_program.h"

/*
 * A text declares such a function under its name with the package, in a label:
 *
 *     float blur(global const float *x, ulong size) __asm__("filters.blur");
 *
 * The types of the declaration are those of the call's signature: a pointer
 * with the number of elements after it is a dense array. They are asked for
 * through tier 1, so an edit of the function ends the kernel.
 */

typedef struct calling {
    kiln_context *context;
    kiln__arena arena;
    const kiln__source_function *callee;
    const kiln__source_function *caller;
    const kiln_type **types;
    size_t count;
} calling;

static kiln_status refuse(const calling *c, const char *why, kiln_error **error)
{
    return kiln__error_set(error, KILN_ECOMPILE,
                           "%s calls '%s' of the kernel language: %s",
                           c->caller->name, c->callee->name, why);
}

/* ---- types ---- */

static kiln_status vector_type(const kiln_type **out, const calling *c,
                               const kiln__source_value *value,
                               kiln_error **error)
{
    const kiln_type *element = kiln_type_scalar(c->context, value->element);

    return kiln_type_vector(out, c->context, element, value->lanes, error);
}

/* Stores the type that a value is or points to. KILN_ECOMPILE: the kernel
   language has none. */
static kiln_status element_type(const kiln_type **out, const calling *c,
                                const kiln__source_value *value,
                                kiln_error **error)
{
    if (value->element == KILN_TYPE_NONE)
        return refuse(c,
                      "its declaration has something other than scalars, "
                      "vectors, and pointers to them",
                      error);
    if (value->lanes > 1)
        return vector_type(out, c, value, error);
    *out = kiln_type_scalar(c->context, value->element);
    return KILN_OK;
}

static int is_size(const calling *c, size_t at)
{
    const kiln__source_value *value = &c->callee->parameters[at];

    return at < c->callee->parameter_count &&
           value->kind == KILN__SOURCE_SCALAR &&
           (value->element == KILN_TYPE_U64 || value->element == KILN_TYPE_I64);
}

/* Adds the type of the argument at `*at`, and moves over its parameters. */
static kiln_status add_type(calling *c, size_t *at, kiln_error **error)
{
    const kiln__source_value *value = &c->callee->parameters[(*at)++];
    const kiln_type **out = &c->types[c->count++];
    const kiln_type *element;

    if (value->kind == KILN__SOURCE_SCALAR ||
        value->kind == KILN__SOURCE_VECTOR)
        return element_type(out, c, value, error);
    if (value->kind != KILN__SOURCE_POINTER || value->space != 1)
        return refuse(c,
                      "it takes scalars, vectors, and pointers to global "
                      "memory",
                      error);
    if (*at == c->callee->parameter_count || !is_size(c, *at))
        return refuse(c,
                      "a pointer lacks the number of its elements, an ulong "
                      "that follows",
                      error);
    (*at)++;
    KILN_TRY(element_type(&element, c, value, error));
    return kiln_type_array(out, c->context, element, 1, 0, error);
}

static kiln_status read_types(calling *c, kiln_error **error)
{
    c->types = kiln__arena_allocate_array(
        &c->arena, c->callee->parameter_count + 1, sizeof *c->types);
    if (c->types == NULL)
        return kiln__error_no_memory(error);
    for (size_t at = 0; at < c->callee->parameter_count;)
        KILN_TRY(add_type(c, &at, error));
    return KILN_OK;
}

/* The value must be what the text says: it is not converted. */
static kiln_status check_result(const calling *c, const kiln_type *given,
                                kiln_error **error)
{
    const kiln__source_value *value = &c->callee->result;
    const kiln_type *wanted = NULL;

    if (value->kind == KILN__SOURCE_SCALAR ||
        value->kind == KILN__SOURCE_VECTOR)
        KILN_TRY(element_type(&wanted, c, value, error));
    else if (value->kind != KILN__SOURCE_VOID)
        return refuse(c, "it gives a scalar, a vector or nothing", error);
    if (wanted == given ||
        (wanted == NULL && kiln_type_kind(given) == KILN_TYPE_NONE))
        return KILN_OK;
    return kiln__error_set(
        error, KILN_ECOMPILE,
        "%s calls '%s' of the kernel language: it gives %s, and is declared to "
        "give %s",
        c->caller->name, c->callee->name, kiln_type_text(given), value->type);
}

/* ---- the call ---- */

static kiln_status find_function(const kiln_function **out, const calling *c,
                                 kiln_error **error)
{
    kiln_frontend *language = kiln_context_language(c->context);
    const kiln_status status =
        language->ops.function(language->self, c->callee->name, out);

    return status == KILN_ENOTFOUND
               ? refuse(c, "there is no such function", error)
               : status;
}

static kiln_status infer(uint32_t *index, calling *c, kiln_inference *inference,
                         kiln_error **error)
{
    kiln_signature signature = {0};
    kiln_inference *head = NULL;
    const kiln_code *code;
    kiln_status status;

    KILN_TRY(find_function(&signature.function, c, error));
    KILN_TRY(read_types(c, error));
    signature.types = c->types;
    signature.count = c->count;
    status = kiln_inference_callee(inference, &signature, &code, index, &head,
                                   error);
    if (status == KILN_ERECURSION && head != NULL)
        return refuse(c, "it calls the kernel", error);
    KILN_TRY(status);
    return check_result(c, kiln_code_result(code), error);
}

/* A name without a package is nobody's: the code generator tells that it is
   undefined. */
static int is_qualified(const char *name)
{
    return strchr(name, '.') != NULL;
}

static kiln_status call(kiln__text *out, calling *c, kiln_inference *inference,
                        kiln_error **error)
{
    uint32_t index = 0;

    c->count = 0;
    KILN_TRY(infer(&index, c, inference, error));
    kiln__text_format(out, "call %" PRIu32 " %s\n", index, c->callee->name);
    return out->failed ? kiln__error_no_memory(error) : KILN_OK;
}

kiln_status kiln__cl_call(kiln__text *out, kiln_inference *inference,
                          const kiln__cl_unit *unit,
                          const kiln__source_function *caller,
                          kiln_error **error)
{
    const kiln_signature *signature = kiln_inference_signature(inference);
    calling c = {.context = signature->function->frontend->context,
                 .caller = caller};
    kiln_status status = KILN_OK;

    kiln__arena_init(&c.arena, &c.context->alloc);
    for (size_t i = 0; status == KILN_OK && i < caller->need_count; i++) {
        c.callee = &unit->declared[caller->needs[i]];
        if (is_qualified(c.callee->name))
            status = call(out, &c, inference, error);
    }
    kiln__arena_dispose(&c.arena);
    return status;
}
