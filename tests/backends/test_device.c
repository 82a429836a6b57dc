/* test_device.c - devices, buffers, queues, and what a launch checks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "context/types/types.h"
#include "kiln.h"
#include "support/harness.h"

/* A backend that remembers the last launch stands in for a device; its kernels
   are made by hand, as tier 3 would make them. */
typedef struct recorder {
    uint32_t device_count;
    const char *reason;
    int opened, closed, freed, loaded, unloaded;
    int raises; /* launches end with an exception */
    int is_old; /* and its record was shorter when this was compiled */
    kiln_launch_request request;
    unsigned char arguments[4096];
} recorder;

static kiln_status describe(void *self, const char *name, kiln_target *out,
                            kiln_error **error)
{
    (void)self;
    (void)error;
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    (void)snprintf(out->name, sizeof out->name, "%s", name ? name : "one");
    (void)snprintf(out->triple, sizeof out->triple, "fake-triple");
    (void)snprintf(out->processor, sizeof out->processor, "fake");
    return KILN_OK;
}

static uint32_t count_devices(void *self, const char **reason)
{
    const recorder *r = self;

    *reason = r->reason;
    return r->device_count;
}

static kiln_status open_device(void *self, uint32_t ordinal, void *native,
                               void **device, const char **device_name,
                               kiln_error **error)
{
    recorder *r = self;

    if (native == NULL && ordinal >= r->device_count)
        return kiln_error_set(error, KILN_ENODEVICE, "no such fake device");
    r->opened++;
    *device = native != NULL ? native : self;
    *device_name = native != NULL ? "adopted" : "fake";
    return KILN_OK;
}

static void close_device(void *self, void *device)
{
    (void)device;
    ((recorder *)self)->closed++;
}

static kiln_status load(void *self, void *device, const kiln_artifact *artifact,
                        void **module, kiln_error **error)
{
    (void)device;
    (void)artifact;
    (void)error;
    ((recorder *)self)->loaded++;
    *module = self;
    return KILN_OK;
}

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    (void)self;
    if (strcmp(name, "missing") == 0)
        return kiln_error_set(error, KILN_ECORRUPT, "no such symbol");
    *function = module;
    return KILN_OK;
}

static void unload(void *self, void *module)
{
    (void)module;
    ((recorder *)self)->unloaded++;
}

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    (void)self;
    (void)device;
    (void)error;
    *queue = native != NULL ? native : self;
    return KILN_OK;
}

static void queue_free(void *self, void *queue)
{
    (void)self;
    (void)queue;
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    recorder *r = self;

    (void)queue;
    (void)error;
    r->request = *request;
    assert_int_equal((uintptr_t)request->arguments % 16, 0);
    assert_true(request->argument_bytes <= sizeof r->arguments);
    memcpy(r->arguments, request->arguments, request->argument_bytes);
    if (!r->raises)
        return KILN_OK;
    *exception = (kiln_exception){
        .size = sizeof *exception,
        .kind = KILN_EXCEPTION_BOUNDS,
        .message = "index out of bounds: index 5, size 4",
        .kernel = "main.k",
        .method = "main.k",
        .ordinal = 3,
        .values = {5, 4},
        .frame_count = r->is_old ? 3 : 0,
    };
    if (r->is_old)
        exception->size = offsetof(kiln_exception, frames);
    return KILN_EEXCEPTION;
}

static kiln_status wait_for(void *self, void *queue, int32_t block,
                            kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)queue;
    (void)exception;
    (void)error;
    return block ? KILN_OK : KILN_EAGAIN;
}

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    (void)self;
    (void)device;
    *address = malloc(size > 0 ? (size_t)size : 1);
    return *address != NULL
               ? KILN_OK
               : kiln_error_set(error, KILN_ENOMEM, "out of memory");
}

static void buffer_free(void *self, void *device, void *address)
{
    (void)self;
    (void)device;
    free(address);
}

static kiln_status copy(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error)
{
    (void)self;
    (void)device;
    (void)error;
    memcpy(to, from, (size_t)size);
    return KILN_OK;
}

static void free_backend(void *self)
{
    ((recorder *)self)->freed++;
}

static const kiln_backend_ops fake_ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "fake",
    .format = "none",
    .describe = describe,
    .count = count_devices,
    .open = open_device,
    .close = close_device,
    .load = load,
    .symbol = symbol,
    .unload = unload,
    .queue_new = queue_new,
    .queue_free = queue_free,
    .launch = launch,
    .wait = wait_for,
    .buffer_new = buffer_new,
    .buffer_free = buffer_free,
    .copy = copy,
    .free = free_backend,
};

/* ---- fixture ---- */

#define ARGUMENTS_MAX 8

typedef struct fixture {
    kiln_context *context;
    recorder recorder;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_kernel kernel;
    kiln_kernel_info info;
    const kiln_type *types[ARGUMENTS_MAX];
    kiln_argument_info arguments[ARGUMENTS_MAX];
} fixture;

static const kiln_config *config_of(kiln_context *context, const char *target)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;

    options.target = target;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    return config;
}

/* Fills the fixture's kernel for the types named. */
static void set_kernel(fixture *f, const char *const *texts, size_t count)
{
    assert_true(count <= ARGUMENTS_MAX);
    for (size_t i = 0; i < count; i++)
        assert_ok(kiln_type_parse(&f->types[i], f->context, NULL, texts[i],
                                  &test_error));
    f->info.argument_count = count;
    f->info.argument_bytes =
        kiln__argument_layout(f->arguments, f->types, count);
}

static int setup(void **state)
{
    static const kiln_artifact artifact;
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->recorder.device_count = 2;
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    assert_ok(kiln_context_add_backend(f->context, &fake_ops, &f->recorder,
                                       &test_error));
    f->config = config_of(f->context, "fake:one");
    assert_ok(kiln_device_open(&f->device, f->context, "fake", 0, &test_error));
    assert_ok(kiln_queue_new(&f->queue, f->device, &test_error));
    f->info.name = "k";
    f->info.method = "main.k()";
    f->info.arguments = f->arguments;
    f->kernel.context = f->context;
    f->kernel.artifact = &artifact;
    f->kernel.info = &f->info;
    f->kernel.config = f->config;
    f->kernel.types = f->types;
    assert_ok(kiln__kernel_load(&f->kernel, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln__kernel_unload(&f->kernel);
    kiln_queue_free(f->queue);
    kiln_device_close(f->device);
    kiln_context_free(f->context);
    assert_int_equal(f->recorder.freed, 1);
    assert_int_equal(f->recorder.opened, f->recorder.closed);
    assert_int_equal(f->recorder.loaded, f->recorder.unloaded);
    free(f);
    return 0;
}

static kiln_status run(fixture *f, const kiln_launch *shape,
                       const void *const *arguments, size_t count)
{
    return kiln_queue_launch(f->queue, &f->kernel, shape, arguments, count,
                             &test_error);
}

static const kiln_launch one = {.grid = {1, 1, 1}, .block = {0, 0, 0}};

/* ---- backends ---- */

static void unknown_backends_are_errors_that_list_the_known(void **state)
{
    fixture *f = *state;
    kiln_device *device;

    assert_fails(
        KILN_EINVAL, "there are host, cuda, rocm, spirv, fake",
        kiln_device_open(&device, f->context, "metal", 0, &test_error));
}

static void a_name_is_taken_once(void **state)
{
    fixture *f = *state;
    recorder other = {0};

    assert_fails(
        KILN_EINVAL, "\"fake\" already",
        kiln_context_add_backend(f->context, &fake_ops, &other, &test_error));
    assert_int_equal(other.freed, 0);
}

static void a_table_without_a_required_function_is_refused(void **state)
{
    fixture *f = *state;
    kiln_backend_ops ops = fake_ops;

    ops.name = "half";
    ops.launch = NULL;
    assert_fails(KILN_EINVAL, "launch",
                 kiln_context_add_backend(f->context, &ops, NULL, &test_error));
    ops.size = 8;
    assert_fails(KILN_EINVAL, "invalid argument",
                 kiln_context_add_backend(f->context, &ops, NULL, &test_error));
}

static void every_backend_is_listed_with_a_reason_for_its_absence(void **state)
{
    fixture *f = *state;
    kiln_backend_info info = {.size = sizeof info};

    assert_int_equal(kiln_backend_count(f->context), 5);
    assert_ok(kiln_backend_get_info(&info, f->context, 0));
    assert_string_equal(info.name, "host");
    assert_int_equal(info.device_count, 1);
    assert_null(info.reason);
    assert_contains(info.default_target, "host:x86-64");
    for (size_t i = 1; i < 4; i++) {
        assert_ok(kiln_backend_get_info(&info, f->context, i));
        assert_int_equal(info.device_count == 0, info.reason != NULL);
    }
    assert_ok(kiln_backend_get_info(&info, f->context, 4));
    assert_string_equal(info.name, "fake");
    assert_int_equal(info.device_count, 2);
    assert_int_equal(kiln_backend_get_info(&info, f->context, 5),
                     KILN_ENOTFOUND);
}

/* ---- devices and buffers ---- */

static void a_device_beyond_the_last_is_no_device(void **state)
{
    fixture *f = *state;
    kiln_device *device;

    assert_fails(KILN_ENODEVICE, "there are 2",
                 kiln_device_open(&device, f->context, "fake", 2, &test_error));
    f->recorder.device_count = 0;
    f->recorder.reason = "the driver is asleep";
    assert_fails(KILN_ENODEVICE, "the driver is asleep",
                 kiln_device_open(&device, f->context, "fake", 0, &test_error));
}

static void a_device_is_opened_once(void **state)
{
    fixture *f = *state;
    kiln_device *again;

    assert_ok(kiln_device_open(&again, f->context, "fake", 0, &test_error));
    assert_int_equal(f->recorder.opened, 1);
    assert_string_equal(kiln_device_name(again), "fake");
    kiln_device_close(again);
    assert_int_equal(f->recorder.closed, 0);
}

static void contexts_and_streams_are_adopted(void **state)
{
    fixture *f = *state;
    kiln_device *device;
    kiln_queue *queue;
    int native;

    assert_ok(
        kiln_device_adopt(&device, f->context, "fake", &native, &test_error));
    assert_string_equal(kiln_device_name(device), "adopted");
    assert_ok(kiln_queue_adopt(&queue, device, &native, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(device);
    assert_int_equal(f->recorder.closed, 1);
    assert_fails(
        KILN_EUNSUPPORTED, "adopts no contexts",
        kiln_device_adopt(&device, f->context, "host", &native, &test_error));
}

static void buffers_keep_to_their_size(void **state)
{
    fixture *f = *state;
    kiln_buffer *buffer;
    char bytes[8] = "kiln!";

    assert_ok(kiln_buffer_new(&buffer, f->device, 8, &test_error));
    assert_int_equal(kiln_buffer_size(buffer), 8);
    assert_ok(kiln_buffer_write(buffer, 2, bytes, 6, &test_error));
    memset(bytes, 0, sizeof bytes);
    assert_ok(kiln_buffer_read(buffer, 2, bytes, 6, &test_error));
    assert_string_equal(bytes, "kiln!");
    assert_fails(KILN_EINVAL, "not within",
                 kiln_buffer_write(buffer, 3, bytes, 6, &test_error));
    assert_fails(KILN_EINVAL, "not within",
                 kiln_buffer_read(buffer, UINT64_MAX, bytes, 2, &test_error));
    assert_ok(kiln_buffer_read(buffer, 8, NULL, 0, &test_error));
    kiln_buffer_free(buffer);
    kiln_buffer_free(NULL);
}

static void host_buffers_are_aligned(void **state)
{
    fixture *f = *state;
    kiln_device *device;
    kiln_buffer *buffer;

    assert_ok(kiln_device_open(&device, f->context, "host", 0, &test_error));
    for (uint64_t size = 0; size < 200; size += 7) {
        assert_ok(kiln_buffer_new(&buffer, device, size, &test_error));
        assert_int_equal((uintptr_t)kiln_buffer_address(buffer) % 64, 0);
        memset(kiln_buffer_address(buffer), 1, (size_t)size);
        kiln_buffer_free(buffer);
    }
    assert_int_equal(
        kiln_buffer_new(&buffer, device, UINT64_MAX - 8, &test_error),
        KILN_ENOMEM);
    kiln_device_close(device);
}

/* ---- arguments ---- */

struct saxpy_block {
    void *y;
    int64_t y_size;
    float a;
    void *x;
    int64_t x_sizes[2];
    int64_t x_strides[2];
    uint8_t flag;
};

static const char *const saxpy_types[] = {"f32[:]", "f32", "Static{3}",
                                          "f32[strided :,:]", "bool"};

static void arguments_are_packed_as_a_struct(void **state)
{
    fixture *f = *state;
    float data[6];
    const kiln_array y = {.data = data, .sizes = {6}};
    const kiln_array x = {.data = data, .sizes = {2, 3}, .strides = {3, -1}};
    const float a = 2;
    const uint8_t flag = 1;
    const void *const arguments[] = {&y, &a, NULL, &x, &flag};
    struct saxpy_block block;

    set_kernel(f, saxpy_types, 5);
    assert_int_equal(f->info.argument_bytes, sizeof block);
    assert_ok(run(f, &one, arguments, 5));

    memcpy(&block, f->recorder.arguments, sizeof block);
    assert_ptr_equal(block.y, data);
    assert_int_equal(block.y_size, 6);
    assert_true(block.a > 1 && block.a < 3);
    assert_ptr_equal(block.x, data);
    assert_int_equal(block.x_sizes[1], 3);
    assert_int_equal(block.x_strides[0], 3);
    assert_int_equal(block.x_strides[1], -1);
    assert_int_equal(block.flag, 1);
    assert_int_equal(kiln_queue_launch_count(f->queue), 1);
}

static void wrong_arguments_are_named(void **state)
{
    static const char *const types[] = {"f32[:,:]", "i64", "f64[strided :,:]",
                                        "f64[:]"};
    fixture *f = *state;
    float data[4];
    const int64_t number = 1;
    kiln_array dense = {.data = data, .sizes = {2, 2}};
    kiln_array strided = {.data = data, .sizes = {2, 2}, .strides = {1, 2}};
    kiln_array vector = {.data = data, .sizes = {4}};
    const void *arguments[] = {&dense, &number, &strided, &vector};

    set_kernel(f, types, 4);
    assert_ok(run(f, &one, arguments, 4));
    assert_fails(KILN_EINVAL, "2 arguments instead of 4",
                 run(f, &one, arguments, 2));
    arguments[1] = NULL;
    assert_fails(KILN_EINVAL, "argument 2, i64: its address is NULL",
                 run(f, &one, arguments, 4));
    arguments[1] = &number;
    dense.sizes[1] = -1;
    assert_fails(KILN_EINVAL, "argument 1, f32[:,:]: a size is negative",
                 run(f, &one, arguments, 4));
    dense.sizes[0] = dense.sizes[1] = INT64_MAX / 2;
    assert_fails(KILN_EINVAL, "sizes make more than 9223372036854775807 bytes",
                 run(f, &one, arguments, 4));
    dense.sizes[0] = dense.sizes[1] = 2;
    dense.data = NULL;
    assert_fails(KILN_EINVAL, "its data is NULL", run(f, &one, arguments, 4));
    dense.sizes[0] = 0;
    assert_ok(run(f, &one, arguments, 4));
    strided.strides[1] = INT64_MAX / 4;
    assert_fails(KILN_EINVAL, "strides are out of range",
                 run(f, &one, arguments, 4));
    strided.strides[1] = 2;
    vector = (kiln_array){.sizes = {-1}};
    assert_fails(KILN_EINVAL, "argument 4, f64[:]: a size is negative",
                 run(f, &one, arguments, 4));
    vector.sizes[0] = INT64_MAX / 8 + 1;
    assert_fails(KILN_EINVAL, "sizes make more than 9223372036854775807 bytes",
                 run(f, &one, arguments, 4));
    vector.sizes[0] = 1;
    assert_fails(KILN_EINVAL, "its data is NULL", run(f, &one, arguments, 4));
    vector.sizes[0] = 0;
    assert_ok(run(f, &one, arguments, 4));
    assert_int_equal(kiln_queue_launch_count(f->queue), 3);
}

static void large_blocks_are_packed_too(void **state)
{
    static const char *const types[] = {"i8", "Vec{f64, 256}", "i8"};
    fixture *f = *state;
    double vector[256];
    const int8_t small = 5;
    const void *const arguments[] = {&small, vector, &small};

    for (int i = 0; i < 256; i++)
        vector[i] = i;
    set_kernel(f, types, 3);
    assert_ok(run(f, &one, arguments, 3));
    assert_memory_equal(f->recorder.arguments + 8, vector, sizeof vector);
    assert_int_equal(f->recorder.arguments[8 + sizeof vector], 5);
}

/* ---- shapes ---- */

static void zero_sizes_of_a_grid_count_as_one(void **state)
{
    fixture *f = *state;
    const kiln_launch shape = {.grid = {7, 0, 0}, .block = {0, 0, 0}};

    assert_ok(run(f, &shape, NULL, 0));
    assert_int_equal(f->recorder.request.grid[0], 7);
    assert_int_equal(f->recorder.request.grid[1], 1);
    assert_int_equal(f->recorder.request.grid[2], 1);
    assert_int_equal(f->recorder.request.block[0], 0);
}

static void a_grid_out_of_range_is_refused(void **state)
{
    fixture *f = *state;
    const kiln_launch wide = {.grid = {UINT64_MAX, 1, 1}, .block = {0, 0, 0}};
    const kiln_launch large = {.grid = {1ull << 40, 1ull << 40, 1}};

    assert_fails(KILN_EINVAL,
                 "18446744073709551615,1,1 items; a grid has at most 92233",
                 run(f, &wide, NULL, 0));
    assert_fails(KILN_EINVAL, "a grid of 1099511627776,1099511627776,1 items",
                 run(f, &large, NULL, 0));
}

static void groups_keep_to_what_the_kernel_requires(void **state)
{
    fixture *f = *state;
    const kiln_launch chosen = {.grid = {64, 64, 1}, .block = {0, 0, 0}},
                      fitting = {{64, 64, 1}, {16, 2, 1}, 0},
                      other = {{64, 64, 1}, {8, 8, 1}, 0},
                      large = {{64, 64, 1}, {1u << 20, 1u << 20, 1}, 0};

    assert_ok(run(f, &other, NULL, 0));
    assert_fails(KILN_EINVAL,
                 "1048576,1048576,1 items; a group has at most 2147483647",
                 run(f, &large, NULL, 0));
    f->info.maximum_group_size = 32;
    assert_fails(KILN_EINVAL,
                 "8,8,1 items; a group of this kernel has at most 32",
                 run(f, &other, NULL, 0));
    assert_ok(run(f, &fitting, NULL, 0));
    memcpy(f->info.required_group_size, (uint32_t[3]){16, 2, 1},
           sizeof f->info.required_group_size);
    f->info.maximum_group_size = 0;
    assert_ok(run(f, &fitting, NULL, 0));
    assert_fails(KILN_EINVAL, "made for 16,2,1", run(f, &other, NULL, 0));
    assert_ok(run(f, &chosen, NULL, 0));
    assert_int_equal(f->recorder.request.block[0], 16);
    assert_int_equal(f->recorder.request.block[1], 2);
}

/* ---- exceptions and waiting ---- */

static void an_exception_becomes_an_error(void **state)
{
    fixture *f = *state;
    kiln_error *error = NULL;
    const kiln_exception *exception;

    f->recorder.raises = 1;
    assert_int_equal(
        kiln_queue_launch(f->queue, &f->kernel, &one, NULL, 0, &error),
        KILN_EEXCEPTION);
    assert_int_equal(kiln_error_status(error), KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, KILN_EXCEPTION_BOUNDS);
    assert_string_equal(exception->method, "main.k");
    assert_int_equal(exception->values[0], 5);
    kiln_error_free(error);
}

/* What lies behind its record is whatever was there. */
static void an_older_backends_exception_has_no_frames(void **state)
{
    fixture *f = *state;
    kiln_error *error = NULL;

    f->recorder.raises = 1;
    f->recorder.is_old = 1;
    assert_int_equal(
        kiln_queue_launch(f->queue, &f->kernel, &one, NULL, 0, &error),
        KILN_EEXCEPTION);
    assert_int_equal(kiln_error_exception(error)->frame_count, 0);
    assert_null(kiln_error_exception(error)->frames);
    kiln_error_free(error);
}

static void polling_says_that_work_is_left(void **state)
{
    fixture *f = *state;

    assert_int_equal(kiln_queue_poll(f->queue, &test_error), KILN_EAGAIN);
    assert_ok(kiln_queue_wait(f->queue, &test_error));
}

/* ---- homes ---- */

static void a_kernel_runs_where_it_was_loaded(void **state)
{
    fixture *f = *state;
    kiln_device *second, *host;
    kiln_queue *queue;

    assert_ok(kiln_device_open(&second, f->context, "fake", 1, &test_error));
    assert_ok(kiln_queue_new(&queue, second, &test_error));
    assert_fails(
        KILN_EINVAL, "another device",
        kiln_queue_launch(queue, &f->kernel, &one, NULL, 0, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(second);
    assert_ok(kiln_device_open(&host, f->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, host, &test_error));
    assert_fails(
        KILN_EINVAL, "another backend",
        kiln_queue_launch(queue, &f->kernel, &one, NULL, 0, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(host);
}

static void a_missing_symbol_unloads_the_module(void **state)
{
    fixture *f = *state;
    kiln_kernel broken = f->kernel;
    kiln_kernel_info info = f->info;

    info.name = "missing";
    broken.info = &info;
    broken.module = NULL;
    assert_fails(KILN_ECORRUPT, "no such symbol",
                 kiln__kernel_load(&broken, &test_error));
    assert_null(broken.module);
}

/* ---- offline ---- */

static void an_offline_device_takes_launches_and_runs_nothing(void **state)
{
    fixture *f = *state;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *far = NULL;
    kiln_kernel kernel = f->kernel;
    kiln_device *device;
    kiln_queue *queue;
    void *native;

    options.target = "fake:far";
    options.device = 7; /* not there */
    assert_ok(kiln_config_new(&far, f->context, &options, &test_error));
    kernel.config = far;
    kernel.module = NULL;
    assert_fails(KILN_ENODEVICE, "no such fake device",
                 kiln__kernel_load(&kernel, &test_error));

    assert_ok(kiln_device_open_offline(&device, f->context, far, &test_error));
    assert_contains(kiln_device_name(device), "fake:far");
    assert_ok(kiln__kernel_load(&kernel, &test_error));
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    for (int i = 0; i < 3; i++)
        assert_ok(
            kiln_queue_launch(queue, &kernel, &one, NULL, 0, &test_error));
    assert_ok(kiln_queue_wait(queue, &test_error));
    assert_int_equal(kiln_queue_launch_count(queue), 3);
    assert_int_equal(f->recorder.request.size, 0);

    kernel.config = f->config;
    assert_fails(KILN_EINVAL, "the device for fake:far",
                 kiln_queue_launch(queue, &kernel, &one, NULL, 0, &test_error));
    kiln__kernel_unload(&kernel);
    assert_fails(KILN_ENODEVICE, "offline",
                 kiln_kernel_native(&native, &kernel, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(device);
}

static void offline_buffers_read_as_written(void **state)
{
    fixture *f = *state;
    kiln_device *device;
    kiln_buffer *buffer;
    char bytes[6] = "abcde";

    assert_ok(
        kiln_device_open_offline(&device, f->context, f->config, &test_error));
    assert_ok(kiln_buffer_new(&buffer, device, 1ull << 33, &test_error));
    assert_ok(kiln_buffer_write(buffer, 1ull << 32, bytes, 6, &test_error));
    assert_ok(
        kiln_buffer_read(buffer, (1ull << 32) - 1, bytes, 6, &test_error));
    assert_int_equal(bytes[0], 0);
    assert_memory_equal(bytes + 1, "abcde", 5);
    kiln_buffer_free(buffer);
    kiln_device_close(device);
}

static kiln_status use_devices(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    kiln_buffer *buffer = NULL;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status == KILN_OK)
        status = kiln_device_open(&device, context, "host", 0, NULL);
    if (status == KILN_OK)
        status = kiln_queue_new(&queue, device, NULL);
    if (status == KILN_OK)
        status = kiln_buffer_new(&buffer, device, 100, NULL);
    kiln_buffer_free(buffer);
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
    return status;
}

static void devices_survive_a_failing_allocator(void **state)
{
    (void)state;
    assert_survives_failing_alloc(use_devices, NULL);
}

#define WITH_DEVICE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DEVICE(unknown_backends_are_errors_that_list_the_known),
        WITH_DEVICE(a_name_is_taken_once),
        WITH_DEVICE(a_table_without_a_required_function_is_refused),
        WITH_DEVICE(every_backend_is_listed_with_a_reason_for_its_absence),
        WITH_DEVICE(a_device_beyond_the_last_is_no_device),
        WITH_DEVICE(a_device_is_opened_once),
        WITH_DEVICE(contexts_and_streams_are_adopted),
        WITH_DEVICE(buffers_keep_to_their_size),
        WITH_DEVICE(host_buffers_are_aligned),
        WITH_DEVICE(arguments_are_packed_as_a_struct),
        WITH_DEVICE(wrong_arguments_are_named),
        WITH_DEVICE(large_blocks_are_packed_too),
        WITH_DEVICE(zero_sizes_of_a_grid_count_as_one),
        WITH_DEVICE(a_grid_out_of_range_is_refused),
        WITH_DEVICE(groups_keep_to_what_the_kernel_requires),
        WITH_DEVICE(an_exception_becomes_an_error),
        WITH_DEVICE(an_older_backends_exception_has_no_frames),
        WITH_DEVICE(polling_says_that_work_is_left),
        WITH_DEVICE(a_kernel_runs_where_it_was_loaded),
        WITH_DEVICE(a_missing_symbol_unloads_the_module),
        WITH_DEVICE(an_offline_device_takes_launches_and_runs_nothing),
        WITH_DEVICE(offline_buffers_read_as_written),
        cmocka_unit_test(devices_survive_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
