/* machine.h - what the files of the interpreter share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_MACHINE_H
#define KILN_TESTS_MACHINE_H

#include "interpreter.h"
#include "ir/ir_tables.h"

/*
 * The tree of a function is translated to steps of a stack machine, so that an
 * item can stop anywhere and go on later. The stack holds *cells* of 64 bits. A
 * scalar is one cell (integers are extended, floats are their bits, Bool is 0
 * or 1). An aggregate is the cells of its parts, and an array its address,
 * sizes and strides. A value of size zero has no cells.
 */
typedef uint64_t cell;

/* Where a scalar of a value is in memory. */
typedef struct leaf {
    uint32_t offset;
    int32_t kind;
} leaf;

typedef struct layout {
    uint32_t cells;
    uint32_t size; /* in memory; 0 for an array */
    uint32_t alignment;
    leaf *leaves; /* one for each cell; NULL for an array */
} layout;

/* Steps that are no operations of typed IR. */
enum {
    STEP_JUMP = KILN__IR_OP_COUNT,
    STEP_UNLESS,    /* jumps if the Bool on the stack is false */
    STEP_PUSH,      /* pushes `target` as a cell */
    STEP_DROP,      /* drops `target` cells */
    STEP_LOOP_OPEN, /* takes low and high */
    STEP_LOOP_TEST, /* jumps if no iterations are left; else sets the local */
    STEP_LOOP_NEXT
};

typedef struct step {
    uint32_t op; /* kiln__ir_op or STEP_... */
    uint32_t node;
    uint32_t target;
} step;

typedef struct function {
    kiln__ir ir;
    layout *layouts;  /* by type */
    uint32_t *places; /* by local: the first cell in the frame */
    /* By node of a FOR, three cells: next, step, iterations left. */
    uint32_t *turns;
    uint32_t frame; /* size in cells */
    step *steps;
    size_t step_count;
    size_t *callees; /* by the IR's table: index of the function */
} function;

typedef struct frame {
    const function *function;
    size_t next; /* number of the next step */
    size_t base; /* first cell of the frame */
} frame;

enum { ITEM_READY, ITEM_AT_SUB_GROUP, ITEM_AT_GROUP, ITEM_DONE, ITEM_FAILED };

typedef struct item {
    uint64_t global_id[3];
    uint64_t local_id[3];
    uint64_t number; /* in a full group */
    int state;
    cell *cells;
    size_t cell_count, cell_capacity;
    frame *frames;
    size_t frame_count, frame_capacity;
} item;

/* An array that a group shares. */
typedef struct shared {
    const function *function;
    uint32_t node;
    unsigned char *bytes;
    size_t size;
} shared;

struct interpreter {
    function *functions;
    size_t function_count;
    const kiln_code **codes;
    const interpreter_launch *launch;
    interpreter_result *result;
    interpreter_exception *exceptions;
    size_t exception_capacity;
    uint64_t steps_left;
    uint64_t group_id[3];
    item *items;
    size_t item_count, item_capacity;
    shared *shared;
    size_t shared_count, shared_capacity;
};

/* ---- translate.c ---- */
void *machine_allocate(size_t count, size_t size);
void *machine_grow(void *items, size_t *capacity, size_t count, size_t size);
/* Lays out types and makes the steps of a decoded function. */
void machine_translate(function *f);
void machine_dispose(function *f);

/* ---- numbers.c ---- */

/* Why an operation on scalars is not allowed. */
enum { NUMBER_FINE, NUMBER_DIVISION, NUMBER_INEXACT };

cell number_unary(uint32_t op, int32_t kind, cell a);
/* `fault` receives NUMBER_... */
cell number_binary(uint32_t op, int32_t kind, cell a, cell b, int *fault);
cell number_compare(uint32_t op, int32_t kind, cell a, cell b);
cell number_convert(uint32_t op, int32_t from, int32_t to, cell a, int *fault);
cell number_constant(int32_t kind, int64_t bits);
double number_to_double(int32_t kind, cell a);
cell number_from_double(int32_t kind, double value);
/* Extends the value in the low bits. */
cell number_extend(int32_t kind, uint64_t bits);

/* ---- mathematics.c ---- */
cell number_math(int64_t math, int32_t kind, const cell *a);

/* ---- memory.c ---- */
void memory_load(const layout *type, const unsigned char *from, cell *to);
void memory_store(const layout *type, unsigned char *to, const cell *from);
/* Returns what an atomic operation stores, given the old value. */
cell memory_atomic(int64_t atomic, int32_t kind, cell old, const cell *values);

/* ---- execute.c ---- */

/* The context of a step. */
typedef struct machine_work {
    interpreter *in;
    item *it;
    const function *f;
    const kiln__ir_node *node;
    const step *step;
    cell *operands; /* the first cell of the first operand */
    size_t taken;   /* number of cells of all operands */
    size_t base;    /* first cell of the frame */
} machine_work;

uint32_t machine_type_of(const machine_work *w, size_t operand);
const layout *machine_layout_of(const machine_work *w, size_t operand);
/* Makes room for more cells. The run ends when there is not enough. */
void machine_reserve(interpreter *in, item *it, size_t count);
/* Replaces `taken` cells, or the operands, by the `given` ones. */
void machine_give(interpreter *in, item *it, size_t taken, const cell *given,
                  size_t count);
void machine_push(const machine_work *w, const cell *cells, size_t count);
void machine_push_one(const machine_work *w, cell value);

/* Ends the run for a reason other than an exception. */
void machine_end(interpreter *in, int ending, const char *reason);
void machine_raise(interpreter *in, item *it, const kiln__ir_node *node,
                   int32_t kind, int64_t value0, int64_t value1);
/* Runs until the item waits, is done or failed, or the run has ended. */
void machine_run_item(interpreter *in, item *it);
/* Returns the operation at which an item waits. */
const kiln__ir_node *machine_waits_at(const item *it);
/* Returns the first cell of its operands. */
cell *machine_operands(const item *it);

/* ---- arrays.c ---- */
void machine_fields(const machine_work *w);
void machine_splat(const machine_work *w);
void machine_elements(const machine_work *w);
void machine_shape(const machine_work *w);
void machine_access(const machine_work *w); /* LOAD, STORE, ATOMIC */
void machine_local_array(const machine_work *w);

/* ---- group.c ---- */
void machine_run_group(interpreter *in);

#endif /* KILN_TESTS_MACHINE_H */
