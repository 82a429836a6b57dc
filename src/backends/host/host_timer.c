/* host_timer.c - a thread that stops launches at their time limit. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/host_backend.h"
#include "base/error.h"

/*
 * The launch's thread is computing, so another thread must watch the clock. It
 * starts at the first launch with a limit, and ends with the backend. The
 * limits are in a list, in the memory of their launches: there are at most as
 * many as threads that launch, and none is accessed after its launch has
 * removed it from the list.
 *
 * A child of fork() has neither this thread nor launches of other threads.
 */

static void forget(void *env)
{
    kiln__host_timer *timer = env;

    timer->first = NULL;
    timer->is_started = 0;
    (void)kiln__condition_init(&timer->changed);
}

kiln_status kiln__host_timer_init(kiln__host_timer *timer,
                                  kiln_context *context)
{
    *timer = (kiln__host_timer){.context = context};
    KILN_TRY(kiln__mutex_init(&timer->lock));
    if (kiln__condition_init(&timer->changed) != KILN_OK) {
        kiln__mutex_dispose(&timer->lock);
        return KILN_ENOMEM;
    }
    timer->guard = (kiln__fork_guard){
        .mutex = &timer->lock, .child = forget, .env = timer};
    kiln__fork_add(&context->fork, &timer->guard);
    return KILN_OK;
}

void kiln__host_timer_dispose(kiln__host_timer *timer)
{
    int is_started;

    kiln__mutex_lock(&timer->lock);
    timer->ending = 1;
    is_started = timer->is_started;
    kiln__condition_signal(&timer->changed);
    kiln__mutex_unlock(&timer->lock);
    if (is_started)
        kiln__thread_join(timer->thread);
    kiln__fork_remove(&timer->context->fork, &timer->guard);
    kiln__condition_dispose(&timer->changed);
    kiln__mutex_dispose(&timer->lock);
}

/* With the lock held. Stops launches whose time is over; returns when the next
   one is due. */
static uint64_t stop_due(kiln__host_timer *timer)
{
    const uint64_t now = kiln__clock_ns();
    uint64_t next = UINT64_MAX;
    kiln__host_limit **at = &timer->first;

    while (*at != NULL) {
        kiln__host_limit *limit = *at;

        if (limit->deadline_ns <= now) {
            kiln__host_stop_now(limit->stop, KILN__HOST_TIMED_OUT);
            limit->is_listed = 0;
            *at = limit->next;
            continue;
        }
        if (limit->deadline_ns < next)
            next = limit->deadline_ns;
        at = &limit->next;
    }
    return next;
}

static void *run(void *argument)
{
    kiln__host_timer *timer = argument;

    kiln__mutex_lock(&timer->lock);
    while (!timer->ending) {
        const uint64_t next = stop_due(timer);

        if (next == UINT64_MAX)
            kiln__condition_wait(&timer->changed, &timer->lock);
        else
            (void)kiln__condition_wait_until(&timer->changed, &timer->lock,
                                             next);
    }
    kiln__mutex_unlock(&timer->lock);
    return NULL;
}

kiln_status kiln__host_timer_begin(kiln__host_timer *timer,
                                   kiln__host_limit *limit,
                                   kiln__host_stop *stop, uint64_t nanoseconds)
{
    const uint64_t now = kiln__clock_ns();
    kiln_status status = KILN_OK;

    *limit = (kiln__host_limit){.stop = stop,
                                .deadline_ns = nanoseconds < UINT64_MAX - now
                                                   ? now + nanoseconds
                                                   : UINT64_MAX - 1};
    kiln__mutex_lock(&timer->lock);
    if (!timer->is_started) {
        status = kiln__thread_start(&timer->thread, 0, run, timer);
        timer->is_started = status == KILN_OK;
    }
    if (status == KILN_OK) {
        limit->next = timer->first;
        limit->is_listed = 1;
        timer->first = limit;
        kiln__condition_signal(&timer->changed);
    }
    kiln__mutex_unlock(&timer->lock);
    return status;
}

void kiln__host_timer_end(kiln__host_timer *timer, kiln__host_limit *limit)
{
    kiln__mutex_lock(&timer->lock);
    if (limit->is_listed) {
        kiln__host_limit **at = &timer->first;

        while (*at != limit)
            at = &(*at)->next;
        *at = limit->next;
    }
    kiln__mutex_unlock(&timer->lock);
}
