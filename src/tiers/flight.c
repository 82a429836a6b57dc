/* flight.c - builds under way: who owns them and who waits for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/flight.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "context/counters.h"
#include "context/host_ops.h"
#include "context/log.h"
#include "context/trace.h"
#include "tiers/tiers.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/inference.h"
#include "tiers/typed/typed.h"
#include "tiers/worlds.h"

/*
 * The file has three parts: call scopes and call chains of threads, flights,
 * and waiting. The protocol: a flight is owned by one call chain or queued for
 * a worker; other chains wait until it is done, on one condition of the tiers.
 * Before a chain waits, it follows the owners (leads_to()): a wait that leads
 * back to itself would never end, and is refused with KILN_ERECURSION.
 * tests/protocol/flights.pml is a model of this.
 *
 * The innermost call scope is kept per thread: a callback that calls back into
 * the library continues the chain that called it, also when a call scope in
 * another context is between them.
 */
static _Thread_local kiln__call_scope *current_scope;

int kiln__run_is_own(const kiln__call_chain *chain)
{
    const kiln__call_scope *scope = current_scope;

    while (scope != NULL && scope->chain != chain)
        scope = scope->outer;
    return scope != NULL;
}

uint64_t kiln__call_scopes_of_thread(const kiln_context *context)
{
    uint64_t count = 0;

    for (const kiln__call_scope *at = current_scope; at != NULL; at = at->outer)
        count += at->context == context && at->keeps;
    return count;
}

static kiln__call_chain *chain_in(const kiln_context *context)
{
    const kiln__call_scope *scope = current_scope;

    while (scope != NULL && scope->context != context)
        scope = scope->outer;
    return scope != NULL ? scope->chain : NULL;
}

kiln__worlds *kiln__worlds_around(const kiln_context *context,
                                  kiln_frontend *frontend, uint64_t world)
{
    const kiln__call_chain *chain = chain_in(context);
    const kiln_inference *around = NULL;
    uint64_t own;

    if (chain != NULL)
        around = chain->inference != NULL ? chain->inference : chain->suspended;
    if (around == NULL ||
        kiln__worlds_take(&own, around->worlds, frontend, NULL) != KILN_OK)
        return NULL;
    return own == world ? around->worlds : NULL;
}

static kiln__call_chain *enter_scope(kiln__call_scope *scope,
                                     kiln_context *context, int keeps)
{
    kiln__call_chain *chain = chain_in(context);

    *scope = (kiln__call_scope){
        .context = context, .keeps = keeps, .outer = current_scope};
    if (chain == NULL)
        chain = &scope->own;
    scope->chain = chain;
    scope->inference = chain->inference;
    scope->suspended = chain->suspended;
    if (chain->inference != NULL)
        chain->suspended = chain->inference;
    chain->inference = NULL;
    chain->depth++;
    current_scope = scope;
    kiln__stack_nest(1);
    return chain;
}

kiln__call_chain *kiln__call_scope_enter(kiln__call_scope *scope,
                                         kiln_context *context)
{
    kiln__stack_enter(context);
    kiln__mutex_lock(&context->tiers->lock);
    context->tiers->open_scopes++;
    kiln__mutex_unlock(&context->tiers->lock);
    return enter_scope(scope, context, 1);
}

void kiln__call_scope_leave(kiln__call_scope *scope)
{
    struct kiln__tiers *tiers = scope->context->tiers;

    scope->chain->inference = scope->inference;
    scope->chain->suspended = scope->suspended;
    scope->chain->depth--;
    current_scope = scope->outer;
    kiln__stack_nest(-1);
    if (!scope->keeps)
        return;
    kiln__mutex_lock(&tiers->lock);
    tiers->open_scopes--;
    kiln__mutex_unlock(&tiers->lock);
}

/* The flight itself keeps what it needs, so collections may go on. */
void kiln__call_scope_enter_worker(kiln__call_scope *scope,
                                   kiln_context *context, kiln__flight *flight)
{
    kiln__call_chain *chain = enter_scope(scope, context, 0);

    chain->on_worker = 1;
    if (flight == NULL)
        return;
    kiln__mutex_lock(&context->tiers->lock);
    flight->owner = chain;
    kiln__mutex_unlock(&context->tiers->lock);
}

kiln_status kiln__call_scope_check_depth(kiln__call_chain *chain,
                                         kiln_error **error)
{
    if (chain->depth <= KILN__CALL_SCOPES_MAX)
        return KILN_OK;
    chain->recursions++;
    return kiln__error_set(error, KILN_ERECURSION,
                           "callbacks that call Kiln are nested more than %d "
                           "deep",
                           KILN__CALL_SCOPES_MAX);
}

kiln__flight *kiln__flight_new(struct kiln__tiers *tiers,
                               kiln__call_chain *owner, const void *subject)
{
    kiln__flight *flight =
        kiln__allocate(&tiers->context->alloc, sizeof *flight);

    if (flight != NULL) {
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
    if (flight->code != NULL)
        flight->code->pins--;
    kiln_error_free(flight->error);
    kiln__deallocate(&tiers->context->alloc, flight, sizeof *flight);
}

void kiln__flight_unlist(kiln__flight **list, kiln__flight *flight)
{
    for (kiln__flight **link = list; link != NULL && *link != NULL;
         link = &(*link)->next)
        if (*link == flight) {
            *link = flight->next;
            break;
        }
    flight->next = NULL;
}

void kiln__flight_end(struct kiln__tiers *tiers, kiln__flight **list,
                      kiln__flight *flight, kiln_status status,
                      kiln_error *error)
{
    kiln__flight_unlist(list, flight);
    flight->done = 1;
    flight->owner = NULL;
    flight->status = status;
    flight->error = error;
    kiln__condition_broadcast(&tiers->ended);
}

/* CLAIM, SLEEP, WOKEN and PUBLISH, and this walk, are steps of the model. */

/* Follows owner -> waits for -> owner, and visits each call chain once. There
   is no cycle yet, because a chain waits only after this walk. If the path is
   too long for this thread's stack, the result is true: not waiting is always
   safe. */
static int leads_to(struct kiln__tiers *tiers, const kiln__call_chain *chain,
                    const kiln__flight *flight)
{
    kiln__call_chain *owner =
        flight != NULL && !flight->done ? flight->owner : NULL;

    if (owner == NULL || owner->visit == tiers->visit)
        return 0;
    if (owner == chain || kiln__stack_is_low())
        return 1;
    owner->visit = tiers->visit;
    for (size_t i = 0; i < owner->waits_for_count; i++)
        if (leads_to(tiers, chain, owner->waits_for[i]))
            return 1;
    return 0;
}

static int any_done(kiln__flight *const *flights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (flights[i] != NULL && flights[i]->done)
            return 1;
    return 0;
}

/* With the lock held. Returns the index of a flight for which the chain would
   wait for ever, or `count`. */
static size_t find_closing(struct kiln__tiers *tiers,
                           const kiln__call_chain *chain,
                           kiln__flight *const *flights, size_t count)
{
    size_t i = 0;

    tiers->visit++;
    while (i < count && !(flights[i] != NULL && chain->on_worker) &&
           !leads_to(tiers, chain, flights[i]))
        i++;
    return i;
}

typedef struct waiting {
    kiln__flight *const *flights;
    size_t count;
    uint64_t deadline_ns; /* 0: none */
} waiting;

/* False when the deadline has passed. */
static int sleep_until(struct kiln__tiers *tiers, uint64_t deadline_ns)
{
    if (deadline_ns != 0)
        return kiln__condition_wait_until(&tiers->ended, &tiers->lock,
                                          deadline_ns);
    kiln__condition_wait(&tiers->ended, &tiers->lock);
    return 1;
}

/* With the lock held. */
static kiln_status wait_any(size_t *closing, struct kiln__tiers *tiers,
                            kiln__call_chain *chain, const waiting *w)
{
    kiln__flight *const *flights = w->flights;
    const size_t count = w->count;
    int in_time = 1;

    if (any_done(flights, count))
        return KILN_OK;
    *closing = find_closing(tiers, chain, flights, count);
    if (*closing < count)
        return KILN_ERECURSION;
    chain->waits_for = flights;
    chain->waits_for_count = count;
    /* SLEEP, WOKEN: the lock is held between the check and the sleep. */
    while (!any_done(flights, count) && in_time)
        in_time = sleep_until(tiers, w->deadline_ns);
    chain->waits_for = NULL;
    chain->waits_for_count = 0;
    return any_done(flights, count) ? KILN_OK : KILN_ETIMEDOUT;
}

/* With the lock held. Returns the name of what is waited for, for a trace. What
   a flight is built from stays while somebody refers to the flight. */
static const char *name_of(kiln__flight *const *flights, size_t count)
{
    if (count != 1 || flights[0] == NULL)
        return "the first of several";
    return flights[0]->code != NULL ? flights[0]->code->name
                                    : "a code instance";
}

/* The host's callbacks around the wait may call Kiln, so no lock is held. */
static kiln_status wait_outside(size_t *closing, kiln_context *context,
                                kiln__call_chain *chain, const waiting *w)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__trace_note note = {.category = "wait", .verb = "wait for"};
    kiln_status status;
    uint64_t begun;
    int done;

    kiln__mutex_lock(&tiers->lock);
    done = any_done(w->flights, w->count);
    note.name = name_of(w->flights, w->count);
    kiln__mutex_unlock(&tiers->lock);
    if (done)
        return KILN_OK;
    begun = kiln__trace_begin(context);
    kiln__blocking_enter(context);
    kiln__mutex_lock(&tiers->lock);
    status = wait_any(closing, tiers, chain, w);
    kiln__mutex_unlock(&tiers->lock);
    kiln__blocking_leave(context);
    if (status == KILN_OK)
        kiln__trace_end(context, begun, &note);
    return status;
}

kiln_status kiln__flight_wait_any(size_t *closing, kiln_context *context,
                                  kiln__call_chain *chain,
                                  kiln__flight *const *flights, size_t count)
{
    const waiting w = {.flights = flights, .count = count};

    return wait_outside(closing, context, chain, &w);
}

kiln_status kiln__flight_wait_until(kiln_context *context,
                                    kiln__call_chain *chain,
                                    kiln__flight *flight, uint64_t deadline_ns)
{
    const waiting w = {
        .flights = &flight, .count = 1, .deadline_ns = deadline_ns};
    size_t closing;

    return wait_outside(&closing, context, chain, &w);
}

kiln_status kiln__flight_wait(kiln_context *context, kiln__call_chain *chain,
                              kiln__flight *flight)
{
    return kiln__flight_wait_until(context, chain, flight, 0);
}

int kiln__flight_is_owned(kiln_context *context, const kiln__call_chain *chain,
                          const kiln__flight *flight)
{
    int owned;

    kiln__mutex_lock(&context->tiers->lock);
    owned = !flight->done && flight->owner == chain;
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

void kiln__flight_release(kiln_context *context, kiln__flight *flight)
{
    if (flight == NULL)
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
    if (status != KILN_OK && error != NULL)
        *error = kiln__error_retain(flight->error);
    kiln__mutex_unlock(&context->tiers->lock);
    if (status != KILN_OK && error != NULL && !*error)
        kiln__error_set(error, status, "%s", kiln_status_text(status));
    return status;
}

void kiln__flight_hand_over(kiln_context *context, kiln__flight *flight)
{
    kiln__mutex_lock(&context->tiers->lock);
    flight->owner = NULL;
    flight->world = 0;
    kiln__mutex_unlock(&context->tiers->lock);
}

kiln__count kiln__flight_outcome(const kiln__flight *flight, int owned)
{
    if (flight->status != KILN_OK)
        return KILN__COUNT_FAILED;
    if (!owned)
        return KILN__COUNT_WAITED;
    if (flight->source == KILN_SOURCE_STORE)
        return KILN__COUNT_STORE_HIT;
    return flight->source == KILN_SOURCE_MEMORY ? KILN__COUNT_HIT
                                                : KILN__COUNT_BUILT;
}

void kiln__flight_abandon(kiln_context *context, kiln__flight *flight,
                          int owned)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln__count outcome = KILN__COUNT_END;

    kiln__mutex_lock(&tiers->lock);
    if (flight->done)
        outcome = kiln__flight_outcome(flight, owned);
    else
        flight->abandoned[owned != 0]++;
    kiln__flight_drop(tiers, flight);
    kiln__mutex_unlock(&tiers->lock);
    if (outcome != KILN__COUNT_END)
        kiln__count_request(context, KILN_TIER_BINARY, outcome);
}

void kiln__flight_cancel(kiln_context *context, kiln__flight *flight)
{
    kiln__mutex_lock(&context->tiers->lock);
    flight->wanted--;
    kiln__mutex_unlock(&context->tiers->lock);
}

int kiln__status_is_final(kiln_status status)
{
    return status == KILN_ECOMPILE || status == KILN_ESYNTAX ||
           status == KILN_ECODEGEN || status == KILN_EUNSUPPORTED ||
           status == KILN_ENOTFOUND;
}
