/* tool_run.h - a tool of another as a process: bytes in, bytes out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOL_RUN_H
#define KILN_TOOL_RUN_H

#include "base/data/array.h"

/* Of the files that the tool opens. Inputs have no names: these are open
   descriptors of its process. */
#define KILN__RUN_INPUTS_MAX 2
#define KILN__RUN_INPUT0 "/proc/self/fd/3"
#define KILN__RUN_INPUT1 "/proc/self/fd/4"
/* Stands for the output's path among the arguments. */
#define KILN__RUN_OUTPUT "@output"
/* And for that of an input that comes later, kiln__tool_process_begin(). */
#define KILN__RUN_LATE "@late"
#define KILN__RUN_LATE_NAME "/kiln-late-input" /* its path ends so */

/* A relocatable object, or whatever else a tool reads. */
typedef struct kiln__object {
    const void *bytes;
    size_t size;
} kiln__object;

typedef struct kiln__tool_command {
    const char *program;          /* its path */
    const char *const *arguments; /* its name first; NULL-terminated */
    const kiln__object *inputs;
    size_t input_count;
    const kiln_alloc *alloc; /* of the output; NULL: malloc */
    int limit_ms;            /* 0: KILN__RUN_LIMIT_MS */
} kiln__tool_command;

/* A tool that takes longer hangs: none is known to need a tenth of it. */
#define KILN__RUN_LIMIT_MS (10 * 60 * 1000)

/**
 * Runs the program to its end and takes what it wrote to the output. No shell,
 * the environment as it is, nothing to read but the inputs, no other file of
 * the process's open. The output's folder is private, below TMPDIR or /tmp,
 * and goes.
 *
 * `said` gets what it printed, whatever the outcome, or what kept it from
 * running. KILN_ENOTFOUND: it could not be started. KILN_ECODEGEN: it failed,
 * or left no output. KILN_EIO: somebody killed it, or for want of descriptors,
 * say, it could not be started now. KILN_ETIMEDOUT: it was
 * killed since it did not end in time. KILN_ENOMEM.
 */
kiln_status kiln__run_tool(const kiln__tool_command *run, kiln_blob *out,
                           kiln__text *said);

/* A program that runs and waits for its input. */
typedef struct kiln__tool_process kiln__tool_process;

/**
 * Starts the program; it has one input, KILN__RUN_LATE, for which it waits as
 * soon as it opens it. NULL: it could not be started so.
 */
kiln__tool_process *kiln__tool_process_begin(const kiln__tool_command *run);
/**
 * Gives it the input and goes on like kiln__run_tool(); once.
 * KILN_ENOTFOUND: the input could not be given.
 */
kiln_status kiln__tool_process_end(kiln__tool_process *begun,
                                   const kiln__object *input, kiln_blob *out,
                                   kiln__text *said);
/** In a child of fork(): it would keep the program from finding the input's
 *  end. */
void kiln__run_forget(void *begun);
/** Frees it, and ends the program if it was given nothing. NULL is fine. */
void kiln__tool_process_drop(kiln__tool_process *begun);

#endif /* KILN_TOOL_RUN_H */
