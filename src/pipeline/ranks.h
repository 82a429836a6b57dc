/* ranks.h - one build per job of many processes. */
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
    uint64_t patience_ns; /* how long, at most */
} kiln__rank_job;

/* Does another rank own the key, and is it worth while to ask? */
int kiln__ranks_apply(kiln_context *context, kiln_digest key);
/* A reference to what the owner gave, checked, and kept in memory; or NULL:
   build it here. Waits; on a fetcher's thread. */
const kiln_artifact *kiln__ranks_fetch(kiln_context *context,
                                       const kiln__rank_job *job);

#endif /* KILN_RANKS_H */
