/* toys.c - a context with a toy frontend, and what happened in it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/toys.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void add(int *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void blocking_enter(void *env)
{
    toys *t = env;

    add(&t->waits_entered);
    if (t->on_blocking)
        t->on_blocking(t);
}

static void blocking_leave(void *env)
{
    add(&((toys *)env)->waits_left);
}

static void event(void *env, const kiln_event *event)
{
    toys *t = env;

    if (event->kind == KILN_EVENT_JOB)
        add(&t->jobs_ended);
    if (event->kind == KILN_EVENT_STAGE)
        add(&t->stages_ended);
    if (t->on_event)
        t->on_event(t, event);
}

static int setup(void **state, uint32_t workers)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .blocking_enter = blocking_enter,
                                .blocking_leave = blocking_leave,
                                .event = event};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    toys *t = calloc(1, sizeof *t);

    assert_non_null(t);
    options.host = &host;
    options.host_env = t;
    options.workers = workers;
    assert_ok(kiln_context_new(&t->context, &options, &test_error));
    assert_ok(kiln_config_new(&t->config, t->context, NULL, &test_error));
    assert_ok(toy_open(&t->toy, t->context, &test_error));
    *state = t;
    return 0;
}

int toys_setup(void **state)
{
    return setup(state, 2);
}

int toys_setup_one_worker(void **state)
{
    return setup(state, 1);
}

int toys_teardown(void **state)
{
    toys *t = *state;

    kiln_context_free(t->context);
    free(t);
    return 0;
}

toys *toys_of(struct toy *toy)
{
    return (toys *)(void *)((char *)toy - offsetof(toys, toy));
}

void toys_define(toys *t, int id, int number, const int *callees)
{
    assert_ok(toy_define(&t->toy, id, number, callees, NULL));
}

kiln_status toys_infer(toys *t, int id, const kiln_code **out,
                       kiln_error **error)
{
    const kiln_signature signature = toy_signature(&t->toy, id);

    return kiln_infer(out, t->context, &signature, t->config, 0, error);
}

kiln_status toys_compile(toys *t, int id, const kiln_kernel **out,
                         kiln_error **error)
{
    const kiln_signature signature = toy_signature(&t->toy, id);

    return kiln_compile(out, t->context, &signature, t->config, NULL, error);
}

kiln_batch_job toys_job(toys *t, int id)
{
    return (kiln_batch_job){.signature = toy_signature(&t->toy, id),
                            .config = t->config};
}

kiln_tier_statistics toys_counts(const toys *t, int32_t tier)
{
    kiln_statistics statistics = {.size = sizeof statistics};
    const kiln_tier_statistics *counts = &statistics.tiers[tier];

    kiln_statistics_get(&statistics, t->context);
    assert_int_equal(counts->requests, counts->hits + counts->store_hits +
                                           counts->waited + counts->built +
                                           counts->failed);
    return *counts;
}

static void *call(void *argument)
{
    toys_caller *c = argument;

    pthread_barrier_wait(c->start);
    c->status = c->infers ? toys_infer(c->toys, c->id, &c->code, &c->error)
                          : toys_compile(c->toys, c->id, &c->kernel, &c->error);
    return NULL;
}

void toys_call(toys *t, toys_caller *callers, const int *ids, size_t count,
               int infers)
{
    pthread_barrier_t start;
    pthread_t threads[64];

    assert_in_range(count, 1, 64);
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        callers[i] = (toys_caller){
            .toys = t, .id = ids[i], .infers = infers, .start = &start};
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]),
                         0);
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&start);
}

void toys_callers_end(toys_caller *callers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kiln_error_free(callers[i].error);
}

void toys_meet(int *arrived, int index, int count)
{
    const int bit = 1 << index;

    if (__atomic_fetch_or(arrived, bit, __ATOMIC_ACQ_REL) & bit)
        return;
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) != (1 << count) - 1)
        sched_yield();
}
