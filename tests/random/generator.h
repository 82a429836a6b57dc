/* generator.h - random kernels that keep the language's rules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GENERATOR_H
#define KILN_TESTS_GENERATOR_H

#include "base/data/array.h"
#include "kiln/type.h"

/*
 * A seed gives a program, always the same one: some functions, and a kernel
 * that reads arrays anywhere and writes its own elements. Items do not race,
 * loops end, and what a NaN's bits or the sign of a zero may be does not show.
 * Half of them raise no exception.
 */

/* What a kernel can be launched with. */
#define GENERATED_ARRAYS 6  /* read, and never written */
#define GENERATED_OUTPUTS 4 /* an element for each item */

typedef struct generated {
    kiln__text source;
    uint32_t grid_rank; /* 1 to 3 */
    int is_collective;  /* does something together with its group */
    int may_fail;
    int has_edges; /* may fail there, and nowhere else */
    /* Types of the arguments, in order: outputs, approximations (f64[:]),
       sums of all (i64[:], of 8), arrays, then i64, i32, u16, f32, f64, Bool
       and a tuple (i32, f64). */
    char output_types[GENERATED_OUTPUTS][40];
    char array_types[GENERATED_ARRAYS][40];
} generated;

void generate(generated *out, uint64_t seed);

/* ---- what the generator's files share ---- */

/* A scalar, or a tuple, vector, or the program's struct P or Q{T} of them. */
typedef struct random_type {
    int32_t kind;     /* KILN_TYPE_... */
    int32_t parts[2]; /* scalars: of a tuple two; of a vector and Q one */
    int32_t length;   /* of a vector */
    int is_q;         /* STRUCT: Q{T}, else P */
} random_type;

typedef struct random_variable {
    char name[16];
    random_type type;
    int is_uniform; /* and set to uniform values under uniform control only */
    int is_fixed;   /* cannot be assigned */
} random_variable;

#define VARIABLES_MAX 200
#define FUNCTIONS_MAX 12

typedef struct random_function {
    char name[16];
    int32_t parameters[2];
    int32_t result;
    int is_collective;
} random_function;

/* Who comes to the statement that is being written. */
enum { CONTROL_GROUP, CONTROL_SUB_GROUP, CONTROL_NOT };

typedef struct generator {
    generated *out;
    uint64_t state; /* of the random numbers */
    random_variable variables[VARIABLES_MAX];
    size_t variable_count;
    random_function functions[FUNCTIONS_MAX];
    size_t function_count;
    int32_t output_kinds[GENERATED_OUTPUTS]; /* STRUCT: P */
    int32_t array_kinds[GENERATED_ARRAYS];
    uint32_t array_ranks[GENERATED_ARRAYS];
    int atomic;    /* which operation on the sums */
    int in_kernel; /* and not in a function */
    int control;
    int is_lazy;    /* in an expression that not all items evaluate */
    int is_uniform; /* only uniform values are wanted */
    int indent;
    int loops;     /* nested */
    int is_body;   /* the block is a loop's body, or a kernel's */
    int can_break; /* how freely: 0 no, 1 under uniform conditions, 2 */
    int turns;     /* of all loops around, multiplied */
    int names;     /* used up */
    int shared;    /* local arrays */
    int budget;    /* of expressions in a statement */
} generator;

/* ---- numbers and names ---- */
uint64_t random_next(generator *g);
int random_below(generator *g, int n);
int random_chance(generator *g, int percent);
void put(generator *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void put_line(generator *g);
const char *kind_name(int32_t kind);
int kind_is_integer(int32_t kind);
int kind_is_signed(int32_t kind);
int kind_is_float(int32_t kind);
int kind_bits(int32_t kind);
int32_t random_scalar(generator *g);
int32_t random_integer(generator *g);
int32_t random_float(generator *g);
random_type scalar_type(int32_t kind);
random_type random_any_type(generator *g);
int same_type(const random_type *a, const random_type *b);
void put_type(generator *g, const random_type *type);
random_variable *new_variable(generator *g, const char *prefix,
                              random_type type);

/* ---- expressions.c ---- */
void put_expression(generator *g, const random_type *type, int depth);
void put_scalar(generator *g, int32_t kind, int depth);
/* An i64 in 0 .. below it, where `below` is a text. */
void put_index(generator *g, const char *below, int depth);

/* ---- conversions.c ---- */
void put_literal(generator *g, int32_t kind);
void put_conversion(generator *g, int32_t kind, int depth);
void put_bool(generator *g, int depth);
/* Sometimes wants the next value to be uniform, so that what depends on it can
   be collective; returns whether it does. Whoever calls puts is_uniform back.
 */
int put_uniform(generator *g, int wanted);

/* ---- statements.c ---- */
void put_statements(generator *g, int count, int depth);

/* ---- patterns.c ---- */
void put_pattern(generator *g);
/* The same at the edge of what is there, and sometimes beyond. */
void put_edge(generator *g);

/* ---- together.c ---- */

/* A value that a group or sub-group makes together; false if none can be. */
int put_together(generator *g, int32_t kind, int depth);
/* Statements around a barrier. */
void put_exchange(generator *g);

#endif /* KILN_TESTS_GENERATOR_H */
