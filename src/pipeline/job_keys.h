/* job_keys.h - the keys of a job, for the tool that explains misses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_JOB_KEYS_H
#define KILN_PIPELINE_JOB_KEYS_H

#include "context/context.h"

/* One key of a job, with its kind. kiln__job_keys() infers, and gives the keys
   in the order in which a job is looked up. (pipeline/job_keys.c) */
typedef struct kiln__job_key {
    int32_t kind; /* KILN__ENTRY_... */
    kiln_key key;
    kiln_digest typed; /* the typed digest that the key leads to now */
} kiln__job_key;

typedef kiln_status (*kiln__job_key_fn)(void *env, const kiln__job_key *key);

kiln_status kiln__job_keys(kiln_context *context,
                           const kiln_signature *signature,
                           const kiln_config *config, kiln__job_key_fn take,
                           void *env, kiln_error **error);

#endif /* KILN_PIPELINE_JOB_KEYS_H */
