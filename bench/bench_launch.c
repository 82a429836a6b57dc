/* bench_launch.c - launching what is compiled. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

#include "bench_program.h"

struct launches {
    struct program program;
    const kiln_kernel *kernel;
    kiln_device *device;
    kiln_queue *queue;
    kiln_buffer *x, *y;
    uint64_t count;
};

static kiln_buffer *filled(kiln_device *device, uint64_t count)
{
    kiln_buffer *buffer;
    kiln_error *error = NULL;
    float *values = malloc(count * sizeof *values);

    if (!values)
        bench_check(KILN_ENOMEM, NULL);
    for (uint64_t i = 0; i < count; i++)
        values[i] = 1;
    bench_check(
        kiln_buffer_new(&buffer, device, count * sizeof *values, &error),
        error);
    bench_check(
        kiln_buffer_write(buffer, 0, values, count * sizeof *values, &error),
        error);
    free(values);
    return buffer;
}

static void *launch_setup(const struct bench *bench, const char **reason)
{
    struct launches *launches = calloc(1, sizeof *launches);
    kiln_error *error = NULL;

    (void)reason;
    if (!launches)
        bench_check(KILN_ENOMEM, NULL);
    launches->count = (uint64_t)bench->size;
    program_open(&launches->program, BENCH_SAXPY);
    launches->kernel = program_compile(&launches->program);
    bench_check(kiln_device_open(&launches->device, launches->program.context,
                                 "host", 0, &error),
                error);
    bench_check(kiln_queue_new(&launches->queue, launches->device, &error),
                error);
    launches->x = filled(launches->device, launches->count);
    launches->y = filled(launches->device, launches->count);
    return launches;
}

static void launch_teardown(void *state)
{
    struct launches *launches = state;

    kiln_buffer_free(launches->x);
    kiln_buffer_free(launches->y);
    kiln_queue_free(launches->queue);
    kiln_device_close(launches->device);
    program_close(&launches->program);
    free(launches);
}

static void launch(void *state, uint64_t iterations)
{
    struct launches *launches = state;
    int64_t count = (int64_t)launches->count;
    kiln_array y = {kiln_buffer_address(launches->y), {count}, {0}};
    kiln_array x = {kiln_buffer_address(launches->x), {count}, {0}};
    float a = 0;
    const void *const arguments[] = {&y, &a, &x};
    kiln_launch grid = {{launches->count, 0, 0}, {0, 0, 0}};
    kiln_error *error = NULL;

    for (uint64_t i = 0; i < iterations; i++)
        bench_check(kiln_queue_launch(launches->queue, launches->kernel, &grid,
                                      arguments, 3, &error),
                    error);
}

#define LAUNCH(title, items) \
    { \
        .name = "launch/" title, .setup = launch_setup, .run = launch, \
        .teardown = launch_teardown, .size = (items) \
    }

const struct bench bench_launches[] = {
    LAUNCH("saxpy/items=1", 1),
    LAUNCH("saxpy/items=1024", 1024),
    LAUNCH("saxpy/items=1048576", 1 << 20),
    {.name = NULL},
};
