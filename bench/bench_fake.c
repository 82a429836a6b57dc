/* bench_fake.c - what a launch costs beyond the driver's own call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/support/fake_gpu/fake_gpu.h"
#include "bench_program.h"

/*
 * The driver is the tests' fake one, which does nothing here. So the first
 * figure is Kiln's code and some calls that do nothing, and the second one is a
 * single such call.
 */

struct config;

struct fakes {
    struct program program;
    fake_gpu *fake;
    const kiln_kernel *kernel;
    kiln_device *device;
    kiln_queue *queue;
    fake_gpu_set_current_fn *set_current;
    int32_t (*retain)(void **context, int device);
    int32_t (*call)(const struct config *config, void *function,
                    void **parameters, void **extra);
};

#ifdef BENCH_FAKE_CUDA

static void take_symbol(void *to, void *library, const char *name)
{
    void *address = dlsym(library, name);

    if (!address)
        bench_check(KILN_ENOTFOUND, NULL);
    memcpy(to, &address, sizeof address);
}

static int open_fake(struct fakes *fakes)
{
    void *library = dlopen(BENCH_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    fake_gpu_reset_fn *reset;

    if (!library)
        return 0;
    take_symbol(&reset, library, "fake_gpu_reset");
    take_symbol(&fakes->set_current, library, "fake_gpu_set_current");
    take_symbol(&fakes->retain, library, "cuDevicePrimaryCtxRetain");
    take_symbol(&fakes->call, library, "cuLaunchKernelEx");
    fakes->fake = reset();
    return setenv("KILN_CUDA_DRIVER", BENCH_FAKE_CUDA, 1) == 0;
}

static void compile(struct fakes *fakes)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;

    program_open(&fakes->program, BENCH_SAXPY, 0);
    options.target = "cuda:sm_80";
    bench_check(kiln_config_new(&fakes->program.config, fakes->program.context,
                                &options, &error),
                &error);
    fakes->kernel = program_compile(&fakes->program);
    bench_check(kiln_device_open(&fakes->device, fakes->program.context, "cuda",
                                 0, &error),
                &error);
    bench_check(kiln_queue_new(&fakes->queue, fakes->device, &error), &error);
}

#endif

static void *fake_setup(const struct bench *bench, const char **reason)
{
#ifdef BENCH_FAKE_CUDA
    struct fakes *fakes = calloc(1, sizeof *fakes);

    if (!fakes)
        bench_check(KILN_ENOMEM, NULL);
    if (open_fake(fakes)) {
        void *context = NULL;

        compile(fakes);
        /* As is common, the context is the caller's own. */
        if (bench->size && fakes->retain(&context, 0) == 0)
            fakes->set_current(context);
        (void)unsetenv("KILN_CUDA_DRIVER");
        fakes->fake->is_quick = 1;
        return fakes;
    }
    free(fakes);
#endif
    (void)bench;
    *reason = "the tests' fake driver is not in this build";
    return NULL;
}

static void fake_teardown(void *state)
{
    struct fakes *fakes = state;

    kiln_queue_free(fakes->queue);
    kiln_device_close(fakes->device);
    program_close(&fakes->program);
    free(fakes);
}

static void fake_launches(void *state, uint64_t iterations)
{
    struct fakes *fakes = state;
    float values[1] = {0}, a = 0;
    kiln_array y = {values, {1}, {0}};
    const void *const arguments[] = {&y, &a, &y};
    const kiln_launch grid = {.grid = {1 << 20, 0, 0}, .block = {0, 0, 0}};
    kiln_error *error = NULL;

    for (uint64_t i = 0; i < iterations; i++)
        bench_check(kiln_queue_launch(fakes->queue, fakes->kernel, &grid,
                                      arguments, 3, &error),
                    &error);
}

static void fake_calls(void *state, uint64_t iterations)
{
    struct fakes *fakes = state;
    uint64_t config[8] = {0}; /* as large as the driver's own */

    for (uint64_t i = 0; i < iterations; i++) {
        void *extra[] = {NULL, config, NULL, &i, NULL};

        bench_check(fakes->call((void *)config, NULL, NULL, extra) == 0
                        ? KILN_OK
                        : KILN_EDEVICE,
                    NULL);
    }
}

const struct bench bench_fakes[] = {
    {.name = "launch/cuda-fake",
     .setup = fake_setup,
     .run = fake_launches,
     .teardown = fake_teardown,
     .size = 1},
    {.name = "launch/cuda-fake/other-context",
     .setup = fake_setup,
     .run = fake_launches,
     .teardown = fake_teardown},
    {.name = "launch/cuda-fake/driver-alone",
     .setup = fake_setup,
     .run = fake_calls,
     .teardown = fake_teardown},
    {.name = NULL},
};
