/* ir_tables.h - operations of typed IR as arrays, and short accessors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_TABLES_H
#define KILN_IR_TABLES_H

#include "abi/scalars.h"
#include "ir/ir.h"

/*
 * The lists of ir_ops.h as arrays, indexed by operation or by the number in an
 * immediate. The printer, the parser and the checker all read them, so an
 * operation is described once. The accessors check nothing: indices must be in
 * range, as they are in typed IR that kiln__ir_decode() or the parser accepted.
 */

typedef enum kiln__ir_immediate {
    KILN__IMMEDIATE_NONE,
    KILN__IMMEDIATE_BITS,
    KILN__IMMEDIATE_LOCAL,
    KILN__IMMEDIATE_CALLEE,
    KILN__IMMEDIATE_FIELD,
    KILN__IMMEDIATE_DIMENSION,
    KILN__IMMEDIATE_STRING,
    KILN__IMMEDIATE_MATH,
    KILN__IMMEDIATE_QUERY,
    KILN__IMMEDIATE_ATOMIC,
    KILN__IMMEDIATE_GROUP
} kiln__ir_immediate;

#define KILN__DOMAIN_FLOAT 1
#define KILN__DOMAIN_INTEGER 2
#define KILN__DOMAIN_BOTH 3

/* Where devices have a function of mathematics. */
#define KILN__HOME_LIBRARY 1
#define KILN__HOME_CODE 2

typedef struct kiln__ir_op_info {
    const char *text;
    int32_t statement;
    int32_t least;
    int32_t most; /* -1: any number */
    kiln__ir_immediate immediate;
} kiln__ir_op_info;

/* Names that the immediates of MATH, QUERY, ATOMIC and GROUP stand for. */
typedef struct kiln__ir_name_info {
    const char *text;
    /* The number of operands or values. For a query, 1 means that it has a
       dimension. */
    int32_t count;
    int32_t domain; /* KILN__DOMAIN_...; for MATH only */
    int32_t home;   /* KILN__HOME_...; for MATH only */
} kiln__ir_name_info;

extern const kiln__ir_op_info kiln__ir_ops[KILN__IR_OP_COUNT];
extern const kiln__ir_name_info kiln__ir_math[KILN__MATH_COUNT];
extern const kiln__ir_name_info kiln__ir_query[KILN__QUERY_COUNT];
extern const kiln__ir_name_info kiln__ir_atomic[KILN__ATOMIC_COUNT];
extern const kiln__ir_name_info kiln__ir_group[KILN__GROUP_COUNT];

/* Returns the names that an immediate stands for, or NULL; stores their
   number. */
const kiln__ir_name_info *kiln__ir_names(kiln__ir_immediate immediate,
                                         size_t *count);

static inline const kiln__ir_type *kiln__ir_type_at(const kiln__ir *ir,
                                                    uint32_t type)
{
    return &ir->types.items[type];
}

static inline int32_t kiln__ir_kind(const kiln__ir *ir, uint32_t type)
{
    return ir->types.items[type].kind;
}

static inline const kiln__ir_node *kiln__ir_node_at(const kiln__ir *ir,
                                                    uint32_t node)
{
    return &ir->nodes.items[node];
}

/* Return the index of operand `i`, and the operand itself. */
static inline uint32_t kiln__ir_operand(const kiln__ir *ir,
                                        const kiln__ir_node *node, size_t i)
{
    return ir->operands.items[node->operands + i];
}

static inline const kiln__ir_node *kiln__ir_operand_at(
    const kiln__ir *ir, const kiln__ir_node *node, size_t i)
{
    return &ir->nodes.items[kiln__ir_operand(ir, node, i)];
}

/* Returns the type of field `i` of a struct, tuple or vector. */
static inline uint32_t kiln__ir_field(const kiln__ir *ir,
                                      const kiln__ir_type *type, size_t i)
{
    return type->kind == KILN_TYPE_VECTOR
               ? type->element
               : ir->type_fields.items[type->fields + i];
}

static inline int kiln__kind_has_fields(int32_t kind)
{
    return kind == KILN_TYPE_TUPLE || kind == KILN_TYPE_STRUCT;
}

/* Returns the kind of a scalar or of a vector's elements; else
   KILN_TYPE_NONE. */
int32_t kiln__ir_lane_kind(const kiln__ir *ir, uint32_t type);

/* Checks an operation against ir_ops.h; returns NULL, or what is wrong. Indices
   and counts must be in range. (ir_rules.c) */
const char *kiln__ir_rule(const kiln__ir *ir, const kiln__ir_node *node);

/* True when the constant stands for a value of the scalar `kind`. */
int kiln__ir_constant_fits(int32_t kind, int64_t bits);

#endif /* KILN_IR_TABLES_H */
