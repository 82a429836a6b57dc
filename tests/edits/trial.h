/* trial.h - a program's history, run in several kinds of processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_EDITS_TRIAL_H
#define KILN_EDITS_TRIAL_H

#include "program.h"

/* Versions of a program, and what each differs in from the one before. */
typedef struct trial_history {
    uint64_t seed;
    edit_program *programs;
    char (*what)[32];
    int count;
} trial_history;

typedef struct trial_counts {
    unsigned long versions;
    unsigned long refused; /* kernels of them */
    unsigned long runs;
} trial_counts;

/* Makes `edits` edits; some go back to an earlier version. */
void trial_generate(trial_history *out, uint64_t seed, int edits);
void trial_dispose(trial_history *history);

enum { TRIAL_SILENT, TRIAL_REPORTS, TRIAL_TELLS };

/* Runs all versions in the folder, which is left empty. The first one of which
   some process made something else than one without stores; -1: none. It is
   reported; all are told. */
int trial_run(const trial_history *history, const char *folder, int report,
              trial_counts *counts);

/* Makes the history short and its programs small, as long as trial_run() finds
   something; then prints what is left. */
void trial_minimise(const trial_history *history, int version,
                    const char *folder);

#endif /* KILN_EDITS_TRIAL_H */
