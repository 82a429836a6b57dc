/* graph_inside.h - what the files of graphs share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GRAPH_INSIDE_H
#define KILN_TESTS_GRAPH_INSIDE_H

#include "support/frontend/graph.h"

/* What typed IR is made of: a definition, and those of its edges that lead to a
   function. */
typedef struct graph_made {
    int which;
    int function;
    uint64_t number;
    uint64_t derived; /* hash of all that it derives from */
    graph_edge called[GRAPH_EDGES];
    int factors[GRAPH_EDGES];
    int called_count;
} graph_made;

extern const char *const graph_names[GRAPH_COUNT];
int graph_lowers(int which);
graph_definition graph_definition_at(graph_frontend *f, int function,
                                     uint64_t world);

/* Returns the signature of the kernel, or of the function itself. */
kiln_signature graph_signature(const graph *g, const graph_job *job,
                               int is_kernel);

/* ---- graph_run.c ---- */
kiln_status graph_open_context(graph *g, const kiln_cache_options *cache,
                               kiln_error **error);

/* ---- graph_ir.c ---- */
/* Returns what the settings add to the number of a function. */
uint64_t graph_number_under(int settings);
/* Returns the first hash value of a kernel that is lowered. */
uint64_t graph_hash_settings(int settings);
/* Adds a derivation from another function, whose typed IR has that hash. */
void graph_derive(graph_made *made, uint64_t hash);
void graph_call(graph_made *made, int edge, const graph_edge *to);
/* Returns the typed IR of a function, except one of the language. */
kiln_blob graph_ir(const graph_made *made);
/* Returns the typed IR of a kernel of GRAPH_TYPED. */
kiln_blob graph_kernel_ir(int function);
/* Adds a code instance to the hash of a kernel that is lowered. */
uint64_t graph_hash_code(uint64_t h, const char *function, const char *type,
                         uint64_t ir);

#endif /* KILN_TESTS_GRAPH_INSIDE_H */
