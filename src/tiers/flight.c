/* flight.c - builds under way, who owns them and who waits for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "log.h"
#include "state.h"

/*
 * The current run is kept per thread: a frontend's callback that calls back
 * into the library continues the run that called it.
 */
static _Thread_local kiln__run *current_run;
static _Thread_local kiln_context *current_context;

kiln__run *kiln__run_current(void)
{
    return current_run;
}

/* A nested stay in the same context continues the outer run. Another context
   shares nothing with it and gets a run of its own. */
kiln__run *kiln__run_enter(kiln__run *storage, kiln_context *context)
{
    if (current_run && current_context == context) {
        current_run->depth++;
        return current_run;
    }
    *storage =
        (kiln__run){.outer = current_run, .outer_context = current_context};
    current_run = storage;
    current_context = context;
    return storage;
}

void kiln__run_leave(kiln__run *run)
{
    if (run->depth) {
        run->depth--;
        return;
    }
    current_run = run->outer;
    current_context = run->outer_context;
}

kiln__flight *kiln__flight_new(struct kiln__tiers *tiers, kiln__run *owner,
                               const void *subject)
{
    kiln__flight *flight =
        kiln__allocate(&tiers->context->alloc, sizeof *flight);

    if (flight) {
        flight->references = 1;
        flight->owner = owner;
        flight->subject = subject;
    }
    return flight;
}

void kiln__flight_drop(struct kiln__tiers *tiers, kiln__flight *flight)
{
    if (--flight->references)
        return;
    kiln_error_free(flight->error);
    kiln__deallocate(&tiers->context->alloc, flight, sizeof *flight);
}

void kiln__flight_end(struct kiln__tiers *tiers, kiln__flight **list,
                      kiln__flight *flight, kiln_status status,
                      kiln_error *error)
{
    for (kiln__flight **link = list; link && *link; link = &(*link)->next)
        if (*link == flight) {
            *link = flight->next;
            break;
        }
    flight->next = NULL;
    flight->done = 1;
    flight->owner = NULL;
    flight->status = status;
    flight->error = error;
    kiln__condition_broadcast(&tiers->ended);
}

/* Follows owner -> waits for -> owner; the chain is finite, since a run waits
   only after this test. */
static int wait_closes_cycle(const kiln__run *run, const kiln__flight *flight)
{
    while (flight && flight->owner) {
        if (flight->owner == run)
            return 1;
        flight = flight->owner->waits_for;
    }
    return 0;
}

kiln_status kiln__flight_wait(kiln_context *context, kiln__run *run,
                              kiln__flight *flight)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln_status status = KILN_OK;

    kiln__mutex_lock(&tiers->lock);
    if (flight->done || wait_closes_cycle(run, flight)) {
        if (!flight->done)
            status = KILN_ERECURSION;
        kiln__mutex_unlock(&tiers->lock);
        return status;
    }
    run->waits_for = flight;
    kiln__mutex_unlock(&tiers->lock);

    kiln__blocking_enter(context);
    kiln__mutex_lock(&tiers->lock);
    while (!flight->done)
        kiln__condition_wait(&tiers->ended, &tiers->lock);
    run->waits_for = NULL;
    kiln__mutex_unlock(&tiers->lock);
    kiln__blocking_leave(context);
    return KILN_OK;
}

int kiln__flight_is_owned(kiln_context *context, const kiln__run *run,
                          const kiln__flight *flight)
{
    int owned;

    kiln__mutex_lock(&context->tiers->lock);
    owned = !flight->done && flight->owner == run;
    kiln__mutex_unlock(&context->tiers->lock);
    return owned;
}

int kiln__flight_is_done(kiln_context *context, const kiln__flight *flight)
{
    int done;

    kiln__mutex_lock(&context->tiers->lock);
    done = flight->done;
    kiln__mutex_unlock(&context->tiers->lock);
    return done;
}

static int any_done(kiln__flight *const *flights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (flights[i] && flights[i]->done)
            return 1;
    return 0;
}

void kiln__flight_wait_any(kiln_context *context, kiln__flight *const *flights,
                           size_t count)
{
    struct kiln__tiers *tiers = context->tiers;

    kiln__blocking_enter(context);
    kiln__mutex_lock(&tiers->lock);
    while (!any_done(flights, count))
        kiln__condition_wait(&tiers->ended, &tiers->lock);
    kiln__mutex_unlock(&tiers->lock);
    kiln__blocking_leave(context);
}

void kiln__flight_release(kiln_context *context, kiln__flight *flight)
{
    if (!flight)
        return;
    kiln__mutex_lock(&context->tiers->lock);
    kiln__flight_drop(context->tiers, flight);
    kiln__mutex_unlock(&context->tiers->lock);
}

kiln_status kiln__flight_status(kiln_context *context,
                                const kiln__flight *flight, kiln_error **error)
{
    kiln_status status;

    kiln__mutex_lock(&context->tiers->lock);
    status = flight->status;
    if (status != KILN_OK && error)
        *error = kiln__error_retain(flight->error);
    kiln__mutex_unlock(&context->tiers->lock);
    return status;
}

void kiln__flight_hand_over(kiln_context *context, kiln__flight *flight)
{
    kiln__mutex_lock(&context->tiers->lock);
    flight->owner = NULL;
    kiln__mutex_unlock(&context->tiers->lock);
}

int kiln__status_is_final(kiln_status status)
{
    return status == KILN_ECOMPILE || status == KILN_ESYNTAX ||
           status == KILN_ECODEGEN || status == KILN_EUNSUPPORTED ||
           status == KILN_ENOTFOUND;
}
