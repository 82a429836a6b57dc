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
 * the names and the typed IR of all that it calls. Those of "typed" have Kiln's
 * typed IR: they return their number and what they call, and kernels write
 * that. An edge that derives makes the typed IR of its end, whosever it is, a
 * part of the own: it is a dependency without a call.
 *
 * What functions mean is said twice, once to Kiln, once by graph_value(), which
 * knows definitions and nothing of Kiln.
 */
enum { GRAPH_LOW_A, GRAPH_LOW_B, GRAPH_TYPED, GRAPH_LANGUAGE, GRAPH_COUNT };

#define GRAPH_FUNCTIONS 5 /* of each */
#define GRAPH_EDGES 3     /* of one function */
#define GRAPH_HISTORY 200 /* definitions of one function */
#define GRAPH_HELD 16     /* worlds of one frontend at a time */

typedef struct graph_edge {
    int derives; /* else it calls */
    int to;      /* GRAPH_... */
    int function;
} graph_edge;

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
    int inferred[GRAPH_FUNCTIONS]; /* how often infer() ran */
    int lowered;
    uint64_t asked; /* how often answer() ran */
    int strangers;  /* questions about worlds that nobody may ask about */
    /* At the start of infer(), without the lock; may be NULL. */
    void (*hook)(struct graph_frontend *f, int function);
    void *hook_data;
    int asks_today; /* derives from what is there today, not in its worlds */
} graph_frontend;

/* Which callbacks the frontends offer. */
#define GRAPH_ROOT 1u
#define GRAPH_PROGRAM 2u
#define GRAPH_FIND 4u /* type and function */
#define GRAPH_HOLD 8u
#define GRAPH_ALL 15u

typedef struct graph {
    kiln_context *context;
    const kiln_config *config;
    const kiln_type *array; /* that kernels write to */
    kiln_package *package;  /* the language's */
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

/* The signature of a kernel; good as long as the graph is open. */
kiln_signature graph_kernel(const graph *g, int which, int function);
/* Compiles the kernel in `world` (0: today's), runs it, and stores what it
   wrote. */
kiln_status graph_run(uint64_t *value, graph *g, int which, int function,
                      uint64_t world, kiln_error **error);
/* The code instance of the function itself. */
kiln_status graph_infer(const kiln_code **out, graph *g, int which,
                        int function, uint64_t world, kiln_error **error);

/* What the kernel writes by the definitions alone: those of `world` (0:
   today's) of its own frontend and today's of all others. Statuses are those
   of graph_run(): KILN_ECOMPILE, or KILN_ERECURSION for what derives from
   itself. `language_ir` hashes the typed IR of a function of the language. */
typedef kiln_status (*graph_language_ir)(void *env, int function,
                                         uint64_t *hash);
kiln_status graph_value(uint64_t *value, graph *g, int which, int function,
                        uint64_t world, graph_language_ir language_ir,
                        void *env);

uint64_t graph_hash(uint64_t h, const void *bytes, size_t size);
#define GRAPH_HASH 0xcbf29ce484222325u /* to begin with */

#endif /* KILN_TESTS_GRAPH_H */
