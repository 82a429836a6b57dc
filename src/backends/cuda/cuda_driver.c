/* cuda_driver.c - the part of the GPU driver that is specific to CUDA. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/cuda/cuda_driver.h"

#include <stdio.h>

#include "abi/device_abi.h"

/*
 * The driver for GPUs (backends/gpu) calls CUDA through a table of symbols and
 * constants, which is filled here, and through functions for contexts.
 */

/* Names as the library exports them; functions that a new version replaced end
   in _v2. Functions newer than CUDA 10 are optional, and so are those for
   texts. */
static const kiln__gpu_symbol symbols[KILN__GPU_API_COUNT] = {
    [KILN__GPU_init] = {"cuInit", 0},
    [KILN__GPU_device_count] = {"cuDeviceGetCount", 0},
    [KILN__GPU_device_get] = {"cuDeviceGet", 0},
    [KILN__GPU_device_name] = {"cuDeviceGetName", 0},
    [KILN__GPU_device_attribute] = {"cuDeviceGetAttribute", 0},
    [KILN__GPU_context_retain] = {"cuDevicePrimaryCtxRetain", 0},
    [KILN__GPU_context_release] = {"cuDevicePrimaryCtxRelease_v2", 0},
    [KILN__GPU_context_push] = {"cuCtxPushCurrent_v2", 0},
    [KILN__GPU_context_pop] = {"cuCtxPopCurrent_v2", 0},
    [KILN__GPU_context_current] = {"cuCtxGetCurrent", 0},
    [KILN__GPU_context_device] = {"cuCtxGetDevice", 0},
    [KILN__GPU_synchronize] = {"cuCtxSynchronize", 0},
    [KILN__GPU_module_load] = {"cuModuleLoadDataEx", 0},
    [KILN__GPU_module_unload] = {"cuModuleUnload", 0},
    [KILN__GPU_module_function] = {"cuModuleGetFunction", 0},
    [KILN__GPU_function_attribute] = {"cuFuncGetAttribute", 1},
    [KILN__GPU_function_set_attribute] = {"cuFuncSetAttribute", 1},
    [KILN__GPU_stream_create] = {"cuStreamCreate", 0},
    [KILN__GPU_stream_destroy] = {"cuStreamDestroy_v2", 0},
    [KILN__GPU_stream_synchronize] = {"cuStreamSynchronize", 0},
    [KILN__GPU_stream_query] = {"cuStreamQuery", 0},
    [KILN__GPU_stream_is_capturing] = {"cuStreamIsCapturing", 1},
    [KILN__GPU_capture_mode] = {"cuThreadExchangeStreamCaptureMode", 1},
    [KILN__GPU_launch] = {"cuLaunchKernel", 0},
    [KILN__GPU_launch_ex] = {"cuLaunchKernelEx", 1},
    [KILN__GPU_memory_allocate] = {"cuMemAlloc_v2", 0},
    [KILN__GPU_memory_free] = {"cuMemFree_v2", 0},
    [KILN__GPU_copy] = {"cuMemcpy", 0},
    [KILN__GPU_host_allocate] = {"cuMemHostAlloc", 0},
    [KILN__GPU_host_free] = {"cuMemFreeHost", 0},
    [KILN__GPU_host_address] = {"cuMemHostGetDevicePointer_v2", 0},
    [KILN__GPU_error_name] = {"cuGetErrorName", 1},
    [KILN__GPU_error_text] = {"cuGetErrorString", 1},
};

static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};

static kiln__gpu_result identify(const kiln__gpu_api *api,
                                 kiln__gpu_context *context)
{
    (void)api;
    (void)snprintf(context->architecture, sizeof context->architecture,
                   "sm_%d%d", context->major, context->minor);
    return 0;
}

/* ---- contexts ---- */

static kiln__gpu_result retain(const kiln__gpu_api *api, int device,
                               void **native)
{
    return api->context_retain(native, device);
}

static void release(const kiln__gpu_api *api, int device)
{
    (void)api->context_release(device);
}

static kiln__gpu_result adopt(const kiln__gpu_api *api, void **native,
                              int *device)
{
    kiln__gpu_result result = api->context_push(*native);
    void *popped;

    if (result != 0)
        return result;
    result = api->context_device(device);
    (void)api->context_pop(&popped);
    return result;
}

/* Most callers are in the context already, and asking costs less than
   pushing. */
static kiln__gpu_result enter_context(const kiln__gpu_api *api,
                                      const kiln__gpu_context *context,
                                      kiln__gpu_place *before)
{
    void *current = NULL;
    kiln__gpu_result result = api->context_current(&current);

    if (result != 0 || current == context->native)
        return result;
    result = api->context_push(context->native);
    before->is_changed = result == 0;
    return result;
}

static void leave_context(const kiln__gpu_api *api,
                          const kiln__gpu_place *before)
{
    void *popped;

    (void)before;
    (void)api->context_pop(&popped);
}

const kiln__gpu_vendor kiln__cuda_vendor = {
    .name = "cuda",
    .format = "cubin",
    .variable = "KILN_CUDA_DRIVER",
    .libraries = libraries,
    .symbols = symbols,
    .major = KILN__CU_ATTRIBUTE_MAJOR,
    .minor = KILN__CU_ATTRIBUTE_MINOR,
    .threads = KILN__CU_ATTRIBUTE_THREADS,
    .block_x = KILN__CU_ATTRIBUTE_BLOCK_X,
    .grid_x = KILN__CU_ATTRIBUTE_GRID_X,
    .width = KILN__CU_ATTRIBUTE_WARP,
    .local = KILN__CU_ATTRIBUTE_LOCAL,
    .local_unasked = KILN__CUDA_LOCAL,
    .local_attribute = KILN__CU_FUNCTION_LOCAL,
    .host_flags = KILN__CU_HOST_PORTABLE | KILN__CU_HOST_MAPPED,
    .launch_end = (void *)(uintptr_t)KILN__CU_LAUNCH_END,
    .describe = kiln__cuda_target,
    .fits = kiln__cuda_target_fits,
    .identify = identify,
    .retain = retain,
    .release = release,
    .adopt = adopt,
    .enter = enter_context,
    .leave = leave_context,
};

kiln_status kiln__cuda_backend_new(kiln_backend_ops *ops, void **self,
                                   kiln_context *context, kiln_error **error)
{
    return kiln__gpu_backend_new(ops, self, context, &kiln__cuda_vendor, error);
}
