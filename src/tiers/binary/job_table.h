/* job_table.h - tier 3 by signature and config: what hits read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_JOB_TABLE_H
#define KILN_TIERS_BINARY_JOB_TABLE_H

#include <stdatomic.h>
#include <stddef.h>

#include "context/keys/settings.h"

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
    struct kiln__flight *flights;
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

struct kiln__tiers;

/* The hit path: no lock, no allocation, no write. NULL: there is no valid
   kernel. */
const kiln_kernel *kiln__job_lookup(const kiln_context *context,
                                    const kiln_signature *signature,
                                    const kiln_config *config);

/* ---- with the lock held ---- */

int kiln__job_table_new(struct kiln__tiers *tiers);
void kiln__job_table_free(struct kiln__tiers *tiers);
kiln__job *kiln__job_find(const struct kiln__tiers *tiers,
                          const kiln_signature *signature,
                          const kiln_config *config);
/* False when out of memory. */
int kiln__job_insert(struct kiln__tiers *tiers, kiln__job *job);
/* Sets the kernel that hits get from now on; may be NULL. */
void kiln__job_show(kiln__job *job, const kiln_kernel *kernel);

#endif /* KILN_TIERS_BINARY_JOB_TABLE_H */
