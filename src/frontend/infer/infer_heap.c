/* infer_heap.c - arrays that a kernel allocates, and memory fences. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/stack.h"
#include "frontend/infer/infer.h"
#include "frontend/program/builtins.h"

/*
 * Package core manages the heap (src/runtime/heap.kiln). heap_take() returns
 * where an array begins in the heap, or a negative number, together with the
 * sizes, and heap_release() returns whether it freed the array. Their answers
 * are checked in the caller's expression, so an exception names the line that
 * asked.
 */

static const kiln__ast *argument_place(const kiln__ast *ast, size_t i)
{
    return i + 1 < ast->count ? ast->children[i + 1] : ast;
}

static kiln__value byte_size(const kiln__infer *in, const kiln_type *element)
{
    const kiln__constant constant = {.integer =
                                         (kiln__wide)kiln_type_size(element)};

    return kiln__infer_constant(kiln__infer_scalar(in, KILN_TYPE_I64),
                                &constant);
}

/* Returns the type of the dense array, or NULL after an error. */
static const kiln_type *array_of(kiln__infer *in, const kiln_type *element,
                                 size_t rank, const kiln__ast *ast)
{
    const kiln_type *type = NULL;
    kiln_error *error = NULL;
    const kiln_status status =
        kiln_type_array(&type, in->context, element, (uint32_t)rank, 0, &error);

    if (kiln__is_shortage(status))
        (void)kiln__infer_fail(in, status);
    else if (status != KILN_OK)
        (void)kiln__infer_error(in, ast->span, "invalid-type", NULL, "%s",
                                kiln_error_message(error));
    kiln_error_free(error);
    return type;
}

/* True when heap_take() returns what HEAP_ARRAY needs. */
static int is_place(const kiln_type *type, size_t rank)
{
    if (type->kind != KILN_TYPE_TUPLE || type->field_count != rank + 1)
        return 0;
    for (size_t i = 0; i <= rank; i++)
        if (kiln_type_field(type, i)->kind != KILN_TYPE_I64)
            return 0;
    return 1;
}

static kiln__value wrong_library(kiln__infer *in, const char *name,
                                 const kiln__ast *ast)
{
    return kiln__infer_error(in, ast->span, "wrong-type", NULL,
                             "the runtime library's `%s` gives something else "
                             "than is needed here",
                             name);
}

static kiln__value take_array(kiln__infer *in, const kiln_type *type,
                              kiln__value *arguments, size_t count,
                              const kiln__ast *ast)
{
    kiln__value place;
    uint32_t node;

    for (size_t i = 1; i < count; i++) {
        arguments[i] =
            kiln__infer_size(in, &arguments[i], argument_place(ast, i));
        if (kiln__value_is_vague(&arguments[i]))
            return arguments[i];
    }
    arguments[0] = byte_size(in, type->element);
    place = kiln__infer_apply_name(in, "heap_take", arguments, count, ast);
    if (kiln__value_is_vague(&place))
        return place;
    if (place.kind != KILN__VALUE_TYPED || !is_place(place.type, count - 1))
        return wrong_library(in, "heap_take", ast);
    node = kiln__infer_use(in, &place, ast);
    return kiln__infer_made(in, KILN__IR_HEAP_ARRAY, type, ast, 0,
                            (kiln__operands){&node, 1});
}

static kiln__value allocate(kiln__infer *in, kiln__value *arguments,
                            size_t count, const kiln__ast *ast)
{
    const kiln_type *type;

    if (arguments[0].kind != KILN__VALUE_TYPED ||
        arguments[0].type->kind != KILN_TYPE_TYPE)
        return kiln__infer_error(in, argument_place(ast, 0)->span, "wrong-type",
                                 "allocate(f32, n)",
                                 "`allocate` takes a type first, but this is "
                                 "%s",
                                 kiln__infer_describe(in, &arguments[0]));
    type = array_of(in, arguments[0].type->element, count - 1, ast);
    return type == NULL ? kiln__value_of(KILN__VALUE_POISON)
                        : take_array(in, type, arguments, count, ast);
}

static kiln__value release(kiln__infer *in, const kiln__value *array,
                           const kiln__ast *ast)
{
    static const char message[] = "free of an array that is not allocated";
    kiln__value arguments[2] = {*array, {0}}, fine;
    uint32_t string = 0, node;
    kiln_status status;

    if (array->kind != KILN__VALUE_TYPED ||
        array->type->kind != KILN_TYPE_ARRAY || array->type->strided)
        return kiln__infer_error(in, argument_place(ast, 0)->span, "wrong-type",
                                 NULL,
                                 "`free` takes a dense array, but this is %s",
                                 kiln__infer_describe(in, array));
    arguments[1] = byte_size(in, array->type->element);
    fine = kiln__infer_apply_name(in, "heap_release", arguments, 2, ast);
    if (kiln__value_is_vague(&fine))
        return fine;
    if (fine.kind != KILN__VALUE_TYPED || fine.type->kind != KILN_TYPE_BOOL)
        return wrong_library(in, "heap_release", ast);
    node = kiln__infer_use(in, &fine, ast);
    status = kiln__ir_add_string(&in->body.ir, message, &string);
    if (status != KILN_OK)
        return kiln__infer_fail(in, status);
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_ASSERT, NULL, ast,
                                          string, (kiln__operands){&node, 1}));
    return kiln__value_of(KILN__VALUE_NOTHING);
}

static kiln__value fence(kiln__infer *in, const kiln__ast *ast)
{
    kiln__infer_emit(in, kiln__infer_node(in, KILN__IR_FENCE, NULL, ast, 0,
                                          KILN__NO_OPERANDS));
    return kiln__value_of(KILN__VALUE_NOTHING);
}

/* Returns the heap's words, or where in it the array begins. */
static kiln__value parts(kiln__infer *in, const kiln__builtin *builtin,
                         const kiln__value *array, const kiln__ast *ast)
{
    const kiln_type *type;
    uint32_t node;

    if (in->at.package != kiln__infer_core(in))
        return kiln__infer_error(
            in, ast->span, "unsupported", "use allocate() and free()",
            "`%s` is for the runtime library alone", builtin->name);
    if (array == NULL) {
        type = array_of(in, kiln__infer_scalar(in, KILN_TYPE_U32), 1, ast);
        return type == NULL ? kiln__value_of(KILN__VALUE_POISON)
                            : kiln__infer_made(in, KILN__IR_HEAP, type, ast, 0,
                                               KILN__NO_OPERANDS);
    }
    if (array->kind != KILN__VALUE_TYPED ||
        array->type->kind != KILN_TYPE_ARRAY)
        return kiln__infer_error(in, argument_place(ast, 0)->span, "wrong-type",
                                 NULL, "`%s` takes an array, but this is %s",
                                 builtin->name,
                                 kiln__infer_describe(in, array));
    node = kiln__infer_use(in, array, ast);
    return kiln__infer_made(in, KILN__IR_HEAP_OFFSET,
                            kiln__infer_scalar(in, KILN_TYPE_I64), ast, 0,
                            (kiln__operands){&node, 1});
}

kiln__value kiln__infer_heap(kiln__infer *in, const kiln__builtin *builtin,
                             kiln__value *arguments, size_t count,
                             const kiln__ast *ast)
{
    if (builtin->rule == KILN__RULE_ALLOCATE)
        return allocate(in, arguments, count, ast);
    if (builtin->rule == KILN__RULE_FREE)
        return release(in, &arguments[0], ast);
    if (builtin->rule == KILN__RULE_FENCE)
        return fence(in, ast);
    return parts(in, builtin, count == 0 ? NULL : &arguments[0], ast);
}
