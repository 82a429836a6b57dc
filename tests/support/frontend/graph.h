/* graph.h - frontends whose programs call and derive from each other's
   functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GRAPH_H
#define KILN_TESTS_GRAPH_H

#include <pthread.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"

/*
 * Three frontends and the kernel language define functions that consist of a
 * number and of edges. The functions of "low a" and "low b" are lowered by
 * these frontends themselves. Their typed IR is bytes that mean nothing to
 * Kiln, and the kernel of a function writes a hash of the names, types and
 * typed IR of all that it calls. The typed IR has no names and types, so it is
 * the same bytes for many functions. The functions of "typed" have Kiln's typed
 * IR: they return their number and what they call, and kernels write that. An
 * edge that derives makes the typed IR of the function it leads to, of whatever
 * frontend, a part of the function's own: it is a dependency without a call.
 *
 * What functions mean is computed twice: by Kiln, and by graph_value(), which
 * uses definitions and nothing of Kiln.
 */
enum { GRAPH_LOW_A, GRAPH_LOW_B, GRAPH_TYPED, GRAPH_LANGUAGE, GRAPH_COUNT };

#define GRAPH_FUNCTIONS 5 /* of each frontend */
#define GRAPH_EDGES 3     /* of one function */
#define GRAPH_HISTORY 200 /* definitions of one function */
#define GRAPH_HELD 16     /* worlds of one frontend at a time */
#define GRAPH_TYPES 2     /* types that lowered functions exist for */

/* Settings: the usual ones; others that infer() may read; others that only
   lower() may read. */
enum { GRAPH_USUAL, GRAPH_OVERLAID, GRAPH_OPTIMISED, GRAPH_SETTINGS };

typedef struct graph_edge {
    int derives; /* otherwise it calls */
    int to;      /* GRAPH_... */
    int function;
    int type; /* for an end that is lowered */
} graph_edge;

#define GRAPH_FORGIVES_ALL 2 /* whatever the error is */

/* What a function is, beginning with some world. */
typedef struct graph_definition {
    uint64_t world;
    uint64_t number;
    int fails;    /* the function has an error */
    int forgives; /* it ignores edges to functions with errors */
    int edge_count;
    graph_edge edges[GRAPH_EDGES];
} graph_definition;

typedef struct graph_program {
    graph_definition versions[GRAPH_FUNCTIONS][GRAPH_HISTORY];
    int counts[GRAPH_FUNCTIONS];
    uint64_t world; /* the current one; the language's is Kiln's */
} graph_program;

struct graph;

/* What a frontend may do wrong. */
#define GRAPH_FAULT_DEPEND 1u /* does not say what it derives from */
#define GRAPH_FAULT_QUERY 2u  /* does not say what it asked */
#define GRAPH_FAULT_ANSWER 4u /* never changes its answers and roots */
#define GRAPH_FAULT_CHANGE 8u /* does not tell its changes */
#define GRAPH_FAULT_LOWER 16u /* lower() reads what is in no key */
/* infer() reads settings that it must not. */
#define GRAPH_FAULT_SETTINGS 32u
/* The program is said to be always the same. */
#define GRAPH_FAULT_PROGRAM 64u
/* Answers for a held world with what is current. */
#define GRAPH_FAULT_HELD 128u

/* What may go wrong once, in infer(). */
enum { GRAPH_NO_TROUBLE, GRAPH_IO_FAILS, GRAPH_NO_MEMORY, GRAPH_SAYS_NOTHING };

typedef struct graph_frontend {
    struct graph *graph;
    int which; /* GRAPH_... */
    kiln_frontend *frontend;
    const kiln_function *functions[GRAPH_FUNCTIONS];
    /* Of frontends that lower: the functions. */
    const kiln_function *kernels[GRAPH_FUNCTIONS];
    pthread_mutex_t lock;
    graph_program program;
    struct {
        uint64_t world;
        int count;
    } held[GRAPH_HELD];
    uint64_t oldest;               /* no earlier world will be asked about */
    int inferred[GRAPH_FUNCTIONS]; /* how often infer() ran */
    int lowered;
    uint64_t asked;   /* how often answer() ran */
    int wrong_worlds; /* questions about worlds that must not be asked about */
    /* Called at the start of infer(), without the lock; may be NULL. */
    void (*hook)(struct graph_frontend *f, int function);
    void *hook_data;
    unsigned faults; /* GRAPH_FAULT_... */
    int asks_today;  /* derives from what is current, not in its worlds */
    int trouble;     /* GRAPH_..., the next time */
} graph_frontend;

/* Which callbacks the frontends offer. */
#define GRAPH_ROOT 1u
#define GRAPH_PROGRAM 2u
#define GRAPH_FIND 4u /* find type and function */
#define GRAPH_HOLD 8u /* hold and collect */
#define GRAPH_ALL 15u

typedef struct graph {
    kiln_context *context;
    const kiln_config *config; /* the usual one */
    const kiln_config *configs[GRAPH_SETTINGS];
    const kiln_type *arrays[GRAPH_TYPES]; /* arrays that kernels write to */
    kiln_package *package;                /* the language's */
    graph_frontend frontends[GRAPH_COUNT];
    kiln_device *device;
    kiln_queue *queue;
    int32_t source; /* typed IR of the last kernel */
} graph;

/* Makes a context with empty functions. `cache` may be NULL: off. */
kiln_status graph_open(graph *g, const kiln_cache_options *cache,
                       unsigned offers, kiln_error **error);
void graph_close(graph *g);

/* Gives a function another meaning, in a new world, and tells Kiln. */
kiln_status graph_define(graph *g, int which, int function,
                         const graph_definition *definition,
                         kiln_change_report *report);

/* A kernel: what to ask for, and in which world. */
typedef struct graph_job {
    int which; /* GRAPH_... */
    int function;
    int type; /* of a function that is lowered */
    int settings;
    uint64_t world; /* 0: the current one */
} graph_job;

/* Returns the signature of a kernel, which is valid while the graph is open. */
kiln_signature graph_kernel(const graph *g, int which, int function);
kiln_signature graph_job_kernel(const graph *g, const graph_job *job);
/* Compiles the kernel in `world` (0: the current one), runs it, and stores what
   it wrote. */
kiln_status graph_run(uint64_t *value, graph *g, int which, int function,
                      uint64_t world, kiln_error **error);
/* As graph_run(), on a queue of the calling thread. */
kiln_status graph_run_job(uint64_t *value, graph *g, const graph_job *job,
                          kiln_queue *queue, kiln_error **error);
/* Stores the code instance of the function itself. */
kiln_status graph_infer(const kiln_code **out, graph *g, int which,
                        int function, uint64_t world, kiln_error **error);
kiln_status graph_infer_job(const kiln_code **out, graph *g,
                            const graph_job *job, kiln_error **error);

/*
 * Computes what the kernel writes from definitions alone: those of its own
 * frontend in `world` (0: the current one), and the current ones of all others.
 * Statuses are those of graph_run(): KILN_ECOMPILE, or KILN_ERECURSION for a
 * function that derives from itself. `language_ir` hashes the typed IR of a
 * function of the language.
 */
typedef kiln_status (*graph_language_ir)(void *env, int function, int settings,
                                         uint64_t *hash);
kiln_status graph_value(uint64_t *value, graph *g, int which, int function,
                        uint64_t world, graph_language_ir language_ir,
                        void *env);
kiln_status graph_job_value(uint64_t *value, graph *g, const graph_job *job,
                            graph_language_ir language_ir, void *env);

/* True when the result may be KILN_ERECURSION. Where a function has an error
   and also derives from itself, either may be found first. */
int graph_job_may_recurse(graph *g, const graph_job *job);

uint64_t graph_hash(uint64_t h, const void *bytes, size_t size);
#define GRAPH_HASH 0xcbf29ce484222325u /* initial value of a hash */

#endif /* KILN_TESTS_GRAPH_H */
