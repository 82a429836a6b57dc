/* batch.c - compiles many jobs on all workers, with progress. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "pipeline/compile.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"

/*
 * The calling thread infers one job after the other and hands each to the
 * workers at once, so that inference and code generation overlap. Between two
 * inferences it takes the results that are ready; at the end it waits for the
 * rest.
 */
struct batch {
    kiln_context *context;
    kiln_batch_job *jobs;
    size_t count;
    size_t done;
    kiln__flight **flights; /* NULL: ended, or never started */
    char *owned;
    kiln_progress_fn progress;
    void *env;
};

static void job_ended(struct batch *batch, size_t index, kiln_status status)
{
    kiln_batch_job *job = &batch->jobs[index];

    job->status = status;
    batch->done++;
    if (batch->progress != NULL)
        batch->progress(batch->done, batch->count, job, batch->env);
}

static kiln__compile_request request_of(const struct batch *batch, size_t index)
{
    const kiln_batch_job *job = &batch->jobs[index];

    return (kiln__compile_request){.context = batch->context,
                                   .signature = job->signature,
                                   .config = job->config,
                                   .world = job->world};
}

static void job_start(struct batch *batch, kiln__call_chain *chain,
                      size_t index)
{
    kiln_batch_job *job = &batch->jobs[index];
    kiln__compile_answer answer = {0};
    kiln_status status = kiln__request_check(batch->context, &job->signature,
                                             job->config, &job->error);

    if (status == KILN_OK) {
        const kiln__compile_request request = request_of(batch, index);

        status = kiln__compile_begin(&answer, chain, &request, &job->error);
        batch->flights[index] = answer.flight;
        batch->owned[index] = (char)answer.owned;
    }
    if (answer.kernel != NULL) {
        job->kernel = answer.kernel;
        job->source = answer.source;
    }
    if (status != KILN_OK || batch->flights[index] == NULL)
        job_ended(batch, index, status);
}

static void collect_results(struct batch *batch, size_t limit)
{
    for (size_t i = 0; i < limit; i++) {
        kiln_batch_job *job = &batch->jobs[i];
        kiln_status status;

        if (batch->flights[i] == NULL ||
            !kiln__flight_is_done(batch->context, batch->flights[i]))
            continue;
        status = kiln__compile_take_result(&job->kernel, &job->source,
                                           batch->context, batch->flights[i],
                                           batch->owned[i], &job->error);
        batch->flights[i] = NULL;
        job_ended(batch, i, status);
    }
}

/* Waiting for this job would never end. */
static void unknot(struct batch *batch, kiln__call_chain *chain, size_t index)
{
    const kiln__compile_request request = request_of(batch, index);
    kiln_batch_job *job = &batch->jobs[index];
    kiln__flight *flight = batch->flights[index];
    kiln_status status;

    batch->flights[index] = NULL;
    status = kiln__compile_break_cycle(&job->kernel, &job->source, chain,
                                       &request, flight, &job->error);
    job_ended(batch, index, status);
}

static void compile_all(struct batch *batch)
{
    kiln__call_scope scope;
    kiln__call_chain *chain = kiln__call_scope_enter(&scope, batch->context);

    for (size_t i = 0; i < batch->count; i++) {
        job_start(batch, chain, i);
        collect_results(batch, i + 1);
    }
    while (batch->done < batch->count) {
        size_t closing;

        if (kiln__flight_wait_any(&closing, batch->context, chain,
                                  batch->flights, batch->count) == KILN_OK)
            collect_results(batch, batch->count);
        else
            unknot(batch, chain, closing);
    }
    kiln__call_scope_leave(&scope);
}

static kiln_status first_failure(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->jobs[i].status != KILN_OK)
            return batch->jobs[i].status;
    return KILN_OK;
}

kiln_status kiln_compile_batch(kiln_context *context, kiln_batch_job *jobs,
                               size_t count, kiln_progress_fn progress,
                               void *env)
{
    struct batch batch = {context, jobs, count, 0, NULL, NULL, progress, env};

    if (context == NULL || (count && jobs == NULL))
        return KILN_EINVAL;
    for (size_t i = 0; i < count; i++) {
        jobs[i].kernel = NULL;
        jobs[i].error = NULL;
        jobs[i].status = KILN_ENOMEM; /* until the job ends */
        jobs[i].source = KILN_SOURCE_NONE;
    }
    if (count == 0)
        return KILN_OK;
    batch.flights =
        kiln__allocate_array(&context->alloc, count, sizeof *batch.flights);
    batch.owned = kiln__allocate(&context->alloc, count);
    if (batch.flights != NULL && batch.owned != NULL)
        compile_all(&batch);
    kiln__deallocate(&context->alloc, batch.flights,
                     count * sizeof *batch.flights);
    kiln__deallocate(&context->alloc, batch.owned, count);
    return first_failure(&batch);
}
