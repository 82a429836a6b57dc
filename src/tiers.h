/* tiers.h - what the pipeline asks of the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_H
#define KILN_TIERS_H

#include "artifact.h"
#include "code.h"
#include "settings.h"

/*
 * The tiers' own lock guards everything here but the hit path. It is never
 * held while a callback, a store, a backend or the code generator runs.
 */

/*
 * A flight is one build under way, of a code instance (tier 1) or of a kernel
 * (tier 3): whoever asks for the same thing meanwhile waits for it.
 *
 * A run is one thread's journey through Kiln, nested calls included. It owns
 * the flights it has claimed until they end or go over to a worker, and waits
 * for at most one. Before it waits it walks owner -> waits for -> owner; when
 * that leads back to itself, the wait would never end, and it builds
 * privately instead.
 */
typedef struct kiln__flight kiln__flight;
typedef struct kiln__run kiln__run;
struct kiln__run {
    kiln__flight *waits_for;
    kiln_inference *inference; /* the innermost one running */
    kiln__flight *flight;      /* the innermost kernel being lowered */
    uint32_t depth;            /* nested entries */
    int never_wait;            /* infer privately instead */
    kiln__run *outer;          /* of another context, on this thread */
    kiln_context *outer_context;
};

struct kiln__flight {
    unsigned references; /* under the tiers' lock, as is all below */
    int done;
    kiln__run *owner;          /* NULL: a worker's */
    kiln__flight *outer;       /* the kernel flight this one is nested in */
    const void *subject;       /* instance or job */
    const kiln_code *code;     /* kernel flight: what it is compiled from */
    const kiln_kernel *kernel; /* result of a kernel flight */
    kiln_status status;
    kiln_error *error;
    int32_t source;          /* KILN_SOURCE_... */
    kiln__flight *next;      /* of the subject */
    kiln__flight *held_next; /* of the inference that heads its cycle */
};

/* ---- tiers/state.c ---- */
kiln_status kiln__tiers_new(kiln_context *context);
void kiln__tiers_free(kiln_context *context);
void kiln__tiers_collect(kiln_context *context);

/* ---- tiers/flight.c ---- */
/* Opens a stay of this thread in the context, and ends it: the thread's run,
   which is `storage` unless the stay is nested in another one. */
kiln__run *kiln__run_enter(kiln__run *storage, kiln_context *context);
void kiln__run_leave(kiln__run *run);
/* Waits until the flight is done: KILN_OK, or KILN_ERECURSION when the wait
   would close a cycle. Takes and leaves no lock. */
kiln_status kiln__flight_wait(kiln_context *context, kiln__run *run,
                              kiln__flight *flight);
/* True while the run has the flight itself. */
int kiln__flight_is_owned(kiln_context *context, const kiln__run *run,
                          const kiln__flight *flight);
int kiln__flight_is_done(kiln_context *context, const kiln__flight *flight);
/* Waits until any flight of the context ends. */
void kiln__flight_wait_any(kiln_context *context, kiln__flight *const *flights,
                           size_t count);
void kiln__flight_release(kiln_context *context, kiln__flight *flight);
/* Copies status and error (retained) of a done flight. */
kiln_status kiln__flight_status(kiln_context *context,
                                const kiln__flight *flight, kiln_error **error);

/* ---- tiers/typed.c: tier 1 ---- */
typedef struct kiln__typed_request {
    const kiln_signature *signature;
    const kiln_config *config;
    uint64_t world; /* not 0 */
    int never_wait; /* infer privately where others would wait */
} kiln__typed_request;

/* Lends the code instance, inferring it if need be. */
kiln_status kiln__typed_get(const kiln_code **out, kiln_context *context,
                            kiln__run *run, const kiln__typed_request *request,
                            kiln_error **error);
/* Lends it if it is there; no counters. */
const kiln_code *kiln__typed_find(kiln_context *context,
                                  const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world);
/* The call closure, root first, in call order; freed by the caller. */
kiln_status kiln__code_closure(const kiln_code ***out, size_t *count,
                               const kiln_code *root);
/* Callees in call order. */
const kiln_code *const *kiln__code_callees(const kiln_code *code,
                                           size_t *count);

/* ---- tiers/jobs.c: tier 3 by signature and config ---- */
/* The hit path: no lock, no allocation, no write. NULL: nothing valid. */
const kiln_kernel *kiln__job_lookup(const kiln_context *context,
                                    const kiln_signature *signature,
                                    const kiln_config *config);

typedef enum kiln__claim {
    KILN__CLAIM_HIT,    /* `kernel` */
    KILN__CLAIM_FAILED, /* remembered: `status`, `error` */
    KILN__CLAIM_WAIT,   /* `flight`, referenced */
    KILN__CLAIM_OWN,    /* `flight`, referenced and owned by the run */
    KILN__CLAIM_NO_MEMORY
} kiln__claim;

typedef struct kiln__claim_result {
    kiln__claim outcome;
    const kiln_kernel *kernel;
    kiln__flight *flight;
    kiln_status status;
    kiln_error *error; /* retained */
} kiln__claim_result;

/* Finds the kernel of (job, code), or who builds it, or makes the caller the
   one who does. */
kiln__claim_result kiln__job_claim(kiln_context *context, kiln__run *run,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code);
/* A private flight, that nobody else can see. */
kiln__flight *kiln__flight_private(kiln_context *context, kiln__run *run,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code);
/* The flight goes over to a worker: no run owns it any more. */
void kiln__flight_hand_over(kiln_context *context, kiln__flight *flight);
/* Ends a kernel flight with a kernel, which tier 3 then owns, or with a
   failure (`error` is taken over). If the job got a kernel of this code
   meanwhile, the new one is unloaded and that one is used. */
void kiln__job_finish(kiln_context *context, kiln__flight *flight,
                      kiln_kernel *kernel, int32_t source, kiln_status status,
                      kiln_error *error);

/* ---- tiers/binary.c: artifacts by binary key ---- */
/* A reference to the artifact with the full key, or NULL. */
const kiln_artifact *kiln__artifact_find(kiln_context *context, kiln_digest key,
                                         const void *encoded,
                                         size_t encoded_size);
/* Keeps a reference; the first of one key stays. */
kiln_status kiln__artifact_keep(kiln_context *context,
                                const kiln_artifact *artifact);

/* ---- tiers/runtime.c: tier 2, runtime functions' bitcode by runtime key ----
 */
/* Lends the bitcode that is filed under the full key, until the context ends;
   NULL: not there. Counts the request as a hit when it is. */
const void *kiln__runtime_find(kiln_context *context, kiln_digest key,
                               const void *encoded, size_t encoded_size,
                               size_t *size);
/* Keeps a copy, and counts the request as built. The first one of a key
   stays, and so does one whose key has the digest of another. */
kiln_status kiln__runtime_keep(kiln_context *context, kiln_digest key,
                               const void *encoded, size_t encoded_size,
                               const void *bitcode, size_t size);

/* ---- compile.c ---- */
/* The slow path of kiln_compile: a kernel at once, or a flight to wait for
   (`*flight`, referenced). Counts the request unless it gives a flight, then
   kiln__compile_settle() does. */
typedef struct kiln__compile_request {
    kiln_context *context;
    kiln_signature signature;
    const kiln_config *config;
    uint64_t world; /* 0: the current one */
    int never_wait;
} kiln__compile_request;

kiln_status kiln__compile_begin(const kiln_kernel **out, kiln__flight **flight,
                                int *owned, int32_t *source, kiln__run *run,
                                const kiln__compile_request *request,
                                kiln_error **error);
/* Takes the result of a done flight, counts the request, releases it. */
kiln_status kiln__compile_settle(const kiln_kernel **out, int32_t *source,
                                 kiln_context *context, kiln__flight *flight,
                                 int owned, kiln_error **error);
/* Checks signature and config of a public call. */
kiln_status kiln__compile_check(const kiln_context *context,
                                const kiln_signature *signature,
                                const kiln_config *config, kiln_error **error);

/* ---- build.c: from a code instance to an artifact ---- */
typedef struct kiln__build kiln__build;
/* Prepares the request for the code generator; runs a foreign frontend's
   lower(). `form` is KILN_EMIT_... */
kiln_status kiln__build_new(kiln__build **out, const kiln_code *code,
                            const kiln_config *config, int32_t form,
                            kiln_error **error);
void kiln__build_free(kiln__build *build);
/* Generates on the calling worker. On success the artifact or, for text
   forms, the bytes are in the build. `fatal` runs if LLVM cannot go on: it
   must not return, and the build is then lost. */
kiln_status kiln__build_run(kiln__build *build,
                            void (*fatal)(void *env, kiln_error *error),
                            void *env, kiln_error **error);
const kiln_config *kiln__build_config(const kiln__build *build);
const kiln_artifact *kiln__build_artifact(const kiln__build *build);
kiln_status kiln__build_text(const kiln__build *build, kiln_blob *out);
/* Makes a kernel of an artifact and loads it. */
kiln_status kiln__build_load(kiln_kernel **out, const kiln_artifact *artifact,
                             const kiln_code *code, const kiln_config *config,
                             kiln_error **error);

#endif /* KILN_TIERS_H */
