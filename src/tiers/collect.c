/* collect.c - frees what no world in use can see. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "state.h"

/*
 * A code instance goes when its last world lies before every world that is
 * held and before the current one. Its callers' worlds end no later than its
 * own, so they go with it: nothing that stays points at it except lists that
 * are swept here. Kernels go with their code instance; their heads stay
 * readable, since a call site may still look at `valid`. Artifacts stay: the
 * same meaning may come back, and a redefinition to and fro costs one load.
 *
 * The caller of kiln_context_collect() promised that nobody else is inside,
 * so unloading under the lock keeps nobody waiting.
 */

static int is_garbage(const kiln_code *code)
{
    return atomic_load(&code->max_world) <
           kiln__frontend_oldest_world(code->frontend);
}

static void sweep_list(kiln__code_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (!is_garbage(list->items[i]))
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static void sweep_subject(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)env;
    sweep_list(&((kiln__subject *)value)->codes);
}

static void sweep_instance(kiln_digest key, void *value, void *env)
{
    (void)key;
    (void)env;
    for (kiln__instance *at = value; at; at = at->alias) {
        kiln_code **link = &at->codes;

        while (*link) {
            if (is_garbage(*link))
                *link = (*link)->next;
            else
                link = &(*link)->next;
        }
    }
}

static void bury(struct kiln__tiers *tiers, kiln_kernel *kernel)
{
    kiln__kernel_unload(kernel);
    kiln_artifact_release(kernel->artifact);
    kernel->artifact = NULL;
    kernel->info = NULL;
    kernel->next = tiers->tombstones;
    tiers->tombstones = kernel;
}

static void sweep_job(struct kiln__tiers *tiers, kiln__job *job)
{
    kiln_kernel **link = &job->kernels;

    if (job->failed_code && is_garbage(job->failed_code)) {
        kiln_error_free(job->failed_error);
        job->failed_error = NULL;
        job->failed_code = NULL;
    }
    while (*link) {
        kiln_kernel *kernel = *link;

        if (!is_garbage(kernel->code)) {
            link = &kernel->next;
            continue;
        }
        *link = kernel->next;
        if (atomic_load(&job->kernel) == kernel)
            atomic_store(&job->kernel, NULL);
        bury(tiers, kernel);
    }
}

/* Takes the dead codes out of the list of all and returns them. */
static kiln_code *take_dead(struct kiln__tiers *tiers)
{
    kiln_code **link = &tiers->codes;
    kiln_code *dead = NULL;

    while (*link) {
        kiln_code *code = *link;

        if (!is_garbage(code)) {
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

static void retired_tables_free(struct kiln__tiers *tiers)
{
    kiln__job_table *table = atomic_load(&tiers->table);
    kiln__job_table *retired = table->retired;

    table->retired = NULL;
    while (retired) {
        kiln__job_table *older = retired->retired;

        kiln__deallocate(&tiers->context->alloc, retired,
                         sizeof *retired +
                             (retired->mask + 1) * sizeof retired->slots[0]);
        retired = older;
    }
}

void kiln__tiers_collect(kiln_context *context)
{
    struct kiln__tiers *tiers = context->tiers;
    kiln_code *dead;

    kiln__mutex_lock(&tiers->lock);
    for (kiln__job *job = tiers->jobs; job; job = job->next_all)
        sweep_job(tiers, job);
    kiln__map_each(&tiers->subjects, sweep_subject, NULL);
    kiln__map_each(&tiers->instances, sweep_instance, NULL);
    dead = take_dead(tiers);
    retired_tables_free(tiers);
    kiln__mutex_unlock(&tiers->lock);

    while (dead) {
        kiln_code *next = dead->next_all;

        kiln__count_held(context, KILN_TIER_TYPED, -1, -(int64_t)dead->ir_size);
        kiln__code_free(dead);
        dead = next;
    }
}
