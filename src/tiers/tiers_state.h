/* tiers_state.h - the inside of the tiers. */
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
    uint64_t order; /* in which they came */
    int is_packed;  /* from a pack that was inserted */
    kiln__attached *next;
};

typedef struct kiln__consumer kiln__consumer;

typedef kiln__array_of(kiln_code *) kiln__code_list;

/* Worlds of a frontend in which something is valid. */
typedef struct kiln__range {
    kiln_frontend *frontend;
    uint64_t minimum;
    _Atomic uint64_t maximum; /* UINT64_MAX: nothing ended it */
} kiln__range;

typedef kiln__array_of(kiln__range) kiln__range_list;

/* What infer() asked for, could not have, and went on without. */
typedef enum kiln__lacks {
    KILN__LACKS_NOTHING,
    KILN__LACKS_SOMETHING,
    KILN__LACKS_MEMORY /* to note what that is good for */
} kiln__lacks;

/*
 * Immutable once published but for the ends of its worlds, callers and
 * attachments.
 *
 * It is valid in worlds of its own frontend, and of each frontend that anything
 * below it is of: what ends a code in a frontend's worlds ends its callers in
 * the worlds of that very frontend. Numbers of two frontends have nothing to do
 * with each other.
 */
struct kiln_code {
    kiln_context *context;
    kiln_frontend *frontend;
    struct kiln__instance *instance;
    const kiln_config *config; /* any one with the instance's owner token */
    char *name;
    kiln_digest root;
    kiln_digest digest;   /* the typed digest */
    kiln_digest identity; /* of all that can be seen of it (code_digest.c) */
    const kiln_type *result;
    void *ir;
    size_t ir_size;
    kiln__array_of(kiln_query) queries;     /* data owned */
    kiln__array_of(kiln__library_use) uses; /* in the order of use */
    kiln__array_of(kiln__site_use) sites;   /* the same; names owned */
    kiln__code_list callees;                /* in call order */
    kiln__code_list depends; /* edges without a call, in the order told */
    kiln__code_list callers; /* under the lock: of either kind of edge */
    uint64_t inferred_world;
    uint64_t min_world;
    _Atomic uint64_t max_world; /* UINT64_MAX: unbounded */
    kiln__range_list others;    /* the same of other frontends */
    kiln_kernel *kernels;       /* under the lock: compiled from it */
    kiln__attached *attached;   /* under the lock */
    uint64_t sequence;          /* of its inference, in its run */
    uint64_t order;             /* in which it was published */
    kiln_digest stored_digest;  /* what the store said it is; else zero */
    kiln_digest stored_identity;
    unsigned pins;       /* under the lock: flights that need it */
    uint8_t published;   /* it is in tier 1 */
    uint8_t is_runtime;  /* a runtime function: tier 2 may keep it */
    uint8_t is_record;   /* recalled: neither IR nor callees, and the
                            queries of everything that it calls */
    uint8_t is_stored;   /* loaded or recalled, not inferred */
    uint8_t is_packed;   /* and from a pack that was inserted */
    uint8_t is_root;     /* under the lock: asked for by a job */
    uint8_t kept;        /* by the collection under way */
    uint8_t has_ended;   /* under the lock: it is in `ended` */
    uint8_t still_holds; /* its queries, while it is being published */
    uint8_t has_ir;      /* inference told some */
    uint8_t lacks;       /* what it went on without: kiln__lacks */
    kiln_code *next;     /* of the instance, newest first */
    kiln_code *next_all;
    kiln_code *work_next; /* worklist of a clip or a collection */
};

/* A method instance as asked for: signature and owner token. */
typedef struct kiln__instance {
    const kiln_function *function;
    const kiln_type **types;
    size_t count;
    kiln_digest owner;
    kiln_code *codes; /* that nothing ended, newest first */
    kiln_code *ended; /* the others, the latest used first */
    kiln__array_of(kiln__world) last_worlds; /* beyond which none of those is
                                                good, of each frontend */
    int is_vague;                            /* that is not known */
    kiln__flight *flights;
    kiln__array_of(kiln__world) failed_worlds; /* none: no failure is
                                                  remembered */
    kiln_status failed_status;
    kiln_error *failed_error;
    struct kiln__instance *alias; /* another one of the same digest */
} kiln__instance;

#define KILN__SLOT_TYPES 5

/* A line of memory, aligned: a job, as hits read it. Longer signatures have
   all types but four in the job. */
typedef struct kiln__job_slot {
    _Atomic(const kiln_function *) function; /* NULL: free */
    _Atomic(const kiln_kernel *) kernel;     /* what a hit gets, or NULL */
    const kiln_config *config;
    const kiln_type *types[KILN__SLOT_TYPES];
} kiln__job_slot;

/* A signature under a config. Under the lock, but for the immutable members at
   the end. */
typedef struct kiln__job {
    kiln_kernel *kernels; /* of all code instances */
    kiln__flight *flights;
    const kiln_code *failed_code;
    uint64_t failed_world; /* 0: the failure is the code's own */
    kiln_status failed_status;
    kiln_error *failed_error;
    struct kiln__job *next_all;
    kiln__job_slot *slot;      /* in the newest table */
    const kiln_kernel *kernel; /* that is in it; valid */
    const kiln_function *function;
    const kiln_config *config;
    size_t count;
    const kiln_type *types[];
} kiln__job;

/* Open addressing; readers take no lock. A full table is replaced by one of
   twice the size, and kept: a reader may still be in it. */
typedef struct kiln__job_table {
    size_t mask;
    size_t used;
    struct kiln__job_table *retired;
    void *memory;     /* what was allocated; the table is aligned in it */
    kiln__job **jobs; /* of the slots; NULL: free */
    void *unused[3];  /* the slots are aligned as the table is */
    kiln__job_slot slots[];
} kiln__job_table;

_Static_assert(offsetof(kiln__job_table, slots) % sizeof(kiln__job_slot) == 0,
               "a slot is on one line");

/* An artifact in memory. */
typedef struct kiln__kept_artifact {
    const kiln_artifact *artifact; /* a reference */
    uint64_t order;                /* in which they came */
    int is_packed;                 /* from a pack that was inserted */
} kiln__kept_artifact;

/* Those who asked about one subject of a frontend. */
typedef struct kiln__subject {
    uint64_t changed; /* the latest world that changed it */
    kiln__code_list codes;
    kiln__code_list ended; /* those whose worlds have an end, most of them */
    uint64_t last_ended;   /* the last of those ends */
} kiln__subject;

struct kiln__tiers {
    kiln_context *context;
    void (*unload)(kiln_kernel *kernel); /* the backends' */
    struct kiln__locks *locks;           /* between processes */
    kiln__mutex lock;
    kiln__condition ended; /* some flight ended */
    uint64_t stays;        /* that keep what they see from collection */
    uint64_t visit;        /* number of the walk under way */
    kiln__map instances;   /* digest of addresses -> kiln__instance */
    kiln__map subjects;    /* -> kiln__subject */
    kiln__map artifacts;   /* binary key -> kiln__kept_artifact */
    kiln__map runtime;     /* runtime or closure key -> kiln__runtime_entry */
    size_t given_up;       /* the least work that tier 2 is still tried for */
    uint64_t order;        /* of what was published last */
    uint64_t idle_bytes;   /* that nobody held when it was looked at last */
    uint64_t grown_bytes;  /* that were added since */
    void (*bound)(struct kiln__tiers *tiers); /* memory_bounds.c */
    _Atomic uint64_t longest_build_ns;
    kiln__consumer *consumers; /* of attached results */
    kiln_code *codes;          /* every published one */
    kiln__job *jobs;
    _Atomic(kiln__job_table *) table;
    kiln_kernel *tombstones; /* unloaded; heads stay readable */
    kiln__fork_guard guard;
};

/* An inference under way; a frame of its thread's chain. */
struct kiln_inference {
    kiln_context *context;
    kiln__call_chain *run;
    kiln_inference *parent;
    const kiln_inference *around; /* the parent, or in the chain around */
    kiln__instance *instance;
    kiln_signature signature;
    const kiln_config *config;
    kiln__worlds *worlds; /* of the whole chain */
    uint64_t world;       /* its own frontend's among them */
    uint64_t sequence;    /* those begun under this one have greater ones */
    uint64_t recursions;  /* of the run, when this one began */
    uint32_t level;       /* over all stays of the run */
    uint32_t depth;       /* in the chain */
    uint32_t cycle_depth; /* of the outermost frame relied on */
    int is_head;
    int is_loading;          /* its body is what a store says */
    kiln_code *code;         /* being filled; callees may point to it */
    kiln__code_list members; /* provisional results of the cycle we head */
    kiln__flight *held;      /* flights of members, ended with us */
    kiln__flight *flight;    /* or NULL: private */
    kiln_error *refusal;     /* why kiln_inference_depend() failed last */
    kiln_status passing;     /* of what failed below for what is around it */
    void *user;
};

#define KILN__INFERENCE_DEPTH_MAX 400

/* ---- method_instance.c: with the lock held ---- */
kiln__instance *kiln__instance_get(struct kiln__tiers *tiers,
                                   const kiln_signature *signature,
                                   kiln_digest owner, int create);
/* One that is good for the worlds; complete, or a record as well. Of a frontend
   whose world was not taken yet, one that nothing ended is good; the first such
   frontend is stored in `*untaken` (else NULL): once it is taken, the caller
   asks again. */
kiln_code *kiln__instance_code(kiln__instance *instance,
                               const kiln__worlds *worlds, int or_record,
                               kiln_frontend **untaken);
/* Does the failure that is remembered stand for the worlds, too? */
int kiln__instance_fails(const kiln__instance *instance,
                         const kiln__worlds *worlds, kiln_frontend **untaken);
/* Without memory nothing is remembered. */
void kiln__instance_remember(kiln__instance *instance,
                             const kiln__worlds *worlds, kiln_status status,
                             kiln_error *error);
void kiln__instance_add(kiln__instance *instance, kiln_code *code);
/* The code's worlds have an end from now on, or an earlier one. */
void kiln__instance_note_end(kiln__instance *instance, kiln_code *code);
/* Forgets the codes that a collection does not keep. */
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
/* The kernel that hits get from now on, or NULL. */
void kiln__job_show(kiln__job *job, const kiln_kernel *kernel);

/* ---- jobs.c ---- */
/* Bytes of a job with so many types. */
size_t kiln__job_size(size_t count);

/* ---- code_instance.c ---- */
kiln_code *kiln__code_new(kiln_context *context, kiln__instance *instance,
                          const kiln_config *config, uint64_t world);
void kiln__code_free(kiln_code *code);
void kiln__code_list_remove(kiln__code_list *list, const kiln_code *code);
/* Adds a site unless it is there; the name is copied. KILN_ENOMEM. */
kiln_status kiln__code_add_site(kiln_code *code, const char *name,
                                int32_t kind);
void kiln__code_clear_sites(kiln_code *code);
void kiln__code_clear_queries(kiln_code *code);

/* ---- world_ranges.c ---- */
/* In no frontend's worlds anything ended it. Takes no lock. */
int kiln__code_is_good(const kiln_code *code);
/* The range in the worlds of the frontend, if there is one: KILN_ENOTFOUND. */
kiln_status kiln__code_range(const kiln_code *code,
                             const kiln_frontend *frontend, uint64_t *minimum,
                             uint64_t *maximum);
/* Is it good for those of the worlds that are taken? The rest must have no end:
   see kiln__instance_code(). */
int kiln__code_is_for(const kiln_code *code, const kiln__worlds *worlds,
                      kiln_frontend **untaken);
/* Shrinks the range of the frontend in the list, made if need be. */
kiln_status kiln__ranges_narrow(const kiln_alloc *alloc, kiln__range_list *list,
                                kiln_frontend *frontend, uint64_t minimum,
                                uint64_t maximum);
/* The same by all ranges of a code. */
kiln_status kiln__ranges_narrow_by(const kiln_alloc *alloc,
                                   kiln__range_list *list,
                                   const kiln_code *code);
/* Sets the end in the worlds of the frontend: false when it was there already,
   or earlier. */
int kiln__code_end(kiln_code *code, const kiln_frontend *frontend,
                   uint64_t maximum);

/* ---- code_digest.c ---- */
/* Gives the members of one cycle, or a single code, their digests; may put
   them in another order. */
kiln_status kiln__code_seal(kiln_code **group, size_t count);

/* ---- flight.c: with the lock held ---- */
kiln__flight *kiln__flight_new(struct kiln__tiers *tiers,
                               kiln__call_chain *owner, const void *subject);
void kiln__flight_drop(struct kiln__tiers *tiers, kiln__flight *flight);
/* Takes it out of `list` if it is there. */
void kiln__flight_unlist(kiln__flight **list, kiln__flight *flight);
/* Marks it done, wakes everyone, unlinks it from `list` if it is there. */
void kiln__flight_end(struct kiln__tiers *tiers, kiln__flight **list,
                      kiln__flight *flight, kiln_status status,
                      kiln_error *error);
/* True if this thread is in the run. */
int kiln__run_is_own(const kiln__call_chain *run);

/* ---- inference.c ---- */
/* The frame relies on what the head, a frame above it, assumes of itself. */
void kiln__inference_rely_on(kiln_inference *from, const kiln_inference *head);
/* Something that infer() asked for could not be had in those worlds, with that
   status; `recursions` is what the run had refused when it began. Should it go
   on without, its result is good for no other worlds; for none at all if it
   could be had the next time. */
typedef struct kiln__lack {
    const kiln__worlds *worlds;
    kiln_status status;
    uint64_t recursions;
} kiln__lack;

void kiln__inference_goes_without(kiln_inference *inference,
                                  const kiln__lack *lack);
/* Frees the provisional results that were begun since the frame was. */
void kiln__inference_forget_since(kiln_inference *inference);
/* Infers the instance, or finds it in a store, and publishes it, or parks it
   with its cycle's head. Ends `flight` (NULL: private) in either case. A
   failure that the same request meets again is remembered. */
kiln_status kiln__typed_infer(kiln_code **out, kiln_context *context,
                              kiln__call_chain *run, kiln__instance *instance,
                              const kiln__typed_request *request,
                              kiln__flight *flight, kiln_error **error);

/* ---- entry_writer.c ---- */
/* An entry that is to be written. Points into what it was made of. */
typedef struct kiln__entry_writer {
    kiln__entry entry;
    kiln__encoder key;
    kiln__encoder meta;
} kiln__entry_writer;

void kiln__entry_writer_init(kiln__entry_writer *draft, const kiln_alloc *alloc,
                             int32_t kind);
/* Puts key and meta into the entry; `key` NULL: what `draft->key` encodes. */
kiln_status kiln__entry_writer_finish(kiln__entry_writer *draft,
                                      const kiln_key *key);
/* Puts it into the stores, as the mode says. */
void kiln__entry_writer_put(kiln_context *context,
                            const kiln__entry_writer *draft);
void kiln__entry_writer_dispose(kiln__entry_writer *draft);
/* A query as every meta has it. What is read lies in the meta; an empty one
   fails. */
void kiln__query_encode(kiln__encoder *out, const kiln_query *query);
kiln_query kiln__query_read(kiln__reader *reader);

/* ---- assumptions.c ---- */
/* Two entries of one code instance: do they rest on other answers to the same
   questions? False also of what cannot be read, and without memory. */
int kiln__entries_of_two_programs(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b);

/* ---- stored_binary.c ---- */
/* A new artifact, as an entry has it; KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__artifact_decode(const kiln_artifact **out,
                                  const kiln_alloc *alloc,
                                  const kiln__entry *entry);
kiln_status kiln__entry_writer_artifact(kiln__entry_writer *out,
                                        const kiln_alloc *alloc,
                                        const kiln_artifact *artifact);

/* ---- stored_typed.c: code instances from the stores ---- */
/* Fills the inference with what a store has under its instance key, if every
   query in it has the same answer today and what it calls is what it was.
   Else the inference is as it was. KILN_ENOTFOUND: there is none; KILN_ESTACK:
   nobody knows. */
kiln_status kiln__inference_load(kiln_inference *inference);
/* Takes back what was loaded. */
void kiln__inference_unload(kiln_inference *inference);
/* After a cycle, or one instance, was sealed: is each loaded member what the
   store said? */
int kiln__codes_are_as_stored(kiln_code *const *group, size_t count);
/* Keeps what was inferred in the stores. Without memory it is not kept. */
void kiln__codes_save(kiln_code *const *group, size_t count);
/* KILN_ENOTFOUND: no other process could load it. */
kiln_status kiln__entry_writer_code(kiln__entry_writer *out,
                                    const kiln_code *code);

/* ---- stored_program.c: what is known about a job under one program text ----
 */
/* Stores a record of the instance, published, if a store knows its digest
   under the program as it is; else NULL. */
kiln_code *kiln__code_recall(kiln_context *context, kiln__instance *instance,
                             const kiln__typed_request *request);
/* KILN_ENOTFOUND: the frontend promises nothing about its program. */
kiln_status kiln__entry_writer_record(kiln__entry_writer *out,
                                      const kiln_code *code, uint64_t world);
/* Keeps what the next process can recall. */
void kiln__code_remember(const kiln_code *code, uint64_t world);

/* ---- publish.c ---- */
/* Puts a sealed group into tier 1, and checks it against today's world. If
   another thread has published `own` meanwhile, and with it what it calls,
   that replaces the group. */
kiln_status kiln__codes_publish(kiln_context *context,
                                const kiln__worlds *worlds, kiln_code **group,
                                size_t count, kiln_code *own, kiln_code **out);
kiln__subject *kiln__subject_find(struct kiln__tiers *tiers,
                                  const kiln_frontend *frontend,
                                  uint64_t subject);
/* With the lock held: makes it if need be; NULL when out of memory. */
kiln__subject *kiln__subject_get(struct kiln__tiers *tiers,
                                 const kiln_frontend *frontend,
                                 uint64_t subject);

/* ---- invalidate.c ---- */
/* With the lock held: ends the validity of a code and of its callers in the
   worlds of the frontend; newly invalid ones are appended to `list` if it is
   not NULL. */
void kiln__code_clip(struct kiln__tiers *tiers, kiln_code *code,
                     const kiln_frontend *frontend, uint64_t maximum,
                     kiln__code_list *list);
/* Without the lock: asks every query again as of `world`. */
int kiln__code_still_holds(const kiln_code *code, uint64_t world);
void kiln__invalidated_report(kiln_context *context,
                              const kiln__code_list *list,
                              kiln_change_report *report);

/* ---- memory_bounds.c ---- */
/* What nobody holds: one of the two. */
typedef struct kiln__idle {
    uint64_t order; /* in which it came */
    size_t size;    /* in bytes */
    kiln__kept_artifact *artifact;
    kiln__runtime_entry *runtime;
} kiln__idle;

typedef kiln__array_of(kiln__idle) kiln__idle_list;

/* Drops what is beyond the bound of memory. */
void kiln__tiers_trim(struct kiln__tiers *tiers);
/* With the lock held: the same, if enough was added since. */
void kiln__tiers_bound(struct kiln__tiers *tiers);
/* With the lock held: so much was added, and is held. */
static inline void kiln__tiers_grew(struct kiln__tiers *tiers, size_t size)
{
    tiers->grown_bytes += size;
    tiers->bound(tiers);
}

/* ---- binary_table.c ---- */
void kiln__artifacts_free(struct kiln__tiers *tiers);
/* With the lock held: adds those that no kernel has; drops such a one. */
kiln_status kiln__artifacts_idle(kiln__idle_list *out,
                                 struct kiln__tiers *tiers);
void kiln__artifact_drop(struct kiln__tiers *tiers, kiln__kept_artifact *kept);

/* ---- runtime_bitcode.c ---- */
typedef kiln__array_of(kiln__runtime_entry *) kiln__runtime_list;
kiln_status kiln__entry_writer_runtime(kiln__entry_writer *out,
                                       kiln_context *context,
                                       const kiln__runtime_entry *entry);
/* With the lock held: lends those that came after `since`, but from packs. The
   caller releases each, also after a failure. */
kiln_status kiln__runtime_since(kiln__runtime_list *out,
                                struct kiln__tiers *tiers, uint64_t since);
void kiln__runtime_free(struct kiln__tiers *tiers);
/* With the lock held: adds those that no build reads; drops such a one. */
kiln_status kiln__runtime_idle(kiln__idle_list *out, struct kiln__tiers *tiers);
void kiln__runtime_drop(struct kiln__tiers *tiers, kiln__runtime_entry *entry);
/* With the lock held: forgets entries that no code which is kept asks for. */
void kiln__runtime_sweep(struct kiln__tiers *tiers);
/* In a child of fork(): forgets what other threads were building. */
void kiln__runtime_forget(struct kiln__tiers *tiers);

/* ---- attachment.c ---- */
void kiln__attached_free(const kiln_alloc *alloc, kiln__attached *attached);

/* ---- stored_attachment.c ---- */
/* Gives it as an entry, if it can go to another process. */
kiln_status kiln__attached_give(
    const kiln_code *code, const kiln__attached *attached, void *env,
    kiln_status (*take)(void *env, const kiln__entry_writer *draft));
/* Keeps it in the stores. */
void kiln__attached_save(const kiln_code *code, const kiln__attached *attached);
/* Makes a value of what a store has; KILN_ENOTFOUND. */
kiln_status kiln__attached_recall(kiln_attachment *out, int *is_packed,
                                  const kiln_code *code,
                                  const kiln_config *config, const char *name);
void kiln__consumers_free(struct kiln__tiers *tiers);

/* True for failures that the same input gives again. */
int kiln__status_is_final(kiln_status status);

#endif /* KILN_TIERS_TIERS_STATE_H */
