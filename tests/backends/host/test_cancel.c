/* test_cancel.c - kernels that would not end are stopped. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host thread */
#include "support/harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "support/devices/kernels.h"

#define ITEMS 4096

static const char program[] = "kernel still(y: i64[:])\n"
                              "    x = global_id(0)\n"
                              "    y[x] = 7\n"
                              "    while true\n"
                              "        x = x * 3 + 1\n"
                              "    end\n"
                              "end\n"
                              "kernel busy(y: i64[:])\n"
                              "    y[0] = 7\n"
                              "    while true\n"
                              "        y[1] = y[1] + y[2]\n"
                              "    end\n"
                              "end\n"
                              /* Each index must be looked at. */
                              "kernel chased(y: i64[:])\n"
                              "    at = 0\n"
                              "    y[0] = 7\n"
                              "    y[7] = 0\n"
                              "    while true\n"
                              "        at = y[at]\n"
                              "    end\n"
                              "end\n"
                              "kernel counting_years(y: i64[:])\n"
                              "    y[0] = 7\n"
                              "    for i in 0..(1 << 60)\n"
                              "        y[1] = y[1] + i * y[2]\n"
                              "    end\n"
                              "end\n"
                              "kernel nested_years(y: i64[:])\n"
                              "    y[0] = 7\n"
                              "    for i in 0..1000000\n"
                              "        for j in 0..1000000\n"
                              "            for k in i..(i + 100)\n"
                              "                y[1] = y[1] + k * y[2] + j\n"
                              "            end\n"
                              "        end\n"
                              "    end\n"
                              "end\n"
                              "fn tree(n: i64) -> i64\n"
                              "    if n < 2\n"
                              "        return n\n"
                              "    end\n"
                              "    return tree(n - 1) + tree(n - 2)\n"
                              "end\n"
                              "kernel adding_for_years(y: i64[:])\n"
                              "    n = y[2] + 1\n"
                              "    y[0] = 7\n"
                              "    while n > 0\n"
                              "        y[1] = y[1] + 1\n"
                              "    end\n"
                              "    y[3] = 8\n"
                              "end\n"
                              "kernel recurring(y: i64[:])\n"
                              "    y[0] = 7\n"
                              "    y[1] = tree(90)\n"
                              "end\n"
                              "kernel meeting(y: i64[:])\n"
                              "    local t = i64[64]\n"
                              "    l = local_id(0)\n"
                              "    t[l] = l\n"
                              "    y[0] = 7\n"
                              "    while true\n"
                              "        barrier()\n"
                              "        next = t[(l + 1) & 63]\n"
                              "        barrier()\n"
                              "        t[l] = next + 1\n"
                              "    end\n"
                              "    y[1] = t[0]\n"
                              "end\n"
                              "kernel once(y: i64[:])\n"
                              "    y[0] = 7\n"
                              "end\n"
                              "kernel hoarding(y: i64[:])\n"
                              "    a = allocate(i64, 100)\n"
                              "    a[0] = 7\n"
                              "    y[0] = a[0]\n"
                              "    while true\n"
                              "        b = allocate(i64, 100)\n"
                              "        b[1] = y[2]\n"
                              "        y[3] = b[1]\n"
                              "        free(b)\n"
                              "    end\n"
                              "end\n"
                              "kernel a_while(y: i64[:])\n"
                              "    for i in 0..100000000\n"
                              "        y[1] = y[1] * 3 + i\n"
                              "    end\n"
                              "    y[0] = 7\n"
                              "end\n"
                              "kernel doubling(y: i64[:])\n"
                              "    y[global_id(0)] = global_id(0) * 2\n"
                              "end\n";

/* A thread that cancels until the launch is over. */
typedef struct canceller {
    kiln_queue *queue;
    atomic_int is_over;
    pthread_t thread;
    kiln_status status;
} canceller;

static void *cancel_again_and_again(void *argument)
{
    canceller *c = argument;

    usleep(20000);
    while (!atomic_load(&c->is_over) && c->status == KILN_OK) {
        c->status = kiln_queue_cancel(c->queue, NULL);
        usleep(1000);
    }
    return NULL;
}

static void begin_cancelling(canceller *c, kiln_queue *queue)
{
    *c = (canceller){.queue = queue};
    assert_int_equal(
        pthread_create(&c->thread, NULL, cancel_again_and_again, c), 0);
}

static void end_cancelling(canceller *c)
{
    atomic_store(&c->is_over, 1);
    assert_int_equal(pthread_join(c->thread, NULL), 0);
    assert_ok(c->status);
}

static int64_t data[ITEMS];

typedef struct way {
    uint8_t bounds;
    uint8_t level;
} way;

static const way ways[] = {
    {KILN_SWITCH_ON, KILN_OPT_3},
    {KILN_SWITCH_OFF, KILN_OPT_3},
    {KILN_SWITCH_ON, KILN_OPT_0},
    {KILN_SWITCH_OFF, KILN_OPT_1},
};

#define WAY_COUNT (sizeof ways / sizeof *ways)

static kiln_status launch(kernels *k, const char *kernel, const way *how,
                          const kiln_launch *shape)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_array y = kernels_array(data, ITEMS);
    const kernels_argument argument = {"i64[:]", &y};
    kiln_package *package = NULL;

    options.bounds_checks = how->bounds;
    options.opt_level = how->level;
    memset(data, 0, sizeof data);
    if (kiln_package_find(&package, k->context, "endless") != KILN_OK)
        package = kernels_define(k, "endless", program);
    return kernels_launch(k, package, kernel, kernels_config(k, &options),
                          shape, &argument, 1, &test_error);
}

/* As if nothing had been. */
static void assert_usable(kernels *k)
{
    const kiln_launch all = {.grid = {ITEMS, 1, 1}};

    for (int i = 0; i < 3; i++) {
        assert_ok(launch(k, "doubling", &ways[0], &all));
        for (int64_t at = 0; at < ITEMS; at++)
            assert_int_equal(data[at], at * 2);
    }
}

static void cancel_launch(kernels *k, const char *kernel, const way *how,
                          const kiln_launch *shape)
{
    canceller c;
    kiln_status status;

    begin_cancelling(&c, k->queue);
    status = launch(k, kernel, how, shape);
    end_cancelling(&c);
    assert_int_equal(status, KILN_ECANCELED);
}

static void assert_canceled(kernels *k, const char *kernel,
                            const kiln_launch *shape)
{
    /* What is stored before a loop may be stored behind it, or never where it
       has no end. */
    const int is_endless = strstr(kernel, "years") == NULL;

    for (size_t i = 0; i < WAY_COUNT; i++) {
        cancel_launch(k, kernel, &ways[i], shape);
        /* A launch may be canceled before its first item runs. */
        for (int again = 0; is_endless && data[0] != 7 && again < 100; again++)
            cancel_launch(k, kernel, &ways[i], shape);
        if (is_endless)
            assert_int_equal(data[0], 7);
    }
    assert_usable(k);
}

static const kiln_launch one = {.grid = {1, 1, 1}};
static const kiln_launch many = {.grid = {ITEMS, 1, 1}};

/* ---- cancelling ---- */

static void an_endless_loop_is_canceled(void **state)
{
    assert_canceled(*state, "still", &one);
    assert_canceled(*state, "still", &many);
    assert_canceled(*state, "busy", &one);
    assert_canceled(*state, "chased", &one);
    assert_canceled(*state, "chased", &many);
    assert_canceled(*state, "adding_for_years", &one);
}

static void a_loop_that_counts_for_years_is_canceled(void **state)
{
    assert_canceled(*state, "counting_years", &one);
    assert_canceled(*state, "counting_years", &many);
    assert_canceled(*state, "nested_years", &one);
}

static void a_recursion_that_takes_years_is_canceled(void **state)
{
    assert_canceled(*state, "recurring", &one);
    assert_canceled(*state, "recurring", &many);
}

static void groups_that_meet_for_ever_are_canceled(void **state)
{
    const kiln_launch group = {.grid = {64, 1, 1}, .block = {64, 1, 1}};
    const kiln_launch groups = {.grid = {4096, 1, 1}, .block = {64, 1, 1}};

    assert_canceled(*state, "meeting", &group);
    assert_canceled(*state, "meeting", &groups);
}

static void a_grid_that_takes_years_is_canceled(void **state)
{
    const kiln_launch grid = {.grid = {(uint64_t)1 << 60, 1, 1}};
    const kiln_launch alone = {.grid = {(uint64_t)1 << 40, 1, 1},
                               .block = {1, 1, 1}};

    assert_canceled(*state, "once", &grid);
    assert_canceled(*state, "once", &alone);
}

static void what_a_canceled_kernel_allocated_is_free_again(void **state)
{
    kernels *k = *state;

    assert_ok(kiln_queue_set_heap(k->queue, 4096 * 16, &test_error));
    for (int i = 0; i < 20; i++) {
        canceller c;
        kiln_status status;

        begin_cancelling(&c, k->queue);
        status = launch(k, "hoarding", &ways[0], &one);
        end_cancelling(&c);
        assert_int_equal(status, KILN_ECANCELED);
    }
    assert_usable(k);
}

static void cancelling_what_does_not_run_stops_nothing(void **state)
{
    kernels *k = *state;

    assert_ok(kiln_queue_cancel(k->queue, &test_error));
    assert_usable(k);
    assert_status(KILN_EINVAL, kiln_queue_cancel(NULL, NULL));
}

static void only_the_queue_that_is_meant_is_stopped(void **state)
{
    kernels *k = *state;
    kiln_queue *other = NULL;
    canceller c;
    kiln_status status;

    assert_ok(kiln_queue_new(&other, k->device, &test_error));
    begin_cancelling(&c, other);
    status = launch(k, "a_while", &ways[0], &one);
    end_cancelling(&c);
    kiln_queue_free(other);
    assert_ok(status);
    assert_int_equal(data[0], 7);
}

/* ---- signal handlers ---- */

/* The thread sanitizer keeps a signal back until its thread calls something. */
#if !defined(__SANITIZE_THREAD__)
static kiln_queue *interrupted;

static void cancel_in_handler(int number)
{
    (void)number;
    kiln_queue_cancel(interrupted, NULL);
}

static void a_signal_handler_may_cancel(void **state)
{
    kernels *k = *state;
    const struct sigaction action = {.sa_handler = cancel_in_handler};
    const struct itimerval often = {{0, 5000}, {0, 20000}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct sigaction before;
    kiln_status statuses[2];

    interrupted = k->queue;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    statuses[0] = launch(k, "still", &ways[0], &one);
    statuses[1] = launch(k, "recurring", &ways[0], &one);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_int_equal(statuses[0], KILN_ECANCELED);
    assert_int_equal(statuses[1], KILN_ECANCELED);
    assert_usable(k);
}
#endif

/* ---- time limits ---- */

static void assert_timed_out(kernels *k, const char *kernel)
{
    assert_ok(kiln_queue_set_time_limit(k->queue, 20, &test_error));
    for (size_t i = 0; i < WAY_COUNT; i++) {
        assert_int_equal(launch(k, kernel, &ways[i], &many), KILN_ETIMEDOUT);
        assert_contains(kiln_error_message(test_error), kernel);
        assert_contains(kiln_error_message(test_error), "time limit");
        kiln_error_free(test_error);
        test_error = NULL;
        assert_int_equal(data[0], 7);
    }
    assert_ok(kiln_queue_set_time_limit(k->queue, 0, &test_error));
    assert_usable(k);
}

static void a_launch_ends_at_its_time_limit(void **state)
{
    assert_timed_out(*state, "still");
    assert_timed_out(*state, "chased");
    assert_timed_out(*state, "recurring");
}

static void a_limit_that_is_not_reached_changes_nothing(void **state)
{
    kernels *k = *state;

    assert_ok(kiln_queue_set_time_limit(k->queue, UINT32_MAX, &test_error));
    assert_usable(k);
    assert_ok(kiln_queue_set_time_limit(k->queue, 0, &test_error));
}

static void *launch_with_limit(void *argument)
{
    kernels *k = argument;
    kernels own = *k;

    if (kiln_queue_new(&own.queue, k->device, NULL) != KILN_OK ||
        kiln_queue_set_time_limit(own.queue, 5, NULL) != KILN_OK)
        abort();
    for (int i = 0; i < 10; i++) {
        int64_t place[8] = {0};
        const kiln_array y = kernels_array(place, 8);
        const kernels_argument given = {"i64[:]", &y};
        kiln_package *package = NULL;
        kiln_error *error = NULL;

        if (kiln_package_find(&package, k->context, "endless") != KILN_OK ||
            kernels_launch(&own, package, "chased", k->config, &one, &given, 1,
                           &error) != KILN_ETIMEDOUT)
            abort();
        kiln_error_free(error);
    }
    kiln_queue_free(own.queue);
    return NULL;
}

static void launches_of_several_threads_have_limits_of_their_own(void **state)
{
    kernels *k = *state;

    assert_usable(k); /* the package is there */
    harness_run_threads(4, launch_with_limit, k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_loop_is_canceled),
        cmocka_unit_test(a_loop_that_counts_for_years_is_canceled),
        cmocka_unit_test(a_recursion_that_takes_years_is_canceled),
        cmocka_unit_test(groups_that_meet_for_ever_are_canceled),
        cmocka_unit_test(a_grid_that_takes_years_is_canceled),
        cmocka_unit_test(what_a_canceled_kernel_allocated_is_free_again),
        cmocka_unit_test(cancelling_what_does_not_run_stops_nothing),
        cmocka_unit_test(only_the_queue_that_is_meant_is_stopped),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(a_signal_handler_may_cancel),
#endif
        cmocka_unit_test(a_launch_ends_at_its_time_limit),
        cmocka_unit_test(a_limit_that_is_not_reached_changes_nothing),
        cmocka_unit_test(launches_of_several_threads_have_limits_of_their_own),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
