/* tiers.h - what the pipeline asks of the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_H
#define KILN_TIERS_H

#include "context/keys/settings.h"
#include "stores/entry.h"
#include "tiers/binary/artifact.h"
#include "tiers/typed/code_instance.h"
#include "tiers/worlds.h"

/*
 * The tiers' own lock guards everything here but the hit path. It is never
 * held while a callback, a store, a backend or the code generator runs.
 */

/*
 * A flight is one build under way, of a code instance (tier 1) or of a kernel
 * (tier 3): whoever asks for the same thing meanwhile waits for it.
 *
 * A run is one thread's journey through Kiln, nested calls included. It owns
 * the flights it has claimed until they end or go over to a worker. Before it
 * waits it walks owner -> waits for -> owner; when that leads back to itself,
 * the wait would never end, and it builds privately instead.
 *
 * A worker has a run while it builds a kernel, for the host's callbacks that
 * run there: it owns that flight, and waits for none, since what it would wait
 * for may be queued behind it.
 */
typedef struct kiln__flight kiln__flight;
typedef struct kiln__call_chain {
    /* Under the tiers' lock; some flights may be NULL. */
    kiln__flight *const *waits_for;
    size_t waits_for_count;
    uint64_t visit;            /* the last walk that came by */
    kiln_inference *inference; /* the innermost one of this stay */
    kiln_inference *suspended; /* the innermost one of the stays around it */
    uint64_t inferred;         /* inferences begun so far */
    uint64_t recursions;       /* refused so far, because of what is around */
    uint32_t stays;            /* nested in one another */
    int never_wait;            /* infer privately instead */
    int on_worker;
} kiln__call_chain;

/*
 * A stay is one public call that compiles or infers. A callback that calls
 * back into the same context opens a stay in the stay, of the same run, but
 * starts a chain of inferences of its own: what it gets must be finished, not
 * a part of a cycle that is still open around it.
 */
typedef struct kiln__call_scope kiln__call_scope;
struct kiln__call_scope {
    kiln__call_chain *run;
    kiln__call_chain own; /* the run, unless it began further out */
    kiln_context *context;
    kiln_inference *inference; /* of the run, as it was before */
    kiln_inference *suspended;
    int keeps;               /* nothing is collected meanwhile */
    kiln__call_scope *outer; /* on this thread, of any context */
};

#define KILN__STAYS_MAX 64 /* callbacks nested in callbacks */

struct kiln__flight {
    unsigned references; /* under the tiers' lock, as is all below */
    int done;
    kiln__call_chain *owner;   /* NULL: queued for a worker */
    uint64_t world;            /* that the outcome depends on; 0: on none */
    const void *subject;       /* instance or job */
    kiln_code *code;           /* kernel flight: what it is compiled from */
    const kiln_kernel *kernel; /* result of a kernel flight */
    kiln_status status;
    kiln_error *error;
    int is_bound;          /* a failure may be due to where it was asked */
    int32_t source;        /* KILN_SOURCE_... */
    uint32_t abandoned[2]; /* requests to count at the end: waiting, owning */
    uint32_t wanted;       /* kernel flight: requests that were not canceled */
    kiln__flight *next;    /* of the subject */
    kiln__flight *held_next; /* of the inference that heads its cycle */
};

/* ---- tiers/tiers.c ---- */
/* `unload` is called for each kernel before it is freed. */
kiln_status kiln__tiers_new(kiln_context *context,
                            void (*unload)(kiln_kernel *kernel));
/* Unloads and frees a kernel that no table holds. NULL is fine. */
void kiln__kernel_free(kiln_kernel *kernel);
void kiln__tiers_free(kiln_context *context);
void kiln__tiers_collect(kiln_context *context);

/* ---- tiers/flight.c ---- */
/* How many of this thread's stays keep what they see. */
uint64_t kiln__call_scopes_of_thread(const kiln_context *context);
/* Opens a stay of this thread in the context, in the caller's storage, and
   ends it. Code instances on loan stay where they are meanwhile. */
kiln__call_chain *kiln__call_scope_enter(kiln__call_scope *stay,
                                         kiln_context *context);
void kiln__call_scope_leave(kiln__call_scope *stay);
/* The stay of a worker that builds the flight's kernel, or no flight's. */
void kiln__call_scope_enter_worker(kiln__call_scope *stay,
                                   kiln_context *context, kiln__flight *flight);
/* KILN_ERECURSION when stays are nested too deep to go on. */
kiln_status kiln__call_scope_check_depth(kiln__call_chain *run,
                                         kiln_error **error);
/* Waits until the flight is done: KILN_OK, or KILN_ERECURSION when the wait
   would never end. Takes and leaves no lock. */
kiln_status kiln__flight_wait(kiln_context *context, kiln__call_chain *run,
                              kiln__flight *flight);
/* The same until kiln__clock_ns() is `deadline_ns` (0: never): then
   KILN_ETIMEDOUT. */
kiln_status kiln__flight_wait_until(kiln_context *context,
                                    kiln__call_chain *run, kiln__flight *flight,
                                    uint64_t deadline_ns);
/* True while the run has the flight itself. */
int kiln__flight_is_owned(kiln_context *context, const kiln__call_chain *run,
                          const kiln__flight *flight);
int kiln__flight_is_done(kiln_context *context, const kiln__flight *flight);
/* Waits until one of the flights ends, of which some may be NULL: KILN_OK; or
   KILN_ERECURSION and `*closing`, one that the run would wait for for ever. */
kiln_status kiln__flight_wait_any(size_t *closing, kiln_context *context,
                                  kiln__call_chain *run,
                                  kiln__flight *const *flights, size_t count);
void kiln__flight_release(kiln_context *context, kiln__flight *flight);
/* Copies status and error (retained) of a done flight. */
kiln_status kiln__flight_status(kiln_context *context,
                                const kiln__flight *flight, kiln_error **error);
/* The kernel flight goes over to a worker: no run owns it any more, and no
   frontend is asked again, so that its outcome depends on the code instance
   alone. */
void kiln__flight_hand_over(kiln_context *context, kiln__flight *flight);
/* Gives up a request without waiting: it is counted when the flight ends.
   Releases the flight. */
void kiln__flight_abandon(kiln_context *context, kiln__flight *flight,
                          int owned);
/* A request of a kernel flight takes back that it wants the result. */
void kiln__flight_cancel(kiln_context *context, kiln__flight *flight);
/* Does nobody want the kernel any more? Then nobody will, either: who asks from
   now on begins a flight anew. */
int kiln__flight_give_up(kiln_context *context, kiln__flight *flight);
/* How a request is counted that asked for a flight of tier 3, now done. */
kiln__count kiln__flight_outcome(const kiln__flight *flight, int owned);

/* ---- tiers/typed/typed.c: tier 1 ---- */
typedef struct kiln__typed_request {
    const kiln_signature *signature;
    const kiln_config *config;
    kiln__worlds *worlds; /* in which it is answered; its own is taken */
    int never_wait;       /* infer privately where others would wait */
    int for_job;          /* a record is enough: kiln__code_is_record() */
} kiln__typed_request;

/* Takes the worlds of a request, with `world` (0: today's) of its function's
   own frontend, and lends the code instance. What was torn by a definition that
   came between two questions is begun anew. On success the caller ends the
   worlds. */
kiln_status kiln__typed_begin(const kiln_code **out, kiln__call_chain *run,
                              const kiln__typed_request *request,
                              uint64_t world, kiln_error **error);
/* The worlds of the inference that the caller is a callback of, when `world` of
   that frontend is one of them; NULL. What is asked in them is what that
   inference may depend on. */
kiln__worlds *kiln__worlds_around(const kiln_context *context,
                                  kiln_frontend *frontend, uint64_t world);
/* In those: as kiln__typed_begin(), and they are not the caller's to end. */
kiln_status kiln__typed_around(const kiln_code **out, kiln__call_chain *run,
                               const kiln__typed_request *request,
                               kiln_error **error);
/* Lends the code instance, inferring it if need be. */
kiln_status kiln__typed_get(const kiln_code **out, kiln_context *context,
                            kiln__call_chain *run,
                            const kiln__typed_request *request,
                            kiln_error **error);
/* A record has a digest, a name and every query of its call closure, but no
   typed IR: code cannot be generated from it. */
int kiln__code_is_record(const kiln_code *code);
/* Lends it, complete, if it is there for that world of its own frontend and
   today's of all others; no counters. */
const kiln_code *kiln__typed_find(kiln_context *context,
                                  const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world);
/* ---- tiers/typed/code_closure.c ---- */
/* The call closure, root first, in call order; freed by the caller. Each
   function and signature is in it once. */
kiln_status kiln__code_closure(const kiln_code ***out, size_t *count,
                               const kiln_code *root);
/* The same with everything that any of them depends on. */
kiln_status kiln__code_dependencies(const kiln_code ***out, size_t *count,
                                    const kiln_code *root);
/* Are the two one function of a closure? */
int kiln__codes_are_one(const kiln_code *a, const kiln_code *b);
/* The same as a key of this process: equal for those that are one. */
kiln_digest kiln__code_key(const kiln_code *code);
/* While lower() runs on this thread, what it lowers. */
typedef struct kiln__lowering {
    const kiln_code *const *codes;
    size_t count;
    const struct kiln__lowering *around;
} kiln__lowering;

void kiln__lowering_begin(kiln__lowering *out, const kiln_code *const *codes,
                          size_t count);
void kiln__lowering_end(const kiln__lowering *lowering);
/* The one that stands for the code in what is lowered; else the code. */
const kiln_code *kiln__code_as_lowered(const kiln_code *code);

/* Callees in call order; of two that are one function, either. */
const kiln_code *const *kiln__code_callees(const kiln_code *code,
                                           size_t *count);

/* ---- tiers/binary/jobs.c: tier 3 by signature and config ---- */
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
   one who does. `world` is the one that was asked for. A flight keeps its code
   instance, with its callees and kernels, over collections. */
kiln__claim_result kiln__job_claim(kiln_context *context, kiln__call_chain *run,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world);
/* A private flight, that nobody else can see. */
kiln__flight *kiln__flight_private(kiln_context *context, kiln__call_chain *run,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world);
/* Ends a kernel flight with a kernel, which tier 3 then owns, or with a
   failure (`error` is taken over). If the job got a kernel of this code
   meanwhile, the new one is unloaded and that one is used. */
void kiln__job_finish(kiln_context *context, kiln__flight *flight,
                      kiln_kernel *kernel, int32_t source, kiln_status status,
                      kiln_error *error);

/* ---- tiers/binary/binary_table.c: artifacts by binary key ---- */
/* A reference to the artifact with the full key, or NULL. */
const kiln_artifact *kiln__artifact_find(kiln_context *context, kiln_digest key,
                                         const void *encoded,
                                         size_t encoded_size);
/* Keeps a reference; the first of one key stays. */
kiln_status kiln__artifact_keep(kiln_context *context,
                                const kiln_artifact *artifact, int is_packed);
/* Drops the reference, if it is this one that is kept. */
void kiln__artifact_forget(kiln_context *context,
                           const kiln_artifact *artifact);

/* ---- tiers/binary/stored_binary.c: the same in the stores ---- */
/* A reference to what a store has, kept in memory too; or NULL. */
const kiln_artifact *kiln__artifact_recall(kiln_context *context,
                                           const kiln_key *key);
void kiln__artifact_save(kiln_context *context, const kiln_artifact *artifact);
/* Notes for kiln_cache_explain() why the artifact is not kept; NULL: nothing.
 */
void kiln__session_note(kiln_context *context, const kiln_artifact *artifact,
                        const char *reason);
/* What a store gave cannot be loaded: it is forgotten, and dropped there. */
void kiln__artifact_reject(kiln_context *context,
                           const kiln_artifact *artifact);
/* An artifact as bytes for another process. */
kiln_status kiln__artifact_envelope(kiln_blob *out, const kiln_context *context,
                                    const kiln_artifact *artifact);
/* A reference to what another process gave, checked, and kept in memory and in
   the stores; or NULL. */
const kiln_artifact *kiln__artifact_receive(kiln_context *context,
                                            const void *bytes, size_t size,
                                            const kiln_key *key);

/* ---- tiers/binary/stored_native.c: what drivers made of artifacts, in the
 * stores ---- */
typedef struct kiln__native_user {
    /* Loads the driver's binary; any error: it is of no use. */
    kiln_status (*use)(void *env, const void *bytes, size_t size);
    void *env;
    const char *name; /* of the kernel, for people */
} kiln__native_user;

/* Gives `user` what stores have for the artifact and the driver, as it names
   itself (NULL: nothing is kept for it), until one is of use. What is of none
   is dropped. KILN_ENOTFOUND. */
kiln_status kiln__native_recall(kiln_context *context,
                                const kiln_artifact *artifact,
                                const char *driver,
                                const kiln__native_user *user);
/* Would what a driver gives be kept? */
int kiln__native_is_wanted(kiln_context *context, const kiln_artifact *artifact,
                           const char *driver);
typedef struct kiln__native_made {
    kiln_blob bytes;
    const char *tools; /* that took part, as words (provenance.h), or NULL */
    uint64_t build_ns;
    int replace; /* what is kept has less in it */
} kiln__native_made;

void kiln__native_save(kiln_context *context, const kiln_artifact *artifact,
                       const char *driver, const kiln__native_made *made);

/* ---- tiers/runtime/runtime_bitcode.c: tier 2, bitcode by runtime key ---- */
typedef struct kiln__runtime_entry kiln__runtime_entry;

/* What is asked for. */
typedef struct kiln__runtime_query {
    kiln_digest digest; /* of the encoded key */
    const void *encoded;
    size_t encoded_size;
    kiln_digest asker; /* zero: everybody; or
                          the typed digest or the use (kiln__library_use) that
                          asks: the entry goes when no code has it */
    /* It can be lowered with the kernel as well; so it is not kept if that
       takes less time than reading it. */
    int is_optional;
    size_t work; /* of making it, in any measure: what was given up speaks for
                    all that is no more work */
    int is_anew; /* what stores have was of no use */
} kiln__runtime_query;

typedef enum kiln__runtime_outcome {
    KILN__RUNTIME_FOUND,    /* lent until it is released */
    KILN__RUNTIME_OWN,      /* the caller builds it, then finishes or fails */
    KILN__RUNTIME_IN_PLACE, /* was not worth keeping: it is not asked for */
    KILN__RUNTIME_NO_MEMORY
} kiln__runtime_outcome;

/* Finds the entry, waits for its builder, or makes the caller its builder. A
   builder asks for nothing until it is done, so that waiting always ends.
   Counts what is found. */
kiln__runtime_outcome kiln__runtime_claim(kiln__runtime_entry **out,
                                          kiln_context *context,
                                          const kiln__runtime_query *query);
/* The builder keeps a copy of the bitcode and has it on loan from now on. On
   failure the entry is gone. Counts the request. */
kiln_status kiln__runtime_finish(kiln_context *context,
                                 kiln__runtime_entry *entry,
                                 const void *bitcode, size_t size,
                                 uint64_t make_ns);
/* The builder gives up; who waits builds by himself. Counts the request. */
void kiln__runtime_fail(kiln_context *context, kiln__runtime_entry *entry);
/* The bitcode of an entry on loan. */
const void *kiln__runtime_bitcode(const kiln__runtime_entry *entry,
                                  size_t *size);
/* Tells how long reading and linking took. Once an entry was read often enough
   to be judged, one that is slower to read than to make is given up. */
void kiln__runtime_was_read(kiln_context *context, kiln__runtime_entry *entry,
                            uint64_t read_ns);
#define KILN__RUNTIME_READS 3 /* before an entry is judged, by its best one */
void kiln__runtime_release(kiln_context *context, kiln__runtime_entry *entry);
/* A build failed that read it. One that a store gave is dropped there, and for
   who asks from now on; it stays on loan. False: no store gave it. */
int kiln__runtime_reject(kiln_context *context, kiln__runtime_entry *entry);

/* ---- tiers/tiers.c ---- */
/* The locks between processes; NULL: there are none. */
struct kiln__locks *kiln__tiers_locks(kiln_context *context);
/* How long the longest build took that this context made or was given. */
void kiln__tiers_note_build(kiln_context *context, uint64_t nanoseconds);
uint64_t kiln__tiers_longest_build_ns(kiln_context *context);

/* ---- tiers/delta.c ---- */
/* The number of what came into a tier last; and the next one. */
uint64_t kiln__tiers_order(kiln_context *context);
uint64_t kiln__tiers_next(kiln_context *context);

typedef struct kiln__delta_taker {
    kiln_status (*take)(void *env, const kiln__entry *entry);
    void *env;
} kiln__delta_taker;

/* Gives every entry that was added since, as delta.c says. */
kiln_status kiln__tiers_delta(kiln_context *context, uint64_t since,
                              int binaries, const kiln__delta_taker *taker,
                              kiln_error **error);

#endif /* KILN_TIERS_H */
