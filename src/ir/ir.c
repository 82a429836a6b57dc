/* ir.c - builds typed IR; the tables of its operations. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/ir.h"

#include <string.h>

#include "ir/ir_tables.h"

/* ---- tables ---- */

#define VALUE 0
#define STATEMENT 1

const kiln__ir_op_info kiln__ir_ops[KILN__IR_OP_COUNT] = {
    [KILN__IR_NONE] = {"none", STATEMENT, 0, 0, KILN__IMMEDIATE_NONE},
#define ENTRY(name, text, kind, least, most, immediate) \
    [KILN__IR_##name] = {text, kind, least, most, KILN__IMMEDIATE_##immediate},
    KILN__IR_OP_MAP(ENTRY)
#undef ENTRY
};

const kiln__ir_name_info kiln__ir_math[KILN__MATH_COUNT] = {
#define ENTRY(name, text, operands, domain, home) \
    [KILN__MATH_## \
        name] = {text, operands, KILN__DOMAIN_##domain, KILN__HOME_##home},
    KILN__MATH_MAP(ENTRY)
#undef ENTRY
};

#define ENTRY(prefix, name, text, count) [prefix##name] = {text, count, 0, 0},

const kiln__ir_name_info kiln__ir_query[KILN__QUERY_COUNT] = {
#define QUERY(name, text, count) ENTRY(KILN__QUERY_, name, text, count)
    KILN__QUERY_MAP(QUERY)
#undef QUERY
};

const kiln__ir_name_info kiln__ir_atomic[KILN__ATOMIC_COUNT] = {
#define ATOMIC(name, text, count) ENTRY(KILN__ATOMIC_, name, text, count)
    KILN__ATOMIC_MAP(ATOMIC)
#undef ATOMIC
};

const kiln__ir_name_info kiln__ir_group[KILN__GROUP_COUNT] = {
#define GROUP(name, text, count) ENTRY(KILN__GROUP_, name, text, count)
    KILN__GROUP_MAP(GROUP)
#undef GROUP
};

#undef ENTRY

const kiln__ir_name_info *kiln__ir_names(kiln__ir_immediate immediate,
                                         size_t *count)
{
    if (immediate == KILN__IMMEDIATE_MATH)
        return *count = KILN__MATH_COUNT, kiln__ir_math;
    if (immediate == KILN__IMMEDIATE_QUERY)
        return *count = KILN__QUERY_COUNT, kiln__ir_query;
    if (immediate == KILN__IMMEDIATE_ATOMIC)
        return *count = KILN__ATOMIC_COUNT, kiln__ir_atomic;
    if (immediate == KILN__IMMEDIATE_GROUP)
        return *count = KILN__GROUP_COUNT, kiln__ir_group;
    *count = 0;
    return NULL;
}

const char *kiln__ir_op_name(kiln__ir_op op)
{
    return (uint32_t)op < KILN__IR_OP_COUNT ? kiln__ir_ops[op].text : "unknown";
}

/* ---- types ---- */

int32_t kiln__ir_lane_kind(const kiln__ir *ir, uint32_t type)
{
    int32_t kind = kiln__ir_kind(ir, type);

    if (kind == KILN_TYPE_VECTOR)
        kind = kiln__ir_kind(ir, kiln__ir_type_at(ir, type)->element);
    return kiln__kind_is_scalar(kind) ? kind : KILN_TYPE_NONE;
}

/* Types consist of earlier ones, so the recursion ends. */
int kiln__ir_type_is_empty(const kiln__ir *ir, uint32_t type)
{
    const kiln__ir_type *t = kiln__ir_type_at(ir, type);

    if (kiln__kind_has_fields(t->kind)) {
        for (size_t i = 0; i < t->length; i++)
            if (!kiln__ir_type_is_empty(ir, kiln__ir_field(ir, t, i)))
                return 0;
        return 1;
    }
    return t->kind == KILN_TYPE_NONE || t->kind == KILN_TYPE_STATIC ||
           t->kind == KILN_TYPE_FUNCTION || t->kind == KILN_TYPE_TYPE;
}

static int same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a, b) == 0;
}

static int same_type(const kiln__ir *ir, const kiln__ir_type *a,
                     const kiln__ir_type *b, const uint32_t *fields)
{
    const size_t count = kiln__kind_has_fields(a->kind) ? a->length : 0;

    if (a->kind != b->kind || a->strided != b->strided ||
        a->length != b->length || a->element != b->element ||
        a->value != b->value || !same_text(a->name, b->name))
        return 0;
    return count == 0 || memcmp(&ir->type_fields.items[a->fields], fields,
                                count * sizeof *fields) == 0;
}

/* ---- building ---- */

void kiln__ir_init(kiln__ir *ir, const kiln_alloc *alloc)
{
    *ir = (kiln__ir){.alloc = alloc};
    kiln__arena_init(&ir->arena, alloc);
}

void kiln__ir_dispose(kiln__ir *ir)
{
    kiln__array_dispose(ir->alloc, &ir->types);
    kiln__array_dispose(ir->alloc, &ir->type_fields);
    kiln__array_dispose(ir->alloc, &ir->locals);
    kiln__array_dispose(ir->alloc, &ir->callees);
    kiln__array_dispose(ir->alloc, &ir->strings);
    kiln__array_dispose(ir->alloc, &ir->nodes);
    kiln__array_dispose(ir->alloc, &ir->operands);
    kiln__arena_dispose(&ir->arena);
    *ir = (kiln__ir){.alloc = ir->alloc};
}

/* Copies `text`, which may be NULL; false: out of memory. */
static int copy_text(kiln__ir *ir, const char *text, const char **out)
{
    *out = kiln__arena_text(&ir->arena, text);
    return text == NULL || *out != NULL;
}

kiln_status kiln__ir_add_type(kiln__ir *ir, const kiln__ir_type *type,
                              const uint32_t *fields, uint32_t *out)
{
    const size_t count = kiln__kind_has_fields(type->kind) ? type->length : 0;
    kiln__ir_type copy = *type;

    for (size_t i = 0; i < ir->types.count; i++)
        if (same_type(ir, &ir->types.items[i], type, fields)) {
            *out = (uint32_t)i;
            return KILN_OK;
        }
    if (!copy_text(ir, type->name, &copy.name) ||
        !kiln__array_reserve(ir->alloc, &ir->types, 1) ||
        !kiln__array_reserve(ir->alloc, &ir->type_fields, count))
        return KILN_ENOMEM;
    copy.fields =
        kiln__kind_has_fields(type->kind) ? (uint32_t)ir->type_fields.count : 0;
    if (count > 0)
        memcpy(&ir->type_fields.items[ir->type_fields.count], fields,
               count * sizeof *fields);
    ir->type_fields.count += count;
    *out = (uint32_t)ir->types.count;
    ir->types.items[ir->types.count++] = copy;
    return KILN_OK;
}

kiln_status kiln__ir_scalar(kiln__ir *ir, int32_t kind, uint32_t *out)
{
    const kiln__ir_type type = {.kind = (uint8_t)kind};

    return kiln__ir_add_type(ir, &type, NULL, out);
}

kiln_status kiln__ir_add_local(kiln__ir *ir, const char *name, uint32_t type,
                               uint32_t *out)
{
    kiln__ir_local local = {.type = type};

    if (!copy_text(ir, name, &local.name) ||
        !kiln__array_push(ir->alloc, &ir->locals, local))
        return KILN_ENOMEM;
    *out = (uint32_t)ir->locals.count - 1;
    return KILN_OK;
}

kiln_status kiln__ir_add_callee(kiln__ir *ir, const char *name, uint32_t result,
                                uint32_t *out)
{
    kiln__ir_callee callee = {.result = result};

    if (!copy_text(ir, name, &callee.name) ||
        !kiln__array_push(ir->alloc, &ir->callees, callee))
        return KILN_ENOMEM;
    *out = (uint32_t)ir->callees.count - 1;
    return KILN_OK;
}

kiln_status kiln__ir_add_string(kiln__ir *ir, const char *text, uint32_t *out)
{
    const char *copy;

    if (!copy_text(ir, text, &copy) ||
        !kiln__array_push(ir->alloc, &ir->strings, copy))
        return KILN_ENOMEM;
    *out = (uint32_t)ir->strings.count - 1;
    return KILN_OK;
}

kiln_status kiln__ir_add_node(kiln__ir *ir, const kiln__ir_node *node,
                              const uint32_t *operands, size_t count,
                              uint32_t *out)
{
    const kiln__ir_node none = {0};
    kiln__ir_node copy = *node;

    if (ir->nodes.count == 0 && !kiln__array_push(ir->alloc, &ir->nodes, none))
        return KILN_ENOMEM;
    if (!kiln__array_reserve(ir->alloc, &ir->nodes, 1) ||
        !kiln__array_reserve(ir->alloc, &ir->operands, count))
        return KILN_ENOMEM;
    copy.operands = (uint32_t)ir->operands.count;
    copy.count = (uint32_t)count;
    if (count > 0)
        memcpy(&ir->operands.items[ir->operands.count], operands,
               count * sizeof *operands);
    ir->operands.count += count;
    *out = (uint32_t)ir->nodes.count;
    ir->nodes.items[ir->nodes.count++] = copy;
    return KILN_OK;
}
