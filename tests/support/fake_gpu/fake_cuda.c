/* fake_cuda.c - the fake driver under the names of CUDA's driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "fake_core.h"

/*
 * With FAKE_OLD it lacks what an old driver lacks; with FAKE_BROKEN, a function
 * that every driver has.
 */

void *fake_gpu_current(void)
{
    return fake_current();
}

void fake_gpu_set_current(void *context)
{
    fake_set_current(context);
}

/* ---- devices ---- */

ENTRY(cuInit, (unsigned flags))
{
    CALL("cuInit");
    return flags == 0 ? 0 : 1;
}

ENTRY(cuDeviceGetCount, (int *count))
{
    CALL("cuDeviceGetCount");
    *count = fake_state.device_count;
    return 0;
}

ENTRY(cuDeviceGet, (int *device, int ordinal))
{
    CALL("cuDeviceGet");
    *device = ordinal;
    return ordinal < fake_state.device_count ? 0 : 101;
}

ENTRY(cuDeviceGetName, (char *name, int size, int device))
{
    CALL("cuDeviceGetName");
    return fake_device_name(name, size, device);
}

static int attribute(int number)
{
    switch (number) {
    case 1:
        return fake_state.threads;
    case 2:
    case 3:
        return 1024;
    case 4:
        return 64;
    case 5:
        return 0x7fffffff;
    case 6:
    case 7:
        return 65535;
    case 10:
        return 32;
    case 75:
        return fake_state.major;
    case 76:
        return fake_state.minor;
    case 97:
        return fake_state.local_bytes;
    default:
        return -1;
    }
}

ENTRY(cuDeviceGetAttribute, (int *value, int number, int device))
{
    CALL("cuDeviceGetAttribute");
    (void)device;
    *value = attribute(number);
    return *value < 0 ? 1 : 0;
}

/* ---- contexts ---- */

ENTRY(cuDevicePrimaryCtxRetain, (void **context, int device))
{
    CALL("cuDevicePrimaryCtxRetain");
    *context = fake_primary(device);
    __atomic_fetch_add(&fake_state.retained, 1, __ATOMIC_RELAXED);
    return 0;
}

ENTRY(cuDevicePrimaryCtxRelease_v2, (int device))
{
    const int32_t failed = fake_call("cuDevicePrimaryCtxRelease_v2");

    (void)device;
    __atomic_fetch_sub(&fake_state.retained, 1, __ATOMIC_RELAXED);
    return failed;
}

ENTRY(cuCtxPushCurrent_v2, (void *context))
{
    CALL("cuCtxPushCurrent_v2");
    return fake_push(context);
}

ENTRY(cuCtxPopCurrent_v2, (void **context))
{
    const int32_t failed = fake_call("cuCtxPopCurrent_v2");
    const int32_t result = fake_pop(context);

    return failed != 0 ? failed : result;
}

ENTRY(cuCtxGetCurrent, (void **context))
{
    CALL("cuCtxGetCurrent");
    *context = fake_current();
    return 0;
}

ENTRY(cuCtxGetDevice, (int *device))
{
    CALL("cuCtxGetDevice");
    if (fake_current() == NULL)
        return 201;
    *device = fake_current()->device;
    return 0;
}

ENTRY(cuCtxSynchronize, (void))
{
    FORBIDDEN_CALL("cuCtxSynchronize");
    return fake_synchronize();
}

/* ---- modules ---- */

ENTRY(cuModuleLoadDataEx, (void **module, const void *image, unsigned options,
                           int *names, void **values))
{
    FORBIDDEN_CALL("cuModuleLoadDataEx");
    return fake_module_load(module, image, options, names, values);
}

#ifndef FAKE_BROKEN
ENTRY(cuModuleUnload, (void *module))
{
    const int32_t failed = fake_forbidden_call("cuModuleUnload");
    const int32_t result = fake_module_unload(module);

    return failed != 0 ? failed : result;
}
#endif

ENTRY(cuModuleGetFunction, (void **function, void *module, const char *name))
{
    CALL("cuModuleGetFunction");
    return fake_module_function(function, module, name);
}

/* ---- streams ---- */

ENTRY(cuStreamCreate, (void **stream, unsigned flags))
{
    CALL("cuStreamCreate");
    return fake_stream_create(stream, flags);
}

ENTRY(cuStreamDestroy_v2, (void *stream))
{
    const int32_t failed = fake_call("cuStreamDestroy_v2");
    const int32_t result = fake_stream_destroy(stream);

    return failed != 0 ? failed : result;
}

ENTRY(cuStreamSynchronize, (void *stream))
{
    CALL("cuStreamSynchronize");
    return fake_stream_synchronize(stream);
}

ENTRY(cuStreamQuery, (void *stream))
{
    CALL("cuStreamQuery");
    return fake_stream_query(stream);
}

/* ---- launches ---- */

/* More dynamic memory has to be asked for. */
static int may_have(unsigned shared_bytes)
{
    return shared_bytes <= 48u << 10 ||
           shared_bytes <= (unsigned)fake_state.dynamic_allowed;
}

ENTRY(cuLaunchKernel,
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
       unsigned block_x, unsigned block_y, unsigned block_z,
       unsigned shared_bytes, void *stream, void **parameters, void **extra))
{
    fake_launch launch = {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .shared_bytes = shared_bytes,
                          .stream = stream};

    CALL("cuLaunchKernel");
    if (parameters != NULL || !may_have(shared_bytes))
        return 1;
    return fake_run(&launch, function, extra, NULL);
}

/* ---- memory ---- */

ENTRY(cuMemAlloc_v2, (uint64_t * address, size_t size))
{
    FORBIDDEN_CALL("cuMemAlloc_v2");
    return fake_memory_allocate(address, size);
}

ENTRY(cuMemFree_v2, (uint64_t address))
{
    const int32_t failed = fake_forbidden_call("cuMemFree_v2");
    const int32_t result = fake_memory_free(address);

    return failed != 0 ? failed : result;
}

ENTRY(cuMemcpy, (uint64_t to, uint64_t from, size_t size))
{
    FORBIDDEN_CALL("cuMemcpy");
    return fake_copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from,
                     size);
}

ENTRY(cuMemHostAlloc, (void **memory, size_t size, unsigned flags))
{
    FORBIDDEN_CALL("cuMemHostAlloc");
    return fake_host_allocate(memory, size, flags);
}

ENTRY(cuMemFreeHost, (void *memory))
{
    const int32_t failed = fake_forbidden_call("cuMemFreeHost");
    const int32_t result = fake_host_free(memory);

    return failed != 0 ? failed : result;
}

ENTRY(cuMemHostGetDevicePointer_v2,
      (uint64_t * address, void *memory, unsigned flags))
{
    CALL("cuMemHostGetDevicePointer_v2");
    *address = (uint64_t)(uintptr_t)memory;
    return flags == 0 ? 0 : 1;
}

/* ---- functions of newer drivers ---- */

#ifndef FAKE_OLD
/* CUlaunchConfig in the vendor's layout. */
struct launch_config {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
};

ENTRY(cuLaunchKernelEx, (const struct launch_config *config, void *function,
                         void **parameters, void **extra))
{
    fake_launch launch = {
        .grid = {config->grid_x, config->grid_y, config->grid_z},
        .block = {config->block_x, config->block_y, config->block_z},
        .shared_bytes = config->shared_bytes,
        .stream = config->stream,
        .is_extended = 1};

    CALL("cuLaunchKernelEx");
    if (parameters != NULL || config->attribute_count != 0 ||
        !may_have(config->shared_bytes))
        return 1;
    return fake_run(&launch, function, extra, NULL);
}

ENTRY(cuFuncGetAttribute, (int *value, int number, void *function))
{
    CALL("cuFuncGetAttribute");
    (void)function;
    *value = fake_state.threads / 2;
    return number == 0 ? 0 : 1;
}

ENTRY(cuFuncSetAttribute, (void *function, int number, int value))
{
    CALL("cuFuncSetAttribute");
    (void)function;
    if (number != 8 || value < 0 || value > fake_state.local_bytes)
        return 1;
    fake_state.dynamic_allowed = value;
    return 0;
}

ENTRY(cuStreamIsCapturing, (void *stream, int *status))
{
    CALL("cuStreamIsCapturing");
    return fake_stream_is_capturing(stream, status);
}

ENTRY(cuThreadExchangeStreamCaptureMode, (int *mode))
{
    CALL("cuThreadExchangeStreamCaptureMode");
    return fake_exchange_mode(mode);
}

/* Asking for texts never fails in a test, and is not counted. */
ENTRY(cuGetErrorName, (int32_t result, const char **name))
{
    return fake_error_name(result, name);
}

ENTRY(cuGetErrorString, (int32_t result, const char **text))
{
    return fake_error_text(result, text);
}
#endif
