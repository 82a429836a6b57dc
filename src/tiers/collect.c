/* collect.c - frees what no world in use can see. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/callback.h"
#include "context/counters.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/job_table.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"
#include "tiers/memory_bounds.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/tiers.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/publish.h"

/*
 * A code instance is freed when its last world lies before all held worlds and
 * before the current one, either of its own frontend or of another frontend
 * that it depends on. A kernel flight that needs it prevents that, because
 * workers go on during a collection. What a kept instance calls and depends on
 * is kept. Its callers' worlds end no later than its own, so they are freed
 * with it, unless a flight keeps them, and then it is kept for them: nothing
 * that stays points to something that is freed, except lists, which are swept
 * here. Kernels are freed with their code instance, but their heads stay
 * readable, because a call site may still read `valid`. Artifacts stay: the
 * same meaning may come back, and a redefinition that is undone then costs one
 * load. An entry of tier 2 is dropped when no code instance is left that asks
 * for it.
 *
 * The caller of kiln_context_collect() promises that no other thread is inside
 * the library with the context. If one is nevertheless, or if a callback
 * collects, this collection frees nothing.
 *
 * Frontends are asked for their worlds before the lock is taken, and drivers
 * unload after it is released.
 */

/* Keeps the code instance, and pushes it on the stack of instances whose
   callees must be kept as well. */
static void keep_code(kiln_code **stack, kiln_code *code)
{
    if (code->kept)
        return;
    code->kept = 1;
    code->work_next = *stack;
    *stack = code;
}

/* True if a held world or the current one can see it, in each frontend. */
static int is_in_use(const kiln_code *code)
{
    int in_use = atomic_load(&code->max_world) >=
                 atomic_load(&code->frontend->oldest_world);

    for (size_t i = 0; in_use && i < code->others.count; i++) {
        const kiln__world_range *range = &code->others.items[i];

        in_use = atomic_load(&range->maximum) >=
                 atomic_load(&range->frontend->oldest_world);
    }
    return in_use;
}

static void mark(struct kiln__tiers *tiers)
{
    kiln_code *stack = NULL;

    for (kiln_code *code = tiers->codes; code != NULL; code = code->next_all)
        code->kept = 0;
    for (kiln_code *code = tiers->codes; code != NULL; code = code->next_all)
        if (code->pins || is_in_use(code))
            keep_code(&stack, code);
    while (stack != NULL) {
        const kiln_code *code = stack;

        stack = code->work_next;
        for (size_t i = 0; i < code->callees.count; i++)
            keep_code(&stack, code->callees.items[i]);
        for (size_t i = 0; i < code->depends.count; i++)
            keep_code(&stack, code->depends.items[i]);
    }
}

static void sweep_list(kiln__code_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->kept)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static void sweep_subject(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)env;
    sweep_list(&((kiln__subject *)value)->codes);
    sweep_list(&((kiln__subject *)value)->ended);
}

static void sweep_instance(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)env;
    for (kiln__instance *at = value; at != NULL; at = at->alias)
        kiln__instance_sweep(at);
}

/* Moves dead kernels to `dead`. */
static void sweep_job(kiln__job *job, kiln_kernel **dead)
{
    kiln_kernel **link = &job->kernels;

    if (job->failed_code != NULL && !job->failed_code->kept) {
        kiln_error_free(job->failed_error);
        job->failed_error = NULL;
        job->failed_code = NULL;
    }
    while (*link != NULL) {
        kiln_kernel *kernel = *link;

        if (kernel->code->kept) {
            link = &kernel->next;
            continue;
        }
        *link = kernel->next;
        if (job->kernel == kernel)
            kiln__job_show(job, NULL);
        kernel->next = *dead;
        *dead = kernel;
    }
}

/* Removes the dead code instances from the list of all, and returns them. */
static kiln_code *take_dead(struct kiln__tiers *tiers)
{
    kiln_code **link = &tiers->codes;
    kiln_code *dead = NULL;

    while (*link != NULL) {
        kiln_code *code = *link;

        if (code->kept) {
            sweep_list(&code->callers);
            link = &code->next_all;
            continue;
        }
        *link = code->next_all;
        code->next_all = dead;
        dead = code;
    }
    return dead;
}

/* Unloads kernels that nobody can find any more; their heads stay. */
static void bury(struct kiln__tiers *tiers, kiln_kernel *dead)
{
    while (dead != NULL) {
        kiln_kernel *next = dead->next;

        tiers->unload(dead);
        kiln_artifact_release(dead->artifact);
        dead->artifact = NULL;
        dead->info = NULL;
        dead->code = NULL;
        dead->types = NULL;
        kiln__mutex_lock(&tiers->lock);
        dead->next = tiers->tombstones;
        tiers->tombstones = dead;
        kiln__mutex_unlock(&tiers->lock);
        dead = next;
    }
}

static void codes_free(kiln_context *context, kiln_code *dead)
{
    while (dead != NULL) {
        kiln_code *next = dead->next_all;

        kiln__count_held(context, KILN_TIER_TYPED, -1, -(int64_t)dead->ir_size);
        kiln__code_free(dead);
        dead = next;
    }
}

static void collect(kiln_context *context)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln_kernel *kernels = NULL;
    kiln_code *codes;

    kiln__frontends_note_oldest(context);
    kiln__mutex_lock(&tiers->lock);
    if (tiers->open_scopes) {
        kiln__mutex_unlock(&tiers->lock);
        return;
    }
    mark(tiers);
    for (kiln__job *job = tiers->jobs; job != NULL; job = job->next_all)
        sweep_job(job, &kernels);
    kiln__map_each(&tiers->subjects, sweep_subject, NULL);
    kiln__map_each(&tiers->instances, sweep_instance, NULL);
    codes = take_dead(tiers);
    kiln__runtime_sweep(tiers);
    kiln__mutex_unlock(&tiers->lock);

    bury(tiers, kernels);
    codes_free(context, codes);
    kiln__tiers_trim(tiers);
    kiln__frontends_collect(context);
}

void kiln__tiers_collect(kiln_context *context)
{
    kiln__callback callback;

    kiln__callback_begin(&callback, context);
    collect(context);
    kiln__callback_end(&callback);
}
