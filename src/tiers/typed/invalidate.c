/* invalidate.c - ends the code instances that a definition affects. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "abi/shared_words.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "context/callback.h"
#include "context/counters.h"
#include "context/log.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/job_table.h"
#include "tiers/flight.h"
#include "tiers/tiers_state.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/invalidate.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/publish.h"
#include "tiers/worlds.h"

/*
 * A definition names the subjects that it changed. The queries of code
 * instances about these subjects are asked again. Instances with a changed
 * answer end with the previous world, and so does everything that calls them or
 * depends on them, in any frontend, in the worlds of the frontend with the
 * definition. Nothing else ends.
 */

static void end_kernels(const kiln_code *code)
{
    for (kiln_kernel *kernel = code->kernels; kernel != NULL;
         kernel = kernel->next_of_code) {
        kiln__kernel_head_end(&kernel->head);
        if (kernel->job->kernel == kernel)
            kiln__job_show(kernel->job, NULL);
    }
}

/* Ends one code instance and pushes it on the stack of instances whose callers
   must be visited. That happens once, because it is ended then. */
static void clip_one(struct kiln__tiers *tiers, kiln_code **stack,
                     kiln_code *code, const kiln__world *last,
                     kiln__code_list *list)
{
    const int was_good = kiln__code_is_good(code);

    if (!kiln__code_end(code, last->frontend, last->number))
        return;
    end_kernels(code);
    kiln__instance_note_end(code->instance, code);
    if (was_good && list != NULL)
        (void)kiln__array_push(&tiers->context->alloc, list, code);
    code->work_next = *stack;
    *stack = code;
}

/* The stack is explicit, because call chains may be long. */
void kiln__code_clip(struct kiln__tiers *tiers, kiln_code *code,
                     const kiln_frontend *frontend, uint64_t maximum,
                     kiln__code_list *list)
{
    const kiln__world last = {(kiln_frontend *)(uintptr_t)frontend, maximum};
    kiln_code *stack = NULL;

    clip_one(tiers, &stack, code, &last, list);
    while (stack != NULL) {
        const kiln_code *at = stack;

        stack = at->work_next;
        for (size_t i = 0; i < at->callers.count; i++)
            clip_one(tiers, &stack, at->callers.items[i], &last, list);
    }
}

static int has_same_answer(const kiln_code *code, const kiln_query *query,
                           uint64_t world)
{
    const kiln_frontend *frontend = code->frontend;
    kiln_digest answer = {0};

    return frontend->ops.answer(frontend->self, query->data, query->size,
                                code->config, world, &answer) == KILN_OK &&
           kiln__digest_equal(answer, query->answer);
}

int kiln__code_still_holds(const kiln_code *code, uint64_t world)
{
    for (size_t i = 0; i < code->queries.count; i++)
        if (!has_same_answer(code, &code->queries.items[i], world))
            return 0;
    return 1;
}

static int holds_for_subject(const kiln_code *code, uint64_t subject,
                             uint64_t world)
{
    for (size_t i = 0; i < code->queries.count; i++) {
        const kiln_query *query = &code->queries.items[i];

        if (query->subject == subject && !has_same_answer(code, query, world))
            return 0;
    }
    return 1;
}

/* Running inferences find this note when they publish their results. */
static kiln_status note_change(struct kiln__tiers *tiers,
                               kiln_frontend *frontend, uint64_t subject,
                               uint64_t world)
{
    kiln__subject *found;

    kiln__mutex_lock(&tiers->lock);
    found = kiln__subject_get(tiers, frontend, subject);
    if (found != NULL && found->changed < world)
        found->changed = world;
    if (found == NULL && frontend->unnoted < world)
        frontend->unnoted = world;
    kiln__mutex_unlock(&tiers->lock);
    return found != NULL ? KILN_OK : KILN_ENOMEM;
}

static int has_ended_elsewhere(const kiln_code *code)
{
    return atomic_load(&code->max_world) == UINT64_MAX &&
           !kiln__code_is_good(code);
}

/* Moves instances that have ended out of the list, because later changes do not
   concern them and there may be many. An instance that ended only in another
   frontend's worlds is moved, too: it would be asked again for no user, at the
   same cost. */
static void set_ended_aside(struct kiln__tiers *tiers, kiln__subject *subject,
                            uint64_t world)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    size_t kept = 0;

    for (size_t i = 0; i < subject->codes.count; i++) {
        kiln_code *code = subject->codes.items[i];
        uint64_t last;

        if (code->inferred_world < world && has_ended_elsewhere(code))
            kiln__code_clip(tiers, code, code->frontend, code->inferred_world,
                            NULL);
        last = atomic_load(&code->max_world);
        if (last != UINT64_MAX &&
            kiln__array_push(alloc, &subject->ended, code)) {
            if (subject->last_ended < last)
                subject->last_ended = last;
            continue;
        }
        subject->codes.items[kept++] = code;
    }
    subject->codes.count = kept;
}

static kiln_status add_askers(const kiln_alloc *alloc,
                              const kiln__code_list *codes, uint64_t world,
                              kiln__code_list *out)
{
    for (size_t i = 0; i < codes->count; i++) {
        kiln_code *code = codes->items[i];

        if (code->inferred_world < world &&
            atomic_load(&code->max_world) >= world &&
            !kiln__array_push(alloc, out, code))
            return KILN_ENOMEM;
    }
    return KILN_OK;
}

/* Copies the valid instances with queries about the subject: they are asked
   without the lock, inside a call scope. An instance that was inferred in the
   new world or a later one is left out, because its answers are new. */
static kiln_status askers_of(struct kiln__tiers *tiers,
                             const kiln_frontend *frontend, uint64_t subject,
                             uint64_t world, kiln__code_list *out)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    kiln_status status = KILN_OK;
    kiln__subject *found;

    out->count = 0;
    kiln__mutex_lock(&tiers->lock);
    found = kiln__subject_find(tiers, frontend, subject);
    if (found != NULL) {
        set_ended_aside(tiers, found, world);
        status = add_askers(alloc, &found->codes, world, out);
    }
    /* Changes of newer worlds may have been reported before this one. */
    if (found != NULL && status == KILN_OK && found->last_ended >= world)
        status = add_askers(alloc, &found->ended, world, out);
    kiln__mutex_unlock(&tiers->lock);
    return status;
}

static void change_subject(struct kiln__tiers *tiers, uint64_t subject,
                           uint64_t world, const kiln__code_list *askers,
                           kiln__code_list *invalidated)
{
    for (size_t i = 0; i < askers->count; i++) {
        kiln_code *code = askers->items[i];
        uint64_t last_good = world - 1;

        if (holds_for_subject(code, subject, world))
            continue;
        /* Another definition may have come in between. */
        if (!holds_for_subject(code, subject, last_good))
            last_good = code->inferred_world;
        kiln__mutex_lock(&tiers->lock);
        kiln__code_clip(tiers, code, code->frontend, last_good, invalidated);
        kiln__mutex_unlock(&tiers->lock);
    }
}

/* Out of memory while listing: ends all instances of the frontend, which is
   always correct. */
static void end_everything(struct kiln__tiers *tiers,
                           const kiln_frontend *frontend, uint64_t world,
                           kiln__code_list *invalidated)
{
    kiln__mutex_lock(&tiers->lock);
    for (kiln_code *code = tiers->codes; code != NULL; code = code->next_all)
        if (code->frontend == frontend)
            kiln__code_clip(tiers, code, frontend, world - 1, invalidated);
    kiln__mutex_unlock(&tiers->lock);
}

/* The change was told too deep in nested callbacks, for example by an answer()
   during a change: the queries cannot be asked. */
static kiln_status end_unasked(const kiln__world_change *c,
                               kiln__code_list *invalidated)
{
    struct kiln__tiers *tiers = c->frontend->context->tiers;

    for (size_t i = 0; i < c->count; i++)
        (void)note_change(tiers, c->frontend, c->subjects[i], c->world);
    end_everything(tiers, c->frontend, c->world, invalidated);
    return KILN_ERECURSION;
}

kiln_status kiln__world_changed(const kiln__world_change *c,
                                kiln_change_report *report)
{
    kiln_context *context = c->frontend->context;
    kiln__code_list askers = {0};
    kiln__code_list invalidated = {0};
    kiln__call_scope scope;
    kiln_status status = kiln__call_scope_check_depth(
        kiln__call_scope_enter(&scope, context), NULL);

    if (status != KILN_OK)
        status = end_unasked(c, &invalidated);
    for (size_t i = 0; status == KILN_OK && i < c->count; i++) {
        const uint64_t subject = c->subjects[i];

        if (note_change(context->tiers, c->frontend, subject, c->world) !=
                KILN_OK ||
            askers_of(context->tiers, c->frontend, subject, c->world,
                      &askers) != KILN_OK) {
            end_everything(context->tiers, c->frontend, c->world, &invalidated);
            break;
        }
        change_subject(context->tiers, subject, c->world, &askers,
                       &invalidated);
    }
    if (c->invalidated != NULL)
        c->invalidated(c->env);
    kiln__invalidated_report(context, &invalidated, report);
    kiln__call_scope_leave(&scope);
    kiln__array_dispose(&context->alloc, &askers);
    kiln__array_dispose(&context->alloc, &invalidated);
    return status;
}

static void end_change(void *env)
{
    kiln__world_change_end(env);
}

static kiln_status tell_change(kiln_frontend *frontend, uint64_t world,
                               const uint64_t *subjects, size_t count,
                               kiln_change_report *report)
{
    kiln_error *error = NULL;
    uint64_t now;
    kiln_status status;

    status = kiln__world_newest(&now, frontend, &error);
    if (status == KILN_OK && world != now)
        status = kiln__error_set(&error, KILN_EINVAL,
                                 "frontend '%s' tells of a change of world "
                                 "%" PRIu64 ", and its world is %" PRIu64,
                                 frontend->name, world, now);
    if (status == KILN_OK)
        return kiln__world_changed(&(kiln__world_change){frontend, world,
                                                         subjects, count,
                                                         end_change, frontend},
                                   report);
    kiln__log(frontend->context, KILN_LOG_WARNING, "%s",
              kiln_error_message(error));
    kiln_error_free(error);
    return status;
}

/* Opens a call scope, because world() and the log are callbacks, too. */
kiln_status kiln_world_changed(kiln_frontend *frontend, uint64_t world,
                               const uint64_t *subjects, size_t count,
                               kiln_change_report *report)
{
    kiln__call_scope scope;
    kiln_status status;

    if (frontend == NULL || (count && subjects == NULL))
        return KILN_EINVAL;
    (void)kiln__call_scope_enter(&scope, frontend->context);
    status = tell_change(frontend, world, subjects, count, report);
    kiln__call_scope_leave(&scope);
    return status;
}

kiln_status kiln_invalidate(const kiln_code *code, uint64_t maximum)
{
    kiln__code_list invalidated = {0};
    kiln_context *context;
    kiln__call_scope scope;

    if (code == NULL)
        return KILN_EINVAL;
    context = code->context;
    kiln__call_scope_enter(&scope, context);
    kiln__mutex_lock(&context->tiers->lock);
    kiln__code_clip(context->tiers, (kiln_code *)(uintptr_t)code,
                    code->frontend, maximum, &invalidated);
    kiln__mutex_unlock(&context->tiers->lock);
    kiln__invalidated_report(context, &invalidated, NULL);
    kiln__call_scope_leave(&scope);
    kiln__array_dispose(&context->alloc, &invalidated);
    return KILN_OK;
}

static void tell_event(const kiln_context *context, const kiln_code *code)
{
    kiln_event event = {.size = sizeof event,
                        .kind = KILN_EVENT_INVALIDATE,
                        .name = code->name};

    kiln__tell_event(context, &event);
}

static void report_names(const kiln__code_list *list,
                         kiln_change_report *report)
{
    size_t old = report->invalidated_count;
    char **names =
        kiln__allocate_array(&kiln__malloc, old + list->count, sizeof *names);

    if (names == NULL)
        return;
    if (old)
        memcpy(names, report->invalidated, old * sizeof *names);
    for (size_t i = 0; i < list->count; i++) {
        names[report->invalidated_count] =
            kiln__string_copy(&kiln__malloc, list->items[i]->name);
        if (names[report->invalidated_count] != NULL)
            report->invalidated_count++;
    }
    kiln__deallocate(&kiln__malloc, report->invalidated, old * sizeof *names);
    report->invalidated = names;
}

void kiln__invalidated_report(kiln_context *context,
                              const kiln__code_list *list,
                              kiln_change_report *report)
{
    if (list->count == 0)
        return;
    kiln__count_invalidated(context, list->count);
    for (size_t i = 0; i < list->count; i++)
        tell_event(context, list->items[i]);
    if (report != NULL)
        report_names(list, report);
}

void kiln_change_report_dispose(kiln_change_report *report)
{
    if (report == NULL)
        return;
    for (size_t i = 0; i < report->invalidated_count; i++)
        kiln__string_free(&kiln__malloc, report->invalidated[i]);
    kiln__deallocate(&kiln__malloc, report->invalidated,
                     report->invalidated_count * sizeof *report->invalidated);
    report->invalidated = NULL;
    report->invalidated_count = 0;
}
