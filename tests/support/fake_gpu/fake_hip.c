/* fake_hip.c - the fake driver under the names of the HIP runtime. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "fake_core.h"

/* With FAKE_OLD it lacks what an old runtime lacks. */

/* A thread uses device 0 until it selects another. */
static int current_device(void)
{
    return fake_current() != NULL ? fake_current()->device : 0;
}

static void set_device(int device)
{
    fake_set_current(fake_primary(device));
}

void *fake_gpu_current(void)
{
    return (void *)(uintptr_t)(current_device() + 1);
}

void fake_gpu_set_current(void *context)
{
    set_device((int)(uintptr_t)context - 1);
}

/* ---- devices ---- */

ENTRY(hipInit, (unsigned flags))
{
    CALL("hipInit");
    return flags == 0 ? 0 : 1;
}

ENTRY(hipGetDeviceCount, (int *count))
{
    CALL("hipGetDeviceCount");
    *count = fake_state.device_count;
    return 0;
}

ENTRY(hipDeviceGet, (int *device, int ordinal))
{
    CALL("hipDeviceGet");
    *device = ordinal;
    return ordinal < fake_state.device_count ? 0 : 101;
}

ENTRY(hipDeviceGetName, (char *name, int size, int device))
{
    CALL("hipDeviceGetName");
    return fake_device_name(name, size, device);
}

static int attribute(int number)
{
    switch (number) {
    case 23:
        return fake_state.major;
    case 26:
    case 27:
    case 28:
        return 1024;
    case 29:
        return 0x7fffffff;
    case 30:
    case 31:
        return 65535;
    case 56:
        return fake_state.threads;
    case 61:
        return fake_state.minor;
    case 74:
        return fake_state.local_bytes;
    case 87:
        return 64;
    default:
        return -1;
    }
}

ENTRY(hipDeviceGetAttribute, (int *value, int number, int device))
{
    CALL("hipDeviceGetAttribute");
    (void)device;
    *value = attribute(number);
    return *value < 0 ? 1 : 0;
}

/* Writes the structure: the device's name at its start, the processor's name
   where that version of the structure has it. */
static int32_t properties(char *out, size_t size, size_t at, int device)
{
    memset(out, 0x7f, size);
    memset(out + at - 4, 0, size - (at - 4));
    (void)snprintf(out, 256, "gfx-like name %d", device);
    (void)snprintf(out + at, 256, "%s", fake_state.architecture);
    return 0;
}

#ifdef FAKE_OLD
ENTRY(hipGetDeviceProperties, (char *out, int device))
{
    CALL("hipGetDeviceProperties");
    return properties(out, 792, 396, device);
}
#else
ENTRY(hipGetDevicePropertiesR0600, (char *out, int device))
{
    CALL("hipGetDevicePropertiesR0600");
    return properties(out, 1472, 1160, device);
}
#endif

ENTRY(hipGetDevice, (int *device))
{
    CALL("hipGetDevice");
    *device = current_device();
    return 0;
}

ENTRY(hipSetDevice, (int device))
{
    CALL("hipSetDevice");
    if (device < 0 || device >= fake_state.device_count)
        return 101;
    set_device(device);
    return 0;
}

ENTRY(hipDeviceSynchronize, (void))
{
    FORBIDDEN_CALL("hipDeviceSynchronize");
    return fake_synchronize();
}

#ifndef FAKE_OLD
/* As in the real runtime, popping a context keeps its device selected. */
ENTRY(hipCtxPushCurrent, (void *context))
{
    CALL("hipCtxPushCurrent");
    if (context == NULL)
        return 201;
    set_device(((const fake_context *)context)->device);
    return 0;
}

ENTRY(hipCtxPopCurrent, (void **context))
{
    const int32_t failed = fake_call("hipCtxPopCurrent");

    *context = fake_current();
    return failed;
}

ENTRY(hipCtxGetDevice, (int *device))
{
    CALL("hipCtxGetDevice");
    *device = current_device();
    return 0;
}
#endif

/* ---- modules ---- */

/* Selects the device, because every function works on one. */
static void choose(void)
{
    set_device(current_device());
}

ENTRY(hipModuleLoadDataEx, (void **module, const void *image, unsigned options,
                            int *names, void **values))
{
    FORBIDDEN_CALL("hipModuleLoadDataEx");
    choose();
    return fake_module_load(module, image, options, names, values);
}

ENTRY(hipModuleUnload, (void *module))
{
    const int32_t failed = fake_forbidden_call("hipModuleUnload");
    int32_t result;

    choose();
    result = fake_module_unload(module);
    return failed != 0 ? failed : result;
}

ENTRY(hipModuleGetFunction, (void **function, void *module, const char *name))
{
    CALL("hipModuleGetFunction");
    choose();
    return fake_module_function(function, module, name);
}

/* ---- streams ---- */

ENTRY(hipStreamCreateWithFlags, (void **stream, unsigned flags))
{
    CALL("hipStreamCreateWithFlags");
    choose();
    return fake_stream_create(stream, flags);
}

ENTRY(hipStreamDestroy, (void *stream))
{
    const int32_t failed = fake_call("hipStreamDestroy");
    const int32_t result = fake_stream_destroy(stream);

    return failed != 0 ? failed : result;
}

ENTRY(hipStreamSynchronize, (void *stream))
{
    CALL("hipStreamSynchronize");
    choose();
    return fake_stream_synchronize(stream);
}

ENTRY(hipStreamQuery, (void *stream))
{
    CALL("hipStreamQuery");
    choose();
    return fake_stream_query(stream);
}

/* ---- launches ---- */

ENTRY(hipModuleLaunchKernel,
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
       unsigned block_x, unsigned block_y, unsigned block_z,
       unsigned shared_bytes, void *stream, void **parameters, void **extra))
{
    fake_launch launch = {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .shared_bytes = shared_bytes,
                          .stream = stream};

    CALL("hipModuleLaunchKernel");
    if (parameters != NULL)
        return 1;
    choose();
    return fake_run(&launch, function, extra, (void *)(uintptr_t)3);
}

/* ---- memory ---- */

ENTRY(hipMalloc, (uint64_t * address, size_t size))
{
    FORBIDDEN_CALL("hipMalloc");
    choose();
    return fake_memory_allocate(address, size);
}

ENTRY(hipFree, (uint64_t address))
{
    const int32_t failed = fake_forbidden_call("hipFree");
    const int32_t result = fake_memory_free(address);

    return failed != 0 ? failed : result;
}

ENTRY(hipMemcpy, (void *to, const void *from, size_t size, int kind))
{
    FORBIDDEN_CALL("hipMemcpy");
    choose();
    return kind == 4 ? fake_copy(to, from, size) : 21;
}

ENTRY(hipHostMalloc, (void **memory, size_t size, unsigned flags))
{
    FORBIDDEN_CALL("hipHostMalloc");
    choose();
    return fake_host_allocate(memory, size, flags);
}

ENTRY(hipHostFree, (void *memory))
{
    const int32_t failed = fake_forbidden_call("hipHostFree");
    const int32_t result = fake_host_free(memory);

    return failed != 0 ? failed : result;
}

ENTRY(hipHostGetDevicePointer,
      (uint64_t * address, void *memory, unsigned flags))
{
    CALL("hipHostGetDevicePointer");
    *address = (uint64_t)(uintptr_t)memory;
    return flags == 0 ? 0 : 1;
}

/* ---- functions of newer runtimes ---- */

#ifndef FAKE_OLD
ENTRY(hipFuncGetAttribute, (int *value, int number, void *function))
{
    CALL("hipFuncGetAttribute");
    (void)function;
    *value = fake_state.threads / 2;
    return number == 0 ? 0 : 1;
}

ENTRY(hipStreamIsCapturing, (void *stream, int *status))
{
    CALL("hipStreamIsCapturing");
    return fake_stream_is_capturing(stream, status);
}

ENTRY(hipThreadExchangeStreamCaptureMode, (int *mode))
{
    CALL("hipThreadExchangeStreamCaptureMode");
    return fake_exchange_mode(mode);
}

ENTRY(hipDrvGetErrorName, (int32_t result, const char **name))
{
    return fake_error_name(result, name);
}

ENTRY(hipDrvGetErrorString, (int32_t result, const char **text))
{
    return fake_error_text(result, text);
}
#endif
