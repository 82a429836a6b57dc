/* bench_reduce.c - device-wide reductions, compared with plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain_dot.h"

#define COUNT (1 << 20)
#define BLOCK 64
#define GROUPS 18                  /* groups of a device-wide reduction */
#define GROUPS_MAX (COUNT / BLOCK) /* groups of a launch over all elements */

enum { DOT, SUM, MAXIMUM, GROUP_SUM, KERNELS };

static const char text[] = "import reduce: dot, sum, maximum\n"
                           "fn add(a, b) = a + b\n"
                           "kernel group_sum(out, x)\n"
                           "    s = group_reduce(add, x[global_id(0)])\n"
                           "    if local_id(0) == 0\n"
                           "        out[group_id(0)] = s\n"
                           "    end\n"
                           "end\n";
static const char *const names[KERNELS] = {"dot", "sum", "maximum",
                                           "group_sum"};

struct reduction {
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_kernel *kernels[KERNELS];
    float *x, *y;
    float partial[GROUPS_MAX], result; /* one sum for each group */
    int threads;
};

static const kiln_kernel *compile(const struct reduction *r, int kernel)
{
    const kiln_type *array;
    const kiln_type *types[3];
    kiln_signature signature = {NULL, types, kernel == DOT ? 3u : 2u};
    const kiln_kernel *compiled;
    kiln_error *error = NULL;
    kiln_status status = kiln_type_array(
        &array, r->context, kiln_type_scalar(r->context, KILN_TYPE_F32), 1, 0,
        &error);

    bench_check(status, &error);
    types[0] = types[1] = types[2] = array;
    status = kiln_package_function(&signature.function, r->package,
                                   names[kernel], &error);
    bench_check(status, &error);
    status = kiln_compile(&compiled, r->context, &signature, r->config, NULL,
                          &error);
    bench_check(status, &error);
    return compiled;
}

static void open_context(struct reduction *r, int threads)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_error *error = NULL;
    kiln_status status;

    options.threads = (uint32_t)threads;
    status = kiln_context_new(&r->context, &options, &error);
    bench_check(status, &error);
    status = kiln_config_new(&r->config, r->context, NULL, &error);
    bench_check(status, &error);
    status = kiln_package_new(&r->package, r->context, "bench", &error);
    bench_check(status, &error);
    status = kiln_package_define(r->package, "bench", text, sizeof text - 1,
                                 NULL, &error);
    bench_check(status, &error);
    status = kiln_device_open(&r->device, r->context, "host", 0, &error);
    bench_check(status, &error);
    status = kiln_queue_new(&r->queue, r->device, &error);
    bench_check(status, &error);
}

static void *setup(const struct bench *bench, const char **reason)
{
    struct reduction *r = calloc(1, sizeof *r);

    if (strstr(bench->name, "/plain-c/") && bench->size > 1 &&
        !plain_dot_has_threads()) {
        *reason = "no OpenMP";
        free(r);
        return NULL;
    }
    if (r) {
        r->x = aligned_alloc(64, COUNT * sizeof *r->x);
        r->y = aligned_alloc(64, COUNT * sizeof *r->y);
    }
    if (!r || !r->x || !r->y)
        bench_check(KILN_ENOMEM, NULL);
    r->threads = (int)bench->size;
    for (int i = 0; i < COUNT; i++) {
        r->x[i] = (float)(i % 7) / 2;
        r->y[i] = (float)(i % 5) - 1.5f;
    }
    open_context(r, r->threads);
    for (int k = 0; k < KERNELS; k++)
        r->kernels[k] = compile(r, k);
    return r;
}

static void teardown(void *state)
{
    struct reduction *r = state;

    kiln_queue_free(r->queue);
    kiln_device_close(r->device);
    kiln_context_free(r->context);
    free(r->x);
    free(r->y);
    free(r);
}

static void launch(struct reduction *r, int kernel, uint64_t grid,
                   uint32_t block, kiln_array to, kiln_array x)
{
    kiln_array y = {r->y, {COUNT}, {0}};
    const void *const arguments[] = {&to, &x, &y};
    const kiln_launch shape = {.grid = {grid, 0, 0}, .block = {block, 0, 0}};
    kiln_error *error = NULL;
    const kiln_status status =
        kiln_queue_launch(r->queue, r->kernels[kernel], &shape, arguments,
                          kernel == DOT ? 3 : 2, &error);

    bench_check(status, &error);
}

/* Both launches of a reduction. */
static void reduce(struct reduction *r, int kernel, int finish)
{
    const kiln_array x = {r->x, {COUNT}, {0}};
    const kiln_array partial = {r->partial, {GROUPS}, {0}};
    const kiln_array result = {&r->result, {1}, {0}};

    launch(r, kernel, (uint64_t)BLOCK * GROUPS, BLOCK, partial, x);
    launch(r, finish, GROUPS, GROUPS, result, partial);
}

static void run_dot(void *state, uint64_t iterations)
{
    struct reduction *r = state;

    for (uint64_t i = 0; i < iterations; i++)
        reduce(r, DOT, SUM);
    if (fabsf(r->result - plain_dot(r->x, r->y, COUNT, 1)) > 1)
        bench_check(KILN_EINVAL, NULL);
}

static void run_sum(void *state, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        reduce(state, SUM, SUM);
}

static void run_maximum(void *state, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        reduce(state, MAXIMUM, MAXIMUM);
}

static void run_plain(void *state, uint64_t iterations)
{
    struct reduction *r = state;

    for (uint64_t i = 0; i < iterations; i++) {
        r->result = plain_dot(r->x, r->y, COUNT, r->threads);
        BENCH_KEEP(r->result);
    }
}

/* Each iteration runs one group, with an operator of its own. */
static void run_groups(void *state, uint64_t iterations)
{
    struct reduction *r = state;
    const kiln_array x = {r->x, {COUNT}, {0}};
    const kiln_array to = {r->partial, {GROUPS_MAX}, {0}};

    while (iterations > 0) {
        const uint64_t now = iterations < GROUPS_MAX ? iterations : GROUPS_MAX;

        launch(r, GROUP_SUM, now * BLOCK, BLOCK, to, x);
        iterations -= now;
    }
}

#define REDUCE(title, function, count) \
    { \
        .name = "reduce/" title, .setup = setup, .run = (function), \
        .teardown = teardown, .size = (count) \
    }

const struct bench bench_reductions[] = {
    REDUCE("dot/kiln/threads=1", run_dot, 1),
    REDUCE("dot/plain-c/threads=1", run_plain, 1),
    REDUCE("dot/kiln/threads=2", run_dot, 2),
    REDUCE("dot/plain-c/threads=2", run_plain, 2),
    REDUCE("sum/kiln/threads=1", run_sum, 1),
    REDUCE("maximum/kiln/threads=1", run_maximum, 1),
    REDUCE("group/items=64", run_groups, 1),
    {.name = NULL},
};
