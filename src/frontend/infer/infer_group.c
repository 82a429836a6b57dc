/* infer_group.c - built-in functions of the grid, groups and atomics. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/infer/infer.h"
#include "frontend/program/builtins.h"
#include "ir/ir_tables.h"

/*
 * Queries of the grid need a constant dimension. Operations of a group or
 * sub-group, and atomics, convert their arguments to the types that ir_ops.h
 * demands. Whether all items reach a collective operation is checked later, on
 * whole kernels (collective_report.c).
 */

static const kiln__ast *argument_place(const kiln__ast *ast, size_t i)
{
    return i + 1 < ast->count ? ast->children[i + 1] : ast;
}

kiln__value kiln__infer_query(kiln__infer *in, const kiln__builtin *builtin,
                              kiln__value *arguments, size_t count,
                              const kiln__ast *ast)
{
    kiln__wide dimension = 0;

    if (count == 1 && !kiln__infer_known_integer(&arguments[0], &dimension))
        return kiln__infer_error(
            in, argument_place(ast, 0)->span, "not-constant", NULL,
            "`%s` takes a constant dimension, 0 to 2", builtin->name);
    if (dimension < 0 || dimension > 2)
        return kiln__infer_error(in, argument_place(ast, 0)->span, "bad-index",
                                 NULL, "the grid has the dimensions 0 to 2");
    if (count == 1)
        kiln__infer_discard(in, &arguments[0], ast);
    return kiln__infer_made(
        in, KILN__IR_QUERY, kiln__infer_scalar(in, KILN_TYPE_I64), ast,
        builtin->data * 4 + (int64_t)dimension, KILN__NO_OPERANDS);
}

/* ---- sub-groups and groups ---- */

static int takes_bool(int32_t group)
{
    return group == KILN__GROUP_SUB_ANY || group == KILN__GROUP_SUB_ALL;
}

kiln__value kiln__infer_group(kiln__infer *in, const kiln__builtin *builtin,
                              kiln__value *arguments, const kiln__ast *ast)
{
    const size_t count = (size_t)kiln__ir_group[builtin->data].count;
    const kiln__ast *place = argument_place(ast, 0);
    kiln__value value = kiln__infer_decay(in, &arguments[0], ast);
    uint32_t nodes[2] = {0, 0};

    value = kiln__infer_settle(in, &value, place);
    if (kiln__value_is_vague(&value))
        return value;
    if (!kiln__type_is_scalar(value.type) ||
        takes_bool(builtin->data) != (value.type->kind == KILN_TYPE_BOOL))
        return kiln__infer_error(in, place->span, "wrong-type", NULL,
                                 "`%s` takes %s, but this is %s", builtin->name,
                                 takes_bool(builtin->data) ? "Bool"
                                                           : "a number",
                                 kiln_type_text(value.type));
    nodes[0] = kiln__infer_use(in, &value, ast);
    if (count == 2) {
        const kiln__value lane =
            kiln__infer_index(in, &arguments[1], argument_place(ast, 1));

        if (kiln__value_is_vague(&lane))
            return lane;
        nodes[1] = kiln__infer_use(in, &lane, ast);
    }
    return kiln__infer_made(in, KILN__IR_GROUP, value.type, ast, builtin->data,
                            (kiln__operands){nodes, count});
}

/* ---- atomics ---- */

static kiln__value wrong_shape(kiln__infer *in, const kiln__builtin *builtin,
                               const kiln_type *array, const kiln__ast *ast)
{
    const size_t values = (size_t)kiln__ir_atomic[builtin->data].count;

    return kiln__infer_error(
        in, ast->span, "bad-index",
        array->rank > 1 ? "give the indices as a tuple: (i, j)" : NULL,
        "`%s` of %s takes %u ind%s and %zu value%s", builtin->name,
        kiln_type_text(array), array->rank, array->rank == 1 ? "ex" : "ices",
        values, values == 1 ? "" : "s");
}

static int takes_element(int32_t atomic, int32_t kind)
{
    const int is_bits = atomic == KILN__ATOMIC_AND ||
                        atomic == KILN__ATOMIC_OR || atomic == KILN__ATOMIC_XOR;

    return kiln__kind_is_integer(kind) ||
           (!is_bits && kiln__kind_is_float(kind));
}

/* Fills the nodes after the array's: indices, then values. */
static int atomic_operands(kiln__infer *in, const kiln_type *array,
                           const kiln__value *arguments, size_t count,
                           const kiln__ast *ast, uint32_t *nodes)
{
    for (size_t i = 1; i < count; i++) {
        const kiln__value value =
            i <= array->rank
                ? kiln__infer_index(in, &arguments[i], ast)
                : kiln__infer_adapt(
                      in, &arguments[i], array->element,
                      argument_place(ast, ast->count - 1 - (count - i)),
                      "the element");

        if (kiln__value_is_vague(&value))
            return 0;
        nodes[i] = kiln__infer_use(in, &value, ast);
    }
    return 1;
}

kiln__value kiln__infer_atomic(kiln__infer *in, const kiln__builtin *builtin,
                               kiln__value *arguments, size_t count,
                               const kiln__ast *ast)
{
    const kiln_type *array = arguments[0].type;
    uint32_t nodes[8] = {0};

    if (in->at.in_constant)
        return kiln__infer_error(in, ast->span, "not-constant", NULL,
                                 "`%s` is not for constants", builtin->name);
    if (arguments[0].kind != KILN__VALUE_TYPED ||
        array->kind != KILN_TYPE_ARRAY)
        return kiln__infer_error(in, argument_place(ast, 0)->span, "wrong-type",
                                 NULL, "`%s` takes an array, but this is %s",
                                 builtin->name,
                                 kiln__infer_describe(in, &arguments[0]));
    if (count != 1 + array->rank + (size_t)kiln__ir_atomic[builtin->data].count)
        return wrong_shape(in, builtin, array, ast);
    if (!takes_element(builtin->data, array->element->kind))
        return kiln__infer_error(in, argument_place(ast, 0)->span, "wrong-type",
                                 NULL, "`%s` is not for elements of %s",
                                 builtin->name, kiln_type_text(array->element));
    nodes[0] = kiln__infer_use(in, &arguments[0], ast);
    if (!atomic_operands(in, array, arguments, count, ast, nodes))
        return in->broken = 1, kiln__value_of(KILN__VALUE_POISON);
    return kiln__infer_made(in, KILN__IR_ATOMIC, array->element, ast,
                            builtin->data, (kiln__operands){nodes, count});
}
