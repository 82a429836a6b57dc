/* native.c - a runtime that launches kernels by itself, with CUDA's driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The runtime has a context and a stream, as every program that uses CUDA. The
 * driver is opened by name, since this file is built without CUDA's headers.
 * docs/embedding.md quotes it; a test runs it with a driver for the processor.
 */

enum { ITEMS = 1000, GROUP = 128 };

static int (*cuInit)(unsigned);
static int (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuCtxPushCurrent)(void *);
static int (*cuStreamCreate)(void **, unsigned);
static int (*cuStreamSynchronize)(void *);
static int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, void *, void **,
                             void **);

static void *const CU_LAUNCH_PARAM_BUFFER_POINTER = (void *)1;
static void *const CU_LAUNCH_PARAM_BUFFER_SIZE = (void *)2;
static void *const CU_LAUNCH_PARAM_END = NULL;

static kiln_error *error;
static kiln_context *context;
static kiln_device *device;
static kiln_queue *queue;
static void *stream;

#define FUNCTION(name, symbol) \
    ((*(void **)(void *)&(name) = dlsym(library, symbol)) != NULL)

static int open_driver(void)
{
    const char *path = getenv("KILN_CUDA_DRIVER");
    void *library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);

    return library != NULL && FUNCTION(cuInit, "cuInit") &&
           FUNCTION(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") &&
           FUNCTION(cuCtxPushCurrent, "cuCtxPushCurrent_v2") &&
           FUNCTION(cuStreamCreate, "cuStreamCreate") &&
           FUNCTION(cuStreamSynchronize, "cuStreamSynchronize") &&
           FUNCTION(cuLaunchKernel, "cuLaunchKernel");
}

/* Begins as a program that uses CUDA, and lets Kiln adopt the stream. */
static int begin(void)
{
    void *native = NULL;

    if (cuInit(0) != 0 || cuDevicePrimaryCtxRetain(&native, 0) != 0 ||
        cuCtxPushCurrent(native) != 0 || cuStreamCreate(&stream, 1) != 0)
        return 0;
    return kiln_context_new(&context, NULL, &error) == KILN_OK &&
           kiln_device_adopt(&device, context, "cuda", native, &error) ==
               KILN_OK &&
           kiln_queue_adopt(&queue, device, stream, &error) == KILN_OK;
}

static const kiln_kernel *compile(void)
{
    static const char text[] = "kernel scale(y: f32[:], a: f32)\n"
                               "    i = global_id(0)\n"
                               "    y[i] = a * y[i] + f32(global_size(0))\n"
                               "end\n";
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_type *types[2];
    kiln_signature scale = {NULL, types, 2};
    const kiln_config *config;
    const kiln_kernel *kernel = NULL;
    kiln_package *package;

    options.target = "cuda";
    if (kiln_config_new(&config, context, &options, &error) ||
        kiln_package_new(&package, context, "main", &error) ||
        kiln_package_define(package, "scale", text, sizeof text - 1, 0,
                            &error) ||
        kiln_package_function(&scale.function, package, "scale", &error) ||
        kiln_type_parse(&types[0], context, NULL, "f32[:]", &error) ||
        kiln_type_parse(&types[1], context, NULL, "f32", &error) ||
        kiln_compile(&kernel, context, &scale, config, NULL, &error))
        return NULL;
    return kernel;
}

/* Writes the kernel's arguments, and the hidden ones behind them. */
static size_t pack(unsigned char *block, const kiln_kernel *kernel, uint64_t y,
                   int64_t n, float a, const kiln_native_launch *native)
{
    const kiln_kernel_info *info = kiln_kernel_get_info(kernel);
    const size_t end = (info->argument_bytes + 7u) & ~7u;

    memcpy(block + info->arguments[0].offset, &y, 8);
    memcpy(block + info->arguments[0].offset + 8, &n, 8); /* y's size */
    memcpy(block + info->arguments[1].offset, &a, 4);
    memcpy(block + end, native->hidden, 8 * (size_t)native->hidden_count);
    return end + 8 * (size_t)native->hidden_count;
}

/* Runs scale(y, a) for n items, in groups that need not divide n. */
static int scale(const kiln_kernel *kernel, uint64_t y, int64_t n, float a)
{
    kiln_native_launch native = {.size = sizeof native};
    const unsigned groups = (unsigned)((n + GROUP - 1) / GROUP);
    unsigned char block[256] = {0};
    uint64_t *grid;
    size_t size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

    if (!kiln_kernel_get_info(kernel)->any_block ||
        kiln_queue_native(&native, queue, kernel, &error) != KILN_OK)
        return 0;
    grid = &native.hidden[native.hidden_count - 3];
    grid[0] = (uint64_t)n; /* in items; those behind them do nothing */
    grid[1] = grid[2] = 1;
    size = pack(block, kernel, y, n, a, &native);
    if (cuLaunchKernel(native.function, groups, 1, 1, GROUP, 1, 1, 0, stream,
                       NULL, extra) != 0 ||
        cuStreamSynchronize(stream) != 0)
        return 0;
    return kiln_queue_poll(queue, &error) == KILN_OK; /* exceptions, prints */
}

/* Runs the kernel on memory of the device, and checks each element. */
static int run(const kiln_kernel *kernel)
{
    static float y[ITEMS];
    kiln_buffer *buffer = NULL;
    int right = 0;

    for (int i = 0; i < ITEMS; i++)
        y[i] = (float)i;
    if (kiln_buffer_new(&buffer, device, sizeof y, &error) == KILN_OK &&
        kiln_buffer_write(buffer, 0, y, sizeof y, &error) == KILN_OK &&
        scale(kernel, (uint64_t)(uintptr_t)kiln_buffer_address(buffer), ITEMS,
              2) &&
        kiln_buffer_read(buffer, 0, y, sizeof y, &error) == KILN_OK)
        for (right = 0; right < ITEMS; right++)
            if (y[right] != (float)(2 * right + ITEMS))
                break;
    kiln_buffer_free(buffer);
    return right == ITEMS;
}

int main(void)
{
    const kiln_kernel *kernel;
    int fine;

    kernel = open_driver() && begin() ? compile() : NULL;
    fine = kernel != NULL && run(kernel);
    if (!fine)
        fprintf(stderr, "%s\n",
                error != NULL ? kiln_error_message(error)
                              : "no driver, or a wrong result");
    kiln_error_free(error);
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
    return !fine;
}
