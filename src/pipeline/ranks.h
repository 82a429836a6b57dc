/* ranks.h - shares builds between the ranks of one job. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_RANKS_H
#define KILN_RANKS_H

#include "context/context.h"
#include "tiers/binary/artifact.h"

/* What is fetched: the artifact of a binary key. */
typedef struct kiln__rank_job {
    const kiln_code *code;
    const kiln_config *config;
    kiln_key key;
    uint64_t patience_ns; /* the longest time to wait */
} kiln__rank_job;

/* True if another rank owns the key, and it makes sense to ask it. */
int kiln__ranks_apply(kiln_context *context, kiln_digest key);
/* Returns a reference to the artifact that the owner gave, checked and kept in
   memory; NULL: build it here. It waits, so call it on a fetcher's thread. */
const kiln_artifact *kiln__ranks_fetch(kiln_context *context,
                                       const kiln__rank_job *job);

#endif /* KILN_RANKS_H */
