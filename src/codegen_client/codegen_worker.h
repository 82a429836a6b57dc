/* codegen_worker.h - worker processes that generate code, and their streams. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_CODEGEN_WORKER_H
#define KILN_CODEGEN_CLIENT_CODEGEN_WORKER_H

#include <sys/types.h>

#include "base/build_id.h"
#include "base/system/process.h"
#include "context/context.h"

/*
 * A worker process serves one request at a time, for the worker thread that has
 * taken it; there are never more processes than threads. It is a child process
 * in a session of its own, with no signal blocked or ignored and none of the
 * host's descriptors, and it ends when its stream ends. A thread that finds it
 * faulty ends it. It has a folder of its own for temporary files, which is
 * removed with it, however it ends.
 */
typedef struct kiln__worker_process kiln__worker_process;
struct kiln__worker_process {
    kiln_context *context;
    kiln__process process;
    int is_running;
    kiln__kept stream; /* none: it belongs to the parent, and this is a child of
                          fork() */
    kiln__kept words;  /* the process's output; at most the first 64 KiB */
    int is_used;
    char folder[256]; /* for temporary files of the process and its tools, or
                         "" */
    kiln__worker_process *next;
};

/* ---- codegen_worker.c ---- */
/* Gives the path of the program; KILN_ENOTFOUND when it is not known. */
kiln_status kiln__worker_processes_program(const kiln_context *context,
                                           char *out, size_t capacity);
/* Takes a living process that is not in use, or NULL. */
kiln__worker_process *kiln__worker_process_idle(kiln_context *context);
/* Starts a process. KILN_ENOMEM; or KILN_EIO with the system's `reason`. */
kiln_status kiln__worker_process_start(kiln__worker_process **out,
                                       kiln_context *context,
                                       const char *program, int *reason);
void kiln__worker_process_give_back(kiln__worker_process *worker);

/* How a worker process ended. */
typedef struct kiln__worker_process_ending {
    int signal;       /* the signal that ended it, or 0 */
    int status;       /* its exit status; -1: it did not exit */
    char words[2048]; /* the first part of its output */
} kiln__worker_process_ending;

/* Ends the process unless it has ended; reads its output; frees it. `ending`,
   which may be NULL, describes an end that it caused itself; the function waits
   for that for a moment. */
void kiln__worker_process_end(kiln__worker_process *worker,
                              kiln__worker_process_ending *ending);

/* The builds of the libraries that worker processes opened. */
void kiln__worker_processes_note_tools(kiln_context *context,
                                       const kiln__builds_loaded *tools);
/* False until a worker process has reported them. */
int kiln__worker_processes_tools(kiln_context *context,
                                 kiln__builds_loaded *out);

/* ---- codegen_stream.c ---- */
/* What ends a wait for a worker process, besides the process itself. */
typedef struct kiln__watch {
    uint64_t deadline_ns;          /* by kiln__clock_ns(); UINT64_MAX: none */
    int (*is_canceled)(void *env); /* or NULL */
    void *env;
} kiln__watch;

typedef enum kiln__transfer {
    KILN__TRANSFER_DONE,
    KILN__TRANSFER_ENDED, /* the process has closed its end */
    KILN__TRANSFER_LATE,
    KILN__TRANSFER_CANCELED,
    KILN__TRANSFER_NONSENSE, /* the bytes are no message */
    KILN__TRANSFER_NO_MEMORY
} kiln__transfer;

typedef struct kiln__message {
    int kind;             /* KILN__WIRE_... */
    unsigned char *bytes; /* followed by a NUL */
    size_t size;
} kiln__message;

kiln__transfer kiln__worker_process_send(const kiln__worker_process *worker,
                                         int kind, const void *bytes,
                                         size_t size, const kiln__watch *watch);
/* The message's memory is the context's; dispose of it. */
kiln__transfer kiln__worker_process_receive(kiln__message *out,
                                            const kiln__worker_process *worker,
                                            const kiln__watch *watch);
void kiln__message_dispose(kiln__message *message, const kiln_alloc *alloc);

/* ---- codegen_worker.c ---- */
kiln_status kiln__worker_processes_new(kiln_context *context);
void kiln__worker_processes_free(kiln_context *context);

#endif /* KILN_CODEGEN_CLIENT_CODEGEN_WORKER_H */
