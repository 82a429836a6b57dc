/* spirv_adopt.c - kernels on a runtime's own contexts and queues. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/handles.h"
#include "base/error.h"
#include "spirv_kernels.h"
#include "spirv_runtime.h"

/*
 * The runtime makes a context and two queues with the driver itself; kernels
 * are loaded as kiln_compile() loads them, on the device that Kiln opened.
 */

static spirv_runtime driver; /* its functions, for each runtime */

typedef struct fixture {
    kiln_context *context;
    kiln_device *device; /* adopted */
    kiln_queue *queue;   /* adopted */
    spirv_kernel kernel;
    spirv_runtime runtime;
    char printed[256];
} fixture;

static void take_print(void *env, const char *text, size_t size)
{
    fixture *f = env;
    const size_t used = strlen(f->printed);

    assert_true(used + size < sizeof f->printed);
    memcpy(f->printed + used, text, size);
    f->printed[used + size] = '\0';
}

/* ---- fixture ---- */

static void begin(fixture *f)
{
    f->runtime = driver;
    assert_true(spirv_runtime_begin(&f->runtime));
}

static void adopt(fixture *f)
{
    assert_ok(kiln_device_adopt(&f->device, f->context, "spirv",
                                &f->runtime.native, &test_error));
    assert_ok(kiln_queue_adopt(&f->queue, f->device, f->runtime.streams[0],
                               &test_error));
}

static void part(fixture *f)
{
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    f->queue = NULL;
    f->device = NULL;
}

static int setup(void **state)
{
    static const kiln_host_ops host = {.size = sizeof host,
                                       .print = take_print};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    options.host = &host;
    options.host_env = f;
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
    begin(f);
    adopt(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    part(f);
    spirv_unload(&f->kernel);
    kiln_context_free(f->context);
    spirv_runtime_end(&f->runtime);
    free(f);
    return 0;
}

static void load(fixture *f, const spirv_program *program)
{
    assert_ok(spirv_load(&f->kernel, f->context, program, &test_error));
}

/* How often the kernel's artifact is loaded beside its own device. */
static int replicas(const fixture *f)
{
    const kiln__spirv_function *function = f->kernel.kernel.function;
    const kiln__spirv_module *at = function->module->replicas;
    int count = 0;

    for (; at != NULL; at = at->next_of_home)
        count++;
    return count;
}

#define ITEMS 128
#define GROUP 64

/* Launches "turn", which turns each group around. */
static kiln_status turn(const fixture *f, kiln_device *device,
                        kiln_queue *queue, kiln_error **error)
{
    const kiln_launch shape = {.grid = {ITEMS, 1, 1}, .block = {GROUP, 1, 1}};
    int32_t y[ITEMS];
    kiln_buffer *buffer = NULL;
    kiln_array array = {.sizes = {ITEMS}};
    const void *arguments[] = {&array};
    kiln_status status;

    for (int i = 0; i < ITEMS; i++)
        y[i] = i;
    KILN_TRY(kiln_buffer_new(&buffer, device, sizeof y, error));
    array.data = kiln_buffer_address(buffer);
    status = kiln_buffer_write(buffer, 0, y, sizeof y, error);
    if (status == KILN_OK)
        status = kiln_queue_launch(queue, &f->kernel.kernel, &shape, arguments,
                                   1, error);
    if (status == KILN_OK)
        status = kiln_queue_wait(queue, error);
    if (status == KILN_OK)
        status = kiln_buffer_read(buffer, 0, y, sizeof y, error);
    for (int i = 0; i < ITEMS && status == KILN_OK; i++)
        if (y[i] != i / GROUP * GROUP + GROUP - 1 - i % GROUP)
            status = kiln_error_set(error, KILN_EMISMATCH, "y[%d] is %d", i,
                                    (int)y[i]);
    kiln_buffer_free(buffer);
    return status;
}

/* ---- running ---- */

static void a_kernel_runs_on_an_adopted_queue(void **state)
{
    fixture *f = *state;

    load(f, &spirv_turn);
    assert_int_equal(replicas(f), 0);
    for (int i = 0; i < 3; i++)
        assert_ok(turn(f, f->device, f->queue, &test_error));
    assert_int_equal(replicas(f), 1);
}

static void what_it_raises_and_prints_is_its_own(void **state)
{
    fixture *f = *state;
    const kiln_launch shape = {.grid = {8, 1, 1}, .block = {0}};
    kiln_array array = {.sizes = {0}};
    const int64_t count = 1;
    const void *const raise[] = {&array}, *const say[] = {&count};
    kiln_buffer *buffer = NULL;

    assert_ok(kiln_buffer_new(&buffer, f->device, 64, &test_error));
    array.data = kiln_buffer_address(buffer);
    load(f, &spirv_raise);
    assert_ok(kiln_queue_launch(f->queue, &f->kernel.kernel, &shape, raise, 1,
                                &test_error));
    assert_fails(KILN_EEXCEPTION, "index 0, size 0",
                 kiln_queue_wait(f->queue, &test_error));
    spirv_unload(&f->kernel);

    load(f, &spirv_say);
    assert_ok(kiln_queue_launch(f->queue, &f->kernel.kernel, &shape, say, 1,
                                &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_string_equal(f->printed, "item 0\n");
    kiln_buffer_free(buffer);
}

static void the_same_kernel_runs_on_its_own_device_too(void **state)
{
    fixture *f = *state;
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;

    load(f, &spirv_turn);
    assert_ok(kiln_device_open(&device, f->context, "spirv", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(turn(f, device, queue, &test_error));
    assert_ok(turn(f, f->device, f->queue, &test_error));
    assert_ok(turn(f, device, queue, &test_error));
    assert_int_equal(replicas(f), 1);
    kiln_queue_free(queue);
    kiln_device_close(device);
}

/* ---- the native function ---- */

static void the_native_function_is_of_the_queues_context(void **state)
{
    fixture *f = *state;
    kiln_native_launch native = {.size = sizeof native};
    void *own = NULL;

    load(f, &spirv_raise);
    assert_ok(kiln_kernel_native(&own, &f->kernel.kernel, &test_error));
    assert_ok(
        kiln_queue_native(&native, f->queue, &f->kernel.kernel, &test_error));
    assert_non_null(native.function);
    assert_ptr_not_equal(native.function, own);
    assert_int_equal(replicas(f), 1);
    assert_int_not_equal(native.hidden[0], 0);
}

/* Work on the adopted queue of which its kiln_queue was told nothing. */
static void work_of_others_is_left_for_a_poll(void **state)
{
    fixture *f = *state;
    kiln_native_launch native = {.size = sizeof native};
    const kiln_launch shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    const int64_t rounds = 100 * 1000 * 1000;
    kiln_buffer *buffer = NULL;
    kiln_queue *other = NULL;
    kiln_array array = {.sizes = {1}};
    const void *arguments[] = {&array, &rounds};
    kiln_status status;
    int seen = 0;

    load(f, &spirv_raise);
    assert_ok(
        kiln_queue_native(&native, f->queue, &f->kernel.kernel, &test_error));
    spirv_unload(&f->kernel);
    load(f, &spirv_work);
    assert_ok(kiln_queue_adopt(&other, f->device, f->runtime.streams[0],
                               &test_error));
    assert_ok(kiln_buffer_new(&buffer, f->device, 8, &test_error));
    array.data = kiln_buffer_address(buffer);
    /* On a busy machine it may have ended before it was looked at. */
    for (int i = 0; i < 100 && seen < 2; i++) {
        assert_ok(kiln_queue_launch(other, &f->kernel.kernel, &shape, arguments,
                                    2, &test_error));
        status = kiln_queue_poll(f->queue, &test_error);
        seen += status == KILN_EAGAIN;
        while (status == KILN_EAGAIN)
            status = kiln_queue_poll(f->queue, &test_error);
        assert_int_equal(status, KILN_OK);
    }
    assert_int_equal(seen, 2);
    assert_ok(kiln_queue_wait(other, &test_error));
    kiln_queue_free(other);
    kiln_buffer_free(buffer);
}

/* ---- lifetimes ---- */

/* Whoever adopts, does not ask which devices there are. */
static void the_child_of_a_fork_leaves_what_was_adopted_alone(void **state)
{
    fixture *f = *state;
    kiln_buffer *buffer = NULL, *another = NULL;
    pid_t child;
    int status = 0;

    assert_ok(kiln_buffer_new(&buffer, f->device, 8, &test_error));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int right =
            kiln_buffer_new(&another, f->device, 8, NULL) == KILN_ENODEVICE &&
            kiln_queue_wait(f->queue, NULL) == KILN_ENODEVICE;

        kiln_buffer_free(buffer);
        part(f);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    kiln_buffer_free(buffer);
}

static void a_device_that_closes_takes_what_was_loaded_there_off(void **state)
{
    fixture *f = *state;

    load(f, &spirv_turn);
    for (int i = 0; i < 2; i++) {
        assert_ok(turn(f, f->device, f->queue, &test_error));
        assert_int_equal(replicas(f), 1);
        part(f);
        assert_int_equal(replicas(f), 0);
        adopt(f);
    }
}

static void a_kernel_that_is_unloaded_is_off_all_devices(void **state)
{
    fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        load(f, &spirv_turn);
        assert_ok(turn(f, f->device, f->queue, &test_error));
        spirv_unload(&f->kernel);
        assert_null(((kiln__spirv_device *)f->device->handle)->replicas);
    }
}

typedef struct crowd {
    fixture *f;
    atomic_int next;
    thread_report report;
} crowd;

static void *turn_alone(void *argument)
{
    crowd *c = argument;
    const fixture *f = c->f;
    const int mine = atomic_fetch_add(&c->next, 1);
    kiln_queue *queue = NULL;

    thread_assert_ok(
        &c->report,
        kiln_queue_adopt(&queue, f->device, f->runtime.streams[mine], NULL));
    thread_assert_ok(&c->report, turn(f, f->device, queue, NULL));
    kiln_queue_free(queue);
    return NULL;
}

static void what_two_threads_load_at_once_is_kept_once(void **state)
{
    crowd c = {.f = *state, .report = THREAD_REPORT_INIT};

    load(c.f, &spirv_turn);
    harness_run_threads(2, turn_alone, &c);
    assert_threads_ok(&c.report);
    assert_int_equal(replicas(c.f), 1);
}

/* ---- what the driver compiled ---- */

static void run_once(fixture *f, const char *folder)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;

    memset(f, 0, sizeof *f);
    cache.directory = folder;
    options.cache = &cache;
    assert_ok(kiln_context_new(&f->context, &options, &test_error));
    begin(f);
    adopt(f);
    load(f, &spirv_turn);
    assert_ok(turn(f, f->device, f->queue, &test_error));
    assert_int_equal(replicas(f), 1);
    part(f);
    spirv_unload(&f->kernel);
    kiln_context_free(f->context);
    spirv_runtime_end(&f->runtime);
}

/* Neither for the kernel's own device nor for the adopted one is anything
   translated in the second process: there is no translator. */
static void the_next_process_compiles_nothing(void **state)
{
    fixture f;

    run_once(&f, *state);
    assert_int_equal(setenv("KILN_LLVM_SPIRV", "/nowhere/llvm-spirv", 1), 0);
    run_once(&f, *state);
    (void)unsetenv("KILN_LLVM_SPIRV");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int is_here(void)
{
    if (!spirv_runtime_open(&driver) || !spirv_runtime_begin(&driver))
        return 0;
    spirv_runtime_end(&driver);
    return 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_kernel_runs_on_an_adopted_queue),
        TEST(what_it_raises_and_prints_is_its_own),
        TEST(the_same_kernel_runs_on_its_own_device_too),
        TEST(the_native_function_is_of_the_queues_context),
        TEST(work_of_others_is_left_for_a_poll),
        TEST(the_child_of_a_fork_leaves_what_was_adopted_alone),
        TEST(a_device_that_closes_takes_what_was_loaded_there_off),
        TEST(a_kernel_that_is_unloaded_is_off_all_devices),
        TEST(what_two_threads_load_at_once_is_kept_once),
        cmocka_unit_test_setup_teardown(the_next_process_compiles_nothing,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
    };

    (void)unsetenv("KILN_CACHE");
    if (!is_here())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests_name("spirv_adopt", tests, NULL, NULL);
}
