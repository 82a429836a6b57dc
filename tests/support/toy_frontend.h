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

/* What a function is from some world on. */
struct toy_version {
    uint64_t world;
    int number; /* its meaning: enters IR and answers */
    int callees[TOY_CALLEES];
    int callee_count;
    int fails; /* 0, or a status that infer() returns */
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
    int inferred[TOY_FUNCTIONS]; /* how often infer() ran for each */
    int lowered[TOY_FUNCTIONS];  /* and lower() */
    /* Called with what lower() is asked for; may be NULL. */
    void (*lower_hook)(struct toy *toy, const kiln_lower_request *request);
    unsigned forgiving; /* bit `id`: it passes over callees that fail */
    /* Called at the start of infer(), without a lock; may be NULL. */
    void (*hook)(struct toy *toy, int id);
    void *hook_data;
    /* Called once, when the program's digest is asked for; may be NULL. */
    void (*program_hook)(struct toy *toy);
    /* The same, of infer() and of lower(); a failure is the function's. */
    toy_callback infer_callback;
    toy_callback lower_callback;
    const char *body; /* of the kernels that lower() gives; NULL: empty */
    const char *head; /* what their module has in front; NULL: nothing */
    /* Not 0: another subject that each function's query is recorded under. */
    uint64_t second_subject[TOY_FUNCTIONS];
    kiln_status answer_fails;        /* once, with this */
    const char *uses[TOY_FUNCTIONS]; /* a symbol of a runtime library each */
    /* Names of host objects, ended by NULL; functions end in "()". */
    const char *sites[TOY_FUNCTIONS][TOY_SITES + 1];
    uint64_t collected; /* the world that collect() was told last */
    int tells_before;   /* definitions begin with kiln_world_changing() */
};

/* Adds the frontend to the context, with TOY_FUNCTIONS empty functions. */
kiln_status toy_open(struct toy *toy, kiln_context *context,
                     kiln_error **error);

/* Gives function `id` a meaning and callees (a list ended by -1), in a new
   world, and tells Kiln. `report` may be NULL. */
kiln_status toy_define(struct toy *toy, int id, int number, const int *callees,
                       kiln_change_report *report);

/* The first half of it: advances the world, and returns it. */
uint64_t toy_advance(struct toy *toy, int id, int number, const int *callees);

/* Adds another frontend of the same kind, called `name`. */
kiln_status toy_open_as(struct toy *toy, kiln_context *context,
                        const char *name, kiln_error **error);

/* The callbacks by which results of another process are found; toy_open()
   offers none of them. */
#define TOY_ROOT 1u
#define TOY_PROGRAM 2u
#define TOY_TYPE 4u
#define TOY_FUNCTION 8u
#define TOY_ALL 15u
kiln_status toy_open_with(struct toy *toy, kiln_context *context,
                          const char *name, unsigned offers,
                          kiln_error **error);

/* The signature of function `id`, which takes nothing. */
kiln_signature toy_signature(const struct toy *toy, int id);

#endif /* KILN_TESTS_TOY_FRONTEND_H */
