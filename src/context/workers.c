/* workers.c - Kiln's own threads: those that compile and those that fetch. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/float_mode.h"
#include "base/system/stack.h"
#include "base/system/thread.h"
#include "context/context.h"
#include "context/log.h"
#include "context/workers.h"

/*
 * There are two pools: workers compile, and fetchers wait for other processes
 * of the job (ranks.c), so that no worker has to. Fetchers may give work to
 * workers, but not the other way round: so every wait for a build ends.
 *
 * Each pool has one queue, which is served in order. A submission starts a
 * worker if none is idle and fewer than the limit exist. A worker lives until
 * the context ends: LLVM runs only on these threads, and warms up once for
 * each.
 *
 * A worker that parks (after a fatal error of LLVM) first removes itself from
 * the pool. After it has released the lock it touches nothing of the context,
 * so the context may end without it. Its thread is detached and sleeps until
 * the process ends, because unfinished code of LLVM's is on its stack.
 *
 * The child of a fork has no workers. Work queued in the parent belongs to
 * callers that do not exist in the child, so it is forgotten.
 */

#define FETCHERS 16

typedef struct task {
    void (*run)(void *env);
    void *env;
    struct task *next;
} task;

typedef struct worker {
    struct kiln__workers *pool;
    kiln__thread thread;
    struct worker *next;
} worker;

struct kiln__workers {
    kiln_context *context;
    size_t limit; /* of threads */
    kiln__mutex lock;
    kiln__condition work;  /* a task was queued, or the pool is ending */
    kiln__condition fewer; /* a worker has left */
    task *first;
    task **last;
    worker *list; /* of the living workers */
    worker *left; /* workers that have ended, to be joined */
    size_t alive;
    size_t idle;   /* how many of these wait for a task */
    size_t queued; /* number of tasks */
    int ending;
    kiln__fork_guard guard;
};

static _Thread_local worker *current; /* the worker whose thread this is, or
                                         NULL */

/* ---- making ---- */

static void forget(struct kiln__workers *workers)
{
    workers->first = NULL;
    workers->last = &workers->first;
    workers->list = NULL;
    workers->left = NULL;
    workers->alive = 0;
    workers->idle = 0;
    workers->queued = 0;
}

static void list_free(kiln_context *context, worker *list)
{
    while (list != NULL) {
        worker *next = list->next;

        if (list != current)
            kiln__deallocate(&context->alloc, list, sizeof *list);
        list = next;
    }
}

/* Frees the memory of the parent's workers and tasks, because nothing in the
   child can reach it any more. A worker that called fork() itself stays. */
static void forget_threads_after_fork(void *env)
{
    struct kiln__workers *workers = env;
    kiln_context *context = workers->context;
    task *next;

    list_free(context, workers->list);
    list_free(context, workers->left);
    for (task *t = workers->first; t != NULL; t = next) {
        next = t->next;
        kiln__deallocate(&context->alloc, t, sizeof *t);
    }
    forget(workers);
    (void)kiln__condition_init(&workers->work);
    (void)kiln__condition_init(&workers->fewer);
    if (current != NULL && current->pool == workers) {
        current->next = NULL;
        workers->list = current;
        workers->alive = 1;
    }
}

static kiln_status locks_init(struct kiln__workers *workers)
{
    KILN_TRY(kiln__mutex_init(&workers->lock));
    if (kiln__condition_init(&workers->work) != KILN_OK) {
        kiln__mutex_dispose(&workers->lock);
        return KILN_ENOMEM;
    }
    if (kiln__condition_init(&workers->fewer) != KILN_OK) {
        kiln__condition_dispose(&workers->work);
        kiln__mutex_dispose(&workers->lock);
        return KILN_ENOMEM;
    }
    return KILN_OK;
}

static struct kiln__workers *pool_new(kiln_context *context, size_t limit)
{
    struct kiln__workers *workers =
        kiln__allocate(&context->alloc, sizeof *workers);

    if (workers == NULL)
        return NULL;
    if (locks_init(workers) != KILN_OK) {
        kiln__deallocate(&context->alloc, workers, sizeof *workers);
        return NULL;
    }
    forget(workers);
    workers->context = context;
    workers->limit = limit;
    workers->guard = (kiln__fork_guard){.mutex = &workers->lock,
                                        .child = forget_threads_after_fork,
                                        .env = workers};
    kiln__fork_add(&context->fork, &workers->guard);
    return workers;
}

kiln_status kiln__workers_new(kiln_context *context)
{
    context->workers = pool_new(context, context->worker_limit);
    context->fetchers = pool_new(context, FETCHERS);
    if (context->workers != NULL && context->fetchers != NULL)
        return KILN_OK;
    kiln__workers_free(context);
    return KILN_ENOMEM;
}

/* ---- the worker's life ---- */

/* Waits for a task and takes it; NULL when there will be no more. */
static task *task_take(struct kiln__workers *workers)
{
    task *taken;

    kiln__mutex_lock(&workers->lock);
    while (workers->first == NULL && !workers->ending) {
        workers->idle++;
        kiln__condition_wait(&workers->work, &workers->lock);
        workers->idle--;
    }
    taken = workers->first;
    if (taken != NULL) {
        workers->first = taken->next;
        if (workers->first == NULL)
            workers->last = &workers->first;
        workers->queued--;
    }
    kiln__mutex_unlock(&workers->lock);
    return taken;
}

static task *task_await(struct kiln__workers *workers)
{
    kiln_context *context = workers->context;
    task *taken;

    kiln__own_blocking_enter(context);
    taken = task_take(workers);
    kiln__own_blocking_leave(context);
    return taken;
}

static void unlist(struct kiln__workers *workers, const worker *gone)
{
    worker **at = &workers->list;

    while (*at != NULL && *at != gone)
        at = &(*at)->next;
    if (*at != NULL)
        *at = gone->next;
    workers->alive--;
}

/* The last use of the context by a worker. */
static void end_worker(struct kiln__workers *workers, worker *self)
{
    kiln__mutex_lock(&workers->lock);
    unlist(workers, self);
    self->next = workers->left;
    workers->left = self;
    kiln__condition_broadcast(&workers->fewer);
    kiln__mutex_unlock(&workers->lock);
}

static void *worker_main(void *argument)
{
    struct kiln__workers *workers = ((worker *)argument)->pool;
    kiln_context *context = workers->context;
    task *taken;

    current = argument;
    kiln__own_thread_enter(context);
    while ((taken = task_await(workers)) != NULL) {
        const task now = *taken;
        fenv_t mode; /* that thread_enter() may have set */

        kiln__deallocate(&context->alloc, taken, sizeof *taken);
        kiln__float_begin(&mode);
        now.run(now.env);
        kiln__float_end(&mode);
    }
    kiln__own_thread_leave(context);
    end_worker(workers, argument);
    return NULL;
}

/* Starts one more worker, with the lock held. */
static kiln_status worker_start(struct kiln__workers *workers)
{
    kiln_context *context = workers->context;
    worker *made = kiln__allocate(&context->alloc, sizeof *made);
    kiln_status status;

    if (made == NULL)
        return KILN_ENOMEM;
    made->pool = workers;
    status = kiln__thread_start(&made->thread, KILN__STACK_TO_COMPILE,
                                worker_main, made);
    if (status != KILN_OK) {
        kiln__deallocate(&context->alloc, made, sizeof *made);
        return status;
    }
    made->next = workers->list;
    workers->list = made;
    workers->alive++;
    return KILN_OK;
}

/* ---- submitting ---- */

/* Makes sure that some worker will run the queued tasks. With the lock held. */
static kiln_status staff(struct kiln__workers *workers)
{
    if (workers->idle >= workers->queued || workers->alive >= workers->limit)
        return KILN_OK;
    if (worker_start(workers) != KILN_OK && workers->alive == 0)
        return KILN_ENOMEM;
    return KILN_OK;
}

static void task_append(struct kiln__workers *workers, task *added)
{
    *workers->last = added;
    workers->last = &added->next;
    workers->queued++;
}

/* Removes the task that was appended last. */
static void task_withdraw(struct kiln__workers *workers, const task *added)
{
    task **at = &workers->first;

    while (*at != added)
        at = &(*at)->next;
    *at = NULL;
    workers->last = at;
    workers->queued--;
}

static kiln_status submit(struct kiln__workers *workers, void (*run)(void *env),
                          void *env, kiln_error **error)
{
    kiln_context *context = workers->context;
    task *added = kiln__allocate(&context->alloc, sizeof *added);
    kiln_status status;

    if (added == NULL)
        return kiln__error_no_memory(error);
    added->run = run;
    added->env = env;
    kiln__mutex_lock(&workers->lock);
    task_append(workers, added);
    status = staff(workers);
    if (status == KILN_OK)
        kiln__condition_signal(&workers->work);
    else
        task_withdraw(workers, added);
    kiln__mutex_unlock(&workers->lock);
    if (status != KILN_OK) {
        kiln__deallocate(&context->alloc, added, sizeof *added);
        return kiln__error_set(error, status,
                               "no thread can be started to generate code");
    }
    return KILN_OK;
}

kiln_status kiln__workers_submit(kiln_context *context, void (*run)(void *env),
                                 void *env, kiln_error **error)
{
    return submit(context->workers, run, env, error);
}

kiln_status kiln__fetchers_submit(kiln_context *context, void (*run)(void *env),
                                  void *env, kiln_error **error)
{
    return submit(context->fetchers, run, env, error);
}

int kiln__workers_have_more(kiln_context *context)
{
    struct kiln__workers *workers = context->workers;
    int more;

    kiln__mutex_lock(&workers->lock);
    more = workers->queued > 0;
    kiln__mutex_unlock(&workers->lock);
    return more;
}

/* ---- parking ---- */

static void wait_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};

    (void)nanosleep(&moment, NULL);
}

_Noreturn void kiln__workers_park(kiln_context *context)
{
    worker *self = current;
    struct kiln__workers *workers = self->pool;

    /* The host must not wait for a thread that never returns. */
    kiln__own_thread_leave(context);
    kiln__mutex_lock(&workers->lock);
    unlist(workers, self);
    /* No task may stay queued without a worker to run it. This thread can wait
       for memory as long as it takes. */
    while (staff(workers) != KILN_OK) {
        workers->alive++;
        kiln__mutex_unlock(&workers->lock);
        wait_a_moment();
        kiln__mutex_lock(&workers->lock);
        workers->alive--;
    }
    kiln__thread_detach(kiln__thread_self());
    kiln__deallocate(&context->alloc, self, sizeof *self);
    kiln__condition_broadcast(&workers->fewer);
    kiln__mutex_unlock(&workers->lock);
    for (;;)
        (void)pause();
}

/* ---- the end ---- */

static void wait_until_all_left(struct kiln__workers *workers)
{
    kiln__mutex_lock(&workers->lock);
    workers->ending = 1;
    kiln__condition_broadcast(&workers->work);
    while (workers->alive > 0)
        kiln__condition_wait(&workers->fewer, &workers->lock);
    kiln__mutex_unlock(&workers->lock);
}

static void pool_free(kiln_context *context, struct kiln__workers *workers)
{
    if (workers == NULL)
        return;
    kiln__blocking_enter(context);
    wait_until_all_left(workers);
    for (worker *w = workers->left; w != NULL; w = w->next)
        kiln__thread_join(w->thread);
    kiln__blocking_leave(context);
    list_free(context, workers->left);
    kiln__fork_remove(&context->fork, &workers->guard);
    kiln__condition_dispose(&workers->work);
    kiln__condition_dispose(&workers->fewer);
    kiln__mutex_dispose(&workers->lock);
    kiln__deallocate(&context->alloc, workers, sizeof *workers);
}

void kiln__workers_free(kiln_context *context)
{
    pool_free(context, context->fetchers);
    context->fetchers = NULL;
    pool_free(context, context->workers);
    context->workers = NULL;
}
