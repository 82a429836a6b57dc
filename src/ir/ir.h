/* ir.h - typed IR: one inferred function, structured, without addresses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_H
#define KILN_IR_H

#include "base/data/arena.h"
#include "base/data/array.h"
#include "ir/ir_ops.h"
#include "kiln/type.h"

/*
 * A function is a set of flat arrays: types, locals, callees, strings, nodes
 * and their operands. The nodes form one tree: an operand comes before its
 * user, and every node but the body has exactly one user. Indices are positions
 * in these arrays; node 0 is unused and means none. The binary form is the
 * arrays in little-endian order; nothing in it depends on addresses or places
 * in the source.
 *
 * Expression ordinals number the expressions of a method in source order.
 * Exceptions refer to them, and the source map turns them into places.
 */

#define KILN__IR_VERSION 3
#define KILN__IR_DEPTH_MAX 2000    /* of the tree */
#define KILN__IR_NODES_MAX 4000000 /* and rows of each other array */
#define KILN__IR_TYPES_MAX 16384
#define KILN__IR_VECTOR_MAX 256   /* elements of a vector */
#define KILN__IR_LEAVES_MAX 65536 /* all scalars in one type */
#define KILN__IR_TYPE_DEPTH_MAX 64

typedef enum kiln__ir_op {
    KILN__IR_NONE,
#define KILN__X(name, text, kind, least, most, immediate) KILN__IR_##name,
    KILN__IR_OP_MAP(KILN__X)
#undef KILN__X
        KILN__IR_OP_COUNT
} kiln__ir_op;

enum {
#define KILN__X(name, text, operands, domain, home) KILN__MATH_##name,
    KILN__MATH_MAP(KILN__X)
#undef KILN__X
        KILN__MATH_COUNT
};
enum {
#define KILN__X(name, text, dimension) KILN__QUERY_##name,
    KILN__QUERY_MAP(KILN__X)
#undef KILN__X
        KILN__QUERY_COUNT
};
enum {
#define KILN__X(name, text, values) KILN__ATOMIC_##name,
    KILN__ATOMIC_MAP(KILN__X)
#undef KILN__X
        KILN__ATOMIC_COUNT
};
enum {
#define KILN__X(name, text, operands) KILN__GROUP_##name,
    KILN__GROUP_MAP(KILN__X)
#undef KILN__X
        KILN__GROUP_COUNT
};

/* Lexical switches, at most one of each pair. Neither: as the config says. */
#define KILN__IR_BOUNDS_ON 1u
#define KILN__IR_BOUNDS_OFF 2u
#define KILN__IR_FAST_ON 4u
#define KILN__IR_FAST_OFF 8u
#define KILN__IR_CONTRACT_ON 16u
#define KILN__IR_CONTRACT_OFF 32u
#define KILN__IR_BOUNDS_FLAGS (KILN__IR_BOUNDS_ON | KILN__IR_BOUNDS_OFF)
#define KILN__IR_FLOAT_FLAGS \
    (KILN__IR_FAST_ON | KILN__IR_FAST_OFF | KILN__IR_CONTRACT_ON | \
     KILN__IR_CONTRACT_OFF)

typedef struct kiln__ir_type {
    uint8_t kind;     /* KILN_TYPE_..., but not FOREIGN */
    uint8_t strided;  /* of an array */
    uint32_t length;  /* rank; vector length; number of fields */
    uint32_t element; /* array, vector */
    /* First index into type_fields, of a struct or tuple. Types' fields follow
       each other in the order of the types. Otherwise 0. */
    uint32_t fields;
    int64_t value;    /* of a static */
    const char *name; /* struct "main.Complex{f32}"; function; type; or NULL */
} kiln__ir_type;

typedef struct kiln__ir_local {
    uint32_t type;
    const char *name; /* for people; need not be unique */
} kiln__ir_local;

typedef struct kiln__ir_callee {
    const char *name; /* "main.dot(f32[:], f32[:])" */
    uint32_t result;
} kiln__ir_callee;

typedef struct kiln__ir_node {
    uint16_t op;
    uint16_t flags;
    uint32_t type;    /* of the value; of kind NONE for statements */
    uint32_t ordinal; /* 0: none */
    /* First index into operands. The operands of the nodes follow each other in
       the order of the nodes. */
    uint32_t operands;
    uint32_t count;
    /* BITS: integers are sign- or zero-extended, Bool is 0 or 1, floats are the
       bits of the f64 that equals the value. */
    int64_t imm;
} kiln__ir_node;

typedef struct kiln__ir {
    const kiln_alloc *alloc;
    kiln__arena arena;        /* strings */
    const char *name;         /* "main.saxpy(f32[:], f32, f32[:])" */
    const char *method;       /* "main.saxpy#0123456789abcdef" for exceptions */
    uint32_t kernel;          /* 1: the entry of a launch */
    uint32_t result;          /* index of a type; of kind NONE: no result */
    uint32_t parameter_count; /* they are the first locals, of any type */
    uint32_t body;            /* index of a BLOCK */
    kiln__array_of(kiln__ir_type) types;
    kiln__array_of(uint32_t) type_fields;
    kiln__array_of(kiln__ir_local) locals;
    kiln__array_of(kiln__ir_callee) callees;
    kiln__array_of(const char *) strings;
    kiln__array_of(kiln__ir_node) nodes;
    kiln__array_of(uint32_t) operands;
} kiln__ir;

/* ---- ir.c: building ---- */
void kiln__ir_init(kiln__ir *ir, const kiln_alloc *alloc);
void kiln__ir_dispose(kiln__ir *ir);
/* Each of these adds something and stores its index; equal types are one. They
   fail only with KILN_ENOMEM. Strings are copied. Fields are passed as type
   indices. */
kiln_status kiln__ir_add_type(kiln__ir *ir, const kiln__ir_type *type,
                              const uint32_t *fields, uint32_t *out);
kiln_status kiln__ir_scalar(kiln__ir *ir, int32_t kind, uint32_t *out);
kiln_status kiln__ir_add_local(kiln__ir *ir, const char *name, uint32_t type,
                               uint32_t *out);
kiln_status kiln__ir_add_callee(kiln__ir *ir, const char *name, uint32_t result,
                                uint32_t *out);
kiln_status kiln__ir_add_string(kiln__ir *ir, const char *text, uint32_t *out);
kiln_status kiln__ir_add_node(kiln__ir *ir, const kiln__ir_node *node,
                              const uint32_t *operands, size_t count,
                              uint32_t *out);
/* True for a type whose values have no bytes: none, static, function, type, and
   tuples and structs that consist of these. */
int kiln__ir_type_is_empty(const kiln__ir *ir, uint32_t type);
const char *kiln__ir_op_name(kiln__ir_op op);

/* ---- ir_binary.c: the persistent form ---- */
kiln_status kiln__ir_encode(const kiln__ir *ir, kiln_blob *out);
/* Decodes bytes that may be damaged: checks every index and size before using
   it, then verifies. KILN_ECORRUPT says what is wrong. Initialises `ir` on
   success only. */
kiln_status kiln__ir_decode(kiln__ir *ir, const kiln_alloc *alloc,
                            const void *bytes, size_t size, kiln_error **error);
/* Returns the name alone, in the arena. NULL: the bytes do not begin like typed
   IR, or out of memory. */
const char *kiln__ir_name(kiln__arena *arena, const void *bytes, size_t size);

/* ---- ir_verify.c: what lowering may rely on ----
 *
 * Every index is in range, and every immediate fits its operation (0 where it
 * has none). The nodes are one tree as described above, within the bounds of
 * depth and size. Operands have the types and the places that ir_ops.h demands.
 * Break and continue are inside a loop or UNROLLED. Types consist of earlier
 * types; elements of arrays have bytes and contain no arrays. The arguments of
 * a kernel have no arrays inside aggregates, and a kernel returns nothing. The
 * body of a function with a result cannot complete: on every path there is a
 * RETURN, or a WHILE over CONST true without a BREAK. The arguments of calls
 * are checked by code that has both functions.
 */
kiln_status kiln__ir_verify(const kiln__ir *ir, kiln_error **error);

/* ---- ir_print.c and ir_parse.c: the text form (libkiln only) ---- */
kiln_status kiln__ir_print(const kiln__ir *ir, kiln__text *out);
/* Reads one function and verifies it. Diagnostics call the text `file`. */
kiln_status kiln__ir_parse(kiln__ir *ir, const kiln_alloc *alloc,
                           const char *file, const char *text, size_t size,
                           kiln_error **error);

#endif /* KILN_IR_H */
