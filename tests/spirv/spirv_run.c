/* spirv_run.c - what a device does that takes SPIR-V, whoever drives it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/device/device_driver.h"
#include "spirv_kernels.h"

/*
 * KILN_SPIRV_DRIVER says which driver it is. Without a device the program is
 * skipped, unless KILN_REQUIRE_DEVICE is "spirv".
 */

#define TEXT_MAX 65536

typedef struct fixture {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    spirv_kernel kernel;
    char printed[TEXT_MAX];
} fixture;

static void take_print(void *env, const char *text, size_t size)
{
    fixture *f = env;
    const size_t used = strlen(f->printed);

    assert_true(used + size < sizeof f->printed);
    memcpy(f->printed + used, text, size);
    f->printed[used + size] = '\0';
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
    assert_ok(
        kiln_device_open(&f->device, f->context, "spirv", 0, &test_error));
    assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    spirv_unload(&f->kernel);
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
    free(f);
    return 0;
}

static void load(fixture *f, const spirv_program *program)
{
    assert_ok(spirv_load(&f->kernel, f->context, program, &test_error));
}

static kiln_buffer *buffer_of(fixture *f, const void *bytes, size_t size)
{
    kiln_buffer *buffer = NULL;

    assert_ok(kiln_buffer_new(&buffer, f->device, size, &test_error));
    assert_ok(kiln_buffer_write(buffer, 0, bytes, size, &test_error));
    return buffer;
}

static kiln_array array_of(const kiln_buffer *buffer, int64_t n0, int64_t n1,
                           int64_t n2)
{
    return (kiln_array){.data = kiln_buffer_address(buffer),
                        .sizes = {n0, n1, n2}};
}

static kiln_status launch(fixture *f, uint64_t items, uint32_t group,
                          const void *const *arguments, size_t count)
{
    const kiln_launch shape = {.grid = {items, 1, 1}, .block = {group, 0, 0}};

    return kiln_queue_launch(f->queue, &f->kernel.kernel, &shape, arguments,
                             count, &test_error);
}

/* ---- running ---- */

static void saxpy_computes(void **state)
{
    enum { COUNT = 1000 };
    fixture *f = *state;
    float x[COUNT], y[COUNT];
    const float a = 2;
    kiln_buffer *buffers[2];
    kiln_array arrays[2];
    const void *arguments[] = {&arrays[1], &a, &arrays[0]};

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    buffers[0] = buffer_of(f, x, sizeof x);
    buffers[1] = buffer_of(f, y, sizeof y);
    arrays[0] = array_of(buffers[0], COUNT, 1, 1);
    arrays[1] = array_of(buffers[1], COUNT, 1, 1);
    load(f, &spirv_saxpy);

    for (int i = 0; i < 3; i++)
        assert_ok(launch(f, 1024, 0, arguments, 3));
    assert_ok(kiln_queue_wait(f->queue, &test_error));

    assert_ok(kiln_buffer_read(buffers[1], 0, y, sizeof y, &test_error));
    for (int i = 0; i < COUNT; i++)
        assert_true(y[i] == 6 * (float)i + 1);
    kiln_buffer_free(buffers[0]);
    kiln_buffer_free(buffers[1]);
}

static void arguments_of_every_shape_arrive(void **state)
{
    const struct {
        int32_t a;
        double b;
        int8_t c;
    } point = {-5, 2.25, 7};
    static const double expected[] = {-3, 1000, 0.5, -5, 2.25, 7};
    fixture *f = *state;
    double y[6] = {0};
    const int8_t a = -3;
    const int16_t b = 1000;
    const double c = 0.5;
    kiln_buffer *buffer = buffer_of(f, y, sizeof y);
    const kiln_array array = array_of(buffer, 6, 1, 1);
    const void *arguments[] = {&array, &a, &b, &c, &point};

    load(f, &spirv_members);
    assert_ok(launch(f, 1, 1, arguments, 5));
    assert_ok(kiln_queue_wait(f->queue, &test_error));

    assert_ok(kiln_buffer_read(buffer, 0, y, sizeof y, &test_error));
    assert_memory_equal(y, expected, sizeof y);
    kiln_buffer_free(buffer);
}

static void items_of_a_group_meet_at_a_barrier(void **state)
{
    enum { COUNT = 256 };
    fixture *f = *state;
    int32_t y[COUNT];
    kiln_buffer *buffer;
    kiln_array array;
    const void *arguments[] = {&array};

    for (int i = 0; i < COUNT; i++)
        y[i] = i;
    buffer = buffer_of(f, y, sizeof y);
    array = array_of(buffer, COUNT, 1, 1);
    load(f, &spirv_turn);

    assert_ok(launch(f, COUNT, 64, arguments, 1));
    assert_ok(kiln_queue_wait(f->queue, &test_error));

    assert_ok(kiln_buffer_read(buffer, 0, y, sizeof y, &test_error));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(y[i], i / 64 * 64 + 63 - i % 64);
    kiln_buffer_free(buffer);
}

static void grids_have_three_dimensions(void **state)
{
    static const kiln_launch shapes[] = {
        {{6, 4, 3}, {0, 0, 0}, 0},
        {{6, 4, 3}, {3, 2, 1}, 0},
        {{6, 4, 3}, {1, 1, 3}, 0},
    };
    fixture *f = *state;

    load(f, &spirv_place);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int64_t y[72] = {0};
        kiln_buffer *buffer = buffer_of(f, y, sizeof y);
        const kiln_array array = array_of(buffer, 6, 4, 3);
        const void *arguments[] = {&array};

        assert_ok(kiln_queue_launch(f->queue, &f->kernel.kernel, &shapes[s],
                                    arguments, 1, &test_error));
        assert_ok(kiln_queue_wait(f->queue, &test_error));
        assert_ok(kiln_buffer_read(buffer, 0, y, sizeof y, &test_error));
        for (int i = 0; i < 72; i++)
            assert_int_equal(y[i], i % 6 + i / 6 % 4 * 10 + i / 24 * 100);
        kiln_buffer_free(buffer);
    }
}

static void a_group_that_does_not_divide_the_grid_is_refused(void **state)
{
    fixture *f = *state;
    int32_t y[10] = {0};
    kiln_buffer *buffer = buffer_of(f, y, sizeof y);
    const kiln_array array = array_of(buffer, 10, 1, 1);
    const void *arguments[] = {&array};

    load(f, &spirv_turn);
    assert_status(KILN_EINVAL, launch(f, 10, 4, arguments, 1));
    assert_status(KILN_EINVAL, launch(f, 1u << 30, 1u << 30, arguments, 1));
    kiln_buffer_free(buffer);
}

/* ---- exceptions and prints ---- */

static void an_exception_is_reported_with_its_place(void **state)
{
    fixture *f = *state;
    int32_t y[8] = {0};
    kiln_buffer *buffer = buffer_of(f, y, sizeof y);
    const kiln_array array = array_of(buffer, 7, 1, 1);
    const void *arguments[] = {&array};
    const kiln_exception *exception;

    load(f, &spirv_raise);
    assert_ok(launch(f, 8, 8, arguments, 1));
    assert_int_equal(kiln_queue_wait(f->queue, &test_error), KILN_EEXCEPTION);

    exception = kiln_error_exception(test_error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, KILN_EXCEPTION_BOUNDS);
    assert_string_equal(exception->method, "main.raise");
    assert_int_equal(exception->ordinal, 7);
    assert_int_equal(exception->item[0], 7);
    assert_int_equal(exception->values[0], 7);
    assert_int_equal(exception->values[1], 7);
    kiln_error_free(test_error);
    test_error = NULL;

    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_buffer_read(buffer, 0, y, sizeof y, &test_error));
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], i < 7);
    kiln_buffer_free(buffer);
}

static void a_poll_reports_an_exception_once(void **state)
{
    fixture *f = *state;
    int32_t y[8] = {0};
    kiln_buffer *buffer = buffer_of(f, y, sizeof y);
    const kiln_array array = array_of(buffer, 0, 1, 1);
    const void *arguments[] = {&array};
    kiln_status status;

    load(f, &spirv_raise);
    assert_ok(launch(f, 8, 8, arguments, 1));
    do
        status = kiln_queue_poll(f->queue, NULL);
    while (status == KILN_EAGAIN);
    assert_int_equal(status, KILN_EEXCEPTION);
    assert_ok(kiln_queue_poll(f->queue, &test_error));
    kiln_buffer_free(buffer);
}

static void a_poll_says_that_work_is_left(void **state)
{
    fixture *f = *state;
    int64_t y[1] = {1};
    kiln_buffer *buffer = buffer_of(f, y, sizeof y);
    const kiln_array array = array_of(buffer, 1, 1, 1);
    const int64_t rounds = 100 * 1000 * 1000;
    const void *arguments[] = {&array, &rounds};

    load(f, &spirv_work);
    assert_ok(launch(f, 1, 1, arguments, 2));
    assert_status(KILN_EAGAIN, kiln_queue_poll(f->queue, &test_error));
    assert_status(KILN_EAGAIN, kiln_queue_poll(f->queue, &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_queue_poll(f->queue, &test_error));

    assert_ok(kiln_buffer_read(buffer, 0, y, sizeof y, &test_error));
    assert_int_not_equal(y[0], 1);
    kiln_buffer_free(buffer);
}

static void prints_reach_the_host(void **state)
{
    fixture *f = *state;
    const int64_t count = 3;
    const void *arguments[] = {&count};

    load(f, &spirv_say);
    assert_ok(launch(f, 4, 1, arguments, 1));
    assert_ok(kiln_queue_wait(f->queue, &test_error));

    assert_int_equal(strlen(f->printed), 3 * strlen("item 0\n"));
    assert_contains(f->printed, "item 0\n");
    assert_contains(f->printed, "item 1\n");
    assert_contains(f->printed, "item 2\n");
}

static void prints_without_room_are_lost_and_no_more(void **state)
{
    fixture *f = *state;
    const int64_t many = 4096, one = 1;
    const void *arguments[] = {&many};
    const size_t room = KILN__PRINT_ROOM / 24;
    size_t lines = 0;

    load(f, &spirv_say);
    assert_ok(launch(f, 4096, 64, arguments, 1));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    for (const char *at = f->printed; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, room);

    f->printed[0] = '\0';
    arguments[0] = &one;
    assert_ok(launch(f, 1, 1, arguments, 1));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_string_equal(f->printed, "item 0\n");
}

/* ---- threads ---- */

typedef struct crowd {
    fixture *f;
    thread_report report;
} crowd;

static void *work_alone(void *argument)
{
    crowd *c = argument;
    fixture *f = c->f;
    const kiln_launch shape = {.grid = {64, 1, 1}, .block = {0, 0, 0}};
    kiln_queue *queue = NULL;
    kiln_buffer *buffer = NULL;
    int64_t y[64] = {0}, expected = 0;
    const int64_t rounds = 1;
    kiln_array array;
    const void *arguments[] = {&array, &rounds};

    thread_assert_ok(&c->report, kiln_queue_new(&queue, f->device, NULL));
    thread_assert_ok(&c->report,
                     kiln_buffer_new(&buffer, f->device, sizeof y, NULL));
    thread_assert_ok(&c->report,
                     kiln_buffer_write(buffer, 0, y, sizeof y, NULL));
    array = array_of(buffer, 64, 1, 1);
    for (int i = 0; i < 50; i++) {
        thread_assert_ok(&c->report,
                         kiln_queue_launch(queue, &f->kernel.kernel, &shape,
                                           arguments, 2, NULL));
        expected = (int64_t)((uint64_t)expected * 6364136223846793005u +
                             1442695040888963407u);
        expected ^= (int64_t)((uint64_t)expected >> 33);
    }
    thread_assert_ok(&c->report, kiln_queue_wait(queue, NULL));
    thread_assert_ok(&c->report,
                     kiln_buffer_read(buffer, 0, y, sizeof y, NULL));
    for (int i = 0; i < 64; i++)
        thread_assert(&c->report, y[i] == expected);
    kiln_buffer_free(buffer);
    kiln_queue_free(queue);
    return NULL;
}

static void threads_launch_one_kernel_with_arguments_of_their_own(void **state)
{
    crowd c = {*state, THREAD_REPORT_INIT};

    load(c.f, &spirv_work);
    harness_run_threads(4, work_alone, &c);
    assert_threads_ok(&c.report);
}

/* ---- the world around ---- */

static void the_child_of_a_fork_has_no_device(void **state)
{
    fixture *f = *state;
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        kiln_device *device = NULL;
        kiln_backend_info info = {.size = sizeof info};
        int right = kiln_backend_get_info(&info, f->context, 3) == KILN_OK &&
                    info.device_count == 0 && info.reason != NULL &&
                    strstr(info.reason, "fork") != NULL;

        right &= kiln_device_open(&device, f->context, "spirv", 0, NULL) ==
                 KILN_ENODEVICE;
        right &= kiln_queue_wait(f->queue, NULL) == KILN_ENODEVICE;
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_native_function_is_the_drivers(void **state)
{
    fixture *f = *state;
    void *first = NULL, *second = NULL;

    load(f, &spirv_saxpy);
    assert_ok(kiln_kernel_native(&first, &f->kernel.kernel, &test_error));
    assert_ok(kiln_kernel_native(&second, &f->kernel.kernel, &test_error));
    assert_non_null(first);
    assert_ptr_equal(first, second);
    assert_ptr_not_equal(first, f->kernel.kernel.function);
}

/* Who launches by himself has a kernel that Kiln's launches leave alone, and
   the values of the hidden arguments. */
static void who_launches_by_himself_gets_what_he_needs(void **state)
{
    fixture *f = *state;
    kiln_native_launch first = {.size = sizeof first}, second = first;
    void *function = NULL;

    load(f, &spirv_raise);
    assert_ok(
        kiln_queue_native(&first, f->queue, &f->kernel.kernel, &test_error));
    assert_ok(
        kiln_queue_native(&second, f->queue, &f->kernel.kernel, &test_error));
    assert_ok(kiln_kernel_native(&function, &f->kernel.kernel, &test_error));
    assert_ptr_equal(first.function, function);
    assert_ptr_equal(second.function, function);
    assert_int_equal(first.hidden_count, 2);
    assert_true(first.hidden[0] != 0 && first.hidden[1] != 0);
    assert_memory_equal(first.hidden, second.hidden, sizeof first.hidden);
}

static void buffers_of_any_size_keep_what_is_written(void **state)
{
    static const uint64_t sizes[] = {0, 1, 63, 4097, (uint64_t)1 << 22};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = (size_t)sizes[i];
        unsigned char *from = malloc(size + 1), *to = calloc(size + 1, 1);
        kiln_buffer *buffer;

        assert_true(from && to);
        memset(from, (int)i + 1, size + 1);
        buffer = buffer_of(f, from, size);
        assert_int_equal((uintptr_t)kiln_buffer_address(buffer) % 64, 0);
        assert_ok(kiln_buffer_read(buffer, 0, to, size, &test_error));
        assert_memory_equal(from, to, size);
        kiln_buffer_free(buffer);
        free(from);
        free(to);
    }
}

static int is_here(void)
{
    const char *required = getenv("KILN_REQUIRE_DEVICE");
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    kiln_error *error = NULL;
    const kiln_status made = kiln_context_new(&context, NULL, &error);
    const kiln_status status =
        made == KILN_OK ? kiln_device_open(&device, context, "spirv", 0, &error)
                        : made;

    if (status != KILN_OK)
        print_message("%s\n", kiln_error_message(error));
    kiln_error_free(error);
    kiln_device_close(device);
    kiln_context_free(context);
    return status == KILN_OK ||
           (required != NULL && strcmp(required, "spirv") == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(saxpy_computes),
        TEST(arguments_of_every_shape_arrive),
        TEST(items_of_a_group_meet_at_a_barrier),
        TEST(grids_have_three_dimensions),
        TEST(a_group_that_does_not_divide_the_grid_is_refused),
        TEST(an_exception_is_reported_with_its_place),
        TEST(a_poll_reports_an_exception_once),
        TEST(a_poll_says_that_work_is_left),
        TEST(prints_reach_the_host),
        TEST(prints_without_room_are_lost_and_no_more),
        TEST(threads_launch_one_kernel_with_arguments_of_their_own),
        TEST(the_child_of_a_fork_has_no_device),
        TEST(the_native_function_is_the_drivers),
        TEST(who_launches_by_himself_gets_what_he_needs),
        TEST(buffers_of_any_size_keep_what_is_written),
    };

    if (!is_here())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests_name("spirv_run", tests, NULL, NULL);
}
