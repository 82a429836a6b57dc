/* binary_table.h - artifacts in memory, by binary key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_BINARY_TABLE_H
#define KILN_TIERS_BINARY_BINARY_TABLE_H

#include "tiers/binary/artifact.h"
#include "tiers/memory_bounds.h"

/* An artifact in memory. */
typedef struct kiln__kept_artifact {
    const kiln_artifact *artifact; /* a reference */
    uint64_t order;                /* number in the order of arrival */
    int is_packed;                 /* it came from an inserted pack */
} kiln__kept_artifact;

/* Returns a reference to the artifact with the full key, or NULL. */
const kiln_artifact *kiln__artifact_find(kiln_context *context, kiln_digest key,
                                         const void *encoded,
                                         size_t encoded_size);
/* Keeps a reference; the first artifact of a key is kept. */
kiln_status kiln__artifact_keep(kiln_context *context,
                                const kiln_artifact *artifact, int is_packed);
/* Keeps `artifact` instead, if the old one is kept. */
void kiln__artifact_exchange(kiln_context *context, const kiln_artifact *old,
                             const kiln_artifact *artifact);
/* Drops the reference, if this artifact is the one that is kept. */
void kiln__artifact_forget(kiln_context *context,
                           const kiln_artifact *artifact);

struct kiln__tiers;

void kiln__artifacts_free(struct kiln__tiers *tiers);
/* With the lock held. The first function lists artifacts that no kernel uses;
   the second drops such a one. */
kiln_status kiln__artifacts_idle(kiln__idle_list *out,
                                 struct kiln__tiers *tiers);
void kiln__artifact_drop(struct kiln__tiers *tiers, kiln__kept_artifact *kept);

#endif /* KILN_TIERS_BINARY_BINARY_TABLE_H */
