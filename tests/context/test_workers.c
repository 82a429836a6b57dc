/* test_workers.c - Kiln's own compiling threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread */
#include <fenv.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/thread.h"
#include "context/context.h"
#include "context/workers.h"
#include "support/harness.h"

typedef struct tally {
    kiln_context *context;
    atomic_uint done;
    atomic_uint running;
    atomic_uint most;
    atomic_int gate; /* 0: tasks wait */
} tally;

static kiln_context *context_of(uint32_t workers)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    options.workers = workers;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    return context;
}

static void wait_for(const atomic_uint *counter, unsigned value)
{
    while (atomic_load(counter) < value)
        usleep(200);
}

static void count(void *env)
{
    tally *t = env;
    const unsigned now = atomic_fetch_add(&t->running, 1) + 1;
    unsigned most = atomic_load(&t->most);

    while (now > most && !atomic_compare_exchange_weak(&t->most, &most, now))
        continue;
    atomic_fetch_sub(&t->running, 1);
    atomic_fetch_add(&t->done, 1);
}

static void wait_at_gate(void *env)
{
    tally *t = env;

    atomic_fetch_add(&t->running, 1);
    while (!atomic_load(&t->gate))
        usleep(200);
    atomic_fetch_add(&t->done, 1);
}

static void park(void *env)
{
    tally *t = env;

    atomic_fetch_add(&t->done, 1);
    kiln__workers_park(t->context);
}

static void every_task_runs_once(void **state)
{
    tally t = {.context = context_of(4)};

    (void)state;

    for (int i = 0; i < 2000; i++)
        assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    kiln_context_free(t.context);

    assert_int_equal(atomic_load(&t.done), 2000);
}

static void no_more_tasks_run_at_once_than_there_are_workers(void **state)
{
    tally t = {.context = context_of(3)};

    (void)state;

    for (int i = 0; i < 500; i++)
        assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    kiln_context_free(t.context);

    assert_in_range(atomic_load(&t.most), 1, 3);
}

static void tasks_run_side_by_side_up_to_the_limit(void **state)
{
    tally t = {.context = context_of(2)};

    (void)state;

    assert_ok(kiln__workers_submit(t.context, wait_at_gate, &t, &test_error));
    assert_ok(kiln__workers_submit(t.context, wait_at_gate, &t, &test_error));
    wait_for(&t.running, 2);
    atomic_store(&t.gate, 1);
    kiln_context_free(t.context);

    assert_int_equal(atomic_load(&t.done), 2);
}

static void ending_waits_for_what_is_queued(void **state)
{
    tally t = {.context = context_of(1)};

    (void)state;

    assert_ok(kiln__workers_submit(t.context, wait_at_gate, &t, &test_error));
    for (int i = 0; i < 50; i++)
        assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    atomic_store(&t.gate, 1);
    kiln_context_free(t.context);

    assert_int_equal(atomic_load(&t.done), 51);
}

static void a_parked_worker_is_replaced(void **state)
{
    tally t = {.context = context_of(1)};

    (void)state;

    assert_ok(kiln__workers_submit(t.context, park, &t, &test_error));
    assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    wait_for(&t.done, 2);
    assert_ok(kiln__workers_submit(t.context, park, &t, &test_error));
    wait_for(&t.done, 3);
    assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    kiln_context_free(t.context);

    assert_int_equal(atomic_load(&t.done), 4);
}

static void a_context_ends_although_all_workers_are_parked(void **state)
{
    tally t = {.context = context_of(2)};

    (void)state;

    for (int i = 0; i < 6; i++)
        assert_ok(kiln__workers_submit(t.context, park, &t, &test_error));
    kiln_context_free(t.context);

    assert_int_equal(atomic_load(&t.done), 6);
}

typedef struct submitters {
    tally tally;
    thread_report report;
} submitters;

static void *submit_many(void *argument)
{
    submitters *s = argument;

    for (int i = 0; i < 300; i++)
        thread_assert_ok(
            &s->report,
            kiln__workers_submit(s->tally.context, count, &s->tally, NULL));
    return NULL;
}

static void several_threads_may_submit(void **state)
{
    submitters s = {.tally = {.context = context_of(2)},
                    .report = THREAD_REPORT_INIT};

    (void)state;

    harness_run_threads(4, submit_many, &s);
    kiln_context_free(s.tally.context);

    assert_threads_ok(&s.report);
    assert_int_equal(atomic_load(&s.tally.done), 1200);
}

/* ---- the host ---- */

typedef struct brackets {
    atomic_int entered;
    atomic_int left;
    atomic_int waiting;
} brackets;

static void thread_enter(void *env)
{
    atomic_fetch_add(&((brackets *)env)->entered, 1);
}

static void thread_leave(void *env)
{
    atomic_fetch_add(&((brackets *)env)->left, 1);
}

static void blocking_enter(void *env)
{
    atomic_fetch_add(&((brackets *)env)->waiting, 1);
}

static void blocking_leave(void *env)
{
    atomic_fetch_sub(&((brackets *)env)->waiting, 1);
}

static void each_worker_is_announced_to_the_host_and_dismissed(void **state)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .thread_enter = thread_enter,
                                .thread_leave = thread_leave,
                                .blocking_enter = blocking_enter,
                                .blocking_leave = blocking_leave};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    brackets b = {0};
    tally t = {0};

    (void)state;
    options.host = &host;
    options.host_env = &b;
    options.workers = 2;
    assert_ok(kiln_context_new(&t.context, &options, &test_error));

    assert_ok(kiln__workers_submit(t.context, park, &t, &test_error));
    wait_for(&t.done, 1);
    for (int i = 0; i < 20; i++)
        assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    kiln_context_free(t.context);

    assert_in_range(atomic_load(&b.entered), 2, 3);
    assert_int_equal(atomic_load(&b.left), atomic_load(&b.entered));
    assert_int_equal(atomic_load(&b.waiting), 0);
}

static void round_upward(void *env)
{
    (void)env;
    (void)fesetround(FE_UPWARD);
}

static void leave(void *env)
{
    (void)env;
}

static void note_rounding(void *env)
{
    tally *t = env;

    atomic_store(&t->most, fegetround() == FE_TONEAREST ? 1 : 2);
    atomic_fetch_add(&t->done, 1);
}

/* What LLVM folds must not depend on it. */
static void tasks_round_to_nearest_whatever_the_host_sets(void **state)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .thread_enter = round_upward,
                                .thread_leave = leave};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    tally t = {0};

    (void)state;
    options.host = &host;
    options.workers = 1;
    assert_ok(kiln_context_new(&t.context, &options, &test_error));
    assert_ok(kiln__workers_submit(t.context, note_rounding, &t, &test_error));
    wait_for(&t.done, 1);
    kiln_context_free(t.context);
    assert_int_equal(atomic_load(&t.most), 1);
}

/* ---- fork ---- */

static int child_of(tally *t)
{
    tally own = {.context = t->context};

    if (kiln__workers_submit(t->context, count, &own, NULL) != KILN_OK)
        return 1;
    wait_for(&own.done, 1);
    kiln_context_free(t->context);
    return 0;
}

static void the_child_of_a_fork_starts_workers_of_its_own(void **state)
{
    tally t = {.context = context_of(2)};
    pid_t child;
    int status = -1;

    (void)state;
    if (!HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    assert_ok(kiln__workers_submit(t.context, wait_at_gate, &t, &test_error));
    assert_ok(kiln__workers_submit(t.context, wait_at_gate, &t, &test_error));
    assert_ok(kiln__workers_submit(t.context, count, &t, &test_error));
    wait_for(&t.running, 2);

    child = fork();
    if (child == 0)
        _exit(child_of(&t));
    assert_int_equal(waitpid(child, &status, 0), child);
    atomic_store(&t.gate, 1);
    kiln_context_free(t.context);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(atomic_load(&t.done), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(no_more_tasks_run_at_once_than_there_are_workers),
        cmocka_unit_test(tasks_run_side_by_side_up_to_the_limit),
        cmocka_unit_test(ending_waits_for_what_is_queued),
        cmocka_unit_test(a_parked_worker_is_replaced),
        cmocka_unit_test(a_context_ends_although_all_workers_are_parked),
        cmocka_unit_test(several_threads_may_submit),
        cmocka_unit_test(each_worker_is_announced_to_the_host_and_dismissed),
        cmocka_unit_test(tasks_round_to_nearest_whatever_the_host_sets),
        cmocka_unit_test(the_child_of_a_fork_starts_workers_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
