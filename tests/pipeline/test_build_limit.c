/* test_build_limit.c - callers that do not wait for a build to its end. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: thread tiers host */
#include "kiln.h"
#include "support/harness.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A build ends when the host has heard of it, on Kiln's own thread: so a host
 * that is slow to hear makes a slow build.
 */

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    atomic_int holds; /* builds are not let go */
    atomic_int built;
    const kiln_function *function;
} fixture;

static void take_event(void *env, const kiln_event *event)
{
    fixture *f = env;

    if (event->kind != KILN_EVENT_JOB)
        return;
    while (atomic_load(&f->holds))
        usleep(1000);
    atomic_fetch_add(&f->built, 1);
}

static int setup(void **state)
{
    static const char text[] = "kernel single(y: f32[:])\n"
                               "    y[0] = f32(1)\n"
                               "end\n";
    const kiln_host_ops host = {.size = sizeof host, .event = take_event};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    options.host = &host;
    options.host_env = f;
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
    assert_ok(kiln_config_new(&f->config, f->context, NULL, &test_error));
    assert_ok(kiln_package_new(&f->package, f->context, "main", &test_error));
    assert_ok(kiln_package_define(f->package, "test", text, strlen(text), NULL,
                                  &test_error));
    assert_ok(
        kiln_package_function(&f->function, f->package, "single", &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    atomic_store(&f->holds, 0);
    kiln_context_free(f->context);
    free(f);
    return 0;
}

static kiln_status compile(fixture *f, uint32_t limit_ms, kiln_error **error)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *type = NULL;
    const kiln_signature signature = {f->function, &type, 1};
    const kiln_kernel *kernel = NULL;
    kiln_status status =
        kiln_type_parse(&type, f->context, NULL, "f32[:]", error);

    options.time_limit_ms = limit_ms;
    if (status == KILN_OK)
        status = kiln_compile(&kernel, f->context, &signature, f->config,
                              &options, error);
    if ((status == KILN_OK) != (kernel != NULL))
        abort();
    return status;
}

static void assert_times_out(fixture *f)
{
    assert_int_equal(compile(f, 30, &test_error), KILN_ETIMEDOUT);
    assert_contains(kiln_error_message(test_error), "main.single");
    kiln_error_free(test_error);
    test_error = NULL;
}

static void who_comes_later_gets_what_was_built(void **state)
{
    fixture *f = *state;

    atomic_store(&f->holds, 1);
    assert_times_out(f);
    assert_times_out(f);
    atomic_store(&f->holds, 0);
    assert_ok(compile(f, 0, &test_error));
    assert_int_equal(atomic_load(&f->built), 1);
    assert_ok(compile(f, 1, &test_error)); /* a hit takes no time */
}

static void *wait_without_limit(void *argument)
{
    fixture *f = argument;

    if (compile(f, 0, NULL) != KILN_OK)
        abort();
    return NULL;
}

static void others_go_on_waiting(void **state)
{
    fixture *f = *state;
    pthread_t other;

    atomic_store(&f->holds, 1);
    assert_int_equal(pthread_create(&other, NULL, wait_without_limit, f), 0);
    for (int i = 0; i < 5; i++)
        assert_times_out(f);
    atomic_store(&f->holds, 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(atomic_load(&f->built), 1);
}

static void a_limit_that_is_not_reached_changes_nothing(void **state)
{
    fixture *f = *state;

    assert_ok(compile(f, UINT32_MAX, &test_error));
    assert_int_equal(atomic_load(&f->built), 1);
}

static void *let_go_later(void *argument)
{
    fixture *f = argument;

    usleep(50000);
    atomic_store(&f->holds, 0);
    return NULL;
}

static void a_context_ends_after_the_builds_that_were_left(void **state)
{
    fixture *f = *state;
    pthread_t other;

    atomic_store(&f->holds, 1);
    assert_times_out(f);
    assert_int_equal(pthread_create(&other, NULL, let_go_later, f), 0);
    kiln_context_free(f->context);
    f->context = NULL;
    assert_int_equal(atomic_load(&f->built), 1);
    assert_int_equal(pthread_join(other, NULL), 0);
}

#define WITH_CONTEXT(test) \
    cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CONTEXT(who_comes_later_gets_what_was_built),
        WITH_CONTEXT(others_go_on_waiting),
        WITH_CONTEXT(a_limit_that_is_not_reached_changes_nothing),
        WITH_CONTEXT(a_context_ends_after_the_builds_that_were_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
