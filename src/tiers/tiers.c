/* tiers.c - makes and ends the tiers, and repairs them after fork(). */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/tiers.h"
#include "stores/lock.h"
#include "stores/stores.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/job_table.h"
#include "tiers/binary/jobs.h"
#include "tiers/flight.h"
#include "tiers/memory_bounds.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/attachment.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/publish.h"

/*
 * The three tiers share one struct and one lock: code instances (typed/),
 * bitcode (runtime/), and jobs with artifacts (binary/). The files there have
 * the operations; the order in which everything is freed at the end is here.
 */

/* Ends and drops flights of other threads. A ticket may still refer to one: the
   flight ends as canceled. */
static void drop_foreign_flights(struct kiln__tiers *tiers, kiln__flight **link)
{
    while (*link != NULL) {
        kiln__flight *flight = *link;

        if (flight->owner != NULL && kiln__run_is_own(flight->owner)) {
            link = &flight->next;
            continue;
        }
        kiln__flight_end(tiers, link, flight, KILN_ECANCELED, NULL);
        kiln__flight_drop(tiers, flight);
    }
}

static void forget_instance(kiln_digest key, void *value, void *env)
{
    (void)key;
    for (kiln__instance *at = value; at != NULL; at = at->alias)
        drop_foreign_flights(env, &at->flights);
}

/* In a child of fork(), what other threads were building never ends, so it can
   be claimed anew. Memory that these threads were using stays allocated until
   the child exits. */
static void forget_flights(void *env)
{
    struct kiln__tiers *tiers = env;

    (void)kiln__condition_init(&tiers->ended);
    tiers->open_scopes = kiln__call_scopes_of_thread(tiers->context);
    for (kiln__job *job = tiers->jobs; job != NULL; job = job->next_all)
        drop_foreign_flights(tiers, &job->flights);
    kiln__map_each(&tiers->instances, forget_instance, tiers);
    kiln__runtime_forget(tiers);
}

static int lock_folder(void *env)
{
    return kiln__stores_lock_folder(env);
}

struct kiln__locks *kiln__tiers_locks(kiln_context *context)
{
    return context->tiers->locks;
}

void kiln__tiers_note_build(kiln_context *context, uint64_t nanoseconds)
{
    _Atomic uint64_t *longest = &context->tiers->longest_build_ns;
    uint64_t known = atomic_load(longest);

    while (known < nanoseconds &&
           !atomic_compare_exchange_weak(longest, &known, nanoseconds))
        ;
}

uint64_t kiln__tiers_longest_build_ns(kiln_context *context)
{
    return atomic_load(&context->tiers->longest_build_ns);
}

kiln_status kiln__tiers_new(kiln_context *context,
                            void (*unload)(kiln_kernel *kernel))
{
    struct kiln__tiers *tiers = kiln__allocate(&context->alloc, sizeof *tiers);

    if (tiers == NULL)
        return KILN_ENOMEM;
    tiers->context = context;
    tiers->unload = unload;
    tiers->bound = kiln__tiers_bound;
    if (!kiln__job_table_new(tiers))
        goto failed;
    if (kiln__locks_new(&tiers->locks, context, lock_folder, context) !=
        KILN_OK)
        goto failed;
    if (kiln__mutex_init(&tiers->lock) != KILN_OK)
        goto failed;
    if (kiln__condition_init(&tiers->ended) != KILN_OK) {
        kiln__mutex_dispose(&tiers->lock);
        goto failed;
    }
    kiln__map_init(&tiers->instances, &context->alloc);
    kiln__map_init(&tiers->subjects, &context->alloc);
    kiln__map_init(&tiers->artifacts, &context->alloc);
    kiln__map_init(&tiers->runtime, &context->alloc);
    tiers->guard.mutex = &tiers->lock;
    tiers->guard.child = forget_flights;
    tiers->guard.env = tiers;
    kiln__fork_add(&context->fork, &tiers->guard);
    context->tiers = tiers;
    return KILN_OK;
failed:
    kiln__locks_free(tiers->locks);
    kiln__job_table_free(tiers);
    kiln__deallocate(&context->alloc, tiers, sizeof *tiers);
    return KILN_ENOMEM;
}

static void job_free(const kiln_alloc *alloc, kiln__job *job)
{
    while (job->kernels != NULL) {
        kiln_kernel *next = job->kernels->next;

        kiln__kernel_free(job->kernels);
        job->kernels = next;
    }
    kiln_error_free(job->failed_error);
    kiln__deallocate(alloc, job, kiln__job_size(job->count));
}

static void free_instance(kiln_digest key, void *value, void *env)
{
    kiln__instance *instance = value;

    (void)key;
    while (instance != NULL) {
        kiln__instance *alias = instance->alias;

        kiln__instance_free(env, instance);
        instance = alias;
    }
}

static void free_subject(kiln_digest key, void *value, void *env)
{
    const kiln_alloc *alloc = env;
    kiln__subject *subject = value;

    (void)key;
    kiln__array_dispose(alloc, &subject->codes);
    kiln__array_dispose(alloc, &subject->ended);
    kiln__deallocate(alloc, subject, sizeof *subject);
}

void kiln__tiers_free(kiln_context *context)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln_alloc *alloc = &context->alloc;

    if (tiers == NULL)
        return;
    while (tiers->jobs != NULL) {
        kiln__job *next = tiers->jobs->next_all;

        job_free(alloc, tiers->jobs);
        tiers->jobs = next;
    }
    while (tiers->tombstones != NULL) {
        kiln_kernel *next = tiers->tombstones->next;

        kiln__deallocate(alloc, tiers->tombstones, sizeof *next);
        tiers->tombstones = next;
    }
    while (tiers->codes != NULL) {
        kiln_code *next = tiers->codes->next_all;

        kiln__code_free(tiers->codes);
        tiers->codes = next;
    }
    kiln__map_each(&tiers->instances, free_instance, alloc);
    kiln__map_each(&tiers->subjects, free_subject, alloc);
    kiln__artifacts_free(tiers);
    kiln__map_dispose(&tiers->instances);
    kiln__map_dispose(&tiers->subjects);
    kiln__runtime_free(tiers);
    kiln__consumers_free(tiers);
    kiln__job_table_free(tiers);
    kiln__fork_remove(&context->fork, &tiers->guard);
    kiln__condition_dispose(&tiers->ended);
    kiln__mutex_dispose(&tiers->lock);
    kiln__locks_free(tiers->locks);
    kiln__deallocate(alloc, tiers, sizeof *tiers);
    context->tiers = NULL;
}
