/* infer_aggregate.c - makes tuples, structs and vectors, and reads their
   parts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/system/stack.h"
#include "frontend/infer/infer.h"

/* True when some value is vague; stores what the result is then. */
static int any_vague(kiln__infer *in, const kiln__value *values, size_t count,
                     kiln__value *out)
{
    for (size_t i = 0; i < count; i++)
        if (kiln__value_is_vague(&values[i])) {
            in->broken = 1;
            *out = kiln__value_of(values[i].kind);
            return 1;
        }
    return 0;
}

static const kiln__ast *part_place(const kiln__ast *ast, size_t i)
{
    if (ast->kind == KILN__AST_TUPLE)
        return ast->children[i];
    return ast->kind == KILN__AST_CALL && i + 1 < ast->count
               ? ast->children[i + 1]
               : ast;
}

/* Passes on the error of making a type. */
static kiln__value type_failed(kiln__infer *in, kiln_status status,
                               kiln_error *error, const kiln__ast *ast)
{
    kiln__value value;

    if (kiln__is_shortage(status))
        value = kiln__infer_fail(in, status);
    else
        value = kiln__infer_error(in, ast->span, "invalid-type", NULL, "%s",
                                  error == NULL ? "there is no such type"
                                                : kiln_error_message(error));
    kiln_error_free(error);
    return value;
}

/* Builds the value from typed parts. A value without bytes has no node. */
static kiln__value assemble(kiln__infer *in, const kiln_type *type,
                            const kiln__value *parts, size_t count,
                            const kiln__ast *ast)
{
    uint32_t *nodes =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *nodes);
    int needed = type->size > 0;

    if (nodes == NULL)
        return kiln__infer_fail(in, KILN_ENOMEM);
    for (size_t i = 0; i < count; i++)
        needed |= parts[i].node != 0;
    if (!needed)
        return kiln__infer_typed(type, 0);
    for (size_t i = 0; i < count; i++)
        nodes[i] = kiln__infer_use(in, &parts[i], ast);
    return kiln__infer_made(in, KILN__IR_TUPLE, type, ast, 0,
                            (kiln__operands){nodes, count});
}

kiln__value kiln__infer_tuple(kiln__infer *in, const kiln__ast *ast)
{
    kiln__value vague;
    const size_t count = ast->count;
    kiln__value *parts =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *parts);
    const kiln_type **types =
        kiln__arena_allocate_array(&in->arena, count + 1, sizeof *types);
    const kiln_type *type = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (parts == NULL || types == NULL)
        return kiln__infer_fail(in, KILN_ENOMEM);
    for (size_t i = 0; i < count; i++) {
        parts[i] = kiln__infer_operand(in, ast->children[i]);
        parts[i] = kiln__infer_settle(in, &parts[i], ast->children[i]);
        types[i] = parts[i].type;
    }
    if (any_vague(in, parts, count, &vague))
        return vague;
    status = kiln_type_tuple(&type, in->context, types, count, &error);
    if (status != KILN_OK)
        return type_failed(in, status, error, ast);
    return assemble(in, type, parts, count, ast);
}

static int all_bool(const kiln__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind != KILN__VALUE_TYPED ||
            values[i].type->kind != KILN_TYPE_BOOL)
            return 0;
    return 1;
}

kiln__value kiln__infer_vector(kiln__infer *in, kiln__value *values,
                               size_t count, const kiln__ast *ast)
{
    kiln__value vague;
    const kiln_type *type = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (any_vague(in, values, count, &vague))
        return vague;
    if (count == 0)
        return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                                 "a vector has elements");
    if (!all_bool(values, count) &&
        !kiln__infer_unify(in, values, count, ast, "Vec"))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    if (!kiln__type_is_scalar(values[0].type))
        return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                                 "the elements of a vector are scalars");
    status = kiln_type_vector(&type, in->context, values[0].type,
                              (uint32_t)count, &error);
    if (status != KILN_OK)
        return type_failed(in, status, error, ast);
    return assemble(in, type, values, count, ast);
}

/* ---- T(...) ---- */

static kiln__value wrong_count(kiln__infer *in, const kiln_type *type,
                               size_t wanted, size_t count,
                               const kiln__ast *ast)
{
    return kiln__infer_error(
        in, ast->span, "wrong-type", NULL, "%s takes %zu value%s, not %zu",
        kiln_type_text(type), wanted, wanted == 1 ? "" : "s", count);
}

static kiln__value construct_fields(kiln__infer *in, const kiln_type *type,
                                    kiln__value *values, size_t count,
                                    const kiln__ast *ast)
{
    kiln__value vague;
    if (count != type->field_count)
        return wrong_count(in, type, type->field_count, count, ast);
    for (size_t i = 0; i < count; i++) {
        const kiln__type_field *field = &type->fields[i];
        const char *what =
            field->name == NULL
                ? "the element"
                : kiln__infer_format(in, "the field `%s`", field->name);

        values[i] = kiln__infer_adapt(in, &values[i], field->type,
                                      part_place(ast, i), what);
    }
    if (any_vague(in, values, count, &vague))
        return vague;
    return assemble(in, type, values, count, ast);
}

/* Vec{f32,4}(x) has x in every element. */
static kiln__value construct_vector(kiln__infer *in, const kiln_type *type,
                                    kiln__value *values, size_t count,
                                    const kiln__ast *ast)
{
    kiln__value vague;
    uint32_t node;

    if (count == 1 && values[0].kind == KILN__VALUE_TYPED &&
        values[0].type == type)
        return values[0];
    if (count != 1 && count != type->length)
        return wrong_count(in, type, type->length, count, ast);
    for (size_t i = 0; i < count; i++)
        values[i] = kiln__infer_adapt(in, &values[i], type->element,
                                      part_place(ast, i), "the element");
    if (any_vague(in, values, count, &vague))
        return vague;
    if (count == type->length)
        return assemble(in, type, values, count, ast);
    node = kiln__infer_use(in, &values[0], ast);
    return kiln__infer_made(in, KILN__IR_SPLAT, type, ast, 0,
                            (kiln__operands){&node, 1});
}

kiln__value kiln__infer_construct(kiln__infer *in, const kiln_type *type,
                                  kiln__value *values, size_t count,
                                  const kiln__ast *ast)
{
    kiln__value vague;
    if (any_vague(in, values, count, &vague))
        return vague;
    if (kiln__type_is_scalar(type)) {
        if (count != 1)
            return wrong_count(in, type, 1, count, ast);
        return kiln__infer_convert(in, KILN__IR_CHECKED, type, &values[0], ast);
    }
    switch (type->kind) {
    case KILN_TYPE_STRUCT:
    case KILN_TYPE_TUPLE:
        return construct_fields(in, type, values, count, ast);
    case KILN_TYPE_VECTOR:
        return construct_vector(in, type, values, count, ast);
    case KILN_TYPE_STATIC:
        if (count == 0)
            return kiln__infer_typed(type, 0);
        return wrong_count(in, type, 0, count, ast);
    default:
        return kiln__infer_error(in, ast->span, "not-callable", NULL,
                                 "%s makes no values", kiln_type_text(type));
    }
}

/* ---- parts ---- */

kiln__value kiln__infer_field(kiln__infer *in, const kiln__value *object,
                              size_t field, const kiln__ast *ast)
{
    const kiln_type *type = object->type->kind == KILN_TYPE_VECTOR
                                ? object->type->element
                                : object->type->fields[field].type;
    uint32_t node;

    if (type->size == 0) {
        kiln__infer_discard(in, object, ast);
        return kiln__infer_typed(type, 0);
    }
    node = kiln__infer_use(in, object, ast);
    return kiln__infer_made(in, KILN__IR_FIELD, type, ast, (int64_t)field,
                            (kiln__operands){&node, 1});
}

static int no_such_field(kiln__infer *in, const kiln_type *type,
                         const kiln__ast *ast)
{
    const char **names = kiln__arena_allocate_array(
        &in->arena, type->field_count + 1, sizeof *names);
    const char *near;

    if (names == NULL)
        return (void)kiln__infer_fail(in, KILN_ENOMEM), 0;
    for (size_t i = 0; i < type->field_count; i++)
        names[i] = type->fields[i].name;
    near = kiln__nearest_name(ast->text, names, type->field_count);
    (void)kiln__infer_error(
        in, ast->span, "unknown-field",
        near == NULL ? NULL
                     : kiln__infer_format(in, "did you mean `%s`?", near),
        "%s has no field `%s`", kiln_type_text(type), ast->text);
    return 0;
}

int kiln__infer_field_number(kiln__infer *in, const kiln_type *type,
                             const kiln__ast *ast, size_t *out)
{
    if (type->kind != KILN_TYPE_STRUCT) {
        (void)kiln__infer_error(in, ast->span, "unknown-field",
                                type->kind == KILN_TYPE_TUPLE
                                    ? "tuples are indexed: t[0]"
                                    : kiln__other_member_hint(ast->text),
                                "%s has no fields", kiln_type_text(type));
        return 0;
    }
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name, ast->text) == 0) {
            *out = i;
            return 1;
        }
    return no_such_field(in, type, ast);
}

kiln__value kiln__infer_member(kiln__infer *in, const kiln__ast *ast)
{
    kiln__symbol *symbol = kiln__infer_bound(in, ast);
    kiln__outside outside;
    kiln__value object;
    size_t field = 0;

    if (symbol != NULL)
        return kiln__infer_bound_value(in, symbol, ast);
    if (kiln__infer_outside(in, ast, &outside))
        return kiln__infer_outside_value(in, ast);
    object = kiln__infer_operand(in, ast->children[0]);
    object = kiln__infer_settle(in, &object, ast);
    if (kiln__value_is_vague(&object))
        return object;
    if (!kiln__infer_field_number(in, object.type, ast, &field))
        return kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_field(in, &object, field, ast);
}

int kiln__infer_position(kiln__infer *in, const kiln__value *index,
                         const kiln_type *type, const kiln__ast *ast,
                         size_t *out)
{
    const size_t count =
        type->kind == KILN_TYPE_VECTOR ? type->length : type->field_count;
    char text[KILN__WIDE_TEXT];
    kiln__wide known;

    if (!kiln__infer_known_integer(index, &known)) {
        (void)kiln__infer_error(
            in, ast->span, "bad-index",
            "its elements differ in type; a static loop has such indices",
            "a tuple's index is a compile-time integer, but this is %s",
            kiln__infer_describe(in, index));
        return 0;
    }
    if (known < 0 || known >= (kiln__wide)count) {
        (void)kiln__infer_error(in, ast->span, "bad-index", NULL,
                                "the index %s is out of the bounds of %s",
                                kiln__wide_text(text, known),
                                kiln_type_text(type));
        return 0;
    }
    *out = (size_t)known;
    return 1;
}
