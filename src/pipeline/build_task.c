/* build_task.c - a build on a worker: one process builds, the others wait for
 * it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pipeline/build_task.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "base/system/thread.h"
#include "context/callback.h"
#include "context/keys/key.h"
#include "context/log.h"
#include "context/trace.h"
#include "context/workers.h"
#include "pipeline/build.h"
#include "pipeline/debug_lines.h"
#include "pipeline/ranks.h"
#include "stores/lock.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/jobs.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/flight.h"
#include "tiers/tiers.h"
#include "tiers/typed/code_instance.h"

/*
 * Before a worker opens the code generator it takes the lock of the binary key,
 * and looks into the stores once more: another process may have built the
 * kernel in the meantime. A worker that finds the lock taken does other queued
 * work first; if there is none, it waits, and interrupts the wait whenever work
 * is queued. Every wait ends: after twice the longest build seen here, but not
 * before LEAST_WAIT_NS or a fifteenth of what the settings allow, and not after
 * what they allow. Then the kernel is built nevertheless.
 *
 * In a job of many ranks each kernel has one rank that owns it. A kernel of
 * another rank is first requested from that rank, on a thread that builds
 * nothing, and without the lock, which the owner may need.
 *
 * A foreign frontend's kernel may turn out to be of class SESSION. If such a
 * kernel is not in the stores after a wait, the lock is useless: all processes
 * then build at once instead of one after the other.
 *
 * Steps of tests/protocol/one_build.pml and ranks.pml are in capitals below.
 */
#define LEAST_WAIT_NS ((uint64_t)2000000000)
#define LEAST_PART 15
#define SLICE_NS ((uint64_t)5000000)

typedef struct task {
    kiln_context *context;
    kiln__flight *flight; /* holds a reference */
    kiln__build *build;
    uint64_t start_ns;
    uint64_t wait_ns;     /* when waiting began */
    uint64_t deadline_ns; /* end of the wait; 0: not waiting */
    kiln__encoder key;    /* the binary key, if it is needed */
    int takes_lock;
    kiln__lock lock;
} task;

/* ---- the end ---- */

static void trace_job(kiln_context *context, const kiln_event *event)
{
    const uint64_t now = kiln__clock_ns();
    const kiln__trace_note note = {
        .category = "job",
        .verb = "job",
        .name = event->name,
        .tier = kiln__trace_tier(KILN_TIER_BINARY),
        .outcome = kiln_status_name(event->status),
    };

    kiln__trace_span(context, now - event->nanoseconds, now, &note);
}

static void tell_job(kiln_context *context, const kiln_code *code,
                     kiln_status status, uint64_t nanoseconds)
{
    kiln_event event = {.size = sizeof event,
                        .kind = KILN_EVENT_JOB,
                        .status = status,
                        .name = kiln_code_name(code),
                        .nanoseconds = nanoseconds};

    if (context->trace != NULL)
        trace_job(context, &event);
    kiln__tell_event(context, &event);
}

void kiln__task_fail(kiln_context *context, kiln__flight *flight,
                     kiln_status status, kiln_error *error)
{
    tell_job(context, flight->code, status, 0);
    kiln__job_finish(context, flight, NULL, KILN_SOURCE_NONE, status, error);
}

static void task_end(task *t, kiln_kernel *kernel, int32_t source,
                     kiln_status status, kiln_error *error)
{
    kiln_context *context = t->context;
    kiln__flight *flight = t->flight;

    kiln__lock_release(&t->lock);
    tell_job(context, flight->code, status, kiln__clock_ns() - t->start_ns);
    kiln__encoder_dispose(&t->key);
    kiln__deallocate(&context->alloc, t, sizeof *t);
    kiln__job_finish(context, flight, kernel, source, status, error);
}

/* LLVM cannot go on: the job fails, LLVM's own memory is lost, and this thread
   never returns. */
static void task_fatal(void *env, kiln_error *error)
{
    task *lost = env;
    kiln_context *context = lost->context;

    kiln__build_free(lost->build);
    task_end(lost, NULL, KILN_SOURCE_BUILT,
             error != NULL ? kiln_error_status(error) : KILN_ENOMEM, error);
    kiln__workers_park(context);
}

void kiln__flight_bind(kiln__flight *flight, const kiln_artifact *artifact)
{
    if (kiln_artifact_site_count(artifact) > 0)
        flight->is_bound = 1;
}

/* ---- the lock ---- */

static kiln_key key_of(const task *t)
{
    return (kiln_key){kiln__encoder_digest(&t->key), t->key.bytes, t->key.size};
}

static uint64_t patience_ns(kiln_context *context)
{
    const uint64_t most_ms = kiln__stores_wait_ms(context);
    const int is_bounded = most_ms < UINT64_MAX / 1000000;
    const uint64_t most = is_bounded ? most_ms * 1000000 : UINT64_MAX / 2;
    uint64_t wait = 2 * kiln__tiers_longest_build_ns(context);

    if (is_bounded && wait < most / LEAST_PART)
        wait = most / LEAST_PART;
    if (wait < LEAST_WAIT_NS)
        wait = LEAST_WAIT_NS;
    return wait < most ? wait : most;
}

static kiln_status wait_a_slice(task *t, uint64_t until_ns)
{
    kiln_context *context = t->context;
    kiln_status status;

    kiln__own_blocking_enter(context);
    status = kiln__lock_wait_on(&t->lock, kiln__tiers_locks(context),
                                key_of(t).digest, t->wait_ns, until_ns);
    kiln__own_blocking_leave(context);
    return status;
}

static void task_run(void *env);

/* True when the task was queued again, after other work. */
static int stand_back(task *t)
{
    return kiln__workers_have_more(t->context) &&
           kiln__workers_submit(t->context, task_run, t, NULL) == KILN_OK;
}

/* TRY, WAIT, TIME_OUT. KILN_OK: build, with or without the lock. KILN_EAGAIN:
   the task was queued again. */
static kiln_status take_lock(task *t)
{
    kiln_status status;

    if (t->deadline_ns == 0) {
        status = kiln__lock_try(&t->lock, kiln__tiers_locks(t->context),
                                key_of(t).digest);
        if (status != KILN_EAGAIN)
            return KILN_OK;
        t->wait_ns = kiln__clock_ns();
        t->deadline_ns = t->wait_ns + patience_ns(t->context);
        if (stand_back(t))
            return KILN_EAGAIN;
    }
    for (;;) {
        const uint64_t slice = kiln__clock_ns() + SLICE_NS;
        const int is_last = slice >= t->deadline_ns;

        status = wait_a_slice(t, is_last ? t->deadline_ns : slice);
        if (status != KILN_EAGAIN || is_last)
            return KILN_OK;
        if (stand_back(t))
            return KILN_EAGAIN;
    }
}

/* LOOK: returns what another process has stored in the meantime, or NULL. */
static const kiln_artifact *look_again(task *t)
{
    const kiln_key key = key_of(t);
    const kiln_artifact *artifact = kiln__artifact_recall(t->context, &key);

    if (artifact == NULL && t->deadline_ns &&
        kiln__code_frontend(t->flight->code)->ops.lower != NULL)
        kiln__lock_release(&t->lock);
    return artifact;
}

/* ---- building ---- */

/* Loads an artifact from another process. False: it is of no use, so the kernel
   must be built. */
static int load_artifact(task *t, const kiln_artifact *artifact, int32_t source)
{
    const kiln_config *config = kiln__build_config(t->build);
    const kiln_code *code = t->flight->code;
    kiln_kernel *kernel = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (source == KILN_SOURCE_STORE)
        status =
            kiln__build_load_found(&kernel, artifact, code, config, &error);
    else
        status = kiln__build_load(&kernel, artifact, code, config, &error);
    if (status == KILN_OK && kernel == NULL)
        return 0;
    kiln__flight_bind(t->flight, artifact);
    kiln__build_free(t->build);
    task_end(t, kernel, source, status, error);
    return 1;
}

static int is_unwanted(void *env)
{
    const task *t = env;

    return kiln__flight_give_up(t->context, t->flight);
}

/* BUILD, PUBLISH, RELEASE: in this order, so that the next holder of the lock
   finds the result. */
static void make(task *t)
{
    kiln_context *context = t->context;
    const uint64_t start = kiln__clock_ns();
    const kiln_artifact *artifact;
    kiln_error *error = NULL;
    kiln_status status;

    kiln__build_watch(t->build, is_unwanted, t);
    status = kiln__build_run(t->build, task_fatal, t, &error);
    if (status != KILN_OK) {
        kiln__build_free(t->build);
        task_end(t, NULL, KILN_SOURCE_BUILT, status, error);
        return;
    }
    kiln__tiers_note_build(context, kiln__clock_ns() - start);
    artifact = kiln__build_artifact(t->build);
    /* The failure only costs a later build. */
    if (kiln__artifact_keep(context, artifact, 0) != KILN_OK)
        kiln__log(context, KILN_LOG_WARNING, "%s: artifact is not kept",
                  kiln_code_name(t->flight->code));
    kiln__artifact_save(context, artifact);
    kiln__lock_release(&t->lock);
    (void)load_artifact(t, artifact, KILN_SOURCE_BUILT);
}

static void task_run(void *env)
{
    task *t = env;
    kiln_context *context = t->context;
    const kiln_artifact *artifact = NULL;
    kiln__call_scope scope;

    if (t->takes_lock && take_lock(t) == KILN_EAGAIN)
        return;
    kiln__call_scope_enter_worker(&scope, context, t->flight);
    if (t->takes_lock)
        artifact = look_again(t);
    if (artifact == NULL || !load_artifact(t, artifact, KILN_SOURCE_STORE))
        make(t);
    kiln_artifact_release(artifact);
    kiln__call_scope_leave(&scope);
}

/* ---- other ranks ---- */

static void submit_build(task *t)
{
    kiln_error *error = NULL;
    const kiln_status status =
        kiln__workers_submit(t->context, task_run, t, &error);

    if (status != KILN_OK) {
        kiln__build_free(t->build);
        task_end(t, NULL, KILN_SOURCE_NONE, status, error);
    }
}

/* ASK. After GIVE_UP the build is queued like any other. */
static void task_fetch(void *env)
{
    task *t = env;
    kiln_context *context = t->context;
    const kiln__rank_job job = {.code = t->flight->code,
                                .config = kiln__build_config(t->build),
                                .key = key_of(t),
                                .patience_ns = patience_ns(context)};
    const kiln_artifact *artifact = kiln__ranks_fetch(context, &job);
    kiln__call_scope scope;
    int loaded = 0;

    if (artifact != NULL) {
        kiln__call_scope_enter_worker(&scope, context, t->flight);
        loaded = load_artifact(t, artifact, KILN_SOURCE_STORE);
        kiln_artifact_release(artifact);
        kiln__call_scope_leave(&scope);
    }
    if (!loaded)
        submit_build(t);
}

/* Modes that build everything do not ask other ranks. */
static int is_fetched(const task *t)
{
    const kiln__cache_mode mode = kiln__stores_mode(t->context);

    return mode != KILN__CACHE_REFRESH && mode != KILN__CACHE_VERIFY &&
           kiln__ranks_apply(t->context, key_of(t).digest);
}

/* ---- the beginning ---- */

/* Makes the binary key. If there is no memory for it, the build neither locks
   nor asks. */
static void make_key(task *t)
{
    kiln_context *context = t->context;

    /* The result of such a build is not stored, so waiting would be useless. */
    if (kiln__build_is_bound(t->build))
        return;
    t->takes_lock = kiln__stores_share(context, KILN__ENTRY_BINARY);
    if (!t->takes_lock && context->host.fetch == NULL)
        return;
    if (kiln__key_binary(&t->key, kiln__build_digest(t->build),
                         kiln__build_config(t->build)) == KILN_OK)
        return;
    kiln__encoder_dispose(&t->key);
    t->takes_lock = 0;
}

void kiln__task_start(kiln_context *context, kiln__flight *flight,
                      kiln__build *build)
{
    task *t = kiln__allocate(&context->alloc, sizeof *t);
    kiln_error *error = NULL;

    if (t == NULL) {
        kiln__build_free(build);
        (void)kiln__error_no_memory(&error);
        kiln__task_fail(context, flight, KILN_ENOMEM, error);
        return;
    }
    *t = (task){.context = context,
                .flight = flight,
                .build = build,
                .start_ns = kiln__clock_ns()};
    kiln__encoder_init(&t->key, &context->alloc);
    make_key(t);
    kiln__flight_hand_over(context, flight);
    if (t->key.size == 0 || !is_fetched(t) ||
        kiln__fetchers_submit(context, task_fetch, t, NULL) != KILN_OK)
        submit_build(t);
}
