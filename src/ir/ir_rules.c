/* ir_rules.c - which operands each operation of typed IR requires. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>

#include "base/data/float_bits.h"
#include "ir/ir_tables.h"

/*
 * There is one function for each family of operations; it returns NULL or what
 * is wrong. Indices, counts, ranges of immediates and places in the tree were
 * checked before (ir_verify.c); this file checks types.
 */

static uint32_t type_of(const kiln__ir *ir, const kiln__ir_node *node, size_t i)
{
    return kiln__ir_operand_at(ir, node, i)->type;
}

static int32_t kind_of(const kiln__ir *ir, const kiln__ir_node *node, size_t i)
{
    return kiln__ir_kind(ir, type_of(ir, node, i));
}

static int operand_is(const kiln__ir *ir, const kiln__ir_node *node, size_t i,
                      int32_t kind)
{
    return kind_of(ir, node, i) == kind;
}

/* ---- constants ---- */

static int integer_fits(int32_t kind, int64_t bits)
{
    const uint32_t width = kiln__kind_width(kind);
    uint64_t low;

    if (width == 64)
        return 1;
    low = (uint64_t)bits & (((uint64_t)1 << width) - 1);
    if (kiln__kind_is_signed(kind) && (low >> (width - 1)) != 0)
        low |= ~(uint64_t)0 << width;
    return low == (uint64_t)bits;
}

int kiln__ir_constant_fits(int32_t kind, int64_t bits)
{
    double value, rounded;

    if (kind == KILN_TYPE_BOOL)
        return bits == 0 || bits == 1;
    if (kiln__kind_is_integer(kind))
        return integer_fits(kind, bits);
    if (!kiln__kind_is_float(kind))
        return 0;
    value = kiln__f64_from_bits((uint64_t)bits);
    rounded = kiln__float_round(kind, value);
    return isnan(value) || (rounded <= value && rounded >= value);
}

/* ---- arithmetic ---- */

static const char *same_types(const kiln__ir *ir, const kiln__ir_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (type_of(ir, node, i) != node->type)
            return "operand and result differ in type";
    return NULL;
}

static const char *numeric(const kiln__ir *ir, const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_lane_kind(ir, node->type);

    if (!kiln__kind_is_integer(kind) && !kiln__kind_is_float(kind))
        return "the type is not numeric";
    return same_types(ir, node);
}

static const char *of_floats(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (!kiln__kind_is_float(kiln__ir_lane_kind(ir, node->type)))
        return "the type is not of floats";
    return same_types(ir, node);
}

static const char *of_integers(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (!kiln__kind_is_integer(kiln__ir_lane_kind(ir, node->type)))
        return "the type is not of integers";
    return same_types(ir, node);
}

static const char *bitwise(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (kiln__ir_lane_kind(ir, node->type) == KILN_TYPE_BOOL)
        return same_types(ir, node);
    return of_integers(ir, node);
}

static const char *comparison(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (kiln__ir_kind(ir, node->type) != KILN_TYPE_BOOL)
        return "a comparison gives Bool";
    if (type_of(ir, node, 0) != type_of(ir, node, 1))
        return "the operands differ in type";
    if (!kiln__kind_is_scalar(kind_of(ir, node, 0)))
        return "the operands are not scalars";
    return NULL;
}

static const char *logic(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (kiln__ir_kind(ir, node->type) != KILN_TYPE_BOOL)
        return "the type is not Bool";
    return same_types(ir, node);
}

static const char *choice(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (!operand_is(ir, node, 0, KILN_TYPE_BOOL))
        return "the condition is not Bool";
    if (type_of(ir, node, 1) != node->type ||
        type_of(ir, node, 2) != node->type)
        return "operand and result differ in type";
    return NULL;
}

/* ---- conversions ---- */

/* True when every value of the integer or Bool kind `from` is a value of
   `to`. */
static int widens(int32_t from, int32_t to)
{
    const uint32_t from_width = kiln__kind_width(from);
    const uint32_t to_width = kiln__kind_width(to);

    if (from == to)
        return 1;
    if (!kiln__kind_is_integer(to))
        return 0;
    if (kiln__kind_is_signed(from) == kiln__kind_is_signed(to))
        return from_width <= to_width;
    return !kiln__kind_is_signed(from) && from_width < to_width;
}

static const char *conversion(const kiln__ir *ir, const kiln__ir_node *node)
{
    const int32_t from = kind_of(ir, node, 0);
    const int32_t to = kiln__ir_kind(ir, node->type);
    const int from_float = kiln__kind_is_float(from);

    if (!kiln__kind_is_scalar(from) || !kiln__kind_is_scalar(to))
        return "a conversion is between scalars";
    switch ((uint32_t)node->op) {
    case KILN__IR_CONVERT:
        if (kiln__kind_is_float(to) || (!from_float && widens(from, to)))
            return NULL;
        return "the conversion may lose integer bits";
    case KILN__IR_CHECKED:
        return kiln__kind_is_float(to) ? "the result is a float" : NULL;
    case KILN__IR_SATURATE:
        return kiln__kind_is_integer(to) ? NULL
                                         : "the result is not an integer";
    case KILN__IR_WRAP:
        return kiln__kind_is_integer(to) && !from_float
                   ? NULL
                   : "wrap is between integers";
    default: /* BITCAST */
        if (kiln__kind_width(from) != kiln__kind_width(to))
            return "the sizes differ";
        return from == KILN_TYPE_BOOL && to != from ? "Bool has no bits to cast"
                                                    : NULL;
    }
}

/* ---- mathematics ---- */

static int is_test(int64_t math)
{
    return math == KILN__MATH_ISNAN || math == KILN__MATH_ISINF ||
           math == KILN__MATH_ISFINITE;
}

static const char *mathematics(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_name_info *info = &kiln__ir_math[node->imm];
    const int32_t kind = kiln__ir_lane_kind(ir, type_of(ir, node, 0));
    const int32_t domain = kiln__kind_is_float(kind)     ? KILN__DOMAIN_FLOAT
                           : kiln__kind_is_integer(kind) ? KILN__DOMAIN_INTEGER
                                                         : 0;

    if ((int32_t)node->count != info->count)
        return "the number of operands is wrong";
    if ((domain & info->domain) == 0)
        return "the function has no such operands";
    if (!is_test(node->imm))
        return same_types(ir, node);
    if (kiln__ir_lane_kind(ir, node->type) != KILN_TYPE_BOOL)
        return "the function gives Bool";
    if (kiln__ir_kind(ir, node->type) == KILN_TYPE_BOOL)
        return operand_is(ir, node, 0, kind) ? NULL : "scalar and vector";
    return kiln__ir_type_at(ir, node->type)->length ==
                       kiln__ir_type_at(ir, type_of(ir, node, 0))->length &&
                   operand_is(ir, node, 0, KILN_TYPE_VECTOR)
               ? NULL
               : "vectors of different length";
}

/* ---- aggregates ---- */

static const char *tuple(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, node->type);

    if (!kiln__kind_has_fields(type->kind) && type->kind != KILN_TYPE_VECTOR)
        return "the type has no fields";
    if (type->length != node->count)
        return "the number of fields is wrong";
    for (size_t i = 0; i < node->count; i++)
        if (type_of(ir, node, i) != kiln__ir_field(ir, type, i))
            return "a field has another type";
    return NULL;
}

static const char *splat(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, node->type);

    return type->kind == KILN_TYPE_VECTOR &&
                   type->element == type_of(ir, node, 0)
               ? NULL
               : "the result is no vector of the operand";
}

static const char *field(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, type_of(ir, node, 0));
    const uint32_t value =
        node->op == KILN__IR_FIELD ? node->type : type_of(ir, node, 1);

    if (!kiln__kind_has_fields(type->kind) && type->kind != KILN_TYPE_VECTOR)
        return "the operand has no fields";
    if (node->imm < 0 || node->imm >= (int64_t)type->length)
        return "there is no such field";
    if (kiln__ir_field(ir, type, (size_t)node->imm) != value)
        return "the field has another type";
    if (node->op == KILN__IR_WITH_FIELD && node->type != type_of(ir, node, 0))
        return "operand and result differ in type";
    return NULL;
}

static const char *element(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, type_of(ir, node, 0));
    const uint32_t value =
        node->op == KILN__IR_ELEMENT ? node->type : type_of(ir, node, 2);

    if (type->kind != KILN_TYPE_VECTOR)
        return "the operand is no vector";
    if (!operand_is(ir, node, 1, KILN_TYPE_I64))
        return "the index is not i64";
    if (type->element != value)
        return "the element has another type";
    if (node->op == KILN__IR_WITH_ELEMENT && node->type != type_of(ir, node, 0))
        return "operand and result differ in type";
    return NULL;
}

/* ---- arrays ---- */

static const char *shape(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, type_of(ir, node, 0));

    if (kiln__ir_kind(ir, node->type) != KILN_TYPE_I64)
        return "the type is not i64";
    if (type->kind != KILN_TYPE_ARRAY)
        return "the operand is no array";
    if (node->op == KILN__IR_SIZE &&
        (node->imm < 0 || node->imm >= (int64_t)type->length))
        return "there is no such dimension";
    return NULL;
}

/* Checks operands: an array, as many i64 as its rank, then `values` values of
   its element type. */
static const char *access_array(const kiln__ir *ir, const kiln__ir_node *node,
                                size_t values)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, type_of(ir, node, 0));

    if (type->kind != KILN_TYPE_ARRAY)
        return "the operand is no array";
    if (node->count != 1 + (size_t)type->length + values)
        return "the number of indices is not the rank";
    for (size_t i = 1; i <= type->length; i++)
        if (!operand_is(ir, node, i, KILN_TYPE_I64))
            return "an index is not i64";
    for (size_t i = node->count - values; i < node->count; i++)
        if (type_of(ir, node, i) != type->element)
            return "the value is no element";
    if (node->op != KILN__IR_STORE && node->type != type->element)
        return "the result is no element";
    return NULL;
}

static const char *local_array(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, node->type);

    if (type->kind != KILN_TYPE_ARRAY || type->strided)
        return "the type is no dense array";
    if (type->length != node->count)
        return "the number of sizes is not the rank";
    for (size_t i = 0; i < node->count; i++) {
        const kiln__ir_node *size = kiln__ir_operand_at(ir, node, i);

        if (size->op != KILN__IR_CONST ||
            kiln__ir_kind(ir, size->type) != KILN_TYPE_I64 || size->imm < 1)
            return "a size is no positive i64 constant";
    }
    return NULL;
}

/* Checks a tuple of where an array begins and its sizes. */
static const char *place_of_array(const kiln__ir *ir, uint32_t rank,
                                  uint32_t place)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, place);

    if (type->kind != KILN_TYPE_TUPLE || type->length != rank + 1)
        return "the number of sizes is not the rank";
    for (size_t i = 0; i <= rank; i++)
        if (kiln__ir_kind(ir, kiln__ir_field(ir, type, i)) != KILN_TYPE_I64)
            return "a size is not i64";
    return NULL;
}

static const char *heap(const kiln__ir *ir, const kiln__ir_node *node)
{
    const kiln__ir_type *type = kiln__ir_type_at(ir, node->type);

    if (node->op == KILN__IR_HEAP_OFFSET) {
        if (type->kind != KILN_TYPE_I64)
            return "the type is not i64";
        return operand_is(ir, node, 0, KILN_TYPE_ARRAY)
                   ? NULL
                   : "the operand is no array";
    }
    if (type->kind != KILN_TYPE_ARRAY || type->strided)
        return "the type is no dense array";
    if (node->op == KILN__IR_HEAP)
        return type->length == 1 &&
                       kiln__ir_kind(ir, type->element) == KILN_TYPE_U32
                   ? NULL
                   : "the type is not u32[:]";
    return place_of_array(ir, type->length, type_of(ir, node, 0));
}

static const char *atomic(const kiln__ir *ir, const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(ir, node->type);
    const int bits = node->imm == KILN__ATOMIC_AND ||
                     node->imm == KILN__ATOMIC_OR ||
                     node->imm == KILN__ATOMIC_XOR;

    if (!kiln__kind_is_integer(kind) && (bits || !kiln__kind_is_float(kind)))
        return "the operation has no such elements";
    return access_array(ir, node, (size_t)kiln__ir_atomic[node->imm].count);
}

/* ---- other operations ---- */

static const char *call(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (ir->callees.items[node->imm].result != node->type)
        return "the callee gives another type";
    for (size_t i = 0; i < node->count; i++)
        if (operand_is(ir, node, i, KILN_TYPE_NONE))
            return "an argument has no value";
    return NULL;
}

static const char *external(const kiln__ir *ir, const kiln__ir_node *node)
{
    return node->type == ir->result ? NULL : "the function gives another type";
}

static const char *query(const kiln__ir *ir, const kiln__ir_node *node)
{
    const int64_t dimension = node->imm % 4;

    if (kiln__ir_kind(ir, node->type) != KILN_TYPE_I64)
        return "the type is not i64";
    if (dimension > (kiln__ir_query[node->imm / 4].count ? 2 : 0))
        return "there is no such dimension";
    return NULL;
}

static const char *group(const kiln__ir *ir, const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(ir, node->type);
    const int logical =
        node->imm == KILN__GROUP_SUB_ANY || node->imm == KILN__GROUP_SUB_ALL;

    if ((int32_t)node->count != kiln__ir_group[node->imm].count)
        return "the number of operands is wrong";
    if (!kiln__kind_is_scalar(kind) || logical != (kind == KILN_TYPE_BOOL))
        return "the operation has no such operands";
    if (type_of(ir, node, 0) != node->type)
        return "operand and result differ in type";
    if (node->count == 2 && !operand_is(ir, node, 1, KILN_TYPE_I64))
        return "the second operand is not i64";
    return NULL;
}

static const char *leaf(const kiln__ir *ir, const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(ir, node->type);

    switch ((uint32_t)node->op) {
    case KILN__IR_CONST:
        if (!kiln__kind_is_scalar(kind))
            return "a constant is a scalar";
        return kiln__ir_constant_fits(kind, node->imm)
                   ? NULL
                   : "the constant is no value of its type";
    case KILN__IR_UNIT:
        return kiln__ir_type_is_empty(ir, node->type) ? NULL
                                                      : "the type has bytes";
    case KILN__IR_LOCAL:
        return ir->locals.items[node->imm].type == node->type
                   ? NULL
                   : "the local has another type";
    default: /* TEXT */
        return kind == KILN_TYPE_NONE ? NULL : "a text has no type";
    }
}

static const char *counted_loop(const kiln__ir *ir, const kiln__ir_node *node)
{
    const uint32_t type = ir->locals.items[node->imm].type;
    const kiln__ir_node *step = kiln__ir_operand_at(ir, node, 2);

    if (!kiln__kind_is_integer(kiln__ir_kind(ir, type)))
        return "the local is no integer";
    for (size_t i = 0; i < 3; i++)
        if (type_of(ir, node, i) != type)
            return "a bound has another type than the local";
    if (step->op != KILN__IR_CONST || step->imm == 0)
        return "the step is no non-zero constant";
    return NULL;
}

static const char *print(const kiln__ir *ir, const kiln__ir_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (kiln__ir_operand_at(ir, node, i)->op != KILN__IR_TEXT &&
            !kiln__kind_is_scalar(kind_of(ir, node, i)))
            return "only texts and scalars are printed";
    return NULL;
}

static const char *give_back(const kiln__ir *ir, const kiln__ir_node *node)
{
    if (kiln__ir_kind(ir, ir->result) == KILN_TYPE_NONE)
        return node->count == 0 ? NULL : "the function gives nothing";
    if (node->count == 0)
        return "the function gives a value";
    return type_of(ir, node, 0) == ir->result
               ? NULL
               : "the function gives another type";
}

static const char *statement(const kiln__ir *ir, const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_SET:
        return ir->locals.items[node->imm].type == type_of(ir, node, 0)
                   ? NULL
                   : "the local has another type";
    case KILN__IR_STORE:
        return access_array(ir, node, 1);
    case KILN__IR_IF:
    case KILN__IR_WHILE:
    case KILN__IR_ASSERT:
        return operand_is(ir, node, 0, KILN_TYPE_BOOL)
                   ? NULL
                   : "the condition is not Bool";
    case KILN__IR_FOR:
        return counted_loop(ir, node);
    case KILN__IR_RETURN:
        return give_back(ir, node);
    case KILN__IR_PRINT:
        return print(ir, node);
    default: /* BLOCK EVAL UNROLLED BREAK CONTINUE BARRIER FENCE */
        return NULL;
    }
}

static const char *arithmetic(const kiln__ir *ir, const kiln__ir_node *node)
{
    switch ((uint32_t)node->op) {
    case KILN__IR_NEG:
    case KILN__IR_ADD:
    case KILN__IR_SUB:
    case KILN__IR_MUL:
        return numeric(ir, node);
    case KILN__IR_DIV:
        return of_floats(ir, node);
    case KILN__IR_AND:
    case KILN__IR_OR:
    case KILN__IR_XOR:
    case KILN__IR_INVERT:
        return bitwise(ir, node);
    case KILN__IR_ANDALSO:
    case KILN__IR_ORELSE:
        return logic(ir, node);
    case KILN__IR_CHOOSE:
    case KILN__IR_SELECT:
        return choice(ir, node);
    default: /* IDIV, IREM, SHL, SHR */
        return of_integers(ir, node);
    }
}

/* Selects the function by family; the numbers of operations follow the order of
   the table. */
const char *kiln__ir_rule(const kiln__ir *ir, const kiln__ir_node *node)
{
    const uint32_t op = node->op;

    if (kiln__ir_ops[op].statement)
        return statement(ir, node);
    if (op >= KILN__IR_EQ && op <= KILN__IR_GE)
        return comparison(ir, node);
    if (op >= KILN__IR_CONVERT && op <= KILN__IR_BITCAST)
        return conversion(ir, node);
    if (op >= KILN__IR_NEG && op <= KILN__IR_SELECT)
        return arithmetic(ir, node);
    switch (op) {
    case KILN__IR_MATH:
        return mathematics(ir, node);
    case KILN__IR_TUPLE:
        return tuple(ir, node);
    case KILN__IR_SPLAT:
        return splat(ir, node);
    case KILN__IR_FIELD:
    case KILN__IR_WITH_FIELD:
        return field(ir, node);
    case KILN__IR_ELEMENT:
    case KILN__IR_WITH_ELEMENT:
        return element(ir, node);
    case KILN__IR_LENGTH:
    case KILN__IR_SIZE:
        return shape(ir, node);
    case KILN__IR_LOAD:
        return access_array(ir, node, 0);
    case KILN__IR_LOCAL_ARRAY:
        return local_array(ir, node);
    case KILN__IR_ATOMIC:
        return atomic(ir, node);
    case KILN__IR_HEAP:
    case KILN__IR_HEAP_OFFSET:
    case KILN__IR_HEAP_ARRAY:
        return heap(ir, node);
    case KILN__IR_CALL:
        return call(ir, node);
    case KILN__IR_QUERY:
        return query(ir, node);
    case KILN__IR_GROUP:
        return group(ir, node);
    case KILN__IR_EXTERNAL:
        return external(ir, node);
    default:
        return leaf(ir, node);
    }
}
