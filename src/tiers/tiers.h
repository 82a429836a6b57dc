/* tiers.h - the interface between the pipeline and the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_H
#define KILN_TIERS_H

#include "context/keys/settings.h"
#include "stores/entry.h"
#include "tiers/binary/artifact.h"
#include "tiers/typed/code_instance.h"
#include "tiers/worlds.h"

/*
 * The tiers' own lock guards everything here except the hit path. It is never
 * held while a callback, a store, a backend or the code generator runs.
 */

/*
 * A flight is one build under way, of a code instance (tier 1) or of a kernel
 * (tier 3): other requests for the same thing wait for it.
 *
 * A call chain is all that one thread does in a context, nested calls included.
 * It owns the flights that it has claimed until they end or are handed over to
 * a worker. Before it waits, it walks owner -> waits for -> owner; if that
 * leads back to itself, the wait would never end, and it builds privately
 * instead.
 *
 * A worker that builds a kernel has a call chain as well, for the host's
 * callbacks that run there: it owns that flight, and waits for no flight,
 * because that one may be queued after it.
 */
typedef struct kiln__flight kiln__flight;
typedef struct kiln__call_chain {
    /* Under the tiers' lock; some of the flights may be NULL. */
    kiln__flight *const *waits_for;
    size_t waits_for_count;
    uint64_t visit;            /* number of the last walk that visited it */
    kiln_inference *inference; /* the innermost one of the current call scope */
    kiln_inference *suspended; /* the innermost one of the call scopes around
                                  it */
    uint64_t inferred;         /* number of inferences begun */
    uint64_t recursions;       /* number of requests refused because of the
                                  calls around them */
    uint32_t stays;            /* number of nested call scopes */
    int never_wait;            /* infer privately instead of waiting */
    int on_worker;
} kiln__call_chain;

/*
 * A call scope is one public call that compiles or infers. A callback that
 * calls back into the same context opens a call scope inside it, in the same
 * chain, but with a chain of inferences of its own: its result must be final,
 * not part of a cycle that is still open around it.
 */
typedef struct kiln__call_scope kiln__call_scope;
struct kiln__call_scope {
    kiln__call_chain *run;
    kiln__call_chain own; /* the call chain, unless an outer scope has it */
    kiln_context *context;
    kiln_inference *inference; /* of the chain, before this scope */
    kiln_inference *suspended;
    int keeps;               /* whether it prevents collections */
    kiln__call_scope *outer; /* next outer one on this thread, of any context */
};

#define KILN__STAYS_MAX 64 /* callbacks nested in callbacks */

struct kiln__flight {
    unsigned references; /* under the tiers' lock, as are all members */
    int done;
    kiln__call_chain *owner;   /* NULL: queued for a worker */
    uint64_t world;            /* the world on which the outcome depends; 0: on
                                  none */
    const void *subject;       /* instance or job */
    kiln_code *code;           /* kernel flight: the code instance to compile */
    const kiln_kernel *kernel; /* kernel flight: the result */
    kiln_status status;
    kiln_error *error;
    int is_bound;          /* a failure may be due to where it was requested */
    int32_t source;        /* KILN_SOURCE_... */
    uint32_t abandoned[2]; /* abandoned requests to count at the end: waiting,
                              owning */
    uint32_t wanted;       /* kernel flight: requests that were not canceled */
    kiln__flight *next;    /* in the subject's list */
    kiln__flight *held_next; /* in the list of the inference that heads the
                                cycle */
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
/* How many call scopes of this thread prevent collections. */
uint64_t kiln__call_scopes_of_thread(const kiln_context *context);
/* Opens and ends a call scope of this thread in the context, in the caller's
   memory. In between, code instances on loan are not freed. */
kiln__call_chain *kiln__call_scope_enter(kiln__call_scope *stay,
                                         kiln_context *context);
void kiln__call_scope_leave(kiln__call_scope *stay);
/* Opens the call scope of a worker that builds the flight's kernel; the flight
   may be NULL. */
void kiln__call_scope_enter_worker(kiln__call_scope *stay,
                                   kiln_context *context, kiln__flight *flight);
/* KILN_ERECURSION when call scopes are nested too deep to go on. */
kiln_status kiln__call_scope_check_depth(kiln__call_chain *run,
                                         kiln_error **error);
/* Waits until the flight is done: KILN_OK, or KILN_ERECURSION when the wait
   would never end. Call it without the tiers' lock. */
kiln_status kiln__flight_wait(kiln_context *context, kiln__call_chain *run,
                              kiln__flight *flight);
/* The same, until kiln__clock_ns() is `deadline_ns` (0: no deadline): then
   KILN_ETIMEDOUT. */
kiln_status kiln__flight_wait_until(kiln_context *context,
                                    kiln__call_chain *run, kiln__flight *flight,
                                    uint64_t deadline_ns);
/* True while the call chain owns the flight. */
int kiln__flight_is_owned(kiln_context *context, const kiln__call_chain *run,
                          const kiln__flight *flight);
int kiln__flight_is_done(kiln_context *context, const kiln__flight *flight);
/* Waits until one of the flights ends; some may be NULL. KILN_OK; or
   KILN_ERECURSION and in `*closing` a flight for which the chain would wait for
   ever. */
kiln_status kiln__flight_wait_any(size_t *closing, kiln_context *context,
                                  kiln__call_chain *run,
                                  kiln__flight *const *flights, size_t count);
void kiln__flight_release(kiln_context *context, kiln__flight *flight);
/* Copies status and error (retained) of a flight that is done. */
kiln_status kiln__flight_status(kiln_context *context,
                                const kiln__flight *flight, kiln_error **error);
/* Hands the kernel flight over to a worker: no call chain owns it any more, and
   no frontend is asked again, so that its outcome depends only on the code
   instance. */
void kiln__flight_hand_over(kiln_context *context, kiln__flight *flight);
/* Ends a request without waiting: it is counted when the flight ends. Releases
   the flight. */
void kiln__flight_abandon(kiln_context *context, kiln__flight *flight,
                          int owned);
/* A request of a kernel flight no longer wants the result. */
void kiln__flight_cancel(kiln_context *context, kiln__flight *flight);
/* True when no request wants the kernel any more. No later one will, either: a
   new request begins a new flight. */
int kiln__flight_give_up(kiln_context *context, kiln__flight *flight);
/* How to count a request for a flight of tier 3 that is done. */
kiln__count kiln__flight_outcome(const kiln__flight *flight, int owned);

/* ---- tiers/typed/typed.c: tier 1 ---- */
typedef struct kiln__typed_request {
    const kiln_signature *signature;
    const kiln_config *config;
    kiln__worlds *worlds; /* in which it is answered; that of its own frontend
                             is taken */
    int never_wait;       /* infer privately where others would wait */
    int for_job;          /* a record suffices: kiln__code_is_record() */
} kiln__typed_request;

/* Takes the worlds of a request, with `world` (0: the current one) of its
   function's own frontend, and lends the code instance. If a definition came
   between two questions, the request is restarted. On success the caller ends
   the worlds. */
kiln_status kiln__typed_begin(const kiln_code **out, kiln__call_chain *run,
                              const kiln__typed_request *request,
                              uint64_t world, kiln_error **error);
/* Returns the worlds of the inference that the caller is a callback of, if
   `world` of that frontend is one of them; else NULL. The inference may depend
   on results in these worlds. */
kiln__worlds *kiln__worlds_around(const kiln_context *context,
                                  kiln_frontend *frontend, uint64_t world);
/* As kiln__typed_begin(), in those worlds, which the caller does not end. */
kiln_status kiln__typed_around(const kiln_code **out, kiln__call_chain *run,
                               const kiln__typed_request *request,
                               kiln_error **error);
/* Lends the code instance, inferring it if need be. */
kiln_status kiln__typed_get(const kiln_code **out, kiln_context *context,
                            kiln__call_chain *run,
                            const kiln__typed_request *request,
                            kiln_error **error);
/* A record has a digest, a name and all queries of its call closure, but no
   typed IR: no code can be generated from it. */
int kiln__code_is_record(const kiln_code *code);
/* Lends a complete code instance that is valid in that world of its own
   frontend and in the current ones of all others, if there is one; without
   counting. */
const kiln_code *kiln__typed_find(kiln_context *context,
                                  const kiln_signature *signature,
                                  const kiln_config *config, uint64_t world);
/* ---- tiers/typed/code_closure.c ---- */
/* The call closure, root first, in call order. Each function and signature is
   in it once. The caller frees it. */
kiln_status kiln__code_closure(const kiln_code ***out, size_t *count,
                               const kiln_code *root);
/* The same with all dependencies of its members. */
kiln_status kiln__code_dependencies(const kiln_code ***out, size_t *count,
                                    const kiln_code *root);
/* True if the two are one function of a closure. */
int kiln__codes_are_one(const kiln_code *a, const kiln_code *b);
/* The same as a key of this process: equal for two that are one function. */
kiln_digest kiln__code_key(const kiln_code *code);
/* What lower() lowers while it runs on this thread. */
typedef struct kiln__lowering {
    const kiln_code *const *codes;
    size_t count;
    const struct kiln__lowering *around;
} kiln__lowering;

void kiln__lowering_begin(kiln__lowering *out, const kiln_code *const *codes,
                          size_t count);
void kiln__lowering_end(const kiln__lowering *lowering);
/* Returns the member of what is being lowered that represents the code; else
   the code itself. */
const kiln_code *kiln__code_as_lowered(const kiln_code *code);

/* Callees in call order; of two that are one function, either. */
const kiln_code *const *kiln__code_callees(const kiln_code *code,
                                           size_t *count);

/* ---- tiers/binary/jobs.c: tier 3 by signature and config ---- */
/* The hit path: no lock, no allocation, no write. NULL: there is no valid
   kernel. */
const kiln_kernel *kiln__job_lookup(const kiln_context *context,
                                    const kiln_signature *signature,
                                    const kiln_config *config);

typedef enum kiln__claim {
    KILN__CLAIM_HIT,    /* see `kernel` */
    KILN__CLAIM_FAILED, /* remembered: see `status` and `error` */
    KILN__CLAIM_WAIT,   /* see `flight`, referenced */
    KILN__CLAIM_OWN,    /* see `flight`, referenced and owned by the chain */
    KILN__CLAIM_NO_MEMORY
} kiln__claim;

typedef struct kiln__claim_result {
    kiln__claim outcome;
    const kiln_kernel *kernel;
    kiln__flight *flight;
    kiln_status status;
    kiln_error *error; /* retained */
} kiln__claim_result;

/* Finds the kernel of (job, code), or its flight, or makes the caller its
   builder. `world` is the requested one. A flight protects its code instance,
   with callees and kernels, from collections. */
kiln__claim_result kiln__job_claim(kiln_context *context, kiln__call_chain *run,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world);
/* Makes a private flight, which nobody else sees. */
kiln__flight *kiln__flight_private(kiln_context *context, kiln__call_chain *run,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world);
/* Ends a kernel flight with a kernel, which tier 3 then owns, or with a failure
   (`error` is taken over). If the job has got another kernel of this code in
   the meantime, the new one is unloaded and the other one is used. */
void kiln__job_finish(kiln_context *context, kiln__flight *flight,
                      kiln_kernel *kernel, int32_t source, kiln_status status,
                      kiln_error *error);

/* ---- tiers/binary/binary_table.c: artifacts by binary key ---- */
/* Returns a reference to the artifact with the full key, or NULL. */
const kiln_artifact *kiln__artifact_find(kiln_context *context, kiln_digest key,
                                         const void *encoded,
                                         size_t encoded_size);
/* Keeps a reference; the first artifact of a key is kept. */
kiln_status kiln__artifact_keep(kiln_context *context,
                                const kiln_artifact *artifact, int is_packed);
/* Drops the reference, if this artifact is the one that is kept. */
void kiln__artifact_forget(kiln_context *context,
                           const kiln_artifact *artifact);

/* ---- tiers/binary/stored_binary.c: the same in the stores ---- */
/* Returns a reference to the artifact in a store, which is kept in memory as
   well; or NULL. */
const kiln_artifact *kiln__artifact_recall(kiln_context *context,
                                           const kiln_key *key);
void kiln__artifact_save(kiln_context *context, const kiln_artifact *artifact);
/* Notes for kiln_cache_explain() why the artifact is not stored; NULL: does
 * nothing. */
void kiln__session_note(kiln_context *context, const kiln_artifact *artifact,
                        const char *reason);
/* An artifact from a store cannot be loaded: it is forgotten, and dropped from
   the store. */
void kiln__artifact_reject(kiln_context *context,
                           const kiln_artifact *artifact);
/* Encodes an artifact for another process. */
kiln_status kiln__artifact_envelope(kiln_blob *out, const kiln_context *context,
                                    const kiln_artifact *artifact);
/* Checks an artifact that another process gave, keeps it in memory and in the
   stores, and returns a reference; or NULL. */
const kiln_artifact *kiln__artifact_receive(kiln_context *context,
                                            const void *bytes, size_t size,
                                            const kiln_key *key);

/* ---- tiers/binary/stored_native.c: what drivers made of artifacts, in the
 * stores ---- */
typedef struct kiln__native_user {
    /* Loads the driver's binary; after any error it counts as useless. */
    kiln_status (*use)(void *env, const void *bytes, size_t size);
    void *env;
    const char *name; /* of the kernel, for messages */
} kiln__native_user;

/* Gives `user` the entries for the artifact and the driver, until one is of
   use; useless ones are dropped. `driver` is the name that the driver gives
   itself; NULL: nothing is stored for it. KILN_ENOTFOUND. */
kiln_status kiln__native_recall(kiln_context *context,
                                const kiln_artifact *artifact,
                                const char *driver,
                                const kiln__native_user *user);
/* True if a binary of the driver would be stored. */
int kiln__native_is_wanted(kiln_context *context, const kiln_artifact *artifact,
                           const char *driver);
typedef struct kiln__native_made {
    kiln_blob bytes;
    const char *tools; /* tools that took part, as words (provenance.h), or
                          NULL */
    uint64_t build_ns;
    int replace; /* the stored one has less in it */
} kiln__native_made;

void kiln__native_save(kiln_context *context, const kiln_artifact *artifact,
                       const char *driver, const kiln__native_made *made);

/* ---- tiers/runtime/runtime_bitcode.c: tier 2, bitcode by runtime key ---- */
typedef struct kiln__runtime_entry kiln__runtime_entry;

/* A request for bitcode. */
typedef struct kiln__runtime_query {
    kiln_digest digest; /* of the encoded key */
    const void *encoded;
    size_t encoded_size;
    kiln_digest asker; /* zero: everybody; else the typed digest or the use
                          (kiln__library_use) that asks: the entry is dropped
                          when no code has it any more */
    /* True if it can also be lowered with the kernel; then it is not kept if
       that takes less time than reading it. */
    int is_optional;
    size_t work; /* the work of making it, in any unit: if an entry is given up,
                    all with no more work are */
    int is_anew; /* the stores' entries were of no use */
} kiln__runtime_query;

typedef enum kiln__runtime_outcome {
    KILN__RUNTIME_FOUND,    /* was not worth keeping: lower it with the
                               kernel */
    KILN__RUNTIME_OWN,      /* the caller builds it, then finishes or fails */
    KILN__RUNTIME_IN_PLACE, /* was not worth keeping: it is not asked for */
    KILN__RUNTIME_NO_MEMORY
} kiln__runtime_outcome;

/* Finds the entry, waits for its builder, or makes the caller its builder. A
   builder makes no other request until it is done, so that waiting always ends.
   Counts an entry that is found. */
kiln__runtime_outcome kiln__runtime_claim(kiln__runtime_entry **out,
                                          kiln_context *context,
                                          const kiln__runtime_query *query);
/* Copies the builder's bitcode into the entry, which is on loan to the builder
   from now on. After a failure the entry is gone. Counts the request. */
kiln_status kiln__runtime_finish(kiln_context *context,
                                 kiln__runtime_entry *entry,
                                 const void *bitcode, size_t size,
                                 uint64_t make_ns);
/* The builder gives up; threads that wait build for themselves. Counts the
   request. */
void kiln__runtime_fail(kiln_context *context, kiln__runtime_entry *entry);
/* The bitcode of an entry on loan. */
const void *kiln__runtime_bitcode(const kiln__runtime_entry *entry,
                                  size_t *size);
/* Reports how long reading and linking took. An entry that has been read often
   enough is judged; if it is slower to read than to make, it is given up. */
void kiln__runtime_was_read(kiln_context *context, kiln__runtime_entry *entry,
                            uint64_t read_ns);
#define KILN__RUNTIME_READS 3 /* before an entry is judged, by the shortest */
void kiln__runtime_release(kiln_context *context, kiln__runtime_entry *entry);
/* A build failed that read the entry. If a store gave it, it is dropped there,
   and for later requests; it stays on loan. False: no store gave it. */
int kiln__runtime_reject(kiln_context *context, kiln__runtime_entry *entry);

/* ---- tiers/tiers.c ---- */
/* The locks between processes; NULL: there are none. */
struct kiln__locks *kiln__tiers_locks(kiln_context *context);
/* How long the longest build took that this context made or got. */
void kiln__tiers_note_build(kiln_context *context, uint64_t nanoseconds);
uint64_t kiln__tiers_longest_build_ns(kiln_context *context);

/* ---- tiers/delta.c ---- */
/* Returns the number of the last addition to a tier; the second function
   returns a new one. */
uint64_t kiln__tiers_order(kiln_context *context);
uint64_t kiln__tiers_next(kiln_context *context);

typedef struct kiln__delta_taker {
    kiln_status (*take)(void *env, const kiln__entry *entry);
    void *env;
} kiln__delta_taker;

/* Gives every entry that was added since then, as delta.c says. */
kiln_status kiln__tiers_delta(kiln_context *context, uint64_t since,
                              int binaries, const kiln__delta_taker *taker,
                              kiln_error **error);

#endif /* KILN_TIERS_H */
