/* tiers_state.h - what the tiers have in common: one lock, and tables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TIERS_STATE_H
#define KILN_TIERS_TIERS_STATE_H

#include <stdatomic.h>

#include "base/data/map.h"
#include "base/system/thread.h"
#include "context/context.h"

struct kiln__tiers {
    kiln_context *context;
    void (*unload)(kiln_kernel *kernel); /* unloads from the backend */
    struct kiln__locks *locks;           /* between processes */
    kiln__mutex lock;
    kiln__condition ended; /* signalled when a flight ends */
    uint64_t open_scopes;  /* number of call scopes that prevent collections */
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
    struct kiln__consumer *consumers; /* of attached results */
    kiln_code *codes;                 /* all published ones */
    struct kiln__job *jobs;
    _Atomic(struct kiln__job_table *) table;
    kiln_kernel *tombstones; /* unloaded kernels, whose heads stay readable */
    kiln__fork_guard guard;
};

#endif /* KILN_TIERS_TIERS_STATE_H */
