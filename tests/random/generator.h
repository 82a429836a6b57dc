/* generator.h - makes random kernels that follow the language's rules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GENERATOR_H
#define KILN_TESTS_GENERATOR_H

#include "base/data/array.h"
#include "kiln/type.h"

/*
 * A seed always gives the same program: some functions, and a kernel that reads
 * arrays anywhere and writes its own elements. Items do not race, loops end,
 * and no result depends on the bits of a NaN or the sign of a zero. Half of the
 * programs raise no exception.
 */

/* What a kernel can be launched with. */
#define GENERATED_ARRAYS 6  /* only read */
#define GENERATED_OUTPUTS 4 /* an element for each item */

typedef struct generated {
    kiln__text source;
    uint32_t grid_rank; /* 1 to 3 */
    int is_collective;  /* does something together with its group */
    int may_fail;
    int has_edges; /* may fail at edges, and nowhere else */
    /* Types of the arguments, in order: outputs; approximations (f64[:]); sums
       over all items (i64[:], of 8); arrays; then i64, i32, u16, f32, f64, Bool
       and a tuple (i32, f64). */
    char output_types[GENERATED_OUTPUTS][40];
    char array_types[GENERATED_ARRAYS][40];
} generated;

void generate(generated *out, uint64_t seed);

/* ---- what the files of the generator share ---- */

/* A scalar; or a tuple, a vector, or the program's struct P or Q{T} of
   scalars. */
typedef struct random_type {
    int32_t kind; /* KILN_TYPE_... */
    /* Kinds of the scalars: a tuple has two; a vector and a Q have one. */
    int32_t parts[2];
    int32_t length; /* of a vector */
    int is_q;       /* of a STRUCT: it is Q{T}, otherwise P */
} random_type;

typedef struct random_variable {
    char name[16];
    random_type type;
    int is_uniform; /* and only set to uniform values under uniform control */
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

/* Which items come to the statement that is being written. */
enum { CONTROL_GROUP, CONTROL_SUB_GROUP, CONTROL_NOT };

typedef struct generator {
    generated *out;
    uint64_t state; /* state of the random numbers */
    random_variable variables[VARIABLES_MAX];
    size_t variable_count;
    random_function functions[FUNCTIONS_MAX];
    size_t function_count;
    int32_t output_kinds[GENERATED_OUTPUTS]; /* STRUCT: P */
    int32_t array_kinds[GENERATED_ARRAYS];
    uint32_t array_ranks[GENERATED_ARRAYS];
    int atomic;    /* which atomic operation is used on the sums */
    int in_kernel; /* and not in a function */
    int control;
    int is_lazy;    /* in an expression that not all items evaluate */
    int is_uniform; /* only uniform values are wanted */
    int indent;
    int loops;   /* how deep loops are nested */
    int is_body; /* the block is the body of a loop or of a kernel */
    /* How freely a break may occur: 0 not, 1 under uniform conditions, 2
       anywhere. */
    int can_break;
    int iterations; /* of all enclosing loops, multiplied */
    int names;      /* number of names used up */
    int shared;     /* number of local arrays */
    int budget;     /* for expressions in a statement */
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
/* Writes an i64 in 0 .. `below`, exclusive; `below` is a text. */
void put_index(generator *g, const char *below, int depth);

/* ---- conversions.c ---- */
void put_literal(generator *g, int32_t kind);
void put_conversion(generator *g, int32_t kind, int depth);
void put_bool(generator *g, int depth);
/* Sometimes makes the next value uniform, so that what depends on it can be
   collective; returns whether it does. The caller restores is_uniform. */
int put_uniform(generator *g, int wanted);

/* ---- statements.c ---- */
void put_statements(generator *g, int count, int depth);

/* ---- patterns.c ---- */
void put_pattern(generator *g);
/* As put_pattern(), at the edge of an array, and sometimes beyond it. */
void put_edge(generator *g);

/* ---- together.c ---- */

/* Writes a value that a group or sub-group computes together; false if none is
   possible. */
int put_together(generator *g, int32_t kind, int depth);
/* Writes statements around a barrier. */
void put_exchange(generator *g);

#endif /* KILN_TESTS_GENERATOR_H */
