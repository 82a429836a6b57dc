/* test_deferred.c - the second body of a kernel is made when it is needed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host backends thread */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/host/host_backend.h"
#include "base/error.h"
#include "support/harness.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/deferred.h"

/* `stretches` counts up by what the proof cannot follow, so its first body is
   never run. `shifts` can be proved where its argument is 0. */
static const char text[] = "kernel stretches(a, n)\n"
                           "    j = global_id(0) * 8\n"
                           "    while j < n\n"
                           "        for k in j..j + 8\n"
                           "            if k < n\n"
                           "                a[k] = a[k] + 1\n"
                           "            end\n"
                           "        end\n"
                           "        j += 8 * global_size(0)\n"
                           "    end\n"
                           "end\n"
                           "kernel shifts(a, n)\n"
                           "    a[global_id(0) + n] = 1\n"
                           "end\n";

#define SIZE 1000

typedef struct bench {
    kiln_context *context;
    kiln_device *device;
    const kiln_config *config;
    kiln_package *package;
    atomic_uint told;
    char reason[256];
} bench;

static void take_event(void *env, const kiln_event *event)
{
    bench *b = env;

    if (event->kind != KILN_EVENT_CHECKED)
        return;
    snprintf(b->reason, sizeof b->reason, "%s: %s", event->name, event->reason);
    atomic_fetch_add(&b->told, 1);
}

static int setup(void **state)
{
    static const kiln_host_ops host = {.size = sizeof(kiln_host_ops),
                                       .event = take_event};
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    bench *b = test_calloc(1, sizeof *b);

    options.host = &host;
    options.host_env = b;
    cache.mode = KILN_CACHE_MODE_OFF;
    options.cache = &cache;
    options.threads = 2;
    assert_ok(kiln_context_new(&b->context, &options, &test_error));
    assert_ok(kiln_config_new(&b->config, b->context, NULL, &test_error));
    assert_ok(kiln_device_open(&b->device, b->context, "host", 0, &test_error));
    assert_ok(kiln_package_new(&b->package, b->context, "p", &test_error));
    assert_ok(kiln_package_define(b->package, "p.kiln", text, sizeof text - 1,
                                  NULL, &test_error));
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench *b = *state;

    kiln_device_close(b->device);
    kiln_context_free(b->context);
    test_free(b);
    return 0;
}

static const kiln_kernel *compile(bench *b, const char *name)
{
    const kiln_type *types[2];
    kiln_signature signature = {.count = 2, .types = types};
    const kiln_kernel *kernel = NULL;

    assert_ok(kiln_package_function(&signature.function, b->package, name,
                                    &test_error));
    assert_ok(
        kiln_type_parse(&types[0], b->context, NULL, "i64[:]", &test_error));
    assert_ok(kiln_type_parse(&types[1], b->context, NULL, "i64", &test_error));
    assert_ok(kiln_compile(&kernel, b->context, &signature, b->config, NULL,
                           &test_error));
    return kernel;
}

/* Launches `items` items over the data, on a queue of its own. */
static kiln_status launch(bench *b, const kiln_kernel *kernel, int64_t *data,
                          int64_t number, uint64_t items, kiln_error **error)
{
    const kiln_array array = {.data = data, .sizes = {SIZE}};
    const void *arguments[] = {&array, &number};
    const kiln_launch shape = {.grid = {items, 1, 1}, .block = {16, 1, 1}};
    kiln_queue *queue = NULL;
    kiln_status status = kiln_queue_new(&queue, b->device, error);

    if (status == KILN_OK)
        status = kiln_queue_launch(queue, kernel, &shape, arguments, 2, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(queue, error);
    kiln_queue_free(queue);
    return status;
}

static void check(const int64_t *data, int64_t value)
{
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(data[i], value);
}

static const kiln__host_module *module_of(const kiln_kernel *kernel)
{
    return kernel->module->handle;
}

/* ---- tests ---- */

static void what_is_proved_needs_none(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "shifts");
    int64_t data[SIZE] = {0};

    assert_true(kiln__deferred_is_open(kernel->artifact));
    assert_ok(launch(b, kernel, data, 0, SIZE, &test_error));
    check(data, 1);
    assert_null(module_of(kernel)->second);
    assert_int_equal(b->told, 0);
}

static void the_first_need_makes_it_and_is_told_once(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "stretches");
    int64_t data[SIZE] = {0};

    for (int i = 1; i <= 3; i++) {
        assert_ok(launch(b, kernel, data, SIZE, 64, &test_error));
        check(data, i);
        assert_int_equal(b->told, 1);
    }
    assert_non_null(module_of(kernel)->second);
    assert_contains(b->reason, "p.stretches(i64[:], i64): ");
    assert_contains(b->reason, "p.kiln:6:");
}

/* The groups before the one that raises were proved. */
static void its_exception_is_that_of_the_check(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "shifts");
    int64_t data[SIZE] = {0};
    kiln_error *error = NULL;
    const kiln_exception *e;

    assert_int_equal(launch(b, kernel, data, 3, SIZE, &error), KILN_EEXCEPTION);
    e = kiln_error_exception(error);
    assert_int_equal(e->kind, KILN_EXCEPTION_BOUNDS);
    assert_int_equal(e->values[0], SIZE);
    assert_int_equal(e->item[0], SIZE - 3);
    assert_int_equal(e->location.line, 13);
    assert_contains(b->reason, "p.kiln:13:");
    kiln_error_free(error);
}

/* What is in memory afterwards has the code, so a pack made of it has, too. */
static void what_was_made_takes_the_place_in_memory(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "stretches");
    const kiln_artifact *made = kernel->artifact, *kept;
    int64_t data[SIZE] = {0};

    assert_ok(launch(b, kernel, data, SIZE, 64, &test_error));
    kept = kiln__artifact_find(b->context, made->key, made->encoded_key,
                               made->encoded_key_size);
    assert_non_null(kept);
    assert_true(kiln__deferred_is_open(made));
    assert_false(kiln__deferred_is_open(kept));
    assert_int_equal(kept->size, made->size);
    kiln_artifact_release(kept);
}

typedef struct caller {
    bench *b;
    const kiln_kernel *kernel;
    int64_t data[SIZE];
    kiln_status status;
} caller;

static void *call(void *argument)
{
    caller *c = argument;

    c->status = launch(c->b, c->kernel, c->data, SIZE, 64, NULL);
    return NULL;
}

#define CALLERS 8

static void many_threads_may_need_it_at_once(void **state)
{
    bench *b = *state;
    caller *callers = test_calloc(CALLERS, sizeof *callers);
    pthread_t threads[CALLERS];

    for (int i = 0; i < CALLERS; i++) {
        callers[i].b = b;
        callers[i].kernel = compile(b, "stretches");
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]),
                         0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].status, KILN_OK);
        check(callers[i].data, 1);
    }
    assert_int_equal(b->told, 1);
    test_free(callers);
}

/* The parent's thread that was to make it does not exist in the child. */
static void a_child_makes_its_own(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "stretches");
    kiln__host_module *module = kernel->module->handle;
    int64_t data[SIZE] = {0};
    int status;
    pid_t child;

    module->maker = getpid();
    child = fork();
    if (child == 0) {
        const kiln_status launched = launch(b, kernel, data, SIZE, 64, NULL);

        for (int i = 0; i < SIZE; i++)
            if (data[i] != 1)
                _exit(2);
        _exit(launched == KILN_OK ? 0 : 1);
    }
    module->maker = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static kiln_status refuse(const kiln_artifact **out, kiln_context *context,
                          const kiln_artifact *artifact, uint32_t unproved,
                          kiln_error **error)
{
    (void)out;
    (void)context;
    (void)artifact;
    assert_true(unproved > 0);
    return kiln__error_set(error, KILN_EUNSUPPORTED, "there is no generator");
}

static void a_body_that_cannot_be_made_fails_the_launch(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "stretches");
    kiln_status (*const complete)(const kiln_artifact **, kiln_context *,
                                  const kiln_artifact *, uint32_t,
                                  kiln_error **) = b->context->complete;
    int64_t data[SIZE] = {0};
    kiln_error *error = NULL;

    b->context->complete = refuse;
    assert_int_equal(launch(b, kernel, data, SIZE, 64, &error),
                     KILN_EUNSUPPORTED);
    assert_contains(kiln_error_message(error), "there is no generator");
    assert_int_equal(launch(b, kernel, data, SIZE, 64, NULL),
                     KILN_EUNSUPPORTED);
    check(data, 0);
    b->context->complete = complete;
    assert_ok(launch(b, kernel, data, SIZE, 64, &test_error));
    check(data, 1);
    kiln_error_free(error);
}

static void it_gets_a_stack_that_is_large_enough(void **state)
{
    bench *b = *state;
    const kiln_kernel *kernel = compile(b, "stretches");
    kiln__host_module *module = kernel->module->handle;
    int64_t data[SIZE] = {0};

    assert_ok(launch(b, kernel, data, SIZE, 64, &test_error));
    module->second_stack = KILN__HOST_STACK_MAX;
    assert_ok(launch(b, kernel, data, SIZE, 64, &test_error));
    check(data, 2);
}

/* An artifact may come from anywhere. */
static void damaged_bodies_are_refused(void **state)
{
    bench *b = *state;
    const kiln_artifact *made = compile(b, "stretches")->artifact;
    kiln_artifact damaged = *made;
    unsigned char *bytes = test_malloc(made->deferred_size);
    const kiln_artifact *complete = NULL;

    damaged.deferred = bytes;
    for (size_t i = 0; i < made->deferred_size;
         i += 1 + made->deferred_size / 200) {
        kiln_error *error = NULL;
        kiln__deferred deferred;
        kiln__arena arena;

        memcpy(bytes, made->deferred, made->deferred_size);
        bytes[i] ^= 0x41;
        kiln__arena_init(&arena, &kiln__malloc);
        (void)kiln__deferred_read(&deferred, &arena, &damaged);
        damaged.deferred_size = i; /* cut short */
        assert_int_equal(kiln__deferred_read(&deferred, &arena, &damaged),
                         KILN_ECORRUPT);
        damaged.deferred_size = made->deferred_size;
        kiln__arena_dispose(&arena);
        kiln_error_free(error);
    }
    memset(bytes + made->deferred_size - 64, 0x5a, 64);
    if (b->context->complete(&complete, b->context, &damaged, 1, NULL) ==
        KILN_OK)
        kiln_artifact_release(complete);
    test_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_proved_needs_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            the_first_need_makes_it_and_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(its_exception_is_that_of_the_check,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_made_takes_the_place_in_memory,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(many_threads_may_need_it_at_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_child_makes_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_body_that_cannot_be_made_fails_the_launch, setup, teardown),
        cmocka_unit_test_setup_teardown(it_gets_a_stack_that_is_large_enough,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_bodies_are_refused, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
