/* codegen_helper.h - processes that generate code, and the streams to them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_HELPER_H
#define KILN_CODEGEN_HELPER_H

#include <sys/types.h>

#include "build_id.h"
#include "core.h"
#include "process.h"

/*
 * A helper serves one request at a time, of whichever worker thread has taken
 * it; there are never more than workers. It is a child process in a session of
 * its own, with no signal blocked or ignored and no descriptor of the host's,
 * and ends when its stream does. Whoever finds fault with it ends it. What is
 * temporary has a folder of the helper's own, which goes with it, however it
 * ends.
 */
typedef struct kiln__helper kiln__helper;
struct kiln__helper {
    kiln_context *context;
    kiln__process process;
    int is_running;
    kiln__kept stream; /* none: the parent's, and this is the child of a fork */
    kiln__kept words;  /* what it prints comes out here; the first 64 KiB */
    int is_used;
    char folder[256]; /* where it and its tools put what is temporary, or "" */
    kiln__helper *next;
};

/* ---- codegen_helper.c ---- */
/* Where the program is; KILN_ENOTFOUND when that cannot be told. */
kiln_status kiln__helpers_program(const kiln_context *context, char *out,
                                  size_t capacity);
/* One that nobody uses and that lives, or NULL. */
kiln__helper *kiln__helper_idle(kiln_context *context);
/* Starts one. KILN_ENOMEM; or KILN_EIO and the system's `reason`. */
kiln_status kiln__helper_start(kiln__helper **out, kiln_context *context,
                               const char *program, int *reason);
void kiln__helper_give_back(kiln__helper *helper);

/* How a helper came to its end. */
typedef struct kiln__helper_ending {
    int signal;       /* that ended it, or 0 */
    int status;       /* that it exited with; -1: it did not */
    char words[2048]; /* what it printed first */
} kiln__helper_ending;

/* Ends it, if it has not ended by itself; reads what it printed; frees it.
   `ending` (may be NULL) tells of an end that was its own: a moment is waited
   for one. */
void kiln__helper_end(kiln__helper *helper, kiln__helper_ending *ending);

/* Builds of what helpers open. */
void kiln__helpers_note_tools(kiln_context *context,
                              const kiln__builds_loaded *tools);
/* False as long as no helper has told. */
int kiln__helpers_tools(kiln_context *context, kiln__builds_loaded *out);

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

kiln__transfer kiln__helper_send(const kiln__helper *helper, int kind,
                                 const void *bytes, size_t size,
                                 const kiln__watch *watch);
/* The message is the context's memory, until it is disposed of. */
kiln__transfer kiln__helper_receive(kiln__message *out,
                                    const kiln__helper *helper,
                                    const kiln__watch *watch);
void kiln__message_dispose(kiln__message *message, const kiln_alloc *alloc);

#endif /* KILN_CODEGEN_HELPER_H */
