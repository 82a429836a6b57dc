/* code_state.h - the inside of code instances: what tier 1 keeps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_CODE_STATE_H
#define KILN_TIERS_TYPED_CODE_STATE_H

#include <stdatomic.h>

#include "base/data/array.h"
#include "context/context.h"
#include "tiers/typed/code_instance.h"
#include "tiers/worlds.h"

typedef kiln__array_of(kiln_code *) kiln__code_list;

/* A range of a frontend's worlds in which something is valid. */
typedef struct kiln__world_range {
    kiln_frontend *frontend;
    uint64_t minimum;
    _Atomic uint64_t maximum; /* UINT64_MAX: no end */
} kiln__world_range;

typedef kiln__array_of(kiln__world_range) kiln__world_range_list;

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
    _Atomic uint64_t max_world;    /* UINT64_MAX: no end */
    kiln__world_range_list others; /* its ranges in other frontends' worlds */
    kiln_kernel *kernels; /* under the lock: kernels compiled from it */
    struct kiln__attached *attached; /* under the lock */
    uint64_t sequence;         /* number of its inference in the call chain */
    uint64_t order;            /* number in the order of publication */
    kiln_digest stored_digest; /* according to the store's entry; else zero */
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

typedef struct kiln__instance kiln__instance;

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
kiln_status kiln__ranges_narrow(const kiln_alloc *alloc,
                                kiln__world_range_list *list,
                                kiln_frontend *frontend, uint64_t minimum,
                                uint64_t maximum);
/* The same with all ranges of a code instance. */
kiln_status kiln__ranges_narrow_by(const kiln_alloc *alloc,
                                   kiln__world_range_list *list,
                                   const kiln_code *code);
/* Sets the end in the frontend's worlds. False when there was the same or an
   earlier end. */
int kiln__code_end(kiln_code *code, const kiln_frontend *frontend,
                   uint64_t maximum);

/* ---- code_digest.c ---- */
/* Computes the digests of the members of one cycle, or of a single code
   instance; may sort the members. */
kiln_status kiln__code_seal(kiln_code **group, size_t count);

#endif /* KILN_TIERS_TYPED_CODE_STATE_H */
