/* external_ir.c - makes the typed IR of functions of other frontends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/external_ir.h"

#include "base/error.h"
#include "context/types/types.h"
#include "tiers/frontends.h"

int kiln__code_is_external(const kiln_code *code)
{
    return kiln__code_frontend(code)->ops.lower != NULL;
}

/* ---- types ---- */

/* Names as inference gives them (infer_node.c): types of two functions are
   compared by their names, too. */
static const char *type_name(const kiln_type *type)
{
    return type->kind == KILN_TYPE_STRUCT || type->kind == KILN_TYPE_FUNCTION ||
                   type->kind == KILN_TYPE_TYPE
               ? kiln_type_text(type)
               : NULL;
}

/* Types are nested up to a limit, so the recursion ends. KILN_EUNSUPPORTED: the
   type has no meaning in typed IR. */
static kiln_status add_type(kiln__ir *ir, const kiln_type *type, uint32_t *out)
{
    const int has_fields =
        type->kind == KILN_TYPE_STRUCT || type->kind == KILN_TYPE_TUPLE;
    const size_t count = has_fields ? type->field_count : 0;
    kiln__ir_type made = {.kind = (uint8_t)type->kind,
                          .strided = (uint8_t)type->strided,
                          .length = (uint32_t)count,
                          .value = type->value,
                          .name = type_name(type)};
    uint32_t *fields =
        kiln__arena_allocate_array(&ir->arena, count + 1, sizeof *fields);

    if (fields == NULL)
        return KILN_ENOMEM;
    if (type->kind == KILN_TYPE_FOREIGN)
        return KILN_EUNSUPPORTED;
    if (type->kind == KILN_TYPE_ARRAY || type->kind == KILN_TYPE_VECTOR) {
        KILN_TRY(add_type(ir, type->element, &made.element));
        made.length = type->kind == KILN_TYPE_ARRAY ? type->rank : type->length;
    }
    for (size_t i = 0; i < count; i++)
        KILN_TRY(add_type(ir, type->fields[i].type, &fields[i]));
    return kiln__ir_add_type(ir, &made, fields, out);
}

static kiln_status add_result(kiln__ir *ir, const kiln_code *code,
                              uint32_t *out)
{
    const kiln_type *type = kiln_code_result(code);

    if (type != NULL && type->kind == KILN_TYPE_ARRAY &&
        kiln__code_is_external(code))
        return KILN_EUNSUPPORTED;
    return type != NULL ? add_type(ir, type, out)
                        : kiln__ir_scalar(ir, KILN_TYPE_NONE, out);
}

/* ---- the function ---- */

static kiln_status add_parameters(kiln__ir *ir, const kiln_code *code)
{
    size_t count;
    const kiln_type *const *types = kiln__code_types(code, &count);

    for (size_t i = 0; i < count; i++) {
        uint32_t type, local;

        KILN_TRY(add_type(ir, types[i], &type));
        KILN_TRY(kiln__ir_add_local(ir, "", type, &local));
    }
    ir->parameter_count = (uint32_t)count;
    return KILN_OK;
}

static kiln_status add_callees(kiln__ir *ir, const kiln_code *code)
{
    size_t count;
    const kiln_code *const *callees = kiln__code_callees(code, &count);

    for (size_t i = 0; i < count; i++) {
        uint32_t result, callee;

        KILN_TRY(add_result(ir, callees[i], &result));
        KILN_TRY(kiln__ir_add_callee(ir, kiln_code_name(callees[i]), result,
                                     &callee));
    }
    return KILN_OK;
}

/* Adds `return external`, or the same without a value. */
static kiln_status add_body(kiln__ir *ir)
{
    const int has_result = !kiln__ir_type_is_empty(ir, ir->result);
    kiln__ir_node node = {.op = KILN__IR_EXTERNAL, .type = ir->result};
    uint32_t index, none;

    KILN_TRY(kiln__ir_scalar(ir, KILN_TYPE_NONE, &none));
    KILN_TRY(kiln__ir_add_node(ir, &node, NULL, 0, &index));
    node = (kiln__ir_node){.op = has_result ? KILN__IR_RETURN : KILN__IR_EVAL,
                           .type = none};
    KILN_TRY(kiln__ir_add_node(ir, &node, &index, 1, &index));
    node.op = KILN__IR_BLOCK;
    return kiln__ir_add_node(ir, &node, &index, 1, &ir->body);
}

static kiln_status make(kiln__ir *ir, const kiln_code *code)
{
    ir->name = kiln__arena_text(&ir->arena, kiln_code_name(code));
    ir->method = ir->name;
    if (ir->name == NULL)
        return KILN_ENOMEM;
    KILN_TRY(add_parameters(ir, code));
    KILN_TRY(add_result(ir, code, &ir->result));
    KILN_TRY(add_callees(ir, code));
    return add_body(ir);
}

kiln_status kiln__code_read_ir(kiln__ir *ir, const kiln_alloc *alloc,
                               const kiln_code *code, kiln_error **error)
{
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_status status;

    if (!kiln__code_is_external(code))
        return kiln__ir_decode(ir, alloc, bytes, size, error);
    kiln__ir_init(ir, alloc);
    status = make(ir, code);
    if (status == KILN_OK)
        return KILN_OK;
    kiln__ir_dispose(ir);
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    return kiln__error_set(error, status,
                           "%s: it takes or gives what only its own frontend "
                           "knows, or gives an array",
                           kiln_code_name(code));
}
