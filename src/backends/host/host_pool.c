/* host_pool.c - the host backend's threads: fork and join. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdatomic.h>

#include "backends/host/host_backend.h"
#include "base/error.h"
#include "base/system/cores.h"
#include "base/system/stack.h"
#include "base/system/thread.h"
#include "context/log.h"

/*
 * There is one job at a time. The caller publishes it by setting `open` to the
 * job's number, works itself, sets `open` to 0 when no range is left, and waits
 * until no worker is `inside`. A worker first announces itself in `inside` and
 * then reads `open`; the caller does the opposite, and all accesses are
 * sequentially consistent. So either the worker sees 0 and leaves, or the
 * caller sees the worker and waits. When `open` is 0 and nobody is `inside`, no
 * thread reads the job's members, and only then does the caller write them.
 *
 * A worker that wakes too late finds the job closed: the caller never waits for
 * a thread that did no work. The same order of announcing and reading is used
 * between sleeping workers and the thread that wakes them, and between the
 * waiting caller and the last worker.
 *
 * Each thread has a share of the indices, the same one in each job of a size,
 * so that what it wrote in one launch is still in its cache in the next. A
 * thread that has finished its share takes pieces of the others'.
 *
 * If the pool is in use, a caller runs its job alone: so launches from several
 * threads share the cores without waiting for each other.
 */

/*
 * A worker that sleeps takes 50 us and more to wake, so it watches for the next
 * job for a while. How long depends on the last pause in which it fell asleep:
 * if that was short, it watches for longer than such pauses are. It begins with
 * that, too, since the second launch often follows the first one closely.
 *
 * While a thread runs on another core, each change of the process's mappings
 * has to interrupt it, and takes microseconds longer. So workers do not watch
 * while the caller loads kernels.
 *
 * Watching does not pay on the caller's own core, which it takes from the
 * caller, nor where there are more threads than cores. Then a worker sleeps at
 * once, and only as many are woken as there are cores for.
 */
#define WATCH_NS 200000
#define WATCH_LONG_NS 3000000
#define WAIT_NS 200000 /* of the caller, for workers */

/* Roughly what starting threads costs the caller. They are started for a job
   that will take twice as long without them, and for later jobs when callers
   have worked alone for this long. */
#define START_NS 40000
#define START_EACH_NS 20000
#define JOBS_BEFORE_QUOTA 8
#define PACE_NS 15000 /* time after which a job's pace is known */

/* The rest of a thread's share; alone in its cache line. */
typedef struct share {
    atomic_uint_least64_t next; /* first index that is not taken */
    uint64_t end;
    char apart[112];
} share;

struct kiln__host_pool {
    kiln_context *context;
    uint32_t thread_limit; /* includes the caller */
    atomic_uint cores;     /* that these threads may use at the same time */
    atomic_int taken;
    atomic_int is_worth_threads; /* callers have worked alone for long */

    /* The job; written only while it is closed. */
    void (*work)(void *env, uint64_t first, uint64_t last);
    void *env;
    uint64_t step;
    share *shares;   /* thread_limit of them; the caller's is the first */
    uint64_t number; /* of the last job */
    atomic_int caller_core;
    atomic_int is_resting; /* no worker watches until the next job */

    atomic_uint_least64_t open; /* number of the open job, or 0 */
    atomic_uint inside;         /* workers that may read the job */
    atomic_uint sleepers;       /* workers that need a signal */
    atomic_int waiting;         /* whether the caller needs a signal */
    atomic_int ending;

    kiln__mutex lock;
    kiln__condition wake; /* for workers */
    kiln__condition idle; /* for the caller */
    kiln__thread *threads;
    uint32_t thread_count; /* started ones, without the caller */
    uint64_t alone_ns;     /* time without threads, until they are started */
    atomic_uint named;     /* how many of them know their number */
    kiln__host_memory memory;
    kiln__host_known known;
    kiln__fork_guard guard;
};

/* ---- the job ---- */

static void work_on(const kiln__host_pool *pool, share *s)
{
    const uint64_t end = s->end, step = pool->step;

    for (;;) {
        const uint64_t first =
            atomic_fetch_add_explicit(&s->next, step, memory_order_relaxed);

        if (first >= end)
            return;
        pool->work(pool->env, first, end - first < step ? end : first + step);
    }
}

/* Works on the thread's own share, then on what others have left. */
static void work_along(const kiln__host_pool *pool, uint32_t thread)
{
    for (uint32_t i = 0; i < pool->thread_limit; i++)
        work_on(pool, &pool->shares[(thread + i) % pool->thread_limit]);
}

/* Deals out the indices from `first` on. */
static void deal(const kiln__host_pool *pool, uint64_t first, uint64_t count)
{
    const uint64_t threads = pool->thread_limit;
    const uint64_t each = (count - first) / threads;
    const uint64_t more = (count - first) % threads;

    for (uint64_t i = 0; i < threads; i++) {
        share *s = &pool->shares[i];

        atomic_store_explicit(&s->next, first, memory_order_relaxed);
        first += each + (i < more);
        s->end = first;
    }
}

/* ---- a worker ---- */

/* True when there is a job with another number, or the pool is ending. */
static int has_news(const kiln__host_pool *pool, uint64_t seen)
{
    const uint64_t open = atomic_load(&pool->open);

    return (open != 0 && open != seen) || atomic_load(&pool->ending);
}

static int is_crowded(const kiln__host_pool *pool)
{
    return pool->thread_limit > atomic_load(&pool->cores);
}

typedef struct watch {
    const kiln__host_pool *pool;
    uint64_t seen;
} watch;

static int watch_ends(const void *env)
{
    const watch *w = env;

    return has_news(w->pool, w->seen);
}

static int watch_is_vain(const void *env)
{
    const kiln__host_pool *pool = ((const watch *)env)->pool;

    return is_crowded(pool) ||
           atomic_load_explicit(&pool->is_resting, memory_order_relaxed) ||
           atomic_load_explicit(&pool->caller_core, memory_order_relaxed) ==
               kiln__core_current();
}

static void sleep_until_news(kiln__host_pool *pool, uint64_t seen)
{
    kiln__mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!has_news(pool, seen))
        kiln__condition_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    kiln__mutex_unlock(&pool->lock);
}

/* Watches for `*watch_ns` at most, and sets it for the next time. */
static void await_news(kiln__host_pool *pool, uint64_t seen, uint64_t *watch_ns)
{
    const uint64_t start = kiln__clock_ns();
    const watch w = {pool, seen};

    if (kiln__host_spin(*watch_ns, &w, watch_ends, watch_is_vain))
        return;
    sleep_until_news(pool, seen);
    *watch_ns =
        kiln__clock_ns() - start < WATCH_LONG_NS ? WATCH_LONG_NS : WATCH_NS;
}

/* Returns the number of the job that was open, or `seen`. */
static uint64_t enter_job(kiln__host_pool *pool, uint32_t thread, uint64_t seen)
{
    uint64_t open;

    atomic_fetch_add(&pool->inside, 1);
    open = atomic_load(&pool->open);
    if (open != 0 && open != seen)
        work_along(pool, thread);
    if (atomic_fetch_sub(&pool->inside, 1) == 1 &&
        atomic_load(&pool->waiting)) {
        kiln__mutex_lock(&pool->lock);
        kiln__condition_signal(&pool->idle);
        kiln__mutex_unlock(&pool->lock);
    }
    return open != 0 ? open : seen;
}

/* Reading the quota takes as long as a small job, so it is a worker who does
   it, and only when there have been some jobs. */
static void heed_quota(kiln__host_pool *pool)
{
    const uint32_t quota = kiln__core_quota();

    if (quota < atomic_load(&pool->cores))
        atomic_store(&pool->cores, quota);
}

static void *run_worker(void *argument)
{
    kiln__host_pool *pool = argument;
    const kiln_context *context = pool->context;
    const uint32_t thread = 1 + atomic_fetch_add(&pool->named, 1);
    uint64_t seen = 0, watch_ns = WATCH_LONG_NS;
    int heeded = 0;

    kiln__own_thread_enter(context);
    while (!atomic_load(&pool->ending)) {
        await_news(pool, seen, &watch_ns);
        seen = enter_job(pool, thread, seen);
        if (thread == 1 && seen >= JOBS_BEFORE_QUOTA && !heeded) {
            heed_quota(pool);
            heeded = 1;
        }
    }
    kiln__own_thread_leave(context);
    return NULL;
}

/* ---- the caller ---- */

static int is_idle(const void *env)
{
    const kiln__host_pool *pool = env;

    return atomic_load(&pool->inside) == 0;
}

static int wait_is_vain(const void *env)
{
    return is_crowded(env);
}

static void await_idle(kiln__host_pool *pool)
{
    if (kiln__host_spin(WAIT_NS, pool, is_idle, wait_is_vain))
        return;
    kiln__blocking_enter(pool->context);
    kiln__mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, 1);
    while (!is_idle(pool))
        kiln__condition_wait(&pool->idle, &pool->lock);
    atomic_store(&pool->waiting, 0);
    kiln__mutex_unlock(&pool->lock);
    kiln__blocking_leave(pool->context);
}

/* How many of the sleeping workers a job of so many pieces needs, beside those
   that watch. */
static uint64_t wanted_sleepers(const kiln__host_pool *pool, uint64_t pieces,
                                uint32_t sleepers)
{
    const uint64_t cores = atomic_load(&pool->cores);
    const uint64_t useful = (pieces < cores ? pieces : cores) - 1;
    const uint64_t watching = pool->thread_count - sleepers;

    return useful > watching ? useful - watching : 0;
}

static void wake_workers(kiln__host_pool *pool, uint64_t pieces)
{
    const uint32_t sleepers = atomic_load(&pool->sleepers);
    const uint64_t wanted =
        sleepers == 0 ? 0 : wanted_sleepers(pool, pieces, sleepers);

    if (wanted == 0)
        return;
    kiln__mutex_lock(&pool->lock);
    if (wanted >= sleepers)
        kiln__condition_broadcast(&pool->wake);
    else
        for (uint64_t i = 0; i < wanted; i++)
            kiln__condition_signal(&pool->wake);
    kiln__mutex_unlock(&pool->lock);
}

/* If threads cannot be started, the pool works without them. */
static void start_threads(kiln__host_pool *pool)
{
    const kiln_alloc *alloc = &pool->context->alloc;
    const uint32_t wanted = pool->thread_limit - 1;

    if (pool->threads == NULL)
        pool->threads =
            kiln__allocate_array(alloc, wanted, sizeof *pool->threads);
    while (pool->threads != NULL && pool->thread_count < wanted &&
           kiln__thread_start(&pool->threads[pool->thread_count],
                              KILN__STACK_TO_RUN, run_worker, pool) == KILN_OK)
        pool->thread_count++;
}

static void run_together(kiln__host_pool *pool, uint64_t first, uint64_t count,
                         void (*work)(void *env, uint64_t first, uint64_t last),
                         void *env)
{
    start_threads(pool);
    pool->work = work;
    pool->env = env;
    pool->step = kiln__host_step(count - first, pool->thread_limit);
    deal(pool, first, count);
    atomic_store_explicit(&pool->caller_core, kiln__core_current(),
                          memory_order_relaxed);
    atomic_store_explicit(&pool->is_resting, 0, memory_order_relaxed);
    atomic_store(&pool->open, ++pool->number);
    wake_workers(pool, count - first);
    work_along(pool, 0);
    atomic_store(&pool->open, 0);
    await_idle(pool);
}

static uint64_t cost_of_start(const kiln__host_pool *pool)
{
    return START_NS + (uint64_t)START_EACH_NS * (pool->thread_limit - 1);
}

/* How many indices a job at this pace can do before the pace is checked again:
   as many as were done so far, until these have taken a while. */
static uint64_t steps_ahead(uint64_t spent, uint64_t done)
{
    const uint64_t step =
        spent > PACE_NS ? (uint64_t)((double)done * PACE_NS / (double)spent)
                        : done;

    return step > 0 ? step : 1;
}

static int is_left_enough(const kiln__host_pool *pool, uint64_t spent,
                          uint64_t done, uint64_t count)
{
    return spent >= PACE_NS &&
           (double)spent * (double)(count - done) / (double)done >=
               2 * (double)cost_of_start(pool);
}

/* From now on, jobs are shared from their beginning. */
static void settle(kiln__host_pool *pool, uint64_t alone_ns)
{
    pool->alone_ns = alone_ns;
    atomic_store_explicit(&pool->is_worth_threads, 1, memory_order_relaxed);
}

/* Threads that later jobs will need are started when this job is done, because
   they would take the caller's core from it. */
static void count_alone(kiln__host_pool *pool, uint64_t nanoseconds)
{
    const uint64_t enough = cost_of_start(pool);

    if (pool->alone_ns >= enough)
        return;
    pool->alone_ns += nanoseconds;
    if (pool->alone_ns < enough)
        return;
    start_threads(pool);
    settle(pool, enough);
}

/* As long as there are no threads, the caller begins alone; returns the first
   index that is left for all. */
static uint64_t begin_alone(kiln__host_pool *pool, uint64_t count,
                            void (*work)(void *env, uint64_t first,
                                         uint64_t last),
                            void *env)
{
    const uint64_t enough = cost_of_start(pool);
    uint64_t start, done = 0, spent = 0;

    if (pool->alone_ns >= enough)
        return 0;
    start = kiln__clock_ns();
    while (done < count && !is_left_enough(pool, spent, done, count)) {
        const uint64_t step = steps_ahead(spent, done);
        const uint64_t last = count - done < step ? count : done + step;

        work(env, done, last);
        done = last;
        spent = kiln__clock_ns() - start;
    }
    if (done == count)
        count_alone(pool, spent);
    else
        settle(pool, enough);
    return done;
}

/* ---- whole pools ---- */

static kiln_status init_parts(kiln__host_pool *pool)
{
    pool->shares = kiln__allocate_array(
        &pool->context->alloc, pool->thread_limit, sizeof *pool->shares);
    if (pool->shares == NULL)
        return KILN_ENOMEM;
    KILN_TRY(kiln__mutex_init(&pool->lock));
    KILN_TRY(kiln__condition_init(&pool->wake));
    KILN_TRY(kiln__condition_init(&pool->idle));
    return kiln__host_memory_init(&pool->memory, pool->context);
}

static void free_arrays(kiln__host_pool *pool)
{
    const kiln_alloc *alloc = &pool->context->alloc;

    kiln__deallocate(alloc, pool->threads,
                     (pool->thread_limit - 1) * sizeof *pool->threads);
    kiln__deallocate(alloc, pool->shares,
                     pool->thread_limit * sizeof *pool->shares);
    kiln__deallocate(alloc, pool, sizeof *pool);
}

/* A child of fork() has none of the threads, and what they were doing is frozen
   in memory: the next run starts new ones. */
static void forget_threads_after_fork(void *env)
{
    kiln__host_pool *pool = env;

    pool->thread_count = 0;
    atomic_store(&pool->named, 0);
    atomic_store(&pool->open, 0);
    atomic_store(&pool->inside, 0);
    atomic_store(&pool->sleepers, 0);
    atomic_store(&pool->waiting, 0);
    atomic_store(&pool->taken, 0);
    (void)kiln__condition_init(&pool->wake);
    (void)kiln__condition_init(&pool->idle);
}

kiln_status kiln__host_pool_new(kiln__host_pool **out, kiln_context *context)
{
    kiln__host_pool *pool = kiln__allocate(&context->alloc, sizeof *pool);

    if (pool == NULL)
        return KILN_ENOMEM;
    pool->context = context;
    atomic_init(&pool->cores, kiln__core_count());
    pool->thread_limit =
        context->thread_limit != 0 ? context->thread_limit : kiln__core_count();
    atomic_init(&pool->caller_core, -1);
    if (init_parts(pool) != KILN_OK) {
        free_arrays(pool);
        return KILN_ENOMEM;
    }
    pool->guard = (kiln__fork_guard){
        .mutex = &pool->lock, .child = forget_threads_after_fork, .env = pool};
    kiln__fork_add(&context->fork, &pool->guard);
    *out = pool;
    return KILN_OK;
}

void kiln__host_pool_rest(kiln__host_pool *pool)
{
    atomic_store_explicit(&pool->is_resting, 1, memory_order_relaxed);
}

kiln__host_memory *kiln__host_pool_memory(kiln__host_pool *pool)
{
    return &pool->memory;
}

kiln__host_known *kiln__host_pool_known(kiln__host_pool *pool)
{
    return &pool->known;
}

uint32_t kiln__host_pool_threads(kiln__host_pool *pool)
{
    const uint32_t cores = atomic_load(&pool->cores);

    return pool->thread_limit < cores ? pool->thread_limit : cores;
}

void kiln__host_pool_alone(kiln__host_pool *pool, uint64_t nanoseconds)
{
    if (atomic_load_explicit(&pool->is_worth_threads, memory_order_relaxed) ||
        kiln__host_pool_threads(pool) == 1 ||
        pool->context->host.parallel_for != NULL ||
        atomic_exchange(&pool->taken, 1) != 0)
        return;
    count_alone(pool, nanoseconds);
    atomic_store(&pool->taken, 0);
}

void kiln__host_pool_run(kiln__host_pool *pool, uint64_t count,
                         void (*work)(void *env, uint64_t first, uint64_t last),
                         void *env)
{
    uint64_t first;

    if (count == 0)
        return;
    if (count == 1 || pool->thread_limit == 1) {
        work(env, 0, count);
        return;
    }
    if (pool->context->host.parallel_for != NULL) {
        kiln__host_run_lent(pool->context, pool->thread_limit, count, work,
                            env);
        return;
    }
    if (atomic_load(&pool->cores) == 1 ||
        atomic_exchange(&pool->taken, 1) != 0) {
        work(env, 0, count);
        return;
    }
    first = begin_alone(pool, count, work, env);
    if (first < count)
        run_together(pool, first, count, work, env);
    atomic_store(&pool->taken, 0);
}

static void join_threads(kiln__host_pool *pool)
{
    kiln__mutex_lock(&pool->lock);
    atomic_store(&pool->ending, 1);
    kiln__condition_broadcast(&pool->wake);
    kiln__mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        kiln__thread_join(pool->threads[i]);
}

void kiln__host_pool_free(kiln__host_pool *pool)
{
    if (pool == NULL)
        return;
    join_threads(pool);
    kiln__fork_remove(&pool->context->fork, &pool->guard);
    kiln__host_memory_dispose(&pool->memory);
    kiln__condition_dispose(&pool->idle);
    kiln__condition_dispose(&pool->wake);
    kiln__mutex_dispose(&pool->lock);
    free_arrays(pool);
}
