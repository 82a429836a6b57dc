/* inside.h - what the files of a history share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_HISTORY_INSIDE_H
#define KILN_TESTS_HISTORY_INSIDE_H

#include "history.h"

#define HISTORY_HELD_MAX 4 /* worlds at a time */

typedef struct held_world {
    int which; /* GRAPH_..., or -1: none */
    uint64_t world;
} held_world;

typedef struct history {
    const history_options *options;
    history_counts *counts;
    uint64_t state; /* of the random numbers */
    int edit;
    graph_definition now[GRAPH_COUNT][GRAPH_FUNCTIONS];
    graph_definition before[GRAPH_COUNT][GRAPH_FUNCTIONS];
    graph living;
    graph fresh;
    graph plain;      /* without a cache: it knows the language's typed IR */
    int is_stale;     /* the plain one is of an older version */
    char folder[512]; /* of all that follows */
    char cache[600];
    char empty[600]; /* for those that have a pack alone */
    held_world held[HISTORY_HELD_MAX];
    kiln_blob pack; /* of an earlier version */
    int differs;
} history;

/* What comes of a job. */
typedef struct history_outcome {
    kiln_status status;
    uint64_t value;
} history_outcome;

/* ---- program.c: random numbers, definitions, contexts ---- */
/* Numbers of one phase of one edit are the same whatever happened before. */
void history_phase(history *h, int phase);
int history_below(history *h, int bound);
/* Does the dice's answer, unless that feature is left out, say so? */
int history_happens(history *h, unsigned feature, int chance);
graph_job history_any_job(history *h);

void history_make_all(history *h);
/* A new meaning of something, or the one before, in the living context. */
void history_change(history *h);
void history_define_all(history *h, graph *g);
int history_open(history *h, graph *g, uint8_t mode, const char *folder);
void history_close(history *h, graph *g);
void history_fail(history *h, const char *what, kiln_error *error);

/* ---- compare.c ---- */
history_outcome history_expected(history *h, graph *g, const graph_job *job);
int history_agrees(const history_outcome *a, const history_outcome *b);
/* Runs the job, which must give what is expected. */
void history_compare(history *h, graph *g, const char *context,
                     const graph_job *job);
void history_compare_some(history *h, graph *g, const char *context);
/* `got` must be one of two. */
void history_compare_moment(history *h, const char *context,
                            const graph_job *job, const history_outcome *got,
                            const history_outcome *before,
                            const history_outcome *after);

/* ---- living.c: what happens to the context that lives ---- */
void history_live(history *h);
void history_compare_held(history *h);

#endif /* KILN_TESTS_HISTORY_INSIDE_H */
