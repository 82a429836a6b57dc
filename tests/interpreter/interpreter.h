/* interpreter.h - runs typed IR without compiling it, as a second opinion. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_INTERPRETER_H
#define KILN_TESTS_INTERPRETER_H

#include "kiln/compile.h"
#include "kiln/device.h"

/*
 * The interpreter was written from docs/language.md and ir_ops.h, and shares
 * nothing with the code generators. The items of a group run one after the
 * other, each up to the next operation that they do together. Floats are as
 * strict as IEEE 754 demands; lexical switches for floats are ignored. Prints
 * are not kept.
 *
 * The language does not say which of several exceptions a launch reports, so
 * all that may be the first are listed.
 */

#define INTERPRETER_TREE_MAX 64 /* lanes of a sub-group, by_tree */

/* How a run ended. */
#define INTERPRETER_DONE 0  /* with or without exceptions */
#define INTERPRETER_STUCK 1 /* items wait for others that never come */
/* The language does not define what happens. */
#define INTERPRETER_UNDEFINED 2
#define INTERPRETER_LIMIT 3 /* too many steps, or calls nested too deeply */

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
    uint64_t block[3];            /* no size is 0 */
    const void *const *arguments; /* as for kiln_queue_launch() */
    int bounds_off;               /* as the config's setting */
    uint64_t steps;               /* most steps of all items */
    uint64_t sub_group;           /* lanes of a sub-group; not 0 */
    /* A sum of a sub-group is a tree: in each step a lane adds the value of the
       lane at twice the distance of the step before. If not set, the order is
       that of the lanes. */
    int by_tree;
} interpreter_launch;

typedef struct interpreter_result {
    int ending; /* INTERPRETER_... */
    const char *reason;
    interpreter_exception *exceptions; /* lent until the next run */
    size_t exception_count;
} interpreter_result;

typedef struct interpreter interpreter;

/* For a kernel whose context lives longer than the interpreter. NULL for typed
   IR that is not Kiln's own. */
interpreter *interpreter_new(const kiln_code *root);
void interpreter_free(interpreter *in);
/* Runs a launch on the arrays of its arguments. */
void interpreter_run(interpreter *in, const interpreter_launch *launch,
                     interpreter_result *out);

#endif /* KILN_TESTS_INTERPRETER_H */
