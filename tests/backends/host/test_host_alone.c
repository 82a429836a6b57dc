/* test_host_alone.c - launches that meet lose no atomic operation. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host thread */
#include "support/harness.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/devices/kernels.h"

/*
 * A thread that runs a whole launch may be alone with its atomic operations,
 * which are plain accesses then (host_alone.c). `count` may be, `tickets` may
 * not, since it looks at what they return. `endless` is alone for ever, unless
 * it is stopped.
 */
static const char program[] = "kernel count(c: i32[:], n: i32)\n"
                              "    i = global_id(0)\n"
                              "    atomic_add(c, i % length(c), n)\n"
                              "end\n"
                              "kernel tickets(c: i32[:], n: i32)\n"
                              "    i = global_id(0)\n"
                              "    old = atomic_add(c, i % length(c), n)\n"
                              "    if old < 0\n"
                              "        c[0] = 0\n"
                              "    end\n"
                              "end\n"
                              "kernel endless(c: i32[:], n: i32)\n"
                              "    atomic_add(c, 0, n)\n"
                              "    while true\n"
                              "        c[1] = c[1] * 3 + c[2]\n"
                              "    end\n"
                              "end\n";

enum { COUNTS = 3, THREADS = 4, LAUNCHES = 3000, ITEMS = 3000 };

static int32_t counts[COUNTS];

static kiln_status run(kernels *k, const char *kernel, uint64_t items,
                       int32_t *data, kiln_error **error)
{
    const int32_t one = 1;
    const kiln_array c = kernels_array(data, COUNTS);
    const kernels_argument arguments[] = {{"i32[:]", &c}, {"i32", &one}};
    const kiln_launch shape = {.grid = {items, 1, 1}, .block = {64, 1, 1}};
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_package *package = NULL;

    /* Code for groups without a proof is atomic in any case. */
    options.bounds_checks = KILN_SWITCH_OFF;
    if (kiln_package_find(&package, k->context, "alone") != KILN_OK)
        package = kernels_define(k, "alone", program);
    return kernels_launch(k, package, kernel, kernels_config(k, &options),
                          &shape, arguments, 2, error);
}

static int32_t total(const int32_t *data)
{
    int32_t sum = 0;

    for (int i = 0; i < COUNTS; i++)
        sum += data[i];
    return sum;
}

/* Launches by turns what may be alone and what may not, with as many items as
   one thread runs, and with more. */
static void *launch_again_and_again(void *argument)
{
    kernels *k = argument;
    kernels own = *k;

    if (kiln_queue_new(&own.queue, k->device, NULL) != KILN_OK)
        abort();
    for (int i = 0; i < LAUNCHES; i++)
        if (run(&own, i % 2 ? "tickets" : "count", ITEMS, counts, NULL) !=
            KILN_OK)
            abort();
    kiln_queue_free(own.queue);
    return NULL;
}

static void launches_that_meet_lose_no_addition(void **state)
{
    kernels *k = *state;

    memset(counts, 0, sizeof counts);
    assert_ok(run(k, "count", 1, counts, &test_error));
    assert_ok(run(k, "tickets", 1, counts, &test_error));
    harness_run_threads(THREADS, launch_again_and_again, k);
    assert_int_equal(total(counts), 2 + THREADS * LAUNCHES * ITEMS);
}

/* ---- waiting for one that does not end ---- */

typedef struct endless {
    kernels own;
    int32_t data[COUNTS];
    pthread_t thread;
    kiln_status status;
} endless;

static void *launch_endless(void *argument)
{
    endless *e = argument;

    e->status = run(&e->own, "endless", 1, e->data, NULL);
    return NULL;
}

/* After launches have met, some thousand share without asking. */
static void calm_down(kernels *k)
{
    int32_t data[COUNTS] = {0};

    for (int i = 0; i < 2000; i++)
        assert_ok(run(k, "count", 1, data, &test_error));
}

/* Returns when the kernel runs. */
static void begin_endless(endless *e, kernels *k)
{
    calm_down(k);
    *e = (endless){.own = *k};
    assert_ok(kiln_queue_new(&e->own.queue, k->device, &test_error));
    assert_int_equal(pthread_create(&e->thread, NULL, launch_endless, e), 0);
    while (__atomic_load_n(e->data, __ATOMIC_RELAXED) == 0)
        usleep(1000);
}

static void end_endless(endless *e)
{
    assert_ok(kiln_queue_cancel(e->own.queue, &test_error));
    assert_int_equal(pthread_join(e->thread, NULL), 0);
    assert_int_equal(e->status, KILN_ECANCELED);
    kiln_queue_free(e->own.queue);
}

static void a_launch_that_waits_has_its_time_limit(void **state)
{
    kernels *k = *state;
    int32_t data[COUNTS] = {0};
    endless e;

    assert_ok(run(k, "count", 5, data, &test_error));
    begin_endless(&e, k);
    assert_ok(kiln_queue_set_time_limit(k->queue, 20, &test_error));
    assert_int_equal(run(k, "count", 5, data, &test_error), KILN_ETIMEDOUT);
    kiln_error_free(test_error);
    test_error = NULL;
    end_endless(&e);
    assert_ok(kiln_queue_set_time_limit(k->queue, 0, &test_error));
    assert_ok(run(k, "count", 5, data, &test_error));
    assert_int_equal(total(data), 10);
}

/* The thread that was alone does not exist there. */
static void a_child_of_fork_waits_for_nobody(void **state)
{
    kernels *k = *state;
    int32_t data[COUNTS] = {0};
    endless e;
    pid_t child;
    int status;

    if (!HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    assert_ok(run(k, "count", 5, data, &test_error));
    begin_endless(&e, k);
    child = fork();
    if (child == 0) {
        status = run(k, "count", 5, data, NULL);
        _exit(status != KILN_OK || total(data) != 10);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    end_endless(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_that_meet_lose_no_addition),
        cmocka_unit_test(a_launch_that_waits_has_its_time_limit),
        cmocka_unit_test(a_child_of_fork_waits_for_nobody),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
