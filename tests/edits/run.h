/* run.h - what a program does in a process, as text that can be compared. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_EDITS_RUN_H
#define KILN_EDITS_RUN_H

#include "kiln.h"
#include "program.h"

#define RUN_OUTCOME_MAX 4096

typedef struct run_process {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_config *config;
    kiln_package *packages[EDIT_PACKAGES];
    edit_texts texts; /* that are defined */
} run_process;

/* How a process that has a program goes over to another one. */
enum {
    RUN_ALL,     /* unloads all packages, and defines all */
    RUN_CHANGED, /* defines texts that changed over what is there */
    RUN_RELOADED /* unloads packages whose texts changed, and defines them */
};
#define RUN_WAYS 3

typedef struct run_options {
    const char *folder; /* of the cache; NULL: no stores but the pack's */
    const char *pack;   /* file to insert, or NULL */
    int inserts_late;   /* when all is defined */
} run_options;

/* Opens a context; ends the process when it cannot. */
void run_open(run_process *p, const run_options *options);
/* Defines the program alone: what is launched later begins from there. */
void run_define(run_process *p, const edit_texts *texts, int way);
/* Defines the program and launches its kernels; tells what came of it. */
void run_program(char *outcome, run_process *p, const run_options *options,
                 const edit_texts *texts, int way);
/* Saves all that was made as a pack. */
void run_save(run_process *p, const char *pack);
void run_close(run_process *p);

#endif /* KILN_EDITS_RUN_H */
