/* graph.h - frontends whose programs call and derive from each other's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GRAPH_H
#define KILN_TESTS_GRAPH_H

#include <pthread.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"

/*
 * Three frontends and the kernel language define functions of a number and of
 * edges. Those of "low a" and "low b" lower by themselves: their typed IR is
 * bytes that Kiln knows nothing of, the kernel of a function writes a hash of
 * the names, types and typed IR of all that it calls; the typed IR says nothing
 * of names and types, so that it is the same bytes for many of them. Those of
 * "typed" have Kiln's typed IR: they return their number and what they call,
 * and kernels write that. An edge that derives makes the typed IR of its end,
 * whosever it is, a part of the own: it is a dependency without a call.
 *
 * What functions mean is said twice, once to Kiln, once by graph_value(), which
 * knows definitions and nothing of Kiln.
 */
enum { GRAPH_LOW_A, GRAPH_LOW_B, GRAPH_TYPED, GRAPH_LANGUAGE, GRAPH_COUNT };

#define GRAPH_FUNCTIONS 5 /* of each */
#define GRAPH_EDGES 3     /* of one function */
#define GRAPH_HISTORY 200 /* definitions of one function */
#define GRAPH_HELD 16     /* worlds of one frontend at a time */
#define GRAPH_TYPES 2     /* that functions which lower exist for */

/* Settings: the usual ones; others that infer() may look at; others that it
   may not, and lower() may. */
enum { GRAPH_USUAL, GRAPH_OVERLAID, GRAPH_OPTIMISED, GRAPH_SETTINGS };

typedef struct graph_edge {
    int derives; /* else it calls */
    int to;      /* GRAPH_... */
    int function;
    int type; /* of an end that lowers */
} graph_edge;

#define GRAPH_FORGIVES_ALL 2 /* whatever went wrong */

/* What a function is from some world on. */
typedef struct graph_definition {
    uint64_t world;
    uint64_t number;
    int fails;    /* it has an error */
    int forgives; /* it passes over ends of edges that have errors */
    int edge_count;
    graph_edge edges[GRAPH_EDGES];
} graph_definition;

typedef struct graph_program {
    graph_definition versions[GRAPH_FUNCTIONS][GRAPH_HISTORY];
    int counts[GRAPH_FUNCTIONS];
    uint64_t world; /* today's; the language's is Kiln's */
} graph_program;

struct graph;

/* What a frontend may do wrong. */
#define GRAPH_FAULT_DEPEND 1u    /* it does not say what it derives from */
#define GRAPH_FAULT_QUERY 2u     /* nor what it asked */
#define GRAPH_FAULT_ANSWER 4u    /* its answers and roots never change */
#define GRAPH_FAULT_CHANGE 8u    /* it does not tell its changes */
#define GRAPH_FAULT_LOWER 16u    /* lower() looks at what is in no key */
#define GRAPH_FAULT_SETTINGS 32u /* infer() looks at what it must not */
#define GRAPH_FAULT_PROGRAM \
    64u                       /* the program is said to be always the same \
                               */
#define GRAPH_FAULT_HELD 128u /* a held world becomes what is there today */

/* What may go wrong once, in infer(). */
enum { GRAPH_NO_TROUBLE, GRAPH_IO_FAILS, GRAPH_NO_MEMORY, GRAPH_SAYS_NOTHING };

typedef struct graph_frontend {
    struct graph *graph;
    int which; /* GRAPH_... */
    kiln_frontend *frontend;
    const kiln_function *functions[GRAPH_FUNCTIONS];
    const kiln_function *kernels[GRAPH_FUNCTIONS]; /* low: the functions */
    pthread_mutex_t lock;
    graph_program program;
    struct {
        uint64_t world;
        int count;
    } held[GRAPH_HELD];
    uint64_t oldest;               /* no world before will be asked about */
    int inferred[GRAPH_FUNCTIONS]; /* how often infer() ran */
    int lowered;
    uint64_t asked; /* how often answer() ran */
    int strangers;  /* questions about worlds that nobody may ask about */
    /* At the start of infer(), without the lock; may be NULL. */
    void (*hook)(struct graph_frontend *f, int function);
    void *hook_data;
    unsigned faults; /* GRAPH_FAULT_... */
    int asks_today;  /* derives from what is there today, not in its worlds */
    int trouble;     /* GRAPH_..., next time */
} graph_frontend;

/* Which callbacks the frontends offer. */
#define GRAPH_ROOT 1u
#define GRAPH_PROGRAM 2u
#define GRAPH_FIND 4u /* type and function */
#define GRAPH_HOLD 8u /* and collect */
#define GRAPH_ALL 15u

typedef struct graph {
    kiln_context *context;
    const kiln_config *config; /* the usual one */
    const kiln_config *configs[GRAPH_SETTINGS];
    const kiln_type *arrays[GRAPH_TYPES]; /* that kernels write to */
    kiln_package *package;                /* the language's */
    graph_frontend frontends[GRAPH_COUNT];
    kiln_device *device;
    kiln_queue *queue;
    int32_t source; /* of the last kernel */
} graph;

/* Makes a context with empty functions. `cache` may be NULL: off. */
kiln_status graph_open(graph *g, const kiln_cache_options *cache,
                       unsigned offers, kiln_error **error);
void graph_close(graph *g);

/* Gives a function another meaning, in a new world, and tells Kiln. */
kiln_status graph_define(graph *g, int which, int function,
                         const graph_definition *definition,
                         kiln_change_report *report);

/* A kernel: what it is asked for as, and when. */
typedef struct graph_job {
    int which; /* GRAPH_... */
    int function;
    int type; /* of one that lowers */
    int settings;
    uint64_t world; /* 0: today's */
} graph_job;

/* The signature of a kernel; good as long as the graph is open. */
kiln_signature graph_kernel(const graph *g, int which, int function);
kiln_signature graph_job_kernel(const graph *g, const graph_job *job);
/* Compiles the kernel in `world` (0: today's), runs it, and stores what it
   wrote. */
kiln_status graph_run(uint64_t *value, graph *g, int which, int function,
                      uint64_t world, kiln_error **error);
/* So does this, on a queue of the caller's thread. */
kiln_status graph_run_job(uint64_t *value, graph *g, const graph_job *job,
                          kiln_queue *queue, kiln_error **error);
/* The code instance of the function itself. */
kiln_status graph_infer(const kiln_code **out, graph *g, int which,
                        int function, uint64_t world, kiln_error **error);
kiln_status graph_infer_job(const kiln_code **out, graph *g,
                            const graph_job *job, kiln_error **error);

/* What the kernel writes by the definitions alone: those of `world` (0:
   today's) of its own frontend and today's of all others. Statuses are those
   of graph_run(): KILN_ECOMPILE, or KILN_ERECURSION for what derives from
   itself. `language_ir` hashes the typed IR of a function of the language. */
typedef kiln_status (*graph_language_ir)(void *env, int function, int settings,
                                         uint64_t *hash);
kiln_status graph_value(uint64_t *value, graph *g, int which, int function,
                        uint64_t world, graph_language_ir language_ir,
                        void *env);
kiln_status graph_job_value(uint64_t *value, graph *g, const graph_job *job,
                            graph_language_ir language_ir, void *env);

/* May KILN_ERECURSION come of it? So it is where something that has an error
   also derives from itself: the one is met first, or the other. */
int graph_job_may_recurse(graph *g, const graph_job *job);

uint64_t graph_hash(uint64_t h, const void *bytes, size_t size);
#define GRAPH_HASH 0xcbf29ce484222325u /* to begin with */

#endif /* KILN_TESTS_GRAPH_H */
