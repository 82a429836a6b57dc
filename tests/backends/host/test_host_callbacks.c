/* test_host_callbacks.c - what a host may do in callbacks, and after fork. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: thread tiers host */
#include "kiln.h"
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN \
    (HARNESS_MALLOC_AFTER_FORK && HARNESS_THREADS_AFTER_FORK ? 40 : 0)

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    int wants_definition; /* by the next event of an invalidation */
    int defined;
    int stop;
} fixture;

static kiln_status define(const fixture *f, const char *text)
{
    return kiln_package_define(f->package, "test", text, strlen(text), NULL,
                               NULL);
}

static void take_event(void *env, const kiln_event *event)
{
    fixture *f = env;

    if (event->kind != KILN_EVENT_INVALIDATE || !f->wants_definition)
        return;
    f->wants_definition = 0;
    f->defined = define(f, "fn helper() = 3\n") == KILN_OK;
}

static int setup(void **state)
{
    const kiln_host_ops host = {.size = sizeof host, .event = take_event};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    options.host = &host;
    options.host_env = f;
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
    assert_ok(kiln_config_new(&f->config, f->context, NULL, &test_error));
    assert_ok(kiln_package_new(&f->package, f->context, "main", &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln_context_free(f->context);
    free(f);
    return 0;
}

static kiln_status compile(const fixture *f, const char *name)
{
    const kiln_kernel *kernel;
    kiln_signature signature = {NULL, NULL, 0};
    kiln_status status =
        kiln_package_function(&signature.function, f->package, name, NULL);

    if (status == KILN_OK)
        status = kiln_compile(&kernel, f->context, &signature, f->config, NULL,
                              NULL);
    return status;
}

static void an_event_of_a_definition_may_define(void **state)
{
    fixture *f = *state;

    assert_ok(define(f, "fn helper() = 1\n"
                        "kernel k()\n"
                        "    assert(helper() > 0, \"positive\")\n"
                        "end\n"));
    assert_ok(compile(f, "k"));
    f->wants_definition = 1;
    assert_ok(define(f, "fn helper() = 2\n"));
    assert_int_equal(f->defined, 1);
    assert_ok(compile(f, "k"));
}

/* ---- fork ---- */

static kiln_status build_one(const fixture *f, int number)
{
    char text[64], name[16];
    kiln_status status;

    (void)snprintf(name, sizeof name, "k%d", number);
    (void)snprintf(text, sizeof text,
                   "kernel %s()\n    assert(%d > 0, \"\")\n"
                   "end\n",
                   name, number);
    status = define(f, text);
    return status == KILN_OK ? compile(f, name) : status;
}

static void *build_on(void *argument)
{
    fixture *f = argument;

    for (int i = 1; !__atomic_load_n(&f->stop, __ATOMIC_RELAXED); i++)
        if (build_one(f, i) != KILN_OK)
            return f;
    return NULL;
}

/* The child's status, or -1. There a hang ends by the alarm. */
static int status_of_child(const fixture *f, int number)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        (void)alarm(20);
        _exit(build_one(f, 1000000 + number) == KILN_OK ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static void children_of_a_busy_process_compile(void **state)
{
    fixture *f = *state;
    pthread_t builder;
    void *failed = NULL;
    int status = 0;

    assert_int_equal(pthread_create(&builder, NULL, build_on, f), 0);
    for (int i = 0; i < CHILDREN && status == 0; i++)
        status = status_of_child(f, i);
    __atomic_store_n(&f->stop, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(builder, &failed), 0);
    assert_null(failed);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_of_a_definition_may_define,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(children_of_a_busy_process_compile,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
