/* memory_bounds.h - how much the tiers keep that nobody holds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_MEMORY_BOUNDS_H
#define KILN_TIERS_MEMORY_BOUNDS_H

#include "base/data/array.h"
#include "tiers/tiers_state.h"

struct kiln__kept_artifact;
struct kiln__runtime_entry;

/* Something that is not in use: an artifact or bitcode. */
typedef struct kiln__idle {
    uint64_t order; /* number in the order of arrival */
    size_t size;    /* in bytes */
    struct kiln__kept_artifact *artifact;
    struct kiln__runtime_entry *runtime;
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

#endif /* KILN_TIERS_MEMORY_BOUNDS_H */
