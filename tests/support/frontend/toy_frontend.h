/* toy_frontend.h - a frontend whose programs are call graphs of numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_TOY_FRONTEND_H
#define KILN_TESTS_TOY_FRONTEND_H

#include <pthread.h>

#include "kiln/sys/frontend.h"

#define TOY_FUNCTIONS 16
#define TOY_CALLEES 4
#define TOY_HISTORY 32
#define TOY_SITES 4

/* What a function is, beginning with some world. */
struct toy_version {
    uint64_t world;
    int number; /* its meaning, which is in its IR and in answers */
    int callees[TOY_CALLEES];
    int callee_count;
    int fails; /* 0, or the status that infer() returns */
};

struct toy;
typedef kiln_status (*toy_callback)(struct toy *toy, int id,
                                    kiln_error **error);

struct toy {
    pthread_mutex_t lock;
    kiln_context *context;
    kiln_frontend *frontend;
    uint64_t world;
    struct toy_version versions[TOY_FUNCTIONS][TOY_HISTORY];
    int version_counts[TOY_FUNCTIONS];
    const kiln_function *functions[TOY_FUNCTIONS];
    int inferred[TOY_FUNCTIONS]; /* by function: how often infer() ran */
    int lowered[TOY_FUNCTIONS];  /* by function: how often lower() ran */
    /* Called with the request for lower(); may be NULL. */
    void (*lower_hook)(struct toy *toy, const kiln_lower_request *request);
    unsigned forgiving; /* bit `id`: the function ignores callees that fail */
    /* Called at the start of infer(), without a lock; may be NULL. */
    void (*hook)(struct toy *toy, int id);
    void *hook_data;
    /* Called once, when the program's digest is asked for; may be NULL. */
    void (*program_hook)(struct toy *toy);
    /* Called in infer() and in lower(); a failure is the function's. */
    toy_callback infer_callback;
    toy_callback lower_callback;
    const char *body; /* body of the kernels that lower() makes; NULL: empty */
    const char *head; /* what precedes it in their module; NULL: nothing */
    /* If not 0, the query of each function is recorded under this subject,
       too. */
    uint64_t second_subject[TOY_FUNCTIONS];
    kiln_status answer_fails; /* answer() returns this once */
    /* By function: a symbol of a runtime library. */
    const char *uses[TOY_FUNCTIONS];
    /* Names of host objects; NULL ends the list. Functions end in "()". */
    const char *sites[TOY_FUNCTIONS][TOY_SITES + 1];
    uint64_t collected; /* the world that collect() was last called with */
    int tells_before;   /* definitions call kiln_world_changing() first */
};

/* Adds the frontend to the context, with TOY_FUNCTIONS empty functions. */
kiln_status toy_open(struct toy *toy, kiln_context *context,
                     kiln_error **error);

/* Gives function `id` a meaning and callees (-1 ends the list), in a new world,
   and tells Kiln. `report` may be NULL. */
kiln_status toy_define(struct toy *toy, int id, int number, const int *callees,
                       kiln_change_report *report);

/* Does the first half of toy_define(): advances the world, and returns it. */
uint64_t toy_advance(struct toy *toy, int id, int number, const int *callees);

/* Adds another frontend of the same kind, with the name `name`. */
kiln_status toy_open_as(struct toy *toy, kiln_context *context,
                        const char *name, kiln_error **error);

/* The callbacks that find results of another process; toy_open() offers none of
   them. */
#define TOY_ROOT 1u
#define TOY_PROGRAM 2u
#define TOY_TYPE 4u
#define TOY_FUNCTION 8u
#define TOY_ALL 15u
kiln_status toy_open_with(struct toy *toy, kiln_context *context,
                          const char *name, unsigned offers,
                          kiln_error **error);

/* Returns the signature of function `id`, which takes no arguments. */
kiln_signature toy_signature(const struct toy *toy, int id);

#endif /* KILN_TESTS_TOY_FRONTEND_H */
