/* cl_call.c - functions of other programs that OpenCL C calls. */
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
 * If a program of OpenCL C of that name defines the function, it is called;
 * otherwise it is one of the kernel language. Which of the two it is, is a
 * query.
 *
 * The types of the declaration are those of the call's signature. For the
 * kernel language, a pointer with the number of elements after it is a dense
 * array; for OpenCL C it is one without that number. They are asked for through
 * tier 1, so an edit of the function ends the kernel.
 */

typedef struct calling {
    kiln_context *context;
    kiln_inference *inference;
    kiln__arena arena;
    int is_opencl; /* the callee is one of a program of OpenCL C */
    const kiln__source_function *callee;
    const kiln__source_function *caller;
    const kiln_type **types;
    size_t count;
} calling;

static const char *owner_of(const calling *c)
{
    return c->is_opencl ? "another program" : "the kernel language";
}

static kiln_status refuse(const calling *c, const char *why, kiln_error **error)
{
    return kiln__error_set(error, KILN_ECOMPILE, "%s calls '%s' of %s: %s",
                           c->caller->name, c->callee->name, owner_of(c), why);
}

/* ---- types ---- */

/* Stores the type that a value is or points to. KILN_ECOMPILE: the kernel
   language has none. */
static kiln_status element_type(const kiln_type **out, const calling *c,
                                const kiln__source_value *value,
                                kiln_error **error)
{
    kiln__source_value element = *value;

    element.kind = value->lanes > 1 ? KILN__SOURCE_VECTOR : KILN__SOURCE_SCALAR;
    if (value->element == KILN_TYPE_NONE)
        return refuse(c,
                      "its declaration has something other than scalars, "
                      "vectors, and pointers to them",
                      error);
    return kiln__cl_value_type(out, c->context, &element, error);
}

static int is_size(const calling *c, size_t at)
{
    const kiln__source_value *value = &c->callee->parameters[at];

    return at < c->callee->parameter_count &&
           value->kind == KILN__SOURCE_SCALAR &&
           (value->element == KILN_TYPE_U64 || value->element == KILN_TYPE_I64);
}

/* OpenCL C knows the memory of its pointers by bytes, if by nothing else. */
static kiln_status memory_type(const kiln_type **out, const calling *c,
                               const kiln__source_value *value,
                               kiln_error **error)
{
    const kiln_type *element;

    if (c->is_opencl && value->element == KILN_TYPE_NONE)
        element = kiln_type_scalar(c->context, KILN_TYPE_U8);
    else
        KILN_TRY(element_type(&element, c, value, error));
    return kiln_type_array(out, c->context, element, 1, 0, error);
}

/* Adds the type of the argument at `*at`, and moves over its parameters. */
static kiln_status add_type(calling *c, size_t *at, kiln_error **error)
{
    const kiln__source_value *value = &c->callee->parameters[(*at)++];
    const kiln_type **out = &c->types[c->count++];

    if (value->kind == KILN__SOURCE_SCALAR ||
        value->kind == KILN__SOURCE_VECTOR)
        return element_type(out, c, value, error);
    if (value->kind != KILN__SOURCE_POINTER ||
        (value->space != 1 && (!c->is_opencl || value->space != 4)))
        return refuse(c,
                      "it takes scalars, vectors, and pointers to global "
                      "memory",
                      error);
    if (!c->is_opencl) {
        if (*at == c->callee->parameter_count || !is_size(c, *at))
            return refuse(c,
                          "a pointer lacks the number of its elements, an "
                          "ulong that follows",
                          error);
        (*at)++;
    }
    return memory_type(out, c, value, error);
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
        (wanted == NULL &&
         (given == NULL || kiln_type_kind(given) == KILN_TYPE_NONE)))
        return KILN_OK;
    return kiln__error_set(
        error, KILN_ECOMPILE,
        "%s calls '%s' of %s: it gives %s, and is declared to give %s",
        c->caller->name, c->callee->name, owner_of(c), kiln_type_text(given),
        value->type);
}

/* ---- the call ---- */

/* Records which frontend the name is of. */
static kiln_status find_owner(calling *c, kiln_error **error)
{
    kiln_frontend *own =
        kiln_inference_signature(c->inference)->function->frontend;
    uint64_t world;

    KILN_TRY(kiln_inference_world(&world, c->inference, own, error));
    return kiln__cl_ask_defined(&c->is_opencl, c->inference, own->self,
                                c->callee->name, world, error);
}

static kiln_status find_function(const kiln_function **out, const calling *c,
                                 kiln_error **error)
{
    kiln_frontend *frontend =
        c->is_opencl
            ? kiln_inference_signature(c->inference)->function->frontend
            : kiln_context_language(c->context);
    const kiln_status status =
        frontend->ops.function(frontend->self, c->callee->name, out);

    return status == KILN_ENOTFOUND
               ? refuse(c, "there is no such function", error)
               : status;
}

static kiln_status infer(uint32_t *index, calling *c, kiln_error **error)
{
    kiln_signature signature = {0};
    kiln_inference *head = NULL;
    const kiln_code *code;
    kiln_status status;

    KILN_TRY(find_owner(c, error));
    KILN_TRY(find_function(&signature.function, c, error));
    KILN_TRY(read_types(c, error));
    signature.types = c->types;
    signature.count = c->count;
    status = kiln_inference_callee(c->inference, &signature, &code, index,
                                   &head, error);
    if (status == KILN_ERECURSION && head != NULL)
        return refuse(c, "they call each other", error);
    KILN_TRY(status);
    return check_result(c, kiln_code_result(code), error);
}

/* A name without a package is nobody's: the code generator tells that it is
   undefined. */
static int is_qualified(const char *name)
{
    return strchr(name, '.') != NULL;
}

static kiln_status call(kiln__text *out, calling *c, kiln_error **error)
{
    uint32_t index = 0;

    c->count = 0;
    KILN_TRY(infer(&index, c, error));
    kiln__text_format(out, "%s %" PRIu32 " %s\n",
                      c->is_opencl ? "apply" : "call", index,
                      c->callee->symbol);
    return out->failed ? kiln__error_no_memory(error) : KILN_OK;
}

kiln_status kiln__cl_call(kiln__text *out, kiln_inference *inference,
                          const kiln__cl_unit *unit,
                          const kiln__source_function *caller,
                          kiln_error **error)
{
    const kiln_signature *signature = kiln_inference_signature(inference);
    calling c = {.context = signature->function->frontend->context,
                 .inference = inference,
                 .caller = caller};
    kiln_status status = KILN_OK;

    kiln__arena_init(&c.arena, &c.context->alloc);
    for (size_t i = 0; status == KILN_OK && i < caller->need_count; i++) {
        c.callee = &unit->declared[caller->needs[i]];
        if (is_qualified(c.callee->name))
            status = call(out, &c, error);
    }
    kiln__arena_dispose(&c.arena);
    return status;
}

int kiln__cl_calls_others(kiln__cl_version *version, const char *function)
{
    kiln__cl *cl = version->program->cl;
    const kiln__source_function *caller;
    const kiln__cl_unit *unit;
    size_t number;

    kiln__mutex_lock(&cl->lock);
    unit = version->unit;
    kiln__mutex_unlock(&cl->lock);
    if (unit == NULL)
        return 0;
    number = kiln__cl_unit_function(unit, function);
    if (number == unit->count)
        return 0;
    caller = &unit->functions[number];
    for (size_t i = 0; i < caller->need_count; i++)
        if (is_qualified(unit->declared[caller->needs[i]].name))
            return 1;
    return 0;
}
