/* living.c - what happens to a context that lives through all versions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <stdlib.h>

#include "inside.h"

#define THREADS 3
#define QUESTIONS 4 /* of one thread */

/* ---- worlds ---- */

static void hold_or_release(history *h)
{
    held_world *held = &h->held[history_below(h, HISTORY_HELD_MAX)];
    const int which = history_below(h, GRAPH_COUNT);
    graph_frontend *frontends = h->living.frontends;

    if (held->which >= 0) {
        kiln_world_release(frontends[held->which].frontend, held->world);
        held->which = -1;
        return;
    }
    held->which = which;
    if (kiln_world_hold(&held->world, frontends[which].frontend) != KILN_OK)
        history_fail(h, "a world cannot be held", NULL);
}

/* In a world that has passed nobody may ask for what is there today. */
static void ask_today(history *h, const int asks[GRAPH_LANGUAGE])
{
    for (int i = 0; i < GRAPH_LANGUAGE; i++)
        h->living.frontends[i].asks_today = asks[i];
}

void history_compare_held(history *h)
{
    static const int never[GRAPH_LANGUAGE];
    int asks[GRAPH_LANGUAGE];

    for (int i = 0; i < GRAPH_LANGUAGE; i++)
        asks[i] = h->living.frontends[i].asks_today;
    ask_today(h, never);
    for (int i = 0; i < HISTORY_HELD_MAX; i++) {
        graph_job job = history_any_job(h);

        job.which = h->held[i].which;
        job.world = h->held[i].world;
        if (job.which >= 0)
            history_compare(h, &h->living, "held", &job);
    }
    ask_today(h, asks);
}

static int is_held(const history *h, int which, uint64_t world)
{
    for (int i = 0; i < HISTORY_HELD_MAX; i++)
        if (h->held[i].which == which && h->held[i].world == world)
            return 1;
    return 0;
}

/* A world that passed and that nobody holds, or one that is to come. */
static void ask_for_no_world(history *h)
{
    graph_job job = history_any_job(h);
    const uint64_t now = kiln_world(h->living.frontends[job.which].frontend);
    const uint64_t back = 1 + (uint64_t)history_below(h, 5);
    kiln_error *error = NULL;
    uint64_t value;

    job.world = now + 1 + (uint64_t)history_below(h, 3);
    if (history_below(h, 2) && back < now)
        job.world = now - back;
    if (is_held(h, job.which, job.world))
        return;
    if (graph_run_job(&value, &h->living, &job, h->living.queue, &error) !=
        KILN_EINVAL)
        history_fail(h, "a world that nobody holds is not refused", NULL);
    kiln_error_free(error);
}

/* ---- definitions that come in between ---- */

/* Once: an edit while something is inferred. */
static void change_inside(graph_frontend *f, int function)
{
    history *h = f->hook_data;

    (void)function;
    f->hook = NULL;
    history_change(h);
}

/* What comes of it is of one moment or the other. */
static void interrupt(history *h)
{
    graph_frontend *f = &h->living.frontends[history_below(h, GRAPH_LANGUAGE)];
    const graph_job job = history_any_job(h);
    const history_outcome before = history_expected(h, &h->living, &job);
    history_outcome got = {KILN_OK, 0}, after;

    f->hook_data = h;
    f->hook = change_inside;
    got.status =
        graph_run_job(&got.value, &h->living, &job, h->living.queue, NULL);
    f->hook = NULL;
    after = history_expected(h, &h->living, &job);
    history_compare_moment(h, "interrupted", &job, &got, &before, &after);
    history_compare(h, &h->living, "after an interruption", &job);
}

typedef struct asking {
    graph *g;
    graph_job jobs[QUESTIONS];
    history_outcome before[QUESTIONS];
    history_outcome got[QUESTIONS];
} asking;

static void *ask(void *argument)
{
    asking *a = argument;
    kiln_queue *queue = NULL;
    const kiln_status status = kiln_queue_new(&queue, a->g->device, NULL);

    for (int i = 0; i < QUESTIONS; i++)
        a->got[i].status = status == KILN_OK
                               ? graph_run_job(&a->got[i].value, a->g,
                                               &a->jobs[i], queue, NULL)
                               : status;
    kiln_queue_free(queue);
    return NULL;
}

static void get_ready(history *h, asking *a)
{
    a->g = &h->living;
    for (int i = 0; i < QUESTIONS; i++) {
        a->jobs[i] = history_any_job(h);
        a->before[i] = history_expected(h, &h->living, &a->jobs[i]);
    }
}

static void look(history *h, const asking *a)
{
    for (int i = 0; i < QUESTIONS; i++) {
        const history_outcome after =
            history_expected(h, &h->living, &a->jobs[i]);

        history_compare_moment(h, "threads", &a->jobs[i], &a->got[i],
                               &a->before[i], &after);
    }
}

static void ask_at_once(history *h)
{
    asking asked[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        get_ready(h, &asked[i]);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, ask, &asked[i]) != 0)
            abort();
    if (history_below(h, 2))
        history_change(h);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        look(h, &asked[i]);
}

/* ---- failures that pass ---- */

/* It may fail now, and must be right as soon as nothing is the matter. */
static void meet_trouble(history *h)
{
    graph_frontend *f = &h->living.frontends[history_below(h, GRAPH_LANGUAGE)];
    const int trouble = 1 + history_below(h, 3);
    const graph_job job = history_any_job(h);
    const history_outcome wanted = history_expected(h, &h->living, &job);
    history_outcome got = {KILN_OK, 0};

    __atomic_store_n(&f->trouble, trouble, __ATOMIC_RELAXED);
    got.status =
        graph_run_job(&got.value, &h->living, &job, h->living.queue, NULL);
    if (got.status == KILN_OK && !history_agrees(&got, &wanted))
        history_compare_moment(h, "in trouble", &job, &got, &wanted, &wanted);
    __atomic_store_n(&f->trouble, GRAPH_NO_TROUBLE, __ATOMIC_RELAXED);
    history_compare(h, &h->living, "after trouble", &job);
}

void history_live(history *h)
{
    history_phase(h, 1);
    if (history_happens(h, HISTORY_INSIDE, 20))
        interrupt(h);
    history_phase(h, 2);
    history_change(h);
    history_phase(h, 3);
    if (history_happens(h, HISTORY_HELD, 40))
        hold_or_release(h);
    history_phase(h, 4);
    if (history_happens(h, HISTORY_COLLECT, 15))
        kiln_context_collect(h->living.context);
    history_phase(h, 5);
    if (history_happens(h, HISTORY_TROUBLE, 20))
        meet_trouble(h);
    history_phase(h, 6);
    if (history_happens(h, HISTORY_THREADS, 15))
        ask_at_once(h);
    history_phase(h, 7);
    if (history_happens(h, HISTORY_REFUSE, 30))
        ask_for_no_world(h);
}
