/* worker.h - the two ways to run the program kiln-codegen-worker. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_WORKER_H
#define KILN_WORKER_H

#include "codegen_client/codegen_wire.h"
#include "kiln/context.h"

/* ---- worker_library.c ---- */
/* The library, opened once. */
typedef struct worker_library {
    const kiln__codegen *table;
    char reason[1024]; /* why it could not be opened */
} worker_library;

/* KILN_ECODEGEN when it cannot be opened, KILN_EMISMATCH when it is of another
   build. `may_search`: the loader may search for it, too. */
kiln_status worker_open(worker_library *out, const char *path, int may_search);
extern const char worker_build_id[];

/* ---- worker_serve.c ---- */
/* Serves the process at the other end of descriptor 3 until the stream ends.
   Temporary files go into the folder, which is removed at the end (NULL: the
   usual place). */
int worker_serve(const char *folder);

/* ---- worker_stack.c ---- */
/* From now on, a crash of this thread for want of stack tells the cause. */
void worker_watch_stack(void);

/* ---- worker_source.c ---- */
/* Encodes the answer to a request that is given encoded. libkiln-clang is
   searched beside libkiln-codegen, whose path is given. */
void worker_compile_source(kiln__encoder *out, const char *codegen_library,
                           const void *bytes, size_t size);
/* Runs the request that was kept, and prints what comes back. Returns the
   program's exit status. */
int worker_replay_source(const char *codegen_library, const void *bytes,
                         size_t size);

/* ---- worker_replay.c ---- */
/* Runs the request in a file; writes the result to `out`, which may be NULL.
   Returns the program's exit status. */
int worker_replay(const char *file, const char *library, const char *out);

#endif /* KILN_WORKER_H */
