/* bench_launch.c - launches of compiled kernels, and the host's threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <time.h>

#include "bench_program.h"

struct launches {
    struct program program;
    const kiln_kernel *kernel;
    kiln_device *device;
    kiln_queue *queue;
    kiln_buffer *x, *y;
    uint64_t count;
    kiln_launch grid;
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
        &error);
    bench_check(
        kiln_buffer_write(buffer, 0, values, count * sizeof *values, &error),
        &error);
    free(values);
    return buffer;
}

static struct launches *prepare(uint64_t count, uint32_t threads)
{
    struct launches *launches = calloc(1, sizeof *launches);
    kiln_error *error = NULL;

    if (!launches)
        bench_check(KILN_ENOMEM, NULL);
    launches->count = count;
    program_open(&launches->program, BENCH_SAXPY, threads);
    launches->kernel = program_compile(&launches->program);
    bench_check(kiln_device_open(&launches->device, launches->program.context,
                                 "host", 0, &error),
                &error);
    bench_check(kiln_queue_new(&launches->queue, launches->device, &error),
                &error);
    launches->x = filled(launches->device, count > 0 ? count : 1);
    launches->y = filled(launches->device, count > 0 ? count : 1);
    return launches;
}

static void *launch_setup(const struct bench *bench, const char **reason)
{
    struct launches *launches = prepare((uint64_t)bench->size, 0);

    (void)reason;
    launches->grid =
        (kiln_launch){.grid = {launches->count, 0, 0}, .block = {0, 0, 0}};
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
    kiln_error *error = NULL;

    for (uint64_t i = 0; i < iterations; i++)
        bench_check(kiln_queue_launch(launches->queue, launches->kernel,
                                      &launches->grid, arguments, 3, &error),
                    &error);
}

/* Groups without work, and so many that they are spread over threads. What is
   measured is distributing them and waiting for each other. The pool has its
   threads once launches have taken a while. */
#define POOL_LAUNCHES 20000

static void *pool_setup(const struct bench *bench, const char **reason)
{
    struct launches *launches = prepare(0, (uint32_t)bench->size);

    (void)reason;
    launches->grid =
        (kiln_launch){.grid = {16384, 0, 0}, .block = {4096, 0, 0}};
    launch(launches, POOL_LAUNCHES);
    return launches;
}

/* Launches after a pause in which the threads have gone to sleep. */
static void launch_late(void *state, uint64_t iterations)
{
    const struct timespec while_asleep = {.tv_nsec = 10000000};
    uint64_t start;

    (void)nanosleep(&while_asleep, NULL);
    start = bench_now_ns();
    launch(state, iterations);
    bench_set_time(bench_now_ns() - start);
}

#define LAUNCH(title, items) \
    { \
        .name = "launch/" title, .setup = launch_setup, .run = launch, \
        .teardown = launch_teardown, .size = (items) \
    }

#define POOL(title, count) \
    { \
        .name = "pool/" title, .setup = pool_setup, .run = launch, \
        .teardown = launch_teardown, .size = (count) \
    }

const struct bench bench_launches[] = {
    LAUNCH("saxpy/items=1", 1),
    LAUNCH("saxpy/items=1024", 1024),
    LAUNCH("saxpy/items=1048576", 1 << 20),
    POOL("fork-join/threads=1", 1),
    POOL("fork-join/threads=2", 2),
    {.name = "pool/wake/threads=2",
     .setup = pool_setup,
     .run = launch_late,
     .teardown = launch_teardown,
     .whole = 1,
     .size = 2},
    {.name = NULL},
};
