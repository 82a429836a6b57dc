/* test_host_reentry.c - callbacks that use what they were called from. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: thread tiers host */
#include "kiln.h"
#include "support/harness.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The kernel `outer` allocates, prints, and allocates again. The host's
 * callback does what the test asks for, once.
 */
static const char program[] = "kernel outer(o: i64[:])\n"
                              "    a = allocate(i64, 100)\n"
                              "    for i in 0..100\n"
                              "        a[i] = 1\n"
                              "    end\n"
                              "    print(\"now\")\n"
                              "    b = allocate(i64, 100)\n"
                              "    s = 0\n"
                              "    for i in 0..100\n"
                              "        b[i] = 7\n"
                              "    end\n"
                              "    for i in 0..100\n"
                              "        s += a[i]\n"
                              "    end\n"
                              "    o[global_id(0)] = s\n"
                              "end\n"
                              "kernel inner(o: i64[:])\n"
                              "    a = allocate(i64, 100)\n"
                              "    for i in 0..100\n"
                              "        a[i] = 50\n"
                              "    end\n"
                              "    o[0] = a[5]\n"
                              "end\n";

/* So many are always shared, however quick the first ones were. */
#define ITEMS 5000

typedef struct fixture fixture;
struct fixture {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
    const kiln_kernel *outer, *inner;
    void (*act)(fixture *f); /* in the callback, once; may be NULL */
    int32_t kind;            /* of the event that acts; -1: none does */
    int in_parallel_for;     /* acts there, and not in print */
    kiln_status seen;
    int64_t inner_result;
    int warnings;
    int freed;
    sem_t is_inside, may_leave; /* of a callback on another thread */
};

static void act_once(fixture *f)
{
    void (*act)(fixture * f) = f->act;

    f->act = NULL;
    if (act != NULL)
        act(f);
}

static void take_print(void *env, const char *text, size_t size)
{
    fixture *f = env;

    (void)text;
    (void)size;
    if (f->kind < 0 && !f->in_parallel_for)
        act_once(f);
}

static void take_event(void *env, const kiln_event *event)
{
    fixture *f = env;

    if (event->kind == f->kind && event->stage == KILN_STAGE_PARSE)
        act_once(f);
}

static void take_line(void *env, int32_t level, const char *line)
{
    fixture *f = env;

    (void)line;
    f->warnings += level == KILN_LOG_WARNING;
}

static void run_all(void *env, size_t count,
                    void (*body)(void *argument, size_t index), void *argument)
{
    fixture *f = env;

    if (f->in_parallel_for)
        act_once(f);
    for (size_t i = 0; i < count; i++)
        body(argument, i);
}

static void finalize(void *env)
{
    ((fixture *)env)->freed = 1;
}

static const kiln_kernel *compile(const fixture *f, const char *name)
{
    const kiln_type *type;
    const kiln_kernel *kernel;
    kiln_signature signature = {NULL, &type, 1};

    assert_ok(kiln_type_parse(&type, f->context, NULL, "i64[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, f->package, name,
                                    &test_error));
    assert_ok(kiln_compile(&kernel, f->context, &signature, f->config, NULL,
                           &test_error));
    return kernel;
}

static kiln_status define(const fixture *f, const char *text)
{
    return kiln_package_define(f->package, "test", text, strlen(text), NULL,
                               NULL);
}

static int setup(void **state)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .print = take_print,
                                .event = take_event,
                                .log = take_line,
                                .parallel_for = run_all};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->kind = -1;
    options.host = &host;
    options.host_env = f;
    options.host_finalize = finalize;
    options.workers = 1;
    options.threads = 2;
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
    assert_ok(kiln_config_new(&f->config, f->context, NULL, &test_error));
    assert_ok(kiln_device_open(&f->device, f->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    assert_ok(kiln_queue_set_heap(f->queue, 64 << 20, &test_error));
    assert_ok(kiln_package_new(&f->package, f->context, "main", &test_error));
    assert_ok(define(f, program));
    f->outer = compile(f, "outer");
    f->inner = compile(f, "inner");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    assert_int_equal(f->freed, 0);
    kiln_context_free(f->context);
    assert_int_equal(f->freed, 1);
    free(f);
    return 0;
}

static kiln_status launch(kiln_queue *queue, const kiln_kernel *kernel,
                          int64_t *to, uint64_t items, kiln_error **error)
{
    kiln_array array = {.data = to, .sizes = {ITEMS}};
    const void *arguments[] = {&array};
    const kiln_launch shape = {.grid = {items, 0, 0}, .block = {10, 0, 0}};

    return kiln_queue_launch(queue, kernel, &shape, arguments, 1, error);
}

/* Runs `outer`, whose callback does `act`; its result must be right. */
static void run_outer(fixture *f, void (*act)(fixture *f), uint64_t items)
{
    int64_t result[ITEMS] = {0};

    f->act = act;
    assert_ok(launch(f->queue, f->outer, result, items, &test_error));
    assert_null(f->act);
    for (uint64_t i = 0; i < items; i++)
        assert_int_equal(result[i], 100);
}

/* ---- the queue ---- */

static void launch_again(fixture *f)
{
    f->seen = launch(f->queue, f->inner, &f->inner_result, 1, NULL);
}

static void wait_again(fixture *f)
{
    f->seen = kiln_queue_wait(f->queue, NULL);
}

static void poll_again(fixture *f)
{
    f->seen = kiln_queue_poll(f->queue, NULL);
}

static void change_heap(fixture *f)
{
    f->seen = kiln_queue_set_heap(f->queue, 1 << 16, NULL);
}

static void a_queue_that_launches_is_busy(void **state)
{
    static void (*const acts[])(fixture * f) = {launch_again, wait_again,
                                                poll_again, change_heap};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        f->seen = KILN_OK;
        run_outer(f, acts[i], 1);
        assert_int_equal(f->seen, KILN_EBUSY);
    }
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    launch_again(f);
    assert_int_equal(f->seen, KILN_OK);
    assert_int_equal(f->inner_result, 50);
}

static void launch_elsewhere(fixture *f)
{
    kiln_queue *queue;

    assert_ok(kiln_queue_new(&queue, f->device, &test_error));
    f->seen = launch(queue, f->inner, &f->inner_result, 1, NULL);
    kiln_queue_free(queue);
}

static void another_queue_launches_in_a_callback(void **state)
{
    fixture *f = *state;

    f->seen = KILN_EBUSY;
    run_outer(f, launch_elsewhere, 1);
    assert_int_equal(f->seen, KILN_OK);
    assert_int_equal(f->inner_result, 50);
}

static void free_queue(fixture *f)
{
    kiln_queue_free(f->queue);
}

static void a_queue_that_launches_is_not_freed(void **state)
{
    fixture *f = *state;

    run_outer(f, free_queue, 1);
    assert_int_equal(f->warnings, 1);
    run_outer(f, NULL, 1);
}

static void a_callback_of_the_pool_is_told_as_well(void **state)
{
    fixture *f = *state;

    f->in_parallel_for = 1;
    f->seen = KILN_OK;
    run_outer(f, launch_again, ITEMS);
    assert_int_equal(f->seen, KILN_EBUSY);
}

/* ---- the context ---- */

static void redefine_and_collect(fixture *f)
{
    assert_ok(define(f, "kernel outer(o: i64[:])\n"
                        "    o[0] = 5\n"
                        "end\n"));
    kiln_context_collect(f->context);
}

static void a_running_kernel_is_not_collected(void **state)
{
    fixture *f = *state;
    const kiln_kernel *old = f->outer;

    run_outer(f, redefine_and_collect, 1);
    assert_int_equal(kiln_kernel_is_valid(old), 0);
    assert_non_null(kiln_kernel_artifact(old));
    kiln_context_collect(f->context);
    assert_null(kiln_kernel_artifact(old));
}

static void a_kernel_on_the_pool_is_not_collected(void **state)
{
    fixture *f = *state;

    f->in_parallel_for = 1;
    run_outer(f, redefine_and_collect, ITEMS);
    assert_non_null(kiln_kernel_artifact(f->outer));
}

static void free_context(fixture *f)
{
    kiln_context_free(f->context);
}

static void a_context_is_not_freed_in_a_launch(void **state)
{
    fixture *f = *state;

    run_outer(f, free_context, 1);
    assert_int_equal(f->warnings, 1);
    f->in_parallel_for = 1;
    run_outer(f, free_context, ITEMS);
    assert_int_equal(f->warnings, 2);
}

static void a_context_is_not_freed_in_a_definition(void **state)
{
    fixture *f = *state;

    f->kind = KILN_EVENT_STAGE;
    f->act = free_context;
    assert_ok(define(f, "fn more() = 3\n"));
    assert_null(f->act);
    assert_int_equal(f->warnings, 1);
}

/* ---- a child of fork() ---- */

static void stay_inside(fixture *f)
{
    sem_post(&f->is_inside);
    while (sem_wait(&f->may_leave) != 0)
        continue;
}

static void *launch_and_stay(void *env)
{
    fixture *f = env;
    int64_t result = 0;

    f->seen = launch(f->queue, f->outer, &result, 1, NULL);
    return NULL;
}

/* Returns how the child ended: 0 if it could free what the thread used. */
static int free_in_child(fixture *f)
{
    pid_t child = fork();
    int result;

    assert_true(child >= 0);
    if (child == 0) {
        kiln_queue_free(f->queue);
        kiln_device_close(f->device);
        kiln_context_free(f->context);
        _exit(f->freed && f->warnings == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    return result;
}

static void a_child_is_not_in_launches_of_other_threads(void **state)
{
    fixture *f = *state;
    pthread_t thread;
    int result;

    assert_int_equal(sem_init(&f->is_inside, 0, 0), 0);
    assert_int_equal(sem_init(&f->may_leave, 0, 0), 0);
    f->act = stay_inside;
    assert_int_equal(pthread_create(&thread, NULL, launch_and_stay, f), 0);
    assert_int_equal(sem_wait(&f->is_inside), 0);
    result = free_in_child(f);
    sem_post(&f->may_leave);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    assert_int_equal(f->seen, KILN_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_queue_that_launches_is_busy),
        TEST(another_queue_launches_in_a_callback),
        TEST(a_queue_that_launches_is_not_freed),
        TEST(a_callback_of_the_pool_is_told_as_well),
        TEST(a_running_kernel_is_not_collected),
        TEST(a_kernel_on_the_pool_is_not_collected),
        TEST(a_context_is_not_freed_in_a_launch),
        TEST(a_context_is_not_freed_in_a_definition),
        TEST(a_child_is_not_in_launches_of_other_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
