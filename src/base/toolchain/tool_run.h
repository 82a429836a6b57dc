/* tool_run.h - runs an external tool as a process: bytes in, bytes out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOL_RUN_H
#define KILN_TOOL_RUN_H

#include "base/data/array.h"

/* Paths of the files that the tool opens. Inputs have no names: they are open
   descriptors of its process. */
#define KILN__RUN_INPUTS_MAX 2
#define KILN__RUN_INPUT0 "/proc/self/fd/3"
#define KILN__RUN_INPUT1 "/proc/self/fd/4"
/* The argument that is replaced by the output's path. */
#define KILN__RUN_OUTPUT "@output"
/* The argument for an input that comes later, kiln__tool_process_begin(). */
#define KILN__RUN_LATE "@late"
#define KILN__RUN_LATE_NAME "/kiln-late-input" /* the path's end */

/* A relocatable object, or any other input of a tool. */
typedef struct kiln__object {
    const void *bytes;
    size_t size;
} kiln__object;

typedef struct kiln__tool_command {
    const char *program;          /* its path */
    const char *const *arguments; /* its name first; NULL-terminated */
    const kiln__object *inputs;
    size_t input_count;
    const kiln_alloc *alloc; /* for the output; NULL: malloc */
    int limit_ms;            /* 0: KILN__RUN_LIMIT_MS */
} kiln__tool_command;

/* A tool that takes longer than this hangs; no known tool needs a tenth of
   it. */
#define KILN__RUN_LIMIT_MS (10 * 60 * 1000)

/**
 * Runs the program to its end and takes its output. It runs without a shell, in
 * the same environment, with nothing to read but the inputs, and without any
 * other open file of this process. The output's folder is private, below TMPDIR
 * or /tmp, and is removed afterwards.
 *
 * `said` gets what it printed, whatever the outcome, or the reason why it did
 * not run. KILN_ENOTFOUND: it could not be started. KILN_ECODEGEN: it failed,
 * or left no output. KILN_EIO: it was killed from outside, or could not be
 * started for a temporary reason such as want of descriptors. KILN_ETIMEDOUT:
 * it was killed because it did not end in time. KILN_ENOMEM.
 */
kiln_status kiln__run_tool(const kiln__tool_command *run, kiln_blob *out,
                           kiln__text *said);

/* A program that has been started and waits for its input. */
typedef struct kiln__tool_process kiln__tool_process;

/**
 * Starts the program. It has one input, KILN__RUN_LATE, and waits for it as
 * soon as it opens it. NULL: it could not be started in this way.
 */
kiln__tool_process *kiln__tool_process_begin(const kiln__tool_command *run);
/**
 * Gives it the input and then does the same as kiln__run_tool(). Call it once.
 * KILN_ENOTFOUND: the input could not be given.
 */
kiln_status kiln__tool_process_end(kiln__tool_process *begun,
                                   const kiln__object *input, kiln_blob *out,
                                   kiln__text *said);
/** For a child of fork(), which would otherwise keep the program from finding
 *  the input's end. */
void kiln__run_forget(void *begun);
/** Frees it; ends the program if it has got no input. NULL is fine. */
void kiln__tool_process_drop(kiln__tool_process *begun);

#endif /* KILN_TOOL_RUN_H */
