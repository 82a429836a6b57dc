/* tiers_state.h - the structs and internal functions of the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TIERS_STATE_H
#define KILN_TIERS_TIERS_STATE_H

#include <stdatomic.h>

#include "base/data/array.h"
#include "base/data/decoder.h"
#include "base/data/map.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "base/system/thread.h"
#include "stores/entry.h"
#include "tiers/tiers.h"

typedef struct kiln__attached kiln__attached;
struct kiln__attached {
    const kiln_config *config; /* or NULL */
    char *consumer;
    kiln_attachment attachment;
    uint64_t order; /* number in the order of arrival */
    int is_packed;  /* it came from an inserted pack */
    kiln__attached *next;
};

typedef struct kiln__consumer kiln__consumer;

typedef kiln__array_of(kiln_code *) kiln__code_list;

/* A range of a frontend's worlds in which something is valid. */
typedef struct kiln__range {
    kiln_frontend *frontend;
    uint64_t minimum;
    _Atomic uint64_t maximum; /* UINT64_MAX: no end */
} kiln__range;

typedef kiln__array_of(kiln__range) kiln__range_list;

/* Whether infer() asked for something that failed, and went on without it. */
typedef enum kiln__lacks {
    KILN__LACKS_NOTHING,
    KILN__LACKS_SOMETHING,
    KILN__LACKS_MEMORY /* there was no memory to note the worlds */
} kiln__lacks;

/*
 * A published code instance is immutable, except for the ends of its worlds,
 * its callers and its attachments.
 *
 * It is valid in ranges of worlds: of its own frontend, and of each frontend of
 * anything below it. If a code instance ends in a frontend's worlds, its
 * callers end in the worlds of that same frontend. Numbers of two frontends'
 * worlds are unrelated.
 */
struct kiln_code {
    kiln_context *context;
    kiln_frontend *frontend;
    struct kiln__instance *instance;
    const kiln_config *config; /* any config with the instance's owner token */
    char *name;
    kiln_digest root;
    kiln_digest digest;   /* the typed digest */
    kiln_digest identity; /* covers all that can be seen of it
                             (code_digest.c) */
    const kiln_type *result;
    void *ir;
    size_t ir_size;
    kiln__array_of(kiln_query) queries;     /* owns their data */
    kiln__array_of(kiln__library_use) uses; /* in the order of use */
    kiln__array_of(kiln__site_use) sites;   /* in the order of use; owns their
                                               names */
    kiln__code_list callees;                /* in call order */
    kiln__code_list depends; /* dependencies without a call, in the order of
                                reporting */
    kiln__code_list callers; /* under the lock; also those that depend on it
                                without a call */
    uint64_t inferred_world;
    uint64_t min_world;
    _Atomic uint64_t max_world; /* UINT64_MAX: no end */
    kiln__range_list others;    /* its ranges in other frontends' worlds */
    kiln_kernel *kernels;       /* under the lock: kernels compiled from it */
    kiln__attached *attached;   /* under the lock */
    uint64_t sequence;          /* number of its inference in the call chain */
    uint64_t order;             /* number in the order of publication */
    kiln_digest stored_digest;  /* according to the store's entry; else zero */
    kiln_digest stored_identity;
    unsigned pins;       /* under the lock: number of flights that need it */
    uint8_t published;   /* whether it is in tier 1 */
    uint8_t is_runtime;  /* a runtime function: tier 2 may keep it */
    uint8_t is_record;   /* recalled: without IR and callees, with the queries
                            of everything that it calls */
    uint8_t is_stored;   /* loaded or recalled, not inferred */
    uint8_t is_packed;   /* loaded from an inserted pack */
    uint8_t is_root;     /* under the lock: a job asked for it */
    uint8_t kept;        /* kept by the collection under way */
    uint8_t has_ended;   /* under the lock: it is in the list `ended` */
    uint8_t still_holds; /* its queries have the same answers; used while it is
                            being published */
    uint8_t has_ir;      /* whether inference reported IR */
    uint8_t lacks;       /* whether inference went on without something:
                            kiln__lacks */
    kiln_code *next;     /* in the instance's list, newest first */
    kiln_code *next_all;
    kiln_code *work_next; /* in the worklist of a clip or a collection */
};

/* A method instance: signature and owner token. */
typedef struct kiln__instance {
    const kiln_function *function;
    const kiln_type **types;
    size_t count;
    kiln_digest owner;
    kiln_code *codes; /* those that nothing has ended, newest first */
    kiln_code *ended; /* the others, the latest used first */
    kiln__array_of(kiln__world) last_worlds; /* for each frontend the last
                                                world in which one of `ended`
                                                is valid */
    int is_vague;                            /* `last_worlds` is incomplete */
    kiln__flight *flights;
    kiln__array_of(kiln__world) failed_worlds; /* worlds of the remembered
                                                  failure; empty: there is
                                                  none */
    kiln_status failed_status;
    kiln_error *failed_error;
    struct kiln__instance *alias; /* another one with the same digest */
} kiln__instance;

#define KILN__SLOT_TYPES 5

/* A cache line: a job as hits read it. Longer signatures have all types but the
   first four in the job. */
typedef struct kiln__job_slot {
    _Atomic(const kiln_function *) function; /* NULL: free slot */
    _Atomic(const kiln_kernel *) kernel;     /* what a hit gets, or NULL */
    const kiln_config *config;
    const kiln_type *types[KILN__SLOT_TYPES];
} kiln__job_slot;

/* A signature under a config. Members are under the lock, except the immutable
   ones at the end. */
typedef struct kiln__job {
    kiln_kernel *kernels; /* of all code instances */
    kiln__flight *flights;
    const kiln_code *failed_code;
    uint64_t failed_world; /* 0: the failure does not depend on the world */
    kiln_status failed_status;
    kiln_error *failed_error;
    struct kiln__job *next_all;
    kiln__job_slot *slot;      /* in the newest table */
    const kiln_kernel *kernel; /* the valid one in the slot, or NULL */
    const kiln_function *function;
    const kiln_config *config;
    size_t count;
    const kiln_type *types[];
} kiln__job;

/* Open addressing; readers take no lock. A full table is replaced by one of
   twice the size, but not freed, because a reader may still use it. */
typedef struct kiln__job_table {
    size_t mask;
    size_t used;
    struct kiln__job_table *retired;
    void *memory;     /* the allocation; the table is aligned inside it */
    kiln__job **jobs; /* the jobs of the slots; NULL: free */
    void *unused[3];  /* padding: aligns the slots like the table */
    kiln__job_slot slots[];
} kiln__job_table;

_Static_assert(offsetof(kiln__job_table, slots) % sizeof(kiln__job_slot) == 0,
               "a slot is on one line");

/* An artifact in memory. */
typedef struct kiln__kept_artifact {
    const kiln_artifact *artifact; /* a reference */
    uint64_t order;                /* number in the order of arrival */
    int is_packed;                 /* it came from an inserted pack */
} kiln__kept_artifact;

/* The code instances with queries about one subject of a frontend. */
typedef struct kiln__subject {
    uint64_t changed; /* the last world that changed the subject */
    kiln__code_list codes;
    kiln__code_list ended; /* most of those whose worlds have an end */
    uint64_t last_ended;   /* the last of these ends */
} kiln__subject;

struct kiln__tiers {
    kiln_context *context;
    void (*unload)(kiln_kernel *kernel); /* unloads from the backend */
    struct kiln__locks *locks;           /* between processes */
    kiln__mutex lock;
    kiln__condition ended; /* signalled when a flight ends */
    uint64_t stays;        /* number of call scopes that prevent collections */
    uint64_t visit;        /* number of the last walk */
    kiln__map instances;   /* digest of addresses -> kiln__instance */
    kiln__map subjects;    /* -> kiln__subject */
    kiln__map artifacts;   /* binary key -> kiln__kept_artifact */
    kiln__map runtime;     /* runtime or closure key -> kiln__runtime_entry */
    size_t given_up;       /* work below this is not tried in tier 2 */
    uint64_t order;        /* number of the last addition */
    uint64_t idle_bytes;   /* not in use at the last check */
    uint64_t grown_bytes;  /* added since then */
    void (*bound)(struct kiln__tiers *tiers); /* in memory_bounds.c */
    _Atomic uint64_t longest_build_ns;
    kiln__consumer *consumers; /* of attached results */
    kiln_code *codes;          /* all published ones */
    kiln__job *jobs;
    _Atomic(kiln__job_table *) table;
    kiln_kernel *tombstones; /* unloaded kernels, whose heads stay readable */
    kiln__fork_guard guard;
};

/* An inference under way: a frame of its thread's chain. */
struct kiln_inference {
    kiln_context *context;
    kiln__call_chain *run;
    kiln_inference *parent;
    const kiln_inference *around; /* the parent, or the innermost frame of the
                                     chain around */
    kiln__instance *instance;
    kiln_signature signature;
    const kiln_config *config;
    kiln__worlds *worlds; /* of the whole chain */
    uint64_t world;       /* that of its own frontend */
    uint64_t sequence;    /* inferences that began under this one have greater
                             numbers */
    uint64_t recursions;  /* of the call chain, when this one began */
    uint32_t level;       /* number of frames above it, over all call scopes */
    uint32_t depth;       /* number of frames above it in its chain */
    uint32_t cycle_depth; /* of the outermost frame that it relies on */
    int is_head;
    int is_loading;          /* its result comes from a store's entry */
    kiln_code *code;         /* under construction; callees may point to it */
    kiln__code_list members; /* provisional results of the cycle that it
                                heads */
    kiln__flight *held;      /* flights of the members, which end with this
                                one */
    kiln__flight *flight;    /* NULL: private */
    kiln_error *refusal;     /* why kiln_inference_depend() last failed */
    kiln_status passing;     /* temporary failure further down, or KILN_OK */
    void *user;
};

#define KILN__INFERENCE_DEPTH_MAX 400

/* ---- method_instance.c: with the lock held ---- */
kiln__instance *kiln__instance_get(struct kiln__tiers *tiers,
                                   const kiln_signature *signature,
                                   kiln_digest owner, int create);
/* Returns a code instance that is valid in the worlds, a complete one or, with
   `or_record`, also a record. For a frontend whose world has not been taken,
   the instance must have no end; the first such frontend is stored in
   `*untaken` (else NULL), and when its world is taken the caller asks again. */
kiln_code *kiln__instance_code(kiln__instance *instance,
                               const kiln__worlds *worlds, int or_record,
                               kiln_frontend **untaken);
/* True if the remembered failure applies to these worlds, too. */
int kiln__instance_fails(const kiln__instance *instance,
                         const kiln__worlds *worlds, kiln_frontend **untaken);
/* If there is no memory, nothing is remembered. */
void kiln__instance_remember(kiln__instance *instance,
                             const kiln__worlds *worlds, kiln_status status,
                             kiln_error *error);
void kiln__instance_add(kiln__instance *instance, kiln_code *code);
/* Called when the code's worlds get an end, or an earlier one. */
void kiln__instance_note_end(kiln__instance *instance, kiln_code *code);
/* Forgets the code instances that a collection does not keep. */
void kiln__instance_sweep(kiln__instance *instance);
void kiln__instance_free(const kiln_alloc *alloc, kiln__instance *instance);

/* ---- job_table.c: with the lock held ---- */
int kiln__job_table_new(struct kiln__tiers *tiers);
void kiln__job_table_free(struct kiln__tiers *tiers);
kiln__job *kiln__job_find(const struct kiln__tiers *tiers,
                          const kiln_signature *signature,
                          const kiln_config *config);
/* False when out of memory. */
int kiln__job_insert(struct kiln__tiers *tiers, kiln__job *job);
/* Sets the kernel that hits get from now on; may be NULL. */
void kiln__job_show(kiln__job *job, const kiln_kernel *kernel);

/* ---- jobs.c ---- */
/* Size in bytes of a job with `count` types. */
size_t kiln__job_size(size_t count);

/* ---- code_instance.c ---- */
kiln_code *kiln__code_new(kiln_context *context, kiln__instance *instance,
                          const kiln_config *config, uint64_t world);
void kiln__code_free(kiln_code *code);
void kiln__code_list_remove(kiln__code_list *list, const kiln_code *code);
/* Adds a site unless it is there already; the name is copied. KILN_ENOMEM. */
kiln_status kiln__code_add_site(kiln_code *code, const char *name,
                                int32_t kind);
void kiln__code_clear_sites(kiln_code *code);
void kiln__code_clear_queries(kiln_code *code);

/* ---- world_ranges.c ---- */
/* True if it has no end in any frontend's worlds. Takes no lock. */
int kiln__code_is_good(const kiln_code *code);
/* Gives the range in the frontend's worlds; KILN_ENOTFOUND if there is none. */
kiln_status kiln__code_range(const kiln_code *code,
                             const kiln_frontend *frontend, uint64_t *minimum,
                             uint64_t *maximum);
/* True if it is valid in those of the worlds that are taken. In other frontends
   it must have no end: see kiln__instance_code(). */
int kiln__code_is_for(const kiln_code *code, const kiln__worlds *worlds,
                      kiln_frontend **untaken);
/* Narrows the frontend's range in the list, which is made if need be. */
kiln_status kiln__ranges_narrow(const kiln_alloc *alloc, kiln__range_list *list,
                                kiln_frontend *frontend, uint64_t minimum,
                                uint64_t maximum);
/* The same with all ranges of a code instance. */
kiln_status kiln__ranges_narrow_by(const kiln_alloc *alloc,
                                   kiln__range_list *list,
                                   const kiln_code *code);
/* Sets the end in the frontend's worlds. False when there was the same or an
   earlier end. */
int kiln__code_end(kiln_code *code, const kiln_frontend *frontend,
                   uint64_t maximum);

/* ---- code_digest.c ---- */
/* Computes the digests of the members of one cycle, or of a single code
   instance; may sort the members. */
kiln_status kiln__code_seal(kiln_code **group, size_t count);

/* ---- flight.c: with the lock held ---- */
kiln__flight *kiln__flight_new(struct kiln__tiers *tiers,
                               kiln__call_chain *owner, const void *subject);
void kiln__flight_drop(struct kiln__tiers *tiers, kiln__flight *flight);
/* Removes it from `list` if it is there. */
void kiln__flight_unlist(kiln__flight **list, kiln__flight *flight);
/* Marks it done, wakes all waiters, and removes it from `list` if it is
   there. */
void kiln__flight_end(struct kiln__tiers *tiers, kiln__flight **list,
                      kiln__flight *flight, kiln_status status,
                      kiln_error *error);
/* True if the call chain is one of this thread's. */
int kiln__run_is_own(const kiln__call_chain *run);

/* ---- inference.c ---- */
/* Notes that the frame relies on the assumption of the head, a frame above
   it. */
void kiln__inference_rely_on(kiln_inference *from, const kiln_inference *head);
/* Something that infer() asked for failed in these worlds with this status;
   `recursions` is the chain's count before. If infer() goes on without it, its
   result is valid in no other worlds; if the failure was temporary, in none at
   all. */
typedef struct kiln__lack {
    const kiln__worlds *worlds;
    kiln_status status;
    uint64_t recursions;
} kiln__lack;

void kiln__inference_goes_without(kiln_inference *inference,
                                  const kiln__lack *lack);
/* Frees the provisional results that began after the frame. */
void kiln__inference_forget_since(kiln_inference *inference);
/* Infers the instance or loads it from a store, and publishes it or parks it
   with the head of its cycle. Ends `flight` (NULL: private) in any case. A
   failure that the same request would meet again is remembered. */
kiln_status kiln__typed_infer(kiln_code **out, kiln_context *context,
                              kiln__call_chain *run, kiln__instance *instance,
                              const kiln__typed_request *request,
                              kiln__flight *flight, kiln_error **error);

/* ---- entry_writer.c ---- */
/* An entry that is being made. It points into what it is made from. */
typedef struct kiln__entry_writer {
    kiln__entry entry;
    kiln__encoder key;
    kiln__encoder meta;
} kiln__entry_writer;

void kiln__entry_writer_init(kiln__entry_writer *draft, const kiln_alloc *alloc,
                             int32_t kind);
/* Completes the entry with key and meta; `key` NULL: the key that `draft->key`
   encodes. */
kiln_status kiln__entry_writer_finish(kiln__entry_writer *draft,
                                      const kiln_key *key);
/* Puts the entry into the stores, according to the mode. */
void kiln__entry_writer_put(kiln_context *context,
                            const kiln__entry_writer *draft);
void kiln__entry_writer_dispose(kiln__entry_writer *draft);
/* The encoding of a query in every meta. A query that is read points into the
   meta; an empty one fails. */
void kiln__query_encode(kiln__encoder *out, const kiln_query *query);
kiln_query kiln__query_read(kiln__reader *reader);

/* ---- assumptions.c ---- */
/* True if two entries of one code instance have different answers to the same
   questions. False if they cannot be read, or without memory. */
int kiln__entries_of_two_programs(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b);

/* ---- stored_binary.c ---- */
/* Makes a new artifact from an entry; KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__artifact_decode(const kiln_artifact **out,
                                  const kiln_alloc *alloc,
                                  const kiln__entry *entry);
kiln_status kiln__entry_writer_artifact(kiln__entry_writer *out,
                                        const kiln_alloc *alloc,
                                        const kiln_artifact *artifact);

/* ---- stored_typed.c: code instances from the stores ---- */
/* Fills the inference from a store's entry under its instance key, if every
   query in it has the same answer now and its callees are the same. Otherwise
   the inference is unchanged. KILN_ENOTFOUND: there is no valid entry;
   KILN_ESTACK: this is not known. */
kiln_status kiln__inference_load(kiln_inference *inference);
/* Undoes a load. */
void kiln__inference_unload(kiln_inference *inference);
/* After a cycle, or a single instance, was sealed: true if each loaded member
   has the digests of its entry. */
int kiln__codes_are_as_stored(kiln_code *const *group, size_t count);
/* Stores what was inferred. If there is no memory, it is not stored. */
void kiln__codes_save(kiln_code *const *group, size_t count);
/* KILN_ENOTFOUND: no other process could load it. */
kiln_status kiln__entry_writer_code(kiln__entry_writer *out,
                                    const kiln_code *code);

/*
 * ---- stored_program.c: the digests of jobs under one program text ----
 */
/* Makes and publishes a record of the instance, if a store knows its digest
   under the current program; else returns NULL. */
kiln_code *kiln__code_recall(kiln_context *context, kiln__instance *instance,
                             const kiln__typed_request *request);
/* KILN_ENOTFOUND: the frontend gives no digest of its program. */
kiln_status kiln__entry_writer_record(kiln__entry_writer *out,
                                      const kiln_code *code, uint64_t world);
/* Stores what the next process can recall. */
void kiln__code_remember(const kiln_code *code, uint64_t world);

/* ---- publish.c ---- */
/* Adds a sealed group to tier 1 and checks it against the current worlds. If
   another thread has published `own` in the meantime, and with it what it
   calls, that one replaces the group. */
kiln_status kiln__codes_publish(kiln_context *context,
                                const kiln__worlds *worlds, kiln_code **group,
                                size_t count, kiln_code *own, kiln_code **out);
kiln__subject *kiln__subject_find(struct kiln__tiers *tiers,
                                  const kiln_frontend *frontend,
                                  uint64_t subject);
/* With the lock held. Makes the subject if need be; NULL when out of memory. */
kiln__subject *kiln__subject_get(struct kiln__tiers *tiers,
                                 const kiln_frontend *frontend,
                                 uint64_t subject);

/* ---- invalidate.c ---- */
/* With the lock held. Ends the validity of a code instance and of its callers
   in the worlds of the frontend. Those that become invalid are appended to
   `list`, which may be NULL. */
void kiln__code_clip(struct kiln__tiers *tiers, kiln_code *code,
                     const kiln_frontend *frontend, uint64_t maximum,
                     kiln__code_list *list);
/* Without the lock held. Asks every query again as of `world`. */
int kiln__code_still_holds(const kiln_code *code, uint64_t world);
void kiln__invalidated_report(kiln_context *context,
                              const kiln__code_list *list,
                              kiln_change_report *report);

/* ---- memory_bounds.c ---- */
/* Something that is not in use: an artifact or bitcode. */
typedef struct kiln__idle {
    uint64_t order; /* number in the order of arrival */
    size_t size;    /* in bytes */
    kiln__kept_artifact *artifact;
    kiln__runtime_entry *runtime;
} kiln__idle;

typedef kiln__array_of(kiln__idle) kiln__idle_list;

/* Drops what exceeds the bound of memory. */
void kiln__tiers_trim(struct kiln__tiers *tiers);
/* With the lock held. The same, if enough was added since the last check. */
void kiln__tiers_bound(struct kiln__tiers *tiers);
/* With the lock held. Called when `size` bytes were added. */
static inline void kiln__tiers_grew(struct kiln__tiers *tiers, size_t size)
{
    tiers->grown_bytes += size;
    tiers->bound(tiers);
}

/* ---- binary_table.c ---- */
void kiln__artifacts_free(struct kiln__tiers *tiers);
/* With the lock held. The first function lists artifacts that no kernel uses;
   the second drops such a one. */
kiln_status kiln__artifacts_idle(kiln__idle_list *out,
                                 struct kiln__tiers *tiers);
void kiln__artifact_drop(struct kiln__tiers *tiers, kiln__kept_artifact *kept);

/* ---- runtime_bitcode.c ---- */
typedef kiln__array_of(kiln__runtime_entry *) kiln__runtime_list;
kiln_status kiln__entry_writer_runtime(kiln__entry_writer *out,
                                       kiln_context *context,
                                       const kiln__runtime_entry *entry);
/* With the lock held. Lends the entries that came after `since`, except those
   from packs. The caller releases each, also after a failure. */
kiln_status kiln__runtime_since(kiln__runtime_list *out,
                                struct kiln__tiers *tiers, uint64_t since);
void kiln__runtime_free(struct kiln__tiers *tiers);
/* With the lock held. The first function lists entries that no build reads; the
   second drops such a one. */
kiln_status kiln__runtime_idle(kiln__idle_list *out, struct kiln__tiers *tiers);
void kiln__runtime_drop(struct kiln__tiers *tiers, kiln__runtime_entry *entry);
/* With the lock held. Drops entries that no remaining code asks for. */
void kiln__runtime_sweep(struct kiln__tiers *tiers);
/* In a child of fork(): forgets what other threads were building. */
void kiln__runtime_forget(struct kiln__tiers *tiers);

/* ---- attachment.c ---- */
void kiln__attached_free(const kiln_alloc *alloc, kiln__attached *attached);

/* ---- stored_attachment.c ---- */
/* Gives the attached result as an entry, if it can go to another process. */
kiln_status kiln__attached_give(
    const kiln_code *code, const kiln__attached *attached, void *env,
    kiln_status (*take)(void *env, const kiln__entry_writer *draft));
/* Puts it into the stores. */
void kiln__attached_save(const kiln_code *code, const kiln__attached *attached);
/* Makes a value from a store's entry; KILN_ENOTFOUND. */
kiln_status kiln__attached_recall(kiln_attachment *out, int *is_packed,
                                  const kiln_code *code,
                                  const kiln_config *config, const char *name);
void kiln__consumers_free(struct kiln__tiers *tiers);

/* True for failures that the same input would give again. */
int kiln__status_is_final(kiln_status status);

#endif /* KILN_TIERS_TIERS_STATE_H */
