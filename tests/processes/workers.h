/* workers.h - starts workers over one folder, and reads what they say. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_WORKERS_H
#define KILN_TESTS_WORKERS_H

#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define WORKERS_TEXT ((size_t)1 << 16)

typedef struct worker {
    pid_t pid;
    int output; /* of it */
    size_t size;
    char text[WORKERS_TEXT]; /* what it said so far */
} worker;

/* Fixture: an empty folder, as *state and in `workers_folder`. Every worker
   has its cache in a folder in there. */
extern char workers_folder[64];
int workers_setup(void **state);
int workers_teardown(void **state);

/* A path in the folder, good until eight more were asked for. */
const char *workers_path(const char *name);
/* Makes an empty file in the folder: what somebody waits for. */
void workers_touch(const char *name);

/* Starts one. Arguments that have a '=' in them before the first command are
   of its environment; NULL ends the list. Some of them are for the start
   itself: PROGRAM, which is started instead; FOLDER, where; FIXED, at addresses
   that do not change; UNSHARE, in a namespace of processes. */
void worker_start(worker *w, const char *const *arguments);
/* Reads until it has said the line's beginning. */
void worker_expect(worker *w, const char *line);
/* Waits for its end: the status of waitpid(). */
int worker_wait(worker *w);
/* Waits for a good end. */
void worker_end(worker *w);
/* Starts one, waits for its good end, and gives what it said. */
const char *worker_said(const char *const *arguments);
#define WORKER(...) worker_said((const char *const[]){__VA_ARGS__, NULL})
#define WORKER_START(w, ...) \
    worker_start((w), (const char *const[]){__VA_ARGS__, NULL})

/* How often a text is in another one. */
size_t workers_count(const char *text, const char *part);
/* How often any of them said it. */
size_t workers_total(const worker *workers, size_t count, const char *part);

#endif /* KILN_TESTS_WORKERS_H */
