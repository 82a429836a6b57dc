/* infer_array.c - elements of arrays, vectors and tuples; local arrays. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "frontend/infer/infer.h"

/*
 * Indices become i64 nodes; a wrong number of them is an error. Arrays are
 * accessed by LOAD, vectors by ELEMENT. An element of a tuple needs a constant
 * index, since each has its own type. A local array needs constant sizes.
 */

int kiln__infer_indices(kiln__infer *in, const kiln_type *array,
                        const kiln__ast *ast, kiln__value *indices)
{
    const size_t count = ast->count - 1;
    int good = 1;

    if (count != array->rank) {
        (void)kiln__infer_error(
            in, ast->span, "bad-index",
            count < array->rank ? "all indices stand together: `a[i, j]`"
                                : NULL,
            "%s takes %u ind%s, not %zu", kiln_type_text(array), array->rank,
            array->rank == 1 ? "ex" : "ices", count);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        indices[i] = kiln__infer_operand(in, ast->children[i + 1]);
        indices[i] = kiln__infer_index(in, &indices[i], ast->children[i + 1]);
        good = good && !kiln__value_is_vague(&indices[i]);
    }
    return good;
}

static kiln__value load_element(kiln__infer *in, const kiln__value *array,
                                const kiln__ast *ast)
{
    kiln__value indices[KILN_RANK_MAX] = {{0}};
    uint32_t nodes[1 + KILN_RANK_MAX] = {0};

    if (in->at.in_constant)
        return kiln__infer_error(in, ast->span, "not-constant", NULL,
                                 "an element is no constant");
    nodes[0] = kiln__infer_use(in, array, ast);
    if (!kiln__infer_indices(in, array->type, ast, indices))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    for (size_t i = 0; i < array->type->rank; i++)
        nodes[i + 1] = kiln__infer_use(in, &indices[i], ast);
    return kiln__infer_made(in, KILN__IR_LOAD, array->type->element, ast, 0,
                            (kiln__operands){nodes, 1 + array->type->rank});
}

static kiln__value vector_element(kiln__infer *in, const kiln__value *vector,
                                  const kiln__ast *ast)
{
    const kiln__ast *place = ast->children[1];
    kiln__value index = kiln__infer_operand(in, place);
    kiln__wide known;
    size_t position = 0;
    uint32_t nodes[2];

    if (kiln__infer_known_integer(&index, &known)) {
        kiln__infer_discard(in, &index, place);
        return kiln__infer_position(in, &index, vector->type, place, &position)
                   ? kiln__infer_field(in, vector, position, ast)
                   : kiln__value_of(KILN__VALUE_POISON);
    }
    index = kiln__infer_index(in, &index, place);
    if (kiln__value_is_vague(&index))
        return index;
    nodes[0] = kiln__infer_use(in, vector, ast);
    nodes[1] = kiln__infer_use(in, &index, ast);
    return kiln__infer_made(in, KILN__IR_ELEMENT, vector->type->element, ast, 0,
                            (kiln__operands){nodes, 2});
}

static kiln__value tuple_element(kiln__infer *in, const kiln__value *tuple,
                                 const kiln__ast *ast)
{
    const kiln__ast *place = ast->children[1];
    const kiln__value index = kiln__infer_operand(in, place);
    size_t position = 0;

    if (kiln__value_is_vague(&index))
        return index;
    kiln__infer_discard(in, &index, place);
    if (!kiln__infer_position(in, &index, tuple->type, place, &position))
        return kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_field(in, tuple, position, ast);
}

static kiln__value no_elements(kiln__infer *in, const kiln__value *object,
                               const kiln__ast *ast)
{
    const char *hint = NULL;

    if (object->kind == KILN__VALUE_TYPED &&
        object->type->kind == KILN_TYPE_TYPE)
        hint = "write `local t = f32[16]`, or `a = allocate(f32, n)`";
    else if (ast->children[0]->kind == KILN__AST_INDEX)
        hint = "all indices stand together: `a[i, j]`";
    return kiln__infer_error(in, ast->children[0]->span, "bad-index", hint,
                             "%s has no elements",
                             kiln__infer_describe(in, object));
}

kiln__value kiln__infer_indexed(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__value object = kiln__infer_operand(in, ast->children[0]);
    const int32_t kind =
        object.kind == KILN__VALUE_TYPED ? object.type->kind : KILN_TYPE_NONE;

    if (kiln__value_is_vague(&object)) {
        for (size_t i = 1; i < ast->count; i++)
            (void)kiln__infer_operand(in, ast->children[i]);
        return object;
    }
    if (kind == KILN_TYPE_ARRAY)
        return load_element(in, &object, ast);
    if (ast->count != 2 &&
        (kind == KILN_TYPE_VECTOR || kind == KILN_TYPE_TUPLE))
        return kiln__infer_error(in, ast->span, "bad-index", NULL,
                                 "%s takes one index",
                                 kiln_type_text(object.type));
    if (kind == KILN_TYPE_VECTOR)
        return vector_element(in, &object, ast);
    if (kind == KILN_TYPE_TUPLE)
        return tuple_element(in, &object, ast);
    return no_elements(in, &object, ast);
}

/* ---- local t = f32[16, 16] ---- */

/* Reports an array that no group can have. That it is too large for the target
   is found later, since only the target knows. */
static int check_bytes(kiln__infer *in, const kiln_type *element,
                       const kiln__ast *tree, kiln__wide count)
{
    const kiln__wide bytes = count * (kiln__wide)element->size;
    char text[KILN__WIDE_TEXT];

    if (kiln__fold_fits(bytes, KILN_TYPE_I32))
        return 1;
    (void)kiln__infer_error(in, tree->span, "local-memory",
                            "`allocate(T, n)` makes large arrays",
                            "a local array of %s bytes; no group has more than "
                            "2147483647",
                            kiln__wide_text(text, bytes));
    return 0;
}

/* Returns the node of a size, an i64 constant; 0 after an error. Multiplies
   `count` by the size. */
static uint32_t local_size(kiln__infer *in, const kiln__ast *ast,
                           kiln__wide *count)
{
    const kiln__value value = kiln__infer_operand(in, ast);
    kiln__constant constant = {0};
    char text[KILN__WIDE_TEXT];
    kiln__value size;

    if (kiln__value_is_vague(&value))
        return 0;
    if (!kiln__infer_known_integer(&value, &constant.integer)) {
        (void)kiln__infer_error(in, ast->span, "not-constant",
                                "`allocate(T, n)` makes an array of any size",
                                "the size of a local array is a constant");
        return 0;
    }
    if (constant.integer < 1 ||
        !kiln__fold_fits(constant.integer, KILN_TYPE_I32)) {
        (void)kiln__infer_error(in, ast->span, "bad-index", NULL,
                                "the size of a local array is at least 1 and "
                                "below 2**31, not %s",
                                kiln__wide_text(text, constant.integer));
        return 0;
    }
    kiln__infer_discard(in, &value, ast);
    *count *= constant.integer;
    size =
        kiln__infer_constant(kiln__infer_scalar(in, KILN_TYPE_I64), &constant);
    return kiln__infer_use(in, &size, ast);
}

void kiln__infer_local_array(kiln__infer *in, const kiln__ast *ast)
{
    const kiln__ast *tree = ast->children[0];
    const kiln_type *element = kiln__infer_resolve(in, tree->children[0]);
    const size_t rank = tree->count - 1;
    uint32_t nodes[KILN_RANK_MAX] = {0};
    const kiln_type *type = NULL;
    kiln_error *error = NULL;
    kiln__wide count = 1;
    kiln_status status;
    kiln__value value;

    if (rank < 1 || rank > KILN_RANK_MAX) {
        (void)kiln__infer_error(in, tree->span, "invalid-type", NULL,
                                "a local array has 1 to %d sizes",
                                KILN_RANK_MAX);
        return;
    }
    for (size_t i = 0; i < rank; i++)
        nodes[i] = local_size(in, tree->children[i + 1], &count);
    if (element == NULL || !check_bytes(in, element, tree, count))
        return;
    status =
        kiln_type_array(&type, in->context, element, (uint32_t)rank, 0, &error);
    if (kiln__is_shortage(status))
        (void)kiln__infer_fail(in, status);
    else if (status != KILN_OK)
        (void)kiln__infer_error(in, tree->span, "invalid-type", NULL, "%s",
                                kiln_error_message(error));
    kiln_error_free(error);
    if (status != KILN_OK)
        return;
    value = kiln__infer_made(in, KILN__IR_LOCAL_ARRAY, type, ast, 0,
                             (kiln__operands){nodes, rank});
    kiln__infer_bind(in, ast->text, &value, ast);
}
