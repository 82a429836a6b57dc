/* job_keys.h - the keys of a job, for those who explain it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_JOB_KEYS_H
#define KILN_PIPELINE_JOB_KEYS_H

#include "context/context.h"

/* Gives the keys that a job has now, in the order in which it is looked for.
   Infers. (pipeline/job_keys.c) */
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

#endif /* KILN_PIPELINE_JOB_KEYS_H */
