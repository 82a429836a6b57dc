/* run.h - what a program does in a process, as text that can be compared. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_EDITS_RUN_H
#define KILN_EDITS_RUN_H

#include "kiln.h"
#include "program.h"

#define RUN_OUTCOME_MAX 32768

#define RUN_CONFIGS 2 /* the second has the overlay table `extra` */

typedef struct run_process {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_config *configs[RUN_CONFIGS];
    kiln_package *packages[EDIT_PACKAGES];
    edit_texts texts; /* that are defined */
} run_process;

/* How a process that has a program goes over to another one. */
enum {
    RUN_ALL,      /* unloads all packages, and defines all */
    RUN_CHANGED,  /* defines texts that changed over what is there */
    RUN_RELOADED, /* unloads packages whose texts changed, and defines them */
    RUN_DELETED,  /* deletes methods that go, and defines what changed */
    RUN_WAYS
};

typedef struct run_options {
    const char *folder; /* of the cache; NULL: no stores but a pack's */
    int has_pack;       /* one will be inserted */
} run_options;

/* Opens a context; ends the process when it cannot. */
void run_open(run_process *p, const run_options *options);
void run_insert(const run_process *p, const char *pack);
/* Saves all that was made as a pack. */
void run_save(run_process *p, const char *pack);
void run_close(run_process *p);

/* Defines the program; the outcome begins with what that tells. */
void run_define(char *outcome, run_process *p, const edit_texts *texts,
                int way);
/* Writes files to the folder, and loads main's. In a fresh process, of a
   program whose packages have one text each. */
void run_load(char *outcome, run_process *p, const edit_texts *texts,
              const char *folder);
/* Launches the kernels; adds what came of it. */
void run_kernels(char *outcome, run_process *p);

void run_say(char *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* With places and hints. Frees the error. */
void run_say_error(char *outcome, kiln_status status, kiln_error *error);

#endif /* KILN_EDITS_RUN_H */
