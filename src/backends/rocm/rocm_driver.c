/* rocm_driver.c - the part of the GPU driver that is specific to HIP. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/rocm_driver.h"

/*
 * The driver for GPUs (backends/gpu) calls HIP through a table of symbols and
 * constants, which is filled here, and through functions for contexts. HIP's
 * contexts are deprecated, and leaving one does not restore the device that was
 * current. So a context stands for its device here; an adopted context is used
 * only to find out its device.
 */

static const kiln__gpu_symbol symbols[KILN__GPU_API_COUNT] = {
    [KILN__GPU_init] = {"hipInit", 0},
    [KILN__GPU_device_count] = {"hipGetDeviceCount", 0},
    [KILN__GPU_device_get] = {"hipDeviceGet", 0},
    [KILN__GPU_device_name] = {"hipDeviceGetName", 0},
    [KILN__GPU_device_attribute] = {"hipDeviceGetAttribute", 0},
    [KILN__GPU_device_properties] = {"hipGetDevicePropertiesR0600", 1},
    [KILN__GPU_device_properties_old] = {"hipGetDeviceProperties", 1},
    [KILN__GPU_device_current] = {"hipGetDevice", 0},
    [KILN__GPU_device_set] = {"hipSetDevice", 0},
    [KILN__GPU_context_push] = {"hipCtxPushCurrent", 1},
    [KILN__GPU_context_pop] = {"hipCtxPopCurrent", 1},
    [KILN__GPU_context_device] = {"hipCtxGetDevice", 1},
    [KILN__GPU_synchronize] = {"hipDeviceSynchronize", 0},
    [KILN__GPU_module_load] = {"hipModuleLoadDataEx", 0},
    [KILN__GPU_module_unload] = {"hipModuleUnload", 0},
    [KILN__GPU_module_function] = {"hipModuleGetFunction", 0},
    [KILN__GPU_function_attribute] = {"hipFuncGetAttribute", 1},
    [KILN__GPU_stream_create] = {"hipStreamCreateWithFlags", 0},
    [KILN__GPU_stream_destroy] = {"hipStreamDestroy", 0},
    [KILN__GPU_stream_synchronize] = {"hipStreamSynchronize", 0},
    [KILN__GPU_stream_query] = {"hipStreamQuery", 0},
    [KILN__GPU_stream_is_capturing] = {"hipStreamIsCapturing", 1},
    [KILN__GPU_capture_mode] = {"hipThreadExchangeStreamCaptureMode", 1},
    [KILN__GPU_launch] = {"hipModuleLaunchKernel", 0},
    [KILN__GPU_memory_allocate] = {"hipMalloc", 0},
    [KILN__GPU_memory_free] = {"hipFree", 0},
    [KILN__GPU_copy_kind] = {"hipMemcpy", 0},
    [KILN__GPU_host_allocate] = {"hipHostMalloc", 0},
    [KILN__GPU_host_free] = {"hipHostFree", 0},
    [KILN__GPU_host_address] = {"hipHostGetDevicePointer", 0},
    [KILN__GPU_error_name] = {"hipDrvGetErrorName", 1},
    [KILN__GPU_error_text] = {"hipDrvGetErrorString", 1},
};

/* The name without a number exists only in installations for developers. */
static const char *const libraries[] = {"libamdhip64.so", "libamdhip64.so.7",
                                        "libamdhip64.so.6", "libamdhip64.so.5",
                                        NULL};

/* Larger than the structure in any version. */
#define PROPERTIES_SIZE 8192

static kiln__gpu_result identify(const kiln__gpu_api *api,
                                 kiln__gpu_context *context)
{
    _Alignas(16) char properties[PROPERTIES_SIZE] = {0};
    kiln__gpu_result result = KILN__GPU_NOT_FOUND;

    if (api->device_properties != NULL)
        result = api->device_properties(properties, context->device);
    else if (api->device_properties_old != NULL)
        result = api->device_properties_old(properties, context->device);
    if (result == 0)
        kiln__rocm_architecture(context->architecture,
                                sizeof context->architecture, properties,
                                sizeof properties);
    return result;
}

/* ---- contexts ---- */

/* Returns a value that identifies the device and is not NULL. */
static void *native_of(int device)
{
    return (void *)((uintptr_t)(unsigned)device + 1);
}

static kiln__gpu_result retain(const kiln__gpu_api *api, int device,
                               void **native)
{
    (void)api;
    *native = native_of(device);
    return 0;
}

static void release(const kiln__gpu_api *api, int device)
{
    (void)api;
    (void)device;
}

static kiln__gpu_result adopt(const kiln__gpu_api *api, void **native,
                              int *device)
{
    int before = 0;
    void *popped;
    kiln__gpu_result result;

    if (api->context_push == NULL || api->context_pop == NULL ||
        api->context_device == NULL)
        return KILN__GPU_NOT_SUPPORTED;
    result = api->device_current(&before);
    if (result == 0)
        result = api->context_push(*native);
    if (result != 0)
        return result;
    result = api->context_device(device);
    (void)api->context_pop(&popped);
    (void)api->device_set(before);
    *native = native_of(*device);
    return result;
}

static kiln__gpu_result enter_context(const kiln__gpu_api *api,
                                      const kiln__gpu_context *context,
                                      kiln__gpu_place *before)
{
    kiln__gpu_result result = api->device_current(&before->device);

    if (result != 0 || before->device == context->device)
        return result;
    result = api->device_set(context->device);
    before->is_changed = result == 0;
    return result;
}

static void leave_context(const kiln__gpu_api *api,
                          const kiln__gpu_place *before)
{
    (void)api->device_set(before->device);
}

const kiln__gpu_vendor kiln__rocm_vendor = {
    .name = "rocm",
    .format = "elf",
    .variable = "KILN_ROCM_DRIVER",
    .libraries = libraries,
    .symbols = symbols,
    .major = KILN__HIP_ATTRIBUTE_MAJOR,
    .minor = KILN__HIP_ATTRIBUTE_MINOR,
    .threads = KILN__HIP_ATTRIBUTE_THREADS,
    .block_x = KILN__HIP_ATTRIBUTE_BLOCK_X,
    .grid_x = KILN__HIP_ATTRIBUTE_GRID_X,
    .width = KILN__HIP_ATTRIBUTE_WIDTH,
    .local = KILN__HIP_ATTRIBUTE_LOCAL,
    .host_flags = KILN__HIP_HOST_PORTABLE | KILN__HIP_HOST_MAPPED |
                  KILN__HIP_HOST_COHERENT,
    .launch_end = (void *)(uintptr_t)KILN__HIP_LAUNCH_END,
    .describe = kiln__rocm_target,
    .fits = kiln__rocm_target_fits,
    .identify = identify,
    .retain = retain,
    .release = release,
    .adopt = adopt,
    .enter = enter_context,
    .leave = leave_context,
};

kiln_status kiln__rocm_backend_new(kiln_backend_ops *ops, void **self,
                                   kiln_context *context, kiln_error **error)
{
    return kiln__gpu_backend_new(ops, self, context, &kiln__rocm_vendor, error);
}
