/* backend_suite.c - what every backend must do, whatever its device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backend_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "support/harness.h"

static const backend_subject *subject;

static const char program[] =
    "kernel count(y)\n"
    "    i = global_id(0)\n"
    "    j = global_id(1)\n"
    "    k = global_id(2)\n"
    "    if i < size(y, 0) && j < size(y, 1) && k < size(y, 2)\n"
    "        y[i, j, k] += i32(1) + wrap(i32, i + 10 * j + 100 * k)\n"
    "    end\n"
    "end\n"
    "struct Pair\n"
    "    a: u8\n"
    "    b: f64\n"
    "end\n"
    "kernel gather(y, a, b, c, d, e, f, g)\n"
    "    if global_id(0) == 0\n"
    "        y[0] = f64(a)\n"
    "        y[1] = f64(b)\n"
    "        y[2] = f64(c)\n"
    "        y[3] = d ? 1.0 : 0.0\n"
    "        y[4] = f64(e.a) + e.b\n"
    "        y[5] = f64(f[0]) + f64(f[1])\n"
    "        y[6] = f64(g[1, 2])\n"
    "    end\n"
    "end\n"
    "kernel reach(y, n)\n"
    "    i = global_id(0)\n"
    "    y[i + n] = f32(1)\n"
    "end\n";

/* ---- a context, a config, and a device where there is one ---- */

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config; /* of the device, else of the named target */
    kiln_package *package;
    kiln_device *device; /* or NULL */
    kiln_queue *queue;
} fixture;

static const kiln_config *config_for(kiln_context *context, const char *target)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;

    options.target = target;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    return config;
}

static int has_device(kiln_context *context)
{
    kiln_backend_info info = {.size = sizeof info};

    for (size_t i = 0; i < kiln_backend_count(context); i++) {
        assert_ok(kiln_backend_get_info(&info, context, i));
        if (strcmp(info.name, subject->name) == 0) {
            assert_true(info.device_count > 0 || info.reason);
            return info.device_count > 0;
        }
    }
    fail_msg("%s is not listed", subject->name);
    return 0;
}

static void define(fixture *f, const char *text)
{
    assert_ok(kiln_package_define(f->package, "suite.kiln", text, strlen(text),
                                  NULL, &test_error));
}

static void open_all(fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    assert_ok(kiln_package_new(&f->package, f->context, "suite", &test_error));
    define(f, program);
    if (has_device(f->context)) {
        f->config = config_for(f->context, subject->name);
        assert_ok(kiln_device_open(&f->device, f->context, subject->name, 0,
                                   &test_error));
        assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    } else {
        f->config = config_for(f->context, subject->target);
    }
}

static void close_all(fixture *f)
{
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
}

static int setup(void **state)
{
    fixture *f = malloc(sizeof *f);

    assert_non_null(f);
    open_all(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    close_all(*state);
    free(*state);
    return 0;
}

static fixture *with_device(void **state)
{
    fixture *f = *state;

    if (!f->device)
        test_skip(SKIP_DEVICE, "there is none");
    return f;
}

#define TYPES_MAX 8

static const kiln_kernel *compile(fixture *f, const char *name,
                                  const char *const *texts, size_t count)
{
    const kiln_type *types[TYPES_MAX];
    kiln_signature signature = {NULL, types, count};
    const kiln_kernel *kernel = NULL;

    assert_true(count <= TYPES_MAX);
    for (size_t i = 0; i < count; i++)
        assert_ok(kiln_type_parse(&types[i], f->context, f->package, texts[i],
                                  &test_error));
    assert_ok(kiln_package_function(&signature.function, f->package, name,
                                    &test_error));
    assert_ok(kiln_compile(&kernel, f->context, &signature, f->config, NULL,
                           &test_error));
    return kernel;
}

static const kiln_kernel *compile_count(fixture *f)
{
    static const char *const types[] = {"i32[:,:,:]"};

    return compile(f, "count", types, 1);
}

static const char *const reach_types[] = {"f32[:]", "i64"};

static const char *const gather_types[] = {
    "f64[:]", "i8",   "u64",        "f32",
    "Bool",   "Pair", "(i16, f32)", "f32[strided :,:]"};

/* ---- targets ---- */

static void a_resolved_target_names_itself(void **state)
{
    fixture *f = *state;
    const char *text = kiln_config_target(f->config);

    assert_int_equal(strncmp(text, subject->name, strlen(subject->name)), 0);
    assert_ptr_equal(config_for(f->context, text), f->config);
    assert_string_equal(kiln_config_backend(f->config), subject->name);
}

static void a_wrong_target_is_an_error_with_its_name(void **state)
{
    fixture *f = *state;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    char target[64];

    (void)snprintf(target, sizeof target, "%s:no-such-thing", subject->name);
    options.target = target;
    assert_fails(KILN_EINVAL, "no-such-thing",
                 kiln_config_new(&config, f->context, &options, &test_error));
    assert_null(config);
}

static void a_device_that_is_not_there_has_a_reason(void **state)
{
    fixture *f = *state;
    kiln_device *device = NULL;

    assert_fails(KILN_ENODEVICE, "",
                 kiln_device_open(&device, f->context, subject->name, 4096,
                                  &test_error));
    assert_null(device);
}

/* ---- artifacts ---- */

static void equal_jobs_have_equal_bytes(void **state)
{
    fixture *f = *state;
    fixture other;
    const kiln_artifact *a, *b;
    const void *bytes;
    size_t size_a, size_b;

    open_all(&other);
    a = kiln_kernel_artifact(compile(f, "gather", gather_types, TYPES_MAX));
    (void)compile_count(&other); /* another order of compiling */
    b = kiln_kernel_artifact(
        compile(&other, "gather", gather_types, TYPES_MAX));
    bytes = kiln_artifact_bytes(a, &size_a);
    assert_true(size_a > 0);
    (void)kiln_artifact_bytes(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes, kiln_artifact_bytes(b, NULL), size_a);
    assert_int_equal(kiln_artifact_relocation(a), KILN_RELOCATION_PORTABLE);
    assert_string_equal(kiln_artifact_target(a), kiln_config_target(f->config));
    close_all(&other);
}

/* As C lays out struct { double *p; int64_t n; int8_t a; uint64_t b; ... }. */
static void metadata_describes_the_arguments_as_c_does(void **state)
{
    struct block {
        void *y;
        int64_t y_size;
        int8_t a;
        uint64_t b;
        float c;
        uint8_t d;
        struct {
            uint8_t a;
            double b;
        } e;
        struct {
            int16_t a;
            float b;
        } f;
        void *g;
        int64_t g_sizes[2];
        int64_t g_strides[2];
    };
    static const size_t offsets[] = {
        offsetof(struct block, y), offsetof(struct block, a),
        offsetof(struct block, b), offsetof(struct block, c),
        offsetof(struct block, d), offsetof(struct block, e),
        offsetof(struct block, f), offsetof(struct block, g),
    };
    const kiln_kernel_info *info = kiln_kernel_get_info(
        compile(*state, "gather", gather_types, TYPES_MAX));

    assert_int_equal(info->argument_count, TYPES_MAX);
    for (size_t i = 0; i < TYPES_MAX; i++)
        assert_int_equal(info->arguments[i].offset, offsets[i]);
    assert_string_equal(info->arguments[7].type, "f32[strided :,:]");
    assert_true(info->can_fail);
}

static void an_offline_device_records_and_runs_nothing(void **state)
{
    fixture *f = *state;
    int32_t y[64] = {0};
    const kiln_array array = {.data = y, .sizes = {64, 1, 1}};
    const void *arguments[] = {&array};
    const kiln_launch launch = {.grid = {64, 1, 1}};
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;

    assert_ok(
        kiln_device_open_offline(&device, f->context, f->config, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_ok(kiln_queue_launch(queue, compile_count(f), &launch, arguments, 1,
                                &test_error));
    assert_ok(kiln_queue_wait(queue, &test_error));
    assert_int_equal(kiln_queue_launch_count(queue), 1);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(y[i], 0);
    kiln_queue_free(queue);
    kiln_device_close(device);
}

/* ---- buffers ---- */

static void a_buffer_gives_back_what_was_written(void **state)
{
    static const uint64_t sizes[] = {0, 1, 63, 4097, (uint64_t)1 << 20};
    fixture *f = with_device(state);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = (size_t)sizes[i];
        unsigned char *from = malloc(size + 1), *to = calloc(size + 1, 1);
        kiln_buffer *buffer = NULL;

        assert_true(from && to);
        for (size_t at = 0; at < size; at++)
            from[at] = (unsigned char)(at * 31 + 7);
        assert_ok(kiln_buffer_new(&buffer, f->device, size, &test_error));
        assert_int_equal((uintptr_t)kiln_buffer_address(buffer) % 64, 0);
        assert_int_equal(kiln_buffer_size(buffer), size);
        assert_ok(kiln_buffer_write(buffer, 0, from, size, &test_error));
        assert_ok(kiln_buffer_read(buffer, size / 2, to, size - size / 2,
                                   &test_error));
        assert_memory_equal(to, from + size / 2, size - size / 2);
        kiln_buffer_free(buffer);
        free(from);
        free(to);
    }
}

static void a_copy_stays_in_its_buffer(void **state)
{
    fixture *f = with_device(state);
    char bytes[16] = {0};
    kiln_buffer *buffer = NULL;

    assert_ok(kiln_buffer_new(&buffer, f->device, 8, &test_error));
    assert_fails(KILN_EINVAL, "",
                 kiln_buffer_write(buffer, 0, bytes, 9, &test_error));
    assert_fails(KILN_EINVAL, "",
                 kiln_buffer_read(buffer, 8, bytes, 1, &test_error));
    assert_fails(KILN_EINVAL, "",
                 kiln_buffer_read(buffer, UINT64_MAX, bytes, 2, &test_error));
    kiln_buffer_free(buffer);
}

/* ---- launches ---- */

static void check_counts(const int32_t *y, const uint64_t grid[3])
{
    size_t at = 0;

    for (uint64_t k = 0; k < grid[2]; k++)
        for (uint64_t j = 0; j < grid[1]; j++)
            for (uint64_t i = 0; i < grid[0]; i++, at++)
                assert_int_equal(y[at], 1 + i + 10 * j + 100 * k);
}

static void run_count(fixture *f, const kiln_launch *launch)
{
    const uint64_t *grid = launch->grid;
    const size_t count = (size_t)(grid[0] * grid[1] * grid[2]);
    int32_t *y = calloc(count, sizeof *y);
    kiln_buffer *buffer = NULL;
    kiln_array array = {
        .sizes = {(int64_t)grid[0], (int64_t)grid[1], (int64_t)grid[2]}};
    const void *arguments[] = {&array};

    assert_non_null(y);
    assert_ok(
        kiln_buffer_new(&buffer, f->device, count * sizeof *y, &test_error));
    assert_ok(kiln_buffer_write(buffer, 0, y, count * sizeof *y, &test_error));
    array.data = kiln_buffer_address(buffer);
    assert_ok(kiln_queue_launch(f->queue, compile_count(f), launch, arguments,
                                1, &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_buffer_read(buffer, 0, y, count * sizeof *y, &test_error));
    check_counts(y, grid);
    kiln_buffer_free(buffer);
    free(y);
}

static void every_item_runs_once(void **state)
{
    static const kiln_launch launches[] = {
        {{1, 1, 1}, {0, 0, 0}, 0},     {{7, 1, 1}, {0, 0, 0}, 0},
        {{4096, 1, 1}, {64, 1, 1}, 0}, {{5, 7, 3}, {0, 0, 0}, 0},
        {{16, 8, 4}, {8, 4, 2}, 0},    {{100003, 1, 1}, {0, 0, 0}, 0},
        {{1, 1, 300}, {0, 0, 0}, 0},
    };
    fixture *f = with_device(state);

    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        run_count(f, &launches[i]);
}

static void arguments_arrive_as_c_lays_them_out(void **state)
{
    static const double expected[] = {-5, 1e15, 0.25, 1, 7.5, 3.5, 12};
    const int8_t a = -5;
    const uint64_t b = 1000000000000000u;
    const float c = 0.25f;
    const uint8_t d = 1;
    const struct {
        uint8_t a;
        double b;
    } e = {7, 0.5};
    const struct {
        int16_t a;
        float b;
    } pair = {3, 0.5f};
    fixture *f = with_device(state);
    float matrix[16];
    double y[7] = {0};
    kiln_buffer *out = NULL, *in = NULL;
    kiln_array ys = {.sizes = {7}};
    kiln_array g = {.sizes = {2, 3}, .strides = {2, 5}};
    const void *arguments[] = {&ys, &a, &b, &c, &d, &e, &pair, &g};

    for (size_t i = 0; i < 16; i++)
        matrix[i] = (float)i; /* [1, 2] is at 1 * 2 + 2 * 5 */
    assert_ok(kiln_buffer_new(&out, f->device, sizeof y, &test_error));
    assert_ok(kiln_buffer_new(&in, f->device, sizeof matrix, &test_error));
    assert_ok(kiln_buffer_write(in, 0, matrix, sizeof matrix, &test_error));
    ys.data = kiln_buffer_address(out);
    g.data = kiln_buffer_address(in);
    assert_ok(kiln_queue_launch(
        f->queue, compile(f, "gather", gather_types, TYPES_MAX),
        &(kiln_launch){.grid = {1, 1, 1}, .block = {0, 0, 0}}, arguments, 8,
        &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_buffer_read(out, 0, y, sizeof y, &test_error));
    assert_memory_equal(y, expected, sizeof y);
    kiln_buffer_free(out);
    kiln_buffer_free(in);
}

static kiln_status launch_reach(fixture *f, kiln_buffer *buffer, int64_t n)
{
    const kiln_array y = {.data = kiln_buffer_address(buffer), .sizes = {4}};
    const void *arguments[] = {&y, &n};
    kiln_status status =
        kiln_queue_launch(f->queue, compile(f, "reach", reach_types, 2),
                          &(kiln_launch){.grid = {4, 1, 1}, .block = {0, 0, 0}},
                          arguments, 2, &test_error);

    return status == KILN_OK ? kiln_queue_wait(f->queue, &test_error) : status;
}

static void an_exception_is_a_record_and_the_device_goes_on(void **state)
{
    fixture *f = with_device(state);
    kiln_buffer *buffer = NULL;
    const kiln_exception *e;
    kiln_status status;

    assert_ok(kiln_buffer_new(&buffer, f->device, 16, &test_error));
    status = launch_reach(f, buffer, 1);
    e = kiln_error_exception(test_error);
    assert_int_equal(status, KILN_EEXCEPTION);
    assert_non_null(e);
    assert_int_equal(e->kind, KILN_EXCEPTION_BOUNDS);
    assert_int_equal(e->item[0], 3);
    assert_true(e->values[0] == 4 && e->values[1] == 4);
    assert_string_equal(e->location.file, "suite.kiln");
    kiln_error_free(test_error);
    test_error = NULL;
    assert_ok(launch_reach(f, buffer, 0));
    kiln_buffer_free(buffer);
}

static void an_idle_queue_has_nothing_to_wait_for(void **state)
{
    fixture *f = with_device(state);
    kiln_queue *second = NULL;

    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_queue_poll(f->queue, &test_error));
    assert_ok(kiln_queue_new(&second, f->device, &test_error));
    assert_ok(kiln_queue_poll(second, &test_error));
    kiln_queue_free(second);
}

/* A device that ran out of room for code, or gave an old kernel for a new
   one, would show here. */
/* What a driver cannot stop it says so of, and goes on. */
static void a_queue_is_stopped_or_refuses_to_be(void **state)
{
    fixture *f = with_device(state);
    const int is_host = strcmp(subject->name, "host") == 0;
    const kiln_status wanted = is_host ? KILN_OK : KILN_EUNSUPPORTED;

    assert_int_equal(kiln_queue_cancel(f->queue, &test_error), wanted);
    if (!is_host)
        assert_contains(kiln_error_message(test_error), "cannot stop");
    kiln_error_free(test_error);
    test_error = NULL;
    assert_int_equal(kiln_queue_set_time_limit(f->queue, 60000, &test_error),
                     wanted);
    kiln_error_free(test_error);
    test_error = NULL;
    run_count(f, &(kiln_launch){.grid = {40, 1, 1}, .block = {8, 1, 1}});
    assert_ok(kiln_queue_set_time_limit(f->queue, 0, &test_error));
}

static void outdated_kernels_make_room(void **state)
{
    fixture *f = with_device(state);
    kiln_buffer *buffer = NULL;
    kiln_array y = {.sizes = {1}};
    const void *arguments[] = {&y};
    static const char *const types[] = {"i32[:]"};

    assert_ok(kiln_buffer_new(&buffer, f->device, 4, &test_error));
    y.data = kiln_buffer_address(buffer);
    for (int32_t i = 0; i < 25; i++) {
        char text[64];
        int32_t got = -1;

        (void)snprintf(text, sizeof text, "kernel put(y)\n y[0] = %d\nend\n",
                       (int)i);
        define(f, text);
        assert_ok(kiln_queue_launch(
            f->queue, compile(f, "put", types, 1),
            &(kiln_launch){.grid = {1, 1, 1}, .block = {0, 0, 0}}, arguments, 1,
            &test_error));
        assert_ok(kiln_queue_wait(f->queue, &test_error));
        assert_ok(kiln_buffer_read(buffer, 0, &got, 4, &test_error));
        assert_int_equal(got, i);
        kiln_context_collect(f->context);
    }
    kiln_buffer_free(buffer);
}

/* ---- threads ---- */

typedef struct shared {
    fixture *f;
    const kiln_kernel *kernel;
    thread_report report;
} shared;

static void *launch_often(void *argument)
{
    shared *s = argument;
    int32_t y[64] = {0};
    kiln_queue *queue = NULL;
    kiln_buffer *buffer = NULL;
    kiln_array array = {.sizes = {64, 1, 1}};
    const void *arguments[] = {&array};
    const kiln_launch launch = {.grid = {64, 1, 1}, .block = {0, 0, 0}};
    kiln_error *error = NULL;

    thread_assert_ok(&s->report, kiln_queue_new(&queue, s->f->device, &error));
    thread_assert_ok(&s->report,
                     kiln_buffer_new(&buffer, s->f->device, sizeof y, &error));
    thread_assert_ok(&s->report,
                     kiln_buffer_write(buffer, 0, y, sizeof y, &error));
    array.data = kiln_buffer_address(buffer);
    for (int i = 0; i < 100; i++)
        thread_assert_ok(
            &s->report,
            kiln_queue_launch(queue, s->kernel, &launch, arguments, 1, &error));
    thread_assert_ok(&s->report, kiln_queue_wait(queue, &error));
    thread_assert_ok(&s->report,
                     kiln_buffer_read(buffer, 0, y, sizeof y, &error));
    for (int32_t i = 0; i < 64; i++)
        thread_assert(&s->report, y[i] == 100 * (1 + i));
    kiln_buffer_free(buffer);
    kiln_queue_free(queue);
    return NULL;
}

static void threads_launch_one_kernel_on_their_own_queues(void **state)
{
    fixture *f = with_device(state);
    shared s = {f, compile_count(f), THREAD_REPORT_INIT};

    harness_run_threads(4, launch_often, &s);
    assert_threads_ok(&s.report);
}

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int backend_suite_run(const backend_subject *of)
{
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(a_resolved_target_names_itself),
        IN_CONTEXT(a_wrong_target_is_an_error_with_its_name),
        IN_CONTEXT(a_device_that_is_not_there_has_a_reason),
        IN_CONTEXT(equal_jobs_have_equal_bytes),
        IN_CONTEXT(metadata_describes_the_arguments_as_c_does),
        IN_CONTEXT(an_offline_device_records_and_runs_nothing),
        IN_CONTEXT(a_buffer_gives_back_what_was_written),
        IN_CONTEXT(a_copy_stays_in_its_buffer),
        IN_CONTEXT(every_item_runs_once),
        IN_CONTEXT(arguments_arrive_as_c_lays_them_out),
        IN_CONTEXT(an_exception_is_a_record_and_the_device_goes_on),
        IN_CONTEXT(an_idle_queue_has_nothing_to_wait_for),
        IN_CONTEXT(a_queue_is_stopped_or_refuses_to_be),
        IN_CONTEXT(outdated_kernels_make_room),
        IN_CONTEXT(threads_launch_one_kernel_on_their_own_queues),
    };

    subject = of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
