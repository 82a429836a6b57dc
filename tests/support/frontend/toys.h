/* toys.h - a context with a toy frontend, and what happened in it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_TOYS_H
#define KILN_TESTS_TOYS_H

#include "kiln.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"

typedef struct toys {
    kiln_context *context;
    const kiln_config *config;
    struct toy toy;
    /* What the host was told; atomic. */
    int waits_entered;
    int waits_left;
    int jobs_ended;
    int stages_ended;
    /* May be set by the test; called by the host's callbacks of that name. */
    void (*on_blocking)(struct toys *toys);
    void (*on_event)(struct toys *toys, const kiln_event *event);
} toys;

#define CALLS(...) ((const int[]){__VA_ARGS__, -1})

/* Fixtures: *state is the toys, with two workers, or with one. */
int toys_setup(void **state);
int toys_setup_one_worker(void **state);
int toys_teardown(void **state);
/* Returns the toys of the running test, for the toy's callbacks. */
toys *toys_of(struct toy *toy);

void toys_define(toys *t, int id, int number, const int *callees);
/* May be called in any thread; `error` may be NULL. */
kiln_status toys_infer(toys *t, int id, const kiln_code **out,
                       kiln_error **error);
kiln_status toys_compile(toys *t, int id, const kiln_kernel **out,
                         kiln_error **error);
kiln_batch_job toys_job(toys *t, int id);
/* Returns what a tier counted. Fails unless each request has exactly one
   outcome. */
kiln_tier_statistics toys_counts(const toys *t, int32_t tier);

/* Runs `count` threads that compile (or infer) ids[i], all at the same time. */
typedef struct toys_caller {
    toys *toys;
    int id;
    int infers;
    pthread_barrier_t *start;
    kiln_status status;
    kiln_error *error; /* toys_callers_end() frees it */
    const kiln_kernel *kernel;
    const kiln_code *code;
} toys_caller;
void toys_call(toys *t, toys_caller *callers, const int *ids, size_t count,
               int infers);
void toys_callers_end(toys_caller *callers, size_t count);

/* Lets each of `count` threads wait here until all have come, each once: bit
   `index` of *arrived. */
void toys_meet(int *arrived, int index, int count);

#endif /* KILN_TESTS_TOYS_H */
