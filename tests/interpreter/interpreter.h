/* interpreter.h - runs typed IR without compiling it: a second opinion. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_INTERPRETER_H
#define KILN_TESTS_INTERPRETER_H

#include "kiln/compile.h"
#include "kiln/device.h"

/*
 * Written from docs/language.md and ir_ops.h, and from nothing that generates
 * code. The items of a group run one after the other up to the next operation
 * that they do together. Floats are as strict as IEEE 754 asks for; lexical
 * switches of floats mean nothing here. What is printed is not kept.
 *
 * Which of several exceptions a launch reports is open: all that may be the
 * first are listed.
 */

#define INTERPRETER_TREE_MAX 64 /* lanes of a sub-group, by_tree */

/* How a run ended. */
#define INTERPRETER_DONE 0      /* with or without exceptions */
#define INTERPRETER_STUCK 1     /* items wait for others that never come */
#define INTERPRETER_UNDEFINED 2 /* the language does not say what happens */
#define INTERPRETER_LIMIT 3     /* too many steps, or too deep */

typedef struct interpreter_exception {
    int32_t kind; /* KILN_EXCEPTION_... */
    const char *method;
    uint32_t ordinal;
    uint64_t group[3];
    uint64_t item[3];
    int64_t values[2];
} interpreter_exception;

typedef struct interpreter_launch {
    uint64_t grid[3];
    uint64_t block[3];            /* none is 0 */
    const void *const *arguments; /* as for kiln_queue_launch() */
    int bounds_off;               /* as the config's setting */
    uint64_t steps;               /* at most, in all */
    uint64_t sub_group;           /* lanes of one; not 0 */
    /* Sums of a sub-group are a tree, in which each lane takes in what is at
       twice the distance of the step before; else in the order of the lanes. */
    int by_tree;
} interpreter_launch;

typedef struct interpreter_result {
    int ending; /* INTERPRETER_... */
    const char *reason;
    interpreter_exception *exceptions; /* lent until the next run */
    size_t exception_count;
} interpreter_result;

typedef struct interpreter interpreter;

/* For a kernel; its context must outlive the interpreter. NULL for typed IR
   that is not Kiln's own. */
interpreter *interpreter_new(const kiln_code *root);
void interpreter_free(interpreter *in);
/* Runs a launch on the arrays of its arguments. */
void interpreter_run(interpreter *in, const interpreter_launch *launch,
                     interpreter_result *out);

#endif /* KILN_TESTS_INTERPRETER_H */
