/* history.h - a random program of several frontends, and edits of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_HISTORY_H
#define KILN_TESTS_HISTORY_H

#include "support/frontend/graph.h"

/*
 * Every version of a program is run
 *   - in a context that lives through all of them, with a folder,
 *   - in a fresh one with the same folder, now and then in a process of its
 *     own,
 *   - in a fresh one with a pack of an earlier version,
 *   - in a fresh one without any cache,
 * and each kernel must write what the definitions alone say, whatever it is
 * asked for as and under which settings. The context that lives meets with more
 * than edits: each of these can be left out, to see which of them a fault
 * needs.
 */
#define HISTORY_DISK 1u    /* fresh contexts with the folder */
#define HISTORY_PACK 2u    /* and those with a pack */
#define HISTORY_PROCESS 4u /* and other processes */
#define HISTORY_HELD 8u    /* worlds are held, and asked for later */
#define HISTORY_INSIDE \
    16u                      /* a definition comes while something is inferred \
                              */
#define HISTORY_THREADS 32u  /* or while threads ask at once */
#define HISTORY_TROUBLE 64u  /* infer() fails once, or says nothing */
#define HISTORY_COLLECT 128u /* what ended is collected */
#define HISTORY_ATTACH 256u  /* results are attached */
#define HISTORY_REFUSE 512u  /* worlds that nobody holds are asked for */
#define HISTORY_SETTINGS 1024u /* settings are not always the same */
#define HISTORY_TYPES 2048u    /* nor are types */
#define HISTORY_ALL 4095u

#define HISTORY_EDITS 64 /* at most */

typedef struct history_options {
    uint64_t seed;
    int edits;
    unsigned faults;  /* GRAPH_FAULT_..., of the frontends */
    unsigned without; /* HISTORY_... that does not happen */
    uint64_t skipped; /* a bit for each edit that does not happen */
    uint64_t dropped; /* a bit for each function that stays empty */
    int is_quiet;
    int is_told; /* each definition is written */
} history_options;

/* How much was compared. */
typedef struct history_counts {
    uint64_t versions;
    uint64_t kernels;
    uint64_t held;   /* in worlds that had passed */
    uint64_t stored; /* that a store had */
    uint64_t processes;
    uint64_t attached; /* results that were found */
} history_counts;

/* True when all agreed; otherwise says what did not. */
int history_run(const history_options *options, history_counts *counts);
/* In another process: runs the program of which the file in `folder` tells. */
int history_run_version(const history_options *options, const char *folder);

/* minimise.c: finds less that still shows what the options show, and tells. */
void history_minimise(const history_options *options);

#endif /* KILN_TESTS_HISTORY_H */
