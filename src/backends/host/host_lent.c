/* host_lent.c - launches on threads that the host lends: parallel_for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/host_backend.h"
#include "context/callback.h"

#define RANGES_PER_THREAD 8

uint64_t kiln__host_step(uint64_t count, uint64_t threads)
{
    const uint64_t step = count / (threads * RANGES_PER_THREAD);

    return step > 0 ? step : 1;
}

typedef struct host_job {
    void (*work)(void *env, uint64_t first, uint64_t last);
    void *env;
    uint64_t count;
    uint64_t step;
} host_job;

static void run_piece(void *argument, size_t index)
{
    const host_job *job = argument;
    const uint64_t first = index * job->step;
    const uint64_t rest = job->count - first;

    job->work(job->env, first,
              rest < job->step ? job->count : first + job->step);
}

void kiln__host_run_lent(const kiln_context *context, uint32_t threads,
                         uint64_t count,
                         void (*work)(void *env, uint64_t first, uint64_t last),
                         void *env)
{
    host_job job = {
        .work = work,
        .env = env,
        .count = count,
        .step = kiln__host_step(count, threads),
    };
    const uint64_t pieces = count / job.step + (count % job.step != 0);
    kiln__callback callback;

    kiln__callback_begin(&callback, context);
    context->host.parallel_for(context->host_env, (size_t)pieces, run_piece,
                               &job);
    kiln__callback_end(&callback);
}
