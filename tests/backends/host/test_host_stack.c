/* test_host_stack.c - kernels on threads whose stacks are small. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit host backends thread */
/* WRAPS: pthread_create */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kiln.h"
#include "support/harness.h"
#include "support/process/stacks.h"

/*
 * A kernel that recurs, or whose frames are large, gives the same wherever it
 * is launched: on a thread with 64 KiB, too, and in a coroutine.
 */

static const char text[] = "fn down(n) -> i64\n"
                           "    return n < 1 ? 0 : 1 + down(n - 1)\n"
                           "end\n"
                           "fn forever(n) -> i64\n"
                           "    return 1 + forever(n + 1)\n"
                           "end\n"
                           "kernel recurs(a)\n"
                           "    i = global_id(0)\n"
                           "    a[i] = down(a[i])\n"
                           "end\n"
                           "kernel never_ends(a)\n"
                           "    i = global_id(0)\n"
                           "    a[i] = forever(i)\n"
                           "end\n"
                           "kernel small(a)\n"
                           "    i = global_id(0)\n"
                           "    a[i] = a[i] + 1\n"
                           "end\n";

#define ITEMS 64
#define DEPTH 5000 /* takes more than 64 KiB, and less than 1 MiB */

typedef struct launching {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_kernel *kernel;
    int64_t items[ITEMS];
    kiln_status status;
    kiln_error *error;
} launching;

#define VECTORS 24 /* of 512 bytes, that stay in memory */

/* Elements at indices that only the kernel knows keep vectors in its frame. */
static void write_large(char *to, size_t size)
{
    size_t used = (size_t)snprintf(
        to, size, "kernel large(a)\n    i = global_id(0)\n    n = 0\n");

    for (int k = 0; k < VECTORS; k++) {
        used += (size_t)snprintf(to + used, size - used, "    v%d = Vec(i", k);
        for (int i = 1; i < 64; i++)
            used += (size_t)snprintf(to + used, size - used, ", %d", i * k);
        used += (size_t)snprintf(to + used, size - used, ")\n");
    }
    used +=
        (size_t)snprintf(to + used, size - used, "    for j in 0..length(a)\n");
    for (int k = 0; k < VECTORS; k++)
        used += (size_t)snprintf(to + used, size - used,
                                 "        v%d[(i + n + %d) %% 64] = j + n\n"
                                 "        n = v%d[(j * 7) %% 64] %% 64\n",
                                 k, k, (k * 5) % VECTORS);
    used += (size_t)snprintf(to + used, size - used,
                             "    end\n    a[i] = n\nend\n");
    assert_true(used < size);
}

static const kiln_kernel *compile(launching *l, const char *name)
{
    static char large[64000];
    kiln_package *package = NULL;
    const kiln_config *config = NULL;
    const kiln_type *type = NULL;
    kiln_signature signature = {NULL, &type, 1};
    const kiln_kernel *kernel = NULL;

    assert_ok(kiln_package_new(&package, l->context, "main", &test_error));
    assert_ok(kiln_package_define(package, "stack.kiln", text, sizeof text - 1,
                                  NULL, &test_error));
    write_large(large, sizeof large);
    assert_ok(kiln_package_define(package, "large.kiln", large, strlen(large),
                                  NULL, &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, name, &test_error));
    assert_ok(kiln_type_parse(&type, l->context, NULL, "i64[:]", &test_error));
    assert_ok(kiln_config_new(&config, l->context, NULL, &test_error));
    assert_ok(kiln_compile(&kernel, l->context, &signature, config, NULL,
                           &test_error));
    return kernel;
}

static void open_with(launching *l, const kiln_host_ops *host, void *env,
                      const char *kernel)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    *l = (launching){0};
    options.host = host;
    options.host_env = env;
    options.threads = 2;
    assert_ok(kiln_context_new(&l->context, &options, &test_error));
    assert_ok(kiln_device_open(&l->device, l->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&l->queue, l->device, &test_error));
    l->kernel = compile(l, kernel);
}

static void close_all(launching *l)
{
    kiln_error_free(l->error);
    kiln_queue_free(l->queue);
    kiln_device_close(l->device);
    kiln_context_free(l->context);
}

static void launch(void *env)
{
    launching *l = env;
    kiln_array array = {.data = l->items, .sizes = {ITEMS}};
    const void *arguments[] = {&array};
    const kiln_launch shape = {.grid = {ITEMS}};

    kiln_error_free(l->error);
    l->error = NULL;
    for (int i = 0; i < ITEMS; i++)
        l->items[i] = i == 0 ? DEPTH : i;
    l->status =
        kiln_queue_launch(l->queue, l->kernel, &shape, arguments, 1, &l->error);
}

static void assert_recurred(const launching *l)
{
    assert_int_equal(l->status, KILN_OK);
    assert_int_equal(l->items[0], DEPTH);
    assert_int_equal(l->items[ITEMS - 1], ITEMS - 1);
}

static uint32_t stack_bytes(const launching *l)
{
    return kiln_kernel_get_info(l->kernel)->stack_bytes;
}

/* ---- tests ---- */

static void metadata_say_what_a_kernel_needs(void **state)
{
    launching l;

    (void)state;
    open_with(&l, NULL, NULL, "small");
    assert_in_range(stack_bytes(&l), 0, 4096);
    close_all(&l);
    open_with(&l, NULL, NULL, "recurs");
    assert_in_range(stack_bytes(&l), (1 << 20) + 1, (1 << 20) + 65536);
    close_all(&l);
    open_with(&l, NULL, NULL, "large");
    assert_in_range(stack_bytes(&l), 4096, 1 << 19);
    close_all(&l);
}

static void a_kernel_recurs_on_any_thread(void **state)
{
    launching l;

    (void)state;
    open_with(&l, NULL, NULL, "recurs");
    launch(&l);
    assert_recurred(&l);
    for (size_t kib = 32; kib <= 4096; kib *= 2) {
        stacks_run_thread(kib * STACKS_KIB, launch, &l);
        assert_recurred(&l);
    }
    stacks_run_coroutine(64 * STACKS_KIB, launch, &l);
    assert_recurred(&l);
    close_all(&l);
}

static void a_recursion_without_end_raises_on_any_thread(void **state)
{
    launching l;

    (void)state;
    open_with(&l, NULL, NULL, "never_ends");
    for (size_t kib = 32; kib <= 4096; kib *= 2) {
        stacks_run_thread(kib * STACKS_KIB, launch, &l);
        assert_int_equal(l.status, KILN_EEXCEPTION);
        assert_int_equal(kiln_error_exception(l.error)->kind,
                         KILN_EXCEPTION_MEMORY);
    }
    stacks_run_coroutine(64 * STACKS_KIB, launch, &l);
    assert_int_equal(l.status, KILN_EEXCEPTION);
    close_all(&l);
}

static void large_frames_are_right_on_any_thread(void **state)
{
    launching l, large;

    (void)state;
    open_with(&large, NULL, NULL, "large");
    launch(&large);
    assert_int_equal(large.status, KILN_OK);
    open_with(&l, NULL, NULL, "large");
    for (size_t kib = 32; kib <= 256; kib += 8) {
        stacks_run_thread(kib * STACKS_KIB, launch, &l);
        assert_int_equal(l.status, KILN_OK);
        assert_memory_equal(l.items, large.items, sizeof l.items);
    }
    stacks_run_coroutine(64 * STACKS_KIB, launch, &l);
    assert_memory_equal(l.items, large.items, sizeof l.items);
    close_all(&l);
    close_all(&large);
}

/* ---- threads of the host's ---- */

typedef struct counts {
    atomic_int entered, left, waits;
} counts;

static void enter(void *env)
{
    atomic_fetch_add(&((counts *)env)->entered, 1);
}

static void leave(void *env)
{
    atomic_fetch_add(&((counts *)env)->left, 1);
}

static void wait_begins(void *env)
{
    atomic_fetch_add(&((counts *)env)->waits, 1);
}

static void wait_ends(void *env)
{
    atomic_fetch_sub(&((counts *)env)->waits, 1);
}

typedef struct pieces {
    size_t count;
    void (*body)(void *argument, size_t index);
    void *argument;
} pieces;

static void run_pieces(void *env)
{
    const pieces *p = env;

    for (size_t i = 0; i < p->count; i++)
        p->body(p->argument, i);
}

static void on_a_small_thread(void *env, size_t count,
                              void (*body)(void *argument, size_t index),
                              void *argument)
{
    pieces p = {count, body, argument};

    (void)env;
    stacks_run_thread(64 * STACKS_KIB, run_pieces, &p);
}

static void a_thread_that_is_started_is_announced(void **state)
{
    counts seen = {0};
    const kiln_host_ops host = {.size = sizeof host,
                                .thread_enter = enter,
                                .thread_leave = leave,
                                .blocking_enter = wait_begins,
                                .blocking_leave = wait_ends};
    launching l;
    int before;

    (void)state;
    open_with(&l, &host, &seen, "recurs");
    before = atomic_load(&seen.entered);
    stacks_run_thread(64 * STACKS_KIB, launch, &l);
    assert_recurred(&l);
    assert_true(atomic_load(&seen.entered) > before);
    close_all(&l);
    assert_int_equal(atomic_load(&seen.entered), atomic_load(&seen.left));
    assert_int_equal(atomic_load(&seen.waits), 0);
}

static void the_hosts_own_threads_may_be_small(void **state)
{
    const kiln_host_ops host = {.size = sizeof host,
                                .parallel_for = on_a_small_thread};
    enum { MANY = 20000 };
    static int64_t items[MANY];
    kiln_array array = {.data = items, .sizes = {MANY}};
    const void *arguments[] = {&array};
    const kiln_launch shape = {.grid = {MANY}};
    launching l;

    (void)state;
    open_with(&l, &host, NULL, "recurs");
    for (int i = 0; i < MANY; i++)
        items[i] = i == MANY / 2 ? DEPTH : 3;
    assert_ok(kiln_queue_launch(l.queue, l.kernel, &shape, arguments, 1,
                                &test_error));
    assert_int_equal(items[MANY / 2], DEPTH);
    assert_int_equal(items[MANY - 1], 3);
    close_all(&l);
}

/* ---- no thread to be had ---- */

static atomic_int is_refused;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    if (atomic_load(&is_refused))
        return EAGAIN;
    return __real_pthread_create(thread, attributes, run, argument);
}

static void launch_without_threads(void *env)
{
    atomic_store(&is_refused, 1);
    launch(env);
    atomic_store(&is_refused, 0);
}

static void without_a_thread_it_is_an_error(void **state)
{
    launching l;

    (void)state;
    open_with(&l, NULL, NULL, "recurs");
    stacks_run_thread(64 * STACKS_KIB, launch_without_threads, &l);
    assert_int_equal(l.status, KILN_ESTACK);
    assert_contains(kiln_error_message(l.error), "bytes of stack");
    stacks_run_thread(64 * STACKS_KIB, launch, &l); /* the queue goes on */
    assert_recurred(&l);
    close_all(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_say_what_a_kernel_needs),
        cmocka_unit_test(a_kernel_recurs_on_any_thread),
        cmocka_unit_test(a_recursion_without_end_raises_on_any_thread),
        cmocka_unit_test(large_frames_are_right_on_any_thread),
        cmocka_unit_test(a_thread_that_is_started_is_announced),
        cmocka_unit_test(the_hosts_own_threads_may_be_small),
        cmocka_unit_test(without_a_thread_it_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
