/* ir_uniform.h - what is the same for all items of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_UNIFORM_H
#define KILN_IR_UNIFORM_H

#include "ir/ir.h"

/*
 * A *collective* operation is done by all items of a group together (BARRIER,
 * group_...) or by all of a sub-group (shuffles, sub_group_...): no item may
 * stay away. Whether it does is decided by the level of a value, which says
 * for whom it is the same, and by the level of the control that leads to a
 * node, which says who gets there together.
 *
 * Functions are looked at in *views*: with the levels of the arguments and the
 * level of the call that lead there, so what one caller does costs another one
 * nothing. Levels only rise, until nothing changes.
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

/* One function of a closure; the first three are given. */
typedef struct kiln__uniform_function {
    const kiln__ir *ir;
    const uint32_t *callees; /* by the IR's callee table */
    size_t callee_count;
    uint8_t collective; /* KILN__COLLECTIVE_..., with what it calls */
    uint8_t shares;     /* it or a callee has a LOCAL_ARRAY */
    uint8_t varies;     /* may give uniform arguments various results */
    uint8_t recursive;
} kiln__uniform_function;

typedef struct kiln__uniform_view {
    struct kiln__uniform_view *next;
    const kiln__uniform_function *function;
    const uint8_t *parameters; /* levels of the arguments */
    uint8_t control;           /* of the call */
    uint8_t result;
    uint8_t is_checked;
    uint8_t *locals;   /* levels, by local */
    uint8_t *values;   /* by node; of a loop: who leaves it early together */
    uint8_t *controls; /* by node */
} kiln__uniform_view;

typedef struct kiln__uniform {
    kiln__arena arena;
    kiln__uniform_function *functions; /* the caller's */
    size_t count;
    kiln__uniform_view *views;
    int no_stack; /* why there was not enough memory */
} kiln__uniform;

/* Finds the facts of all functions; they must outlive `u`. */
void kiln__uniform_init(kiln__uniform *u, const kiln_alloc *alloc,
                        kiln__uniform_function *functions, size_t count);
void kiln__uniform_dispose(kiln__uniform *u);
/* What an operation is: KILN__COLLECTIVE_..., calls not counted. */
uint8_t kiln__ir_collective(const kiln__ir_node *node);
/* The view of a function that is not recursive; NULL when out of memory, or of
   the thread's stack (`no_stack`). */
const kiln__uniform_view *kiln__uniform_look(kiln__uniform *u, size_t function,
                                             const uint8_t *parameters,
                                             uint8_t control);
/* Of the entry: its arguments are uniform. */
const kiln__uniform_view *kiln__uniform_entry(kiln__uniform *u);

/* ---- ir_uniform_check.c: collective operations in the wrong place ---- */

typedef enum kiln__uniform_problem {
    KILN__PROBLEM_NONE,
    KILN__PROBLEM_CONDITION, /* `cause` is a condition that differs */
    KILN__PROBLEM_JUMP,      /* `cause`: some items have left */
    KILN__PROBLEM_LANE,      /* a broadcast from no single item */
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
    uint8_t level;  /* at which it should be uniform */
    /* The calls that lead there, the entry's first. */
    kiln__uniform_place calls[KILN__PLACES_MAX];
    size_t call_count; /* may be more than are kept */
} kiln__uniform_error;

/* Looks at everything that the entry, function 0, calls; false with the first
   problem found. */
int kiln__uniform_check(kiln__uniform *u, kiln__uniform_error *out);

#endif /* KILN_IR_UNIFORM_H */
