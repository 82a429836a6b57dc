/* jobs.h - the build of a kernel: its builder, its waiters, its outcome. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_BINARY_JOBS_H
#define KILN_TIERS_BINARY_JOBS_H

#include "context/keys/settings.h"
#include "tiers/flight.h"

typedef enum kiln__claim {
    KILN__CLAIM_HIT,    /* see `kernel` */
    KILN__CLAIM_FAILED, /* remembered: see `status` and `error` */
    KILN__CLAIM_WAIT,   /* see `flight`, referenced */
    KILN__CLAIM_OWN,    /* see `flight`, referenced and owned by the chain */
    KILN__CLAIM_NO_MEMORY
} kiln__claim;

typedef struct kiln__claim_result {
    kiln__claim outcome;
    const kiln_kernel *kernel;
    kiln__flight *flight;
    kiln_status status;
    kiln_error *error; /* retained */
} kiln__claim_result;

/* Finds the kernel of (job, code), or its flight, or makes the caller its
   builder. `world` is the requested one. A flight protects its code instance,
   with callees and kernels, from collections. */
kiln__claim_result kiln__job_claim(kiln_context *context,
                                   kiln__call_chain *chain,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world);
/* Makes a private flight, which nobody else sees. */
kiln__flight *kiln__flight_private(kiln_context *context,
                                   kiln__call_chain *chain,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world);
/* Ends a kernel flight with a kernel, which tier 3 then owns, or with a failure
   (`error` is taken over). If the job has got another kernel of this code in
   the meantime, the new one is unloaded and the other one is used. */
void kiln__job_finish(kiln_context *context, kiln__flight *flight,
                      kiln_kernel *kernel, int32_t source, kiln_status status,
                      kiln_error *error);

/* Size in bytes of a job with `count` types. */
size_t kiln__job_size(size_t count);
/* Unloads and frees a kernel that no table holds. NULL is fine. */
void kiln__kernel_free(kiln_kernel *kernel);
/* True when no request wants the kernel any more. No later one will, either: a
   new request begins a new flight. */
int kiln__flight_give_up(kiln_context *context, kiln__flight *flight);

#endif /* KILN_TIERS_BINARY_JOBS_H */
