/* test_gpu_driver.c - the drivers of cuda and rocm, over fakes: what works. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends cuda rocm */
/* NEEDS: kiln-fake-gpu */
#include <stdlib.h>
#include <string.h>

#include "abi/heap_abi.h"
#include "backends/backend.h"
#include "backends/gpu/gpu.h"
#include "backends/handles.h"
#include "support/devices/gpu.h"
#include "support/harness.h"

#define ITEMS 512

/* ---- kernels ---- */

/* y[i] = value + i, for all items of the grid. */
static void fill_items(void *env, const fake_launch *launch)
{
    const gpu_block *block = launch->arguments;
    const int64_t items = (int64_t)launch->grid[0] * launch->block[0];

    (void)env;
    for (int64_t i = 0; i < items && i < block->size; i++)
        block->data[i] = block->value + i;
}

static void keep_launch(void *env, const fake_launch *launch)
{
    *(fake_launch *)env = *launch;
}

static void keep_block(void *env, const fake_launch *launch)
{
    assert_int_equal(launch->size, sizeof(gpu_block));
    memcpy(env, launch->arguments, sizeof(gpu_block));
}

static void raise_bounds(void *env, const fake_launch *launch)
{
    const gpu_block *block = launch->arguments;

    (void)env;
    gpu_raise(block, GPU_BOUNDS, block->value, block->size);
    gpu_raise(block, GPU_ASSERTION, 1, 0);
}

static void print_value(void *env, const fake_launch *launch)
{
    const gpu_block *block = launch->arguments;

    (void)env;
    gpu_print(block, block->value, 0.5);
}

/* ---- launches and buffers ---- */

static void a_kernel_reads_and_writes_buffers(void **state)
{
    gpu_fixture *f = *state;
    kiln_buffer *buffer;
    int64_t values[ITEMS];

    f->fake->run = fill_items;
    assert_ok(kiln_buffer_new(&buffer, f->device, sizeof values, &test_error));
    assert_int_equal((uintptr_t)kiln_buffer_address(buffer) % 64, 0);
    assert_ok(gpu_launch(f, f->queue, ITEMS, kiln_buffer_address(buffer), 7,
                         &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_ok(kiln_buffer_read(buffer, 0, values, sizeof values, &test_error));
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(values[i], 7 + i);
    kiln_buffer_free(buffer);
}

static void buffers_read_as_written(void **state)
{
    gpu_fixture *f = *state;
    kiln_buffer *buffer;
    char bytes[6] = "abcde";

    assert_ok(kiln_buffer_new(&buffer, f->device, 64, &test_error));
    assert_ok(kiln_buffer_write(buffer, 10, bytes, 6, &test_error));
    memset(bytes, 0, sizeof bytes);
    assert_ok(kiln_buffer_read(buffer, 10, bytes, 6, &test_error));
    assert_string_equal(bytes, "abcde");
    kiln_buffer_free(buffer);
    assert_ok(kiln_buffer_new(&buffer, f->device, 0, &test_error));
    kiln_buffer_free(buffer);
}

static void the_driver_gets_the_packed_block_itself(void **state)
{
    gpu_fixture *f = *state;
    gpu_block block;
    int64_t data[1];

    f->fake->run = keep_block;
    f->fake->env = &block;
    assert_ok(gpu_launch(f, f->queue, 1, data, -3, &test_error));
    assert_ptr_equal(block.data, data);
    assert_int_equal(block.size, 1);
    assert_int_equal(block.value, -3);
    assert_int_not_equal(block.state, 0);
    assert_int_not_equal(block.launch, 0);
}

static void a_kernel_that_cannot_fail_gets_no_hidden_arguments(void **state)
{
    gpu_fixture *f = *state;
    kiln_kernel_info info = *f->kernel.info;
    fake_launch seen = {0};
    int64_t data[1];

    f->fake->run = keep_launch;
    f->fake->env = &seen;
    info.hidden_arguments = 0;
    f->kernel.info = &info;
    assert_ok(gpu_launch(f, f->queue, 1, data, 0, &test_error));
    assert_int_equal(seen.size, offsetof(gpu_block, state));
}

/* What a launch saw of its heap. */
typedef struct seen_heap {
    uint64_t address;
    uint32_t pages, words, changes;
} seen_heap;

static void look_at_heap(void *env, const fake_launch *launch)
{
    const gpu_block *block = launch->arguments;
    struct kiln__heap *heap;
    seen_heap *seen = env;

    assert_int_equal(launch->size, sizeof *block + sizeof seen->address);
    memcpy(&seen->address, block + 1, sizeof seen->address);
    heap = (void *)(uintptr_t)seen->address;
    *seen = (seen_heap){seen->address, heap->pages, heap->words, heap->changes};
    heap->changes += 7;
}

static void check_heap(const gpu_vendor *of)
{
    gpu_fixture f;
    seen_heap seen[3] = {{0}};
    int64_t data[1];
    int64_t buffers;

    assert_ok(gpu_begin(&f, of, NULL));
    f.allocates = 1;
    f.fake->run = look_at_heap;
    assert_ok(gpu_open(&f, &test_error));
    assert_ok(kiln_queue_set_heap(f.queue, 10000, &test_error));
    buffers = f.fake->buffers;
    for (int i = 0; i < 3; i++) {
        f.fake->env = &seen[i];
        assert_ok(gpu_launch(&f, f.queue, 1, data, 0, &test_error));
        if (i > 0)
            assert_ok(kiln_queue_wait(f.queue, &test_error));
    }

    assert_int_equal(f.fake->buffers, buffers + 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen[i].address, seen[0].address);
        assert_int_equal(seen[i].pages, 3);
        assert_int_equal(seen[i].words, kiln__heap_measure(10000).size / 4);
        /* Cleared when the work is done. */
        assert_int_equal(seen[i].changes, i == 1 ? 7 : 0);
    }
    gpu_end(&f);
    gpu_assert_balanced(f.fake);
}

static void a_kernel_that_allocates_gets_the_queues_heap(void **state)
{
    (void)state;
    check_heap(&gpu_cuda);
    check_heap(&gpu_rocm);
}

static void a_grid_is_cut_into_groups(void **state)
{
    gpu_fixture *f = *state;
    fake_launch seen = {0};
    int64_t data[1];
    const int64_t value = 0;
    const kiln_array array = {.data = data, .sizes = {1}};
    const void *const arguments[] = {&array, &value};

    f->fake->run = keep_launch;
    f->fake->env = &seen;
    assert_ok(gpu_launch(f, f->queue, 1 << 20, data, 0, &test_error));
    assert_int_equal(seen.block[0], 256);
    assert_int_equal(seen.grid[0], 4096);
    assert_int_equal(seen.shared_bytes, 0);
    assert_ok(kiln_queue_launch(
        f->queue, &f->kernel,
        &(kiln_launch){.grid = {64, 6, 4}, .block = {32, 3, 2}}, arguments, 2,
        &test_error));
    assert_int_equal(seen.block[1], 3);
    assert_int_equal(seen.grid[0] * 100 + seen.grid[1] * 10 + seen.grid[2],
                     222);
    /* The function's own limit, half of the device's. */
    assert_ok(
        kiln_queue_launch(f->queue, &f->kernel,
                          &(kiln_launch){.grid = {512}, .block = {512, 1, 1}},
                          arguments, 2, &test_error));
    assert_fails(
        KILN_EINVAL, "at most 512",
        kiln_queue_launch(f->queue, &f->kernel,
                          &(kiln_launch){.grid = {1024}, .block = {1024, 1, 1}},
                          arguments, 2, &test_error));
    assert_fails(KILN_EINVAL, "the device takes",
                 kiln_queue_launch(
                     f->queue, &f->kernel,
                     &(kiln_launch){.grid = {1, 1 << 20}, .block = {1, 1, 1}},
                     arguments, 2, &test_error));
}

static void what_was_current_stays_current(void **state)
{
    gpu_fixture *f = *state;
    void *mine = f->context_new(0);
    kiln_buffer *buffer;
    int64_t data[1];

    if (strcmp(f->of->backend, "cuda") == 0) {
        f->set_current(mine);
        assert_ok(gpu_launch(f, f->queue, 1, data, 0, &test_error));
        assert_ok(kiln_queue_wait(f->queue, &test_error));
        assert_ok(kiln_buffer_new(&buffer, f->device, 8, &test_error));
        kiln_buffer_free(buffer);
        assert_ptr_equal(f->current(), mine);
        f->set_current(NULL);
    }
    assert_ok(gpu_launch(f, f->queue, 1, data, 0, &test_error));
    f->context_end(mine);
}

static void the_device_has_its_drivers_name(void **state)
{
    gpu_fixture *f = *state;

    assert_string_equal(kiln_device_name(f->device), "Fake GPU");
}

static void memory_of_the_state_is_seen_by_both_sides(void **state)
{
    gpu_fixture *f = *state;
    const int mapped = 2, portable = 1;

    assert_int_equal(f->fake->host_flags & (mapped | portable),
                     mapped | portable);
    if (strcmp(f->of->backend, "rocm") == 0)
        assert_int_not_equal(f->fake->host_flags & 0x40000000, 0);
}

/* ---- exceptions and prints ---- */

static void the_first_exception_wins(void **state)
{
    gpu_fixture *f = *state;
    const kiln_exception *exception;
    kiln_error *error = NULL;

    f->fake->run = raise_bounds;
    assert_ok(gpu_launch(f, f->queue, 10, (int64_t[10]){0}, 12, &test_error));
    assert_int_equal(kiln_queue_wait(f->queue, &error), KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_int_equal(exception->kind, KILN_EXCEPTION_BOUNDS);
    assert_string_equal(exception->kernel, "main.entry(f32[:])");
    assert_string_equal(exception->method, "main.f");
    assert_int_equal(exception->ordinal, 7);
    assert_int_equal(exception->item[0], 12);
    assert_contains(kiln_error_message(error), "index 12, size 10");
    kiln_error_free(error);
    /* The queue goes on. */
    f->fake->run = NULL;
    assert_ok(gpu_launch(f, f->queue, 10, (int64_t[10]){0}, 0, &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
}

static void polling_finds_an_exception_while_work_is_left(void **state)
{
    gpu_fixture *f = *state;
    int64_t data[1];

    f->fake->run = raise_bounds;
    f->fake->is_held = 1;
    assert_ok(gpu_launch(f, f->queue, 1, data, 1, &test_error));
    assert_status(KILN_EEXCEPTION, kiln_queue_poll(f->queue, &test_error));
    assert_status(KILN_EAGAIN, kiln_queue_poll(f->queue, &test_error));
    f->fake->is_held = 0;
    assert_ok(kiln_queue_poll(f->queue, &test_error));
}

static void what_is_printed_comes_at_the_wait(void **state)
{
    gpu_fixture *f = *state;
    int64_t data[1];

    f->fake->run = print_value;
    for (int64_t i = 1; i <= 3; i++)
        assert_ok(gpu_launch(f, f->queue, 1, data, i, &test_error));
    assert_string_equal(f->heard.text, "");
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_string_equal(f->heard.text, "value 1, other 0.5\n"
                                       "value 2, other 0.5\n"
                                       "value 3, other 0.5\n");
}

static void queues_have_states_of_their_own(void **state)
{
    gpu_fixture *f = *state;
    kiln_queue *other;
    int64_t data[1];

    assert_ok(kiln_queue_new(&other, f->device, &test_error));
    f->fake->run = raise_bounds;
    assert_ok(gpu_launch(f, other, 1, data, 1, &test_error));
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_status(KILN_EEXCEPTION, kiln_queue_wait(other, &test_error));
    kiln_queue_free(other);
}

static void an_exception_of_a_kernel_that_is_gone_is_one(void **state)
{
    gpu_fixture *f = *state;
    int64_t data[1];

    f->fake->run = raise_bounds;
    assert_ok(gpu_launch(f, f->queue, 1, data, 1, &test_error));
    kiln__kernel_unload(&f->kernel);
    assert_fails(KILN_EEXCEPTION, "no loaded kernel",
                 kiln_queue_wait(f->queue, &test_error));
}

/* ---- contexts ---- */

static void a_kernel_is_loaded_once_for_each_who_asks(void **state)
{
    gpu_fixture *f = *state;
    kiln_kernel other;

    assert_ok(gpu_load(f, &other, 0, &test_error));
    assert_int_equal(f->fake->loads, 2);
    assert_int_equal(f->fake->retained,
                     strcmp(f->of->backend, "cuda") == 0 ? 1 : 0);
    kiln__kernel_unload(&other);
    assert_int_equal(f->fake->modules, 1);
}

static void share_between_devices(const gpu_vendor *of)
{
    gpu_fixture f;
    kiln_kernel first, second;
    kiln_device *device;
    kiln_queue *queue;
    int64_t data[ITEMS];

    assert_ok(gpu_begin(&f, of, NULL));
    f.fake->device_count = 2;
    f.fake->run = fill_items;
    assert_ok(gpu_open(&f, &test_error));
    first = f.kernel;
    assert_ok(gpu_load(&f, &second, 1, &test_error));
    assert_int_equal(f.fake->loads, 2);
    assert_ok(
        kiln_device_open(&device, f.context, of->backend, 1, &test_error));
    assert_string_equal(kiln_device_name(device), "Fake GPU 1");
    assert_ok(kiln_queue_new(&queue, device, &test_error));
    assert_fails(KILN_EINVAL, "another device",
                 gpu_launch(&f, queue, ITEMS, data, 3, &test_error));
    f.kernel = second;
    assert_ok(gpu_launch(&f, queue, ITEMS, data, 3, &test_error));
    assert_int_equal(data[ITEMS - 1], 3 + ITEMS - 1);
    f.kernel = first;
    assert_ok(gpu_launch(&f, f.queue, ITEMS, data, 4, &test_error));
    assert_int_equal(data[0], 4);
    kiln_queue_free(queue);
    kiln__kernel_unload(&second);
    kiln_device_close(device);
    gpu_end(&f);
    gpu_assert_balanced(f.fake);
}

static void two_devices_share_one_artifact(void **state)
{
    (void)state;
    share_between_devices(&gpu_cuda);
    share_between_devices(&gpu_rocm);
}

/* Of HIP a context is a device, and its own module is not loaded again. */
static void an_adopted_context_gets_its_own_module(void **state)
{
    gpu_fixture *f = *state;
    const int is_cuda = strcmp(f->of->backend, "cuda") == 0;
    void *mine = f->context_new(0);
    void *stream = f->stream_new(mine, 0);
    kiln_device *device;
    kiln_queue *queue;
    int64_t data[ITEMS];

    if (is_cuda)
        f->fake->run = fill_items;
    assert_ok(kiln_device_adopt(&device, f->context, f->of->backend, mine,
                                &test_error));
    if (!is_cuda) {
        f->stream_end(stream);
        f->set_current((void *)1);
        assert_ok(kiln_queue_new(&queue, device, &test_error));
    } else {
        assert_ok(kiln_queue_adopt(&queue, device, stream, &test_error));
    }
    assert_int_equal(f->fake->loads, 1);
    assert_ok(gpu_launch(f, queue, ITEMS, data, 5, &test_error));
    assert_ok(gpu_launch(f, queue, ITEMS, data, 5, &test_error));
    assert_ok(gpu_launch(f, f->queue, ITEMS, data, 5, &test_error));
    assert_int_equal(f->fake->loads, is_cuda ? 2 : 1);
    assert_ok(kiln_queue_wait(queue, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(device);
    assert_int_equal(f->fake->modules, 1);
    assert_ok(gpu_launch(f, f->queue, ITEMS, data, 5, &test_error));
    if (is_cuda)
        f->stream_end(stream);
    f->context_end(mine);
}

static void a_context_that_is_adopted_twice_is_one(void **state)
{
    gpu_fixture *f = *state;
    void *mine = f->context_new(0);
    kiln_device *first, *second;
    kiln_queue *queue;
    int64_t data[1];

    assert_ok(kiln_device_adopt(&first, f->context, f->of->backend, mine,
                                &test_error));
    assert_ok(kiln_device_adopt(&second, f->context, f->of->backend, mine,
                                &test_error));
    assert_ok(kiln_queue_new(&queue, first, &test_error));
    assert_ok(gpu_launch(f, queue, 1, data, 0, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(first);
    assert_ok(kiln_queue_new(&queue, second, &test_error));
    assert_ok(gpu_launch(f, queue, 1, data, 0, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(second);
    assert_ok(kiln_device_adopt(&first, f->context, f->of->backend, mine,
                                &test_error));
    assert_ok(kiln_queue_new(&queue, first, &test_error));
    assert_ok(gpu_launch(f, queue, 1, data, 0, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(first);
    f->context_end(mine);
}

/* ---- captures ---- */

/* A queue on a stream of ours that is being captured. */
static kiln_queue *captured_queue(gpu_fixture *f, void **stream,
                                  int is_blocking)
{
    kiln_queue *queue = NULL;
    void *context;

    assert_ok(kiln_queue_wait(f->queue, &test_error));
    context = ((kiln__gpu_context *)f->device->handle)->native;
    if (strcmp(f->of->backend, "rocm") == 0) {
        f->set_current((void *)1);
        context = NULL;
    }
    *stream = f->stream_new(context, is_blocking);
    assert_ok(kiln_queue_adopt(&queue, f->device, *stream, &test_error));
    f->capture(*stream, 1);
    return queue;
}

static void a_launch_becomes_part_of_a_capture(void **state)
{
    gpu_fixture *f = *state;
    void *stream;
    kiln_queue *queue = captured_queue(f, &stream, 0);
    int64_t data[1];

    if (strcmp(f->of->backend, "cuda") == 0) {
        assert_ok(gpu_launch(f, queue, 1, data, 0, &test_error));
        assert_int_equal(f->fake->captured, 1);
    }
    assert_fails(KILN_EBUSY, "captured", kiln_queue_wait(queue, &test_error));
    assert_fails(KILN_EBUSY, "captured", kiln_queue_poll(queue, &test_error));
    assert_false(f->fake->capture_broken);
    f->capture(stream, 0);
    kiln_queue_free(queue);
    f->stream_end(stream);
}

static void nothing_is_loaded_inside_a_capture(void **state)
{
    gpu_fixture *f = *state;
    void *stream;
    kiln_queue *queue = captured_queue(f, &stream, 0);
    kiln_kernel late;

    assert_fails(KILN_EBUSY, "compile before",
                 gpu_load(f, &late, 0, &test_error));
    assert_int_equal(f->fake->loads, 1);
    assert_false(f->fake->capture_broken);
    f->capture(stream, 0);
    assert_ok(gpu_load(f, &late, 0, &test_error));
    kiln__kernel_unload(&late);
    kiln_queue_free(queue);
    f->stream_end(stream);
}

static void a_capture_of_a_stream_that_is_not_ours_is_noticed(void **state)
{
    gpu_fixture *f = *state;
    void *stream = f->stream_new(NULL, 1);
    kiln_kernel late;

    f->capture(stream, 1);
    assert_fails(KILN_EBUSY, "compile before",
                 gpu_load(f, &late, 0, &test_error));
    assert_false(f->fake->capture_broken);
    f->stream_end(stream);
}

/* One that nothing shows: loading, memory and unloading let it go on. */
static void a_capture_that_cannot_be_seen_goes_on(void **state)
{
    gpu_fixture *f = *state;
    void *stream = f->stream_new(NULL, 0);
    kiln_kernel late;
    kiln_queue *queue;
    kiln_buffer *buffer;
    char byte = 1;

    f->capture(stream, 1);
    assert_ok(gpu_load(f, &late, 0, &test_error));
    assert_ok(kiln_queue_new(&queue, f->device, &test_error));
    assert_ok(kiln_buffer_new(&buffer, f->device, 8, &test_error));
    assert_ok(kiln_buffer_write(buffer, 0, &byte, 1, &test_error));
    kiln_buffer_free(buffer);
    kiln_queue_free(queue);
    kiln__kernel_unload(&late);
    assert_false(f->fake->capture_broken);
    f->stream_end(stream);
}

/* ---- native launches ---- */

static void a_runtime_may_launch_by_itself(void **state)
{
    gpu_fixture *f = *state;
    kiln_native_launch native = {.size = sizeof native};
    kiln_native_launch again = {.size = sizeof again};
    gpu_block ours, theirs;
    void *function = NULL;
    int64_t data[1];

    assert_ok(kiln_kernel_native(&function, &f->kernel, &test_error));
    assert_ok(kiln_queue_native(&native, f->queue, &f->kernel, &test_error));
    assert_ptr_equal(native.function, function);
    assert_int_equal(native.hidden_count, KILN__HIDDEN_COUNT);
    f->fake->run = keep_block;
    f->fake->env = &ours;
    assert_ok(gpu_launch(f, f->queue, 1, data, 4, &test_error));
    assert_int_equal(native.hidden[0], ours.state);
    assert_int_equal(native.hidden[1], ours.launch);
    assert_ok(kiln_queue_native(&again, f->queue, &f->kernel, &test_error));
    assert_memory_equal(&again, &native, sizeof native);

    theirs = (gpu_block){.value = 1,
                         .size = 1,
                         .state = native.hidden[0],
                         .launch = native.hidden[1]};
    gpu_raise(&theirs, GPU_ASSERTION, 0, 0);
    gpu_print(&theirs, 2, 1);
    assert_fails(KILN_EEXCEPTION, "x > 0",
                 kiln_queue_poll(f->queue, &test_error));
    assert_string_equal(f->heard.text, "value 2, other 1\n");
}

/* Kiln does not know when such a launch uses the heap: it stays, and whenever
   nothing is left to run it is cleared. */
static void the_heap_of_who_launches_by_himself_stays(void **state)
{
    gpu_fixture *f = *state;
    kiln_kernel_info info = *f->kernel.info;
    kiln_native_launch native = {.size = sizeof native};
    struct kiln__heap *heap;

    info.allocates = 1;
    info.hidden_arguments = KILN__HIDDEN_HEAP;
    f->kernel.info = &info;
    assert_ok(kiln_queue_native(&native, f->queue, &f->kernel, &test_error));
    heap = (struct kiln__heap *)(uintptr_t)native.hidden[2];
    assert_non_null(heap);
    for (int i = 0; i < 3; i++) {
        heap->changes = 7;
        assert_ok(kiln_queue_poll(f->queue, &test_error));
        assert_int_equal(heap->changes, 0);
    }
    assert_fails(KILN_EBUSY, "stays",
                 kiln_queue_set_heap(f->queue, 4096, &test_error));
    heap->changes = 7;
    f->fake->is_held = 1;
    assert_ok(gpu_launch(f, f->queue, 1, (int64_t[1]){0}, 1, &test_error));
    assert_status(KILN_EAGAIN, kiln_queue_poll(f->queue, &test_error));
    assert_int_equal(heap->changes, 7);
    f->fake->is_held = 0;
    assert_ok(kiln_queue_wait(f->queue, &test_error));
    assert_int_equal(heap->changes, 0);
}

/* The size of dynamic group memory is the caller's. */
static void who_launches_by_himself_says_how_much_memory(void **state)
{
    gpu_fixture *f = *state;
    kiln_kernel_info info = *f->kernel.info;
    kiln_native_launch native = {.size = sizeof native};

    info.dynamic_local = 1;
    info.hidden_arguments = KILN__HIDDEN_MOST;
    f->kernel.info = &info;
    assert_ok(kiln_queue_native(&native, f->queue, &f->kernel, &test_error));
    assert_int_equal(native.hidden_count, 4);
    assert_int_not_equal(native.hidden[0], 0);
    assert_int_equal(native.hidden[2], 0);
    assert_int_equal(native.hidden[3], 0);
}

/* Who launches whole groups passes on what Kiln says of the grid. */
static void the_grid_is_whole_groups_unless_its_sizes_are_given(void **state)
{
    gpu_fixture *f = *state;
    kiln__gpu_function *function = f->kernel.function;
    const kiln_kernel_info *own = function->info;
    kiln_kernel_info info = *own;
    kiln_native_launch native = {.size = sizeof native};

    info.any_block = 1;
    info.hidden_arguments = KILN__HIDDEN_COUNT + KILN__CUT_SIZES;
    f->kernel.info = &info;
    function->info = &info;
    assert_ok(kiln_queue_native(&native, f->queue, &f->kernel, &test_error));
    assert_int_equal(native.hidden_count, 5);
    assert_int_not_equal(native.hidden[0], 0);
    for (int i = 2; i < 5; i++)
        assert_true(native.hidden[i] == UINT64_MAX);
    info.hidden_arguments = KILN__CUT_SIZES;
    assert_ok(kiln_queue_native(&native, f->queue, &f->kernel, &test_error));
    assert_int_equal(native.hidden_count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(native.hidden[i] == UINT64_MAX);
    function->info = own;
}

static void an_older_caller_gets_what_it_knows(void **state)
{
    gpu_fixture *f = *state;
    kiln_native_launch native = {.size = offsetof(kiln_native_launch, hidden)};

    assert_ok(kiln_queue_native(&native, f->queue, &f->kernel, &test_error));
    assert_non_null(native.function);
    assert_int_equal(native.hidden[0], 0);
    assert_int_equal(native.size, offsetof(kiln_native_launch, hidden));
}

static void the_host_lets_nobody_launch_by_himself(void **state)
{
    gpu_fixture *f = *state;
    kiln_native_launch native = {.size = sizeof native};
    kiln_device *host;
    kiln_queue *queue;

    assert_ok(kiln_device_open(&host, f->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&queue, host, &test_error));
    assert_fails(KILN_EINVAL, "another backend",
                 kiln_queue_native(&native, queue, &f->kernel, &test_error));
    kiln_queue_free(queue);
    kiln_device_close(host);
}

#define with_cuda(test) \
    { \
        "cuda: " #test, test, gpu_setup_cuda, gpu_teardown, NULL \
    }
#define with_rocm(test) \
    { \
        "rocm: " #test, test, gpu_setup_rocm, gpu_teardown, NULL \
    }
#define with_both(test) with_cuda(test), with_rocm(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_both(a_kernel_reads_and_writes_buffers),
        with_both(buffers_read_as_written),
        with_both(the_driver_gets_the_packed_block_itself),
        with_both(a_kernel_that_cannot_fail_gets_no_hidden_arguments),
        cmocka_unit_test(a_kernel_that_allocates_gets_the_queues_heap),
        with_both(a_grid_is_cut_into_groups),
        with_both(what_was_current_stays_current),
        with_both(the_device_has_its_drivers_name),
        with_both(memory_of_the_state_is_seen_by_both_sides),
        with_both(the_first_exception_wins),
        with_both(polling_finds_an_exception_while_work_is_left),
        with_both(what_is_printed_comes_at_the_wait),
        with_both(queues_have_states_of_their_own),
        with_both(an_exception_of_a_kernel_that_is_gone_is_one),
        with_both(a_kernel_is_loaded_once_for_each_who_asks),
        cmocka_unit_test(two_devices_share_one_artifact),
        with_both(an_adopted_context_gets_its_own_module),
        with_both(a_context_that_is_adopted_twice_is_one),
        with_both(a_launch_becomes_part_of_a_capture),
        with_both(nothing_is_loaded_inside_a_capture),
        with_both(a_capture_of_a_stream_that_is_not_ours_is_noticed),
        with_both(a_capture_that_cannot_be_seen_goes_on),
        with_both(a_runtime_may_launch_by_itself),
        with_both(the_heap_of_who_launches_by_himself_stays),
        with_both(who_launches_by_himself_says_how_much_memory),
        with_both(the_grid_is_whole_groups_unless_its_sizes_are_given),
        with_both(an_older_caller_gets_what_it_knows),
        with_both(the_host_lets_nobody_launch_by_himself),
    };

    return cmocka_run_group_tests_name("gpu_driver", tests, NULL, NULL);
}
