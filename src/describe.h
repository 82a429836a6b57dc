/* describe.h - what entries hold, for people. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DESCRIBE_H
#define KILN_DESCRIBE_H

#include "array.h"
#include "entry.h"
#include "kiln/sys/cache_tools.h"

/* Nothing here believes more of an entry than that its sums are right. */

/* Writes the name of what the entry holds, and its target; "" where there is
   none. (tiers/describe.c) */
void kiln__entry_title(kiln__text *name, kiln__text *target,
                       const kiln__entry *entry);
/* The typed digest that an entry about a code instance leads to; else zero. */
kiln_digest kiln__entry_typed(const kiln__entry *entry);
/* If the entry is the note why the binary of that key is not kept: true, and
   the reason is in `out`. (tiers/session.c) */
int kiln__session_reason(kiln__text *out, const kiln__entry *entry,
                         kiln_digest binary);
/* Shows what its kind keeps, in section "meta". KILN_ENOMEM. */
kiln_status kiln__entry_describe(const kiln_alloc *alloc,
                                 const kiln__entry *entry, kiln_field_fn see,
                                 void *env);

/* Gives the keys that a job has now, in the order in which it is looked for.
   Infers. (tiers/job_keys.c) */
typedef struct kiln__job_key {
    int32_t kind; /* KILN__ENTRY_... */
    kiln_key key;
    kiln_digest typed; /* the typed digest that it leads to now */
} kiln__job_key;

typedef kiln_status (*kiln__job_key_fn)(void *env, const kiln__job_key *key);

kiln_status kiln__job_keys(kiln_context *context,
                           const kiln_signature *signature,
                           const kiln_config *config, kiln__job_key_fn take,
                           void *env, kiln_error **error);

#endif /* KILN_DESCRIBE_H */
