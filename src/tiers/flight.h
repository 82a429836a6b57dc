/* flight.h - builds under way, and the calls that wait for them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_FLIGHT_H
#define KILN_TIERS_FLIGHT_H

#include "context/context.h"
#include "context/counters.h"
#include "tiers/worlds.h"

/*
 * A flight is one build under way, of a code instance (tier 1) or of a kernel
 * (tier 3): other requests for the same thing wait for it.
 *
 * A call chain is all that one thread does in a context, nested calls included.
 * It owns the flights that it has claimed until they end or are handed over to
 * a worker. Before it waits, it walks owner -> waits for -> owner; if that
 * leads back to itself, the wait would never end, and it builds privately
 * instead.
 *
 * A worker that builds a kernel has a call chain as well, for the host's
 * callbacks that run there: it owns that flight, and waits for no flight,
 * because that one may be queued after it.
 */
typedef struct kiln__flight kiln__flight;
typedef struct kiln__call_chain {
    /* Under the tiers' lock; some of the flights may be NULL. */
    kiln__flight *const *waits_for;
    size_t waits_for_count;
    uint64_t visit;            /* number of the last walk that visited it */
    kiln_inference *inference; /* the innermost one of the current call scope */
    kiln_inference *suspended; /* the innermost one of the call scopes around
                                  it */
    uint64_t inferred;         /* number of inferences begun */
    uint64_t recursions;       /* number of requests refused because of the
                                  calls around them */
    uint32_t depth;            /* number of nested call scopes */
    int never_wait;            /* infer privately instead of waiting */
    int on_worker;
} kiln__call_chain;

/*
 * A call scope is one public call that compiles or infers. A callback that
 * calls back into the same context opens a call scope inside it, in the same
 * chain, but with a chain of inferences of its own: its result must be final,
 * not part of a cycle that is still open around it.
 */
typedef struct kiln__call_scope kiln__call_scope;
struct kiln__call_scope {
    kiln__call_chain *chain;
    kiln__call_chain own; /* the call chain, unless an outer scope has it */
    kiln_context *context;
    kiln_inference *inference; /* of the chain, before this scope */
    kiln_inference *suspended;
    int keeps;               /* whether it prevents collections */
    kiln__call_scope *outer; /* next outer one on this thread, of any context */
};

#define KILN__CALL_SCOPES_MAX 64 /* callbacks nested in callbacks */

struct kiln__flight {
    unsigned references; /* under the tiers' lock, as are all members */
    int done;
    kiln__call_chain *owner;   /* NULL: queued for a worker */
    uint64_t world;            /* the world on which the outcome depends; 0: on
                                  none */
    const void *subject;       /* instance or job */
    kiln_code *code;           /* kernel flight: the code instance to compile */
    const kiln_kernel *kernel; /* kernel flight: the result */
    kiln_status status;
    kiln_error *error;
    int is_bound;          /* a failure may be due to where it was requested */
    int32_t source;        /* KILN_SOURCE_... */
    uint32_t abandoned[2]; /* abandoned requests to count at the end: waiting,
                              owning */
    uint32_t wanted;       /* kernel flight: requests that were not canceled */
    kiln__flight *next;    /* in the subject's list */
    kiln__flight *held_next; /* in the list of the inference that heads the
                                cycle */
};

/* How many call scopes of this thread prevent collections. */
uint64_t kiln__call_scopes_of_thread(const kiln_context *context);
/* Opens and ends a call scope of this thread in the context, in the caller's
   memory. In between, code instances on loan are not freed. */
kiln__call_chain *kiln__call_scope_enter(kiln__call_scope *scope,
                                         kiln_context *context);
void kiln__call_scope_leave(kiln__call_scope *scope);
/* Opens the call scope of a worker that builds the flight's kernel; the flight
   may be NULL. */
void kiln__call_scope_enter_worker(kiln__call_scope *scope,
                                   kiln_context *context, kiln__flight *flight);
/* KILN_ERECURSION when call scopes are nested too deep to go on. */
kiln_status kiln__call_scope_check_depth(kiln__call_chain *chain,
                                         kiln_error **error);
/* Waits until the flight is done: KILN_OK, or KILN_ERECURSION when the wait
   would never end. Call it without the tiers' lock. */
kiln_status kiln__flight_wait(kiln_context *context, kiln__call_chain *chain,
                              kiln__flight *flight);
/* The same, until kiln__clock_ns() is `deadline_ns` (0: no deadline): then
   KILN_ETIMEDOUT. */
kiln_status kiln__flight_wait_until(kiln_context *context,
                                    kiln__call_chain *chain,
                                    kiln__flight *flight, uint64_t deadline_ns);
/* True while the call chain owns the flight. */
int kiln__flight_is_owned(kiln_context *context, const kiln__call_chain *chain,
                          const kiln__flight *flight);
int kiln__flight_is_done(kiln_context *context, const kiln__flight *flight);
/* Waits until one of the flights ends; some may be NULL. KILN_OK; or
   KILN_ERECURSION and in `*closing` a flight for which the chain would wait for
   ever. */
kiln_status kiln__flight_wait_any(size_t *closing, kiln_context *context,
                                  kiln__call_chain *chain,
                                  kiln__flight *const *flights, size_t count);
void kiln__flight_release(kiln_context *context, kiln__flight *flight);
/* Copies status and error (retained) of a flight that is done. */
kiln_status kiln__flight_status(kiln_context *context,
                                const kiln__flight *flight, kiln_error **error);
/* Hands the kernel flight over to a worker: no call chain owns it any more, and
   no frontend is asked again, so that its outcome depends only on the code
   instance. */
void kiln__flight_hand_over(kiln_context *context, kiln__flight *flight);
/* Ends a request without waiting: it is counted when the flight ends. Releases
   the flight. */
void kiln__flight_abandon(kiln_context *context, kiln__flight *flight,
                          int owned);
/* A request of a kernel flight no longer wants the result. */
void kiln__flight_cancel(kiln_context *context, kiln__flight *flight);
/* How to count a request for a flight of tier 3 that is done. */
kiln__count kiln__flight_outcome(const kiln__flight *flight, int owned);

/* Returns the worlds of the inference that the caller is a callback of, if
   `world` of that frontend is one of them; else NULL. The inference may depend
   on results in these worlds. */
kiln__worlds *kiln__worlds_around(const kiln_context *context,
                                  kiln_frontend *frontend, uint64_t world);

/* ---- with the tiers' lock held ---- */

struct kiln__tiers;

kiln__flight *kiln__flight_new(struct kiln__tiers *tiers,
                               kiln__call_chain *owner, const void *subject);
void kiln__flight_drop(struct kiln__tiers *tiers, kiln__flight *flight);
/* Removes it from `list` if it is there. */
void kiln__flight_unlist(kiln__flight **list, kiln__flight *flight);
/* Marks it done, wakes all waiters, and removes it from `list` if it is
   there. */
void kiln__flight_end(struct kiln__tiers *tiers, kiln__flight **list,
                      kiln__flight *flight, kiln_status status,
                      kiln_error *error);
/* True if the call chain is one of this thread's. */
int kiln__run_is_own(const kiln__call_chain *chain);

#endif /* KILN_TIERS_FLIGHT_H */
