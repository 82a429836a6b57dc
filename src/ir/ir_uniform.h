/* ir_uniform.h - what is the same for all items of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_UNIFORM_H
#define KILN_IR_UNIFORM_H

#include "ir/ir.h"

/*
 * A *collective* operation is done by all items of a group together (BARRIER,
 * group_...) or by all items of a sub-group (shuffles, sub_group_...). Every
 * item has to take part. Whether that holds is decided by two levels: the level
 * of a value says for which items it is the same, and the level of the control
 * that leads to a node says which items get there together.
 *
 * A function is examined in *views*: for given levels of the arguments and of
 * the call. So what one caller passes does not affect other callers. Levels
 * only rise, until nothing changes.
 *
 * Loads at uniform indices are uniform: items of a launch do not race between
 * barriers.
 */

#define KILN__UNIFORM_GROUP 0
#define KILN__UNIFORM_SUB_GROUP 1
#define KILN__UNIFORM_NOT 2

#define KILN__COLLECTIVE_NONE 0
#define KILN__COLLECTIVE_SUB_GROUP 1
#define KILN__COLLECTIVE_GROUP 2

/* One function of a closure. The caller sets the first three members. */
typedef struct kiln__uniform_function {
    const kiln__ir *ir;
    const uint32_t *callees; /* by index in the IR's table of callees */
    size_t callee_count;
    uint8_t collective; /* KILN__COLLECTIVE_..., including its callees */
    uint8_t shares;     /* it or a callee has a LOCAL_ARRAY */
    uint8_t varies;     /* may return different results for uniform arguments */
    uint8_t recursive;
} kiln__uniform_function;

typedef struct kiln__uniform_view {
    struct kiln__uniform_view *next;
    const kiln__uniform_function *function;
    const uint8_t *parameters; /* levels of the arguments */
    uint8_t control;           /* level of the call */
    uint8_t result;
    uint8_t is_checked;
    uint8_t *locals; /* by local: its level */
    /* By node: its level. For a loop: which items leave it early together. */
    uint8_t *values;
    uint8_t *controls; /* by node: the level of its control */
} kiln__uniform_view;

typedef struct kiln__uniform {
    kiln__arena arena;
    kiln__uniform_function *functions; /* the caller's */
    size_t count;
    kiln__uniform_view *views;
    int no_stack; /* the stack was too small, not memory */
} kiln__uniform;

/* Finds the facts of all functions. The functions must live as long as `u`. */
void kiln__uniform_init(kiln__uniform *u, const kiln_alloc *alloc,
                        kiln__uniform_function *functions, size_t count);
void kiln__uniform_dispose(kiln__uniform *u);
/* Returns the kind of an operation, KILN__COLLECTIVE_...; calls are not
   followed. */
uint8_t kiln__ir_collective(const kiln__ir_node *node);
/* Returns the view of a function that is not recursive. NULL: out of memory, or
   out of stack (`no_stack`). */
const kiln__uniform_view *kiln__uniform_view_of(kiln__uniform *u,
                                                size_t function,
                                                const uint8_t *parameters,
                                                uint8_t control);
/* Returns the view of the entry, whose arguments are uniform. */
const kiln__uniform_view *kiln__uniform_entry(kiln__uniform *u);

/* ---- ir_uniform_check.c: collective operations in the wrong place ---- */

typedef enum kiln__uniform_problem {
    KILN__PROBLEM_NONE,
    /* `cause` is a condition that differs between items. */
    KILN__PROBLEM_CONDITION,
    KILN__PROBLEM_JUMP,      /* `cause`: some items have left */
    KILN__PROBLEM_LANE,      /* a broadcast that is not from one single item */
    KILN__PROBLEM_RECURSION, /* the callee is collective and recursive */
    KILN__PROBLEM_MEMORY
} kiln__uniform_problem;

#define KILN__PLACES_MAX 16

/* A node of a method. */
typedef struct kiln__uniform_place {
    const kiln__uniform_function *function;
    uint32_t node;
} kiln__uniform_place;

typedef struct kiln__uniform_error {
    kiln__uniform_problem problem;
    kiln__uniform_place at;
    uint32_t cause; /* a node of the same function, or 0 */
    uint8_t level;  /* the level at which it should be uniform */
    /* The calls that lead there, beginning with the entry's. */
    kiln__uniform_place calls[KILN__PLACES_MAX];
    size_t call_count; /* may exceed the number that is kept */
} kiln__uniform_error;

/* Examines everything that the entry, function 0, calls. Returns false with the
   first problem that it finds. */
int kiln__uniform_check(kiln__uniform *u, kiln__uniform_error *out);

#endif /* KILN_IR_UNIFORM_H */
