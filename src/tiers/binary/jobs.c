/* jobs.c - tier 3 by signature and config: claims and flights. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/counters.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/job_table.h"
#include "tiers/binary/jobs.h"
#include "tiers/flight.h"
#include "tiers/tiers.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"

/*
 * A job has the kernels of all code instances that it was compiled from, and
 * the flights of those that are being compiled. The part that hits read is in
 * job_table.c.
 */

size_t kiln__job_size(size_t count)
{
    return sizeof(kiln__job) + count * sizeof(const kiln_type *);
}

static kiln__job *job_new(const kiln_alloc *alloc,
                          const kiln_signature *signature,
                          const kiln_config *config)
{
    kiln__job *job = kiln__allocate(alloc, kiln__job_size(signature->count));

    if (job == NULL)
        return NULL;
    if (signature->count)
        memcpy(job->types, signature->types,
               signature->count * sizeof job->types[0]);
    job->function = signature->function;
    job->config = config;
    job->count = signature->count;
    return job;
}

/* With the lock held. */
static kiln__job *job_get(struct kiln__tiers *tiers,
                          const kiln_signature *signature,
                          const kiln_config *config)
{
    kiln__job *job = kiln__job_find(tiers, signature, config);

    if (job != NULL)
        return job;
    job = job_new(&tiers->context->alloc, signature, config);
    if (job == NULL)
        return NULL;
    if (!kiln__job_insert(tiers, job)) {
        kiln__deallocate(&tiers->context->alloc, job,
                         kiln__job_size(job->count));
        return NULL;
    }
    job->next_all = tiers->jobs;
    tiers->jobs = job;
    return job;
}

/* A job may have had many code instances, but a code instance has few jobs; so
   its list of kernels is searched. */
static kiln_kernel *kernel_of(const kiln__job *job, const kiln_code *code)
{
    kiln_kernel *kernel = code->kernels;

    while (kernel != NULL && kernel->job != job)
        kernel = kernel->next_of_code;
    return kernel;
}

static kiln__flight *flight_of(const kiln__job *job, const kiln_code *code)
{
    kiln__flight *flight = job->flights;

    while (flight != NULL && flight->code != code)
        flight = flight->next;
    return flight;
}

/* A foreign frontend's lower() may give another result in another world. */
static uint64_t world_of_outcome(const kiln_code *code, uint64_t world)
{
    return code->frontend->ops.lower != NULL ? world : 0;
}

/* With the lock held. */
static kiln__flight *flight_for(struct kiln__tiers *tiers,
                                kiln__call_chain *chain, const kiln__job *job,
                                const kiln_code *code, uint64_t world)
{
    kiln__flight *flight = kiln__flight_new(tiers, chain, job);

    if (flight == NULL)
        return NULL;
    flight->references = 2; /* one for the caller, one for the thread that ends
                               it */
    flight->wanted = 1;
    flight->code = (kiln_code *)(uintptr_t)code;
    flight->code->pins++;
    flight->world = world_of_outcome(code, world);
    return flight;
}

static int is_known_to_fail(const kiln__job *job, const kiln_code *code,
                            uint64_t world)
{
    return job->failed_code == code &&
           (!job->failed_world || job->failed_world == world);
}

/* CLAIM of tests/protocol/flights.pml. With the lock held. */
static void claim(struct kiln__tiers *tiers, kiln__call_chain *chain,
                  kiln__job *job, const kiln_code *code, uint64_t world,
                  kiln__claim_result *out)
{
    out->kernel = kernel_of(job, code);
    if (out->kernel != NULL) {
        out->outcome = KILN__CLAIM_HIT;
        if (job->kernel == NULL && out->kernel->head.valid)
            kiln__job_show(job, out->kernel);
        return;
    }
    if (is_known_to_fail(job, code, world)) {
        out->outcome = KILN__CLAIM_FAILED;
        out->status = job->failed_status;
        out->error = kiln__error_retain(job->failed_error);
        return;
    }
    out->flight = flight_of(job, code);
    if (out->flight != NULL) {
        out->outcome = KILN__CLAIM_WAIT;
        out->flight->references++;
        out->flight->wanted++;
        return;
    }
    out->flight = flight_for(tiers, chain, job, code, world);
    if (out->flight == NULL)
        return;
    out->outcome = KILN__CLAIM_OWN;
    out->flight->next = job->flights;
    job->flights = out->flight;
}

int kiln__flight_give_up(kiln_context *context, kiln__flight *flight)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__job *job = (kiln__job *)(uintptr_t)flight->subject;
    int is_unwanted;

    kiln__mutex_lock(&tiers->lock);
    is_unwanted = flight->wanted == 0;
    if (is_unwanted)
        kiln__flight_unlist(&job->flights, flight);
    kiln__mutex_unlock(&tiers->lock);
    return is_unwanted;
}

kiln__claim_result kiln__job_claim(kiln_context *context,
                                   kiln__call_chain *chain,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__claim_result result = {.outcome = KILN__CLAIM_NO_MEMORY};
    kiln__job *job;

    kiln__mutex_lock(&tiers->lock);
    job = job_get(tiers, signature, config);
    if (job != NULL)
        claim(tiers, chain, job, code, world, &result);
    kiln__mutex_unlock(&tiers->lock);
    return result;
}

kiln__flight *kiln__flight_private(kiln_context *context,
                                   kiln__call_chain *chain,
                                   const kiln_signature *signature,
                                   const kiln_config *config,
                                   const kiln_code *code, uint64_t world)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__flight *flight = NULL;
    kiln__job *job;

    kiln__mutex_lock(&tiers->lock);
    job = job_get(tiers, signature, config);
    if (job != NULL)
        flight = flight_for(tiers, chain, job, code, world);
    kiln__mutex_unlock(&tiers->lock);
    return flight;
}

/* Adds a kernel to its job. If the code instance has ended in the meantime, the
   kernel is valid for requests in its old worlds, but not as a hit. */
static void job_add(kiln__job *job, kiln_kernel *kernel)
{
    kiln_code *code = (kiln_code *)(uintptr_t)kernel->code;

    kernel->head.valid = kiln__code_is_good(code) != 0;
    kernel->job = job;
    kernel->next = job->kernels;
    job->kernels = kernel;
    kernel->next_of_code = code->kernels;
    code->kernels = kernel;
    if (kernel->head.valid)
        kiln__job_show(job, kernel);
}

static void remember_failure(kiln__job *job, const kiln__flight *flight,
                             kiln_status status, kiln_error *error)
{
    if (!kiln__status_is_final(status) || flight->is_bound)
        return;
    kiln_error_free(job->failed_error);
    job->failed_error = kiln__error_retain(error);
    job->failed_status = status;
    job->failed_code = flight->code;
    job->failed_world = flight->world;
}

/* Counts the requests that stopped waiting. */
static void count_abandoned(kiln_context *context, const kiln__flight *flight)
{
    for (int owned = 0; owned < 2; owned++)
        for (uint32_t i = 0; i < flight->abandoned[owned]; i++)
            kiln__count_request(context, KILN_TIER_BINARY,
                                kiln__flight_outcome(flight, owned));
}

void kiln__job_finish(kiln_context *context, kiln__flight *flight,
                      kiln_kernel *kernel, int32_t source, kiln_status status,
                      kiln_error *error)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__job *job = (kiln__job *)(uintptr_t)flight->subject;
    kiln_kernel *extra = NULL;

    kiln__mutex_lock(&tiers->lock);
    if (kernel != NULL) {
        kiln_kernel *earlier = kernel_of(job, flight->code);

        if (earlier != NULL)
            extra = kernel;
        else
            job_add(job, kernel);
        flight->kernel = earlier != NULL ? earlier : kernel;
    } else {
        remember_failure(job, flight, status, error);
    }
    flight->source = source;
    kiln__flight_end(tiers, &job->flights, flight, status, error);
    count_abandoned(context, flight);
    kiln__flight_drop(tiers, flight);
    kiln__mutex_unlock(&tiers->lock);
    kiln__kernel_free(extra);
}

void kiln__kernel_free(kiln_kernel *kernel)
{
    kiln_context *context;

    if (kernel == NULL)
        return;
    context = kernel->context;
    context->tiers->unload(kernel);
    kiln_artifact_release(kernel->artifact);
    kiln__deallocate(&context->alloc, kernel, sizeof *kernel);
}
