/* codegen_worker.h - processes that generate code, and the streams to them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_CODEGEN_WORKER_H
#define KILN_CODEGEN_CLIENT_CODEGEN_WORKER_H

#include <sys/types.h>

#include "base/build_id.h"
#include "base/system/process.h"
#include "context/context.h"

/*
 * A helper serves one request at a time, of whichever worker thread has taken
 * it; there are never more than workers. It is a child process in a session of
 * its own, with no signal blocked or ignored and no descriptor of the host's,
 * and ends when its stream does. Whoever finds fault with it ends it. What is
 * temporary has a folder of the helper's own, which goes with it, however it
 * ends.
 */
typedef struct kiln__worker_process kiln__worker_process;
struct kiln__worker_process {
    kiln_context *context;
    kiln__process process;
    int is_running;
    kiln__kept stream; /* none: the parent's, and this is the child of a fork */
    kiln__kept words;  /* what it prints comes out here; the first 64 KiB */
    int is_used;
    char folder[256]; /* where it and its tools put what is temporary, or "" */
    kiln__worker_process *next;
};

/* ---- codegen_worker.c ---- */
/* Where the program is; KILN_ENOTFOUND when that cannot be told. */
kiln_status kiln__worker_processes_program(const kiln_context *context,
                                           char *out, size_t capacity);
/* One that nobody uses and that lives, or NULL. */
kiln__worker_process *kiln__worker_process_idle(kiln_context *context);
/* Starts one. KILN_ENOMEM; or KILN_EIO and the system's `reason`. */
kiln_status kiln__worker_process_start(kiln__worker_process **out,
                                       kiln_context *context,
                                       const char *program, int *reason);
void kiln__worker_process_give_back(kiln__worker_process *helper);

/* How a helper came to its end. */
typedef struct kiln__worker_process_ending {
    int signal;       /* that ended it, or 0 */
    int status;       /* that it exited with; -1: it did not */
    char words[2048]; /* what it printed first */
} kiln__worker_process_ending;

/* Ends it, if it has not ended by itself; reads what it printed; frees it.
   `ending` (may be NULL) tells of an end that was its own: a moment is waited
   for one. */
void kiln__worker_process_end(kiln__worker_process *helper,
                              kiln__worker_process_ending *ending);

/* Builds of what helpers open. */
void kiln__worker_processes_note_tools(kiln_context *context,
                                       const kiln__builds_loaded *tools);
/* False as long as no helper has told. */
int kiln__worker_processes_tools(kiln_context *context,
                                 kiln__builds_loaded *out);

/* ---- codegen_stream.c ---- */
/* What ends a wait for a helper beside the helper. */
typedef struct kiln__watch {
    uint64_t deadline_ns;          /* of kiln__clock_ns(); UINT64_MAX: none */
    int (*is_canceled)(void *env); /* or NULL */
    void *env;
} kiln__watch;

typedef enum kiln__transfer {
    KILN__TRANSFER_DONE,
    KILN__TRANSFER_ENDED, /* the helper has closed its end */
    KILN__TRANSFER_LATE,
    KILN__TRANSFER_CANCELED,
    KILN__TRANSFER_NONSENSE, /* what came is no message */
    KILN__TRANSFER_NO_MEMORY
} kiln__transfer;

typedef struct kiln__message {
    int kind;             /* KILN__WIRE_... */
    unsigned char *bytes; /* followed by a NUL */
    size_t size;
} kiln__message;

kiln__transfer kiln__worker_process_send(const kiln__worker_process *helper,
                                         int kind, const void *bytes,
                                         size_t size, const kiln__watch *watch);
/* The message is the context's memory, until it is disposed of. */
kiln__transfer kiln__worker_process_receive(kiln__message *out,
                                            const kiln__worker_process *helper,
                                            const kiln__watch *watch);
void kiln__message_dispose(kiln__message *message, const kiln_alloc *alloc);

/* ---- codegen_worker.c ---- */
kiln_status kiln__worker_processes_new(kiln_context *context);
void kiln__worker_processes_free(kiln_context *context);

#endif /* KILN_CODEGEN_CLIENT_CODEGEN_WORKER_H */
