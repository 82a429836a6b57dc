/* faulty_zero.c - the real Level Zero, of which one call fails. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "faulty.h"

kiln__level_zero_api faulty_zero_real;

#define CALL(function, parameters, arguments) \
    static ze_result_t ZE_APICALL my_##function parameters \
    { \
        return faulty_fails(#function) ? ZE_RESULT_ERROR_UNKNOWN \
                                       : faulty_zero_real.function arguments; \
    }

/* Makes something that is to be given back. */
#define MAKE(function, parameters, arguments) \
    static ze_result_t ZE_APICALL my_##function parameters \
    { \
        const ze_result_t result = faulty_fails(#function) \
                                       ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY \
                                       : faulty_zero_real.function arguments; \
        faulty.live += result == ZE_RESULT_SUCCESS; \
        return result; \
    }

/* Giving back cannot fail: nobody could do anything about it. */
#define GIVE(function, parameters, arguments) \
    static ze_result_t ZE_APICALL my_##function parameters \
    { \
        faulty.live--; \
        return faulty_zero_real.function arguments; \
    }

CALL(zeInit, (ze_init_flags_t flags), (flags))
CALL(zeDriverGet, (uint32_t * count, ze_driver_handle_t *drivers),
     (count, drivers))
CALL(zeDriverGetProperties,
     (ze_driver_handle_t driver, ze_driver_properties_t *out), (driver, out))
CALL(zeDeviceGet,
     (ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices),
     (driver, count, devices))
CALL(zeDeviceGetProperties,
     (ze_device_handle_t device, ze_device_properties_t *out), (device, out))
CALL(zeDeviceGetModuleProperties,
     (ze_device_handle_t device, ze_device_module_properties_t *out),
     (device, out))
CALL(zeDeviceGetComputeProperties,
     (ze_device_handle_t device, ze_device_compute_properties_t *out),
     (device, out))
CALL(zeDevicePciGetPropertiesExt,
     (ze_device_handle_t device, ze_pci_ext_properties_t *out), (device, out))
CALL(zeDeviceGetCommandQueueGroupProperties,
     (ze_device_handle_t device, uint32_t *count,
      ze_command_queue_group_properties_t *out),
     (device, count, out))
MAKE(zeContextCreate,
     (ze_driver_handle_t driver, const ze_context_desc_t *desc,
      ze_context_handle_t *context),
     (driver, desc, context))
GIVE(zeContextDestroy, (ze_context_handle_t context), (context))
MAKE(zeMemAllocDevice,
     (ze_context_handle_t context,
      const ze_device_mem_alloc_desc_t *device_desc, size_t size,
      size_t alignment, ze_device_handle_t device, void **out),
     (context, device_desc, size, alignment, device, out))
MAKE(zeMemAllocHost,
     (ze_context_handle_t context, const ze_host_mem_alloc_desc_t *host_desc,
      size_t size, size_t alignment, void **out),
     (context, host_desc, size, alignment, out))
GIVE(zeMemFree, (ze_context_handle_t context, void *ptr), (context, ptr))
MAKE(zeCommandListCreateImmediate,
     (ze_context_handle_t context, ze_device_handle_t device,
      const ze_command_queue_desc_t *desc,
      ze_command_list_handle_t *command_list),
     (context, device, desc, command_list))
GIVE(zeCommandListDestroy, (ze_command_list_handle_t command_list),
     (command_list))
CALL(zeCommandListAppendBarrier,
     (ze_command_list_handle_t command_list, ze_event_handle_t signal_event,
      uint32_t wait_count, ze_event_handle_t *wait_events),
     (command_list, signal_event, wait_count, wait_events))
CALL(zeCommandListAppendMemoryCopy,
     (ze_command_list_handle_t command_list, void *to, const void *from,
      size_t size, ze_event_handle_t signal_event, uint32_t wait_count,
      ze_event_handle_t *wait_events),
     (command_list, to, from, size, signal_event, wait_count, wait_events))
CALL(zeCommandListAppendLaunchKernel,
     (ze_command_list_handle_t command_list, ze_kernel_handle_t kernel,
      const ze_group_count_t *launch_func_args, ze_event_handle_t signal_event,
      uint32_t wait_count, ze_event_handle_t *wait_events),
     (command_list, kernel, launch_func_args, signal_event, wait_count,
      wait_events))
MAKE(zeEventPoolCreate,
     (ze_context_handle_t context, const ze_event_pool_desc_t *desc,
      uint32_t device_count, ze_device_handle_t *devices,
      ze_event_pool_handle_t *event_pool),
     (context, desc, device_count, devices, event_pool))
GIVE(zeEventPoolDestroy, (ze_event_pool_handle_t event_pool), (event_pool))
MAKE(zeEventCreate,
     (ze_event_pool_handle_t event_pool, const ze_event_desc_t *desc,
      ze_event_handle_t *event),
     (event_pool, desc, event))
GIVE(zeEventDestroy, (ze_event_handle_t event), (event))
CALL(zeEventHostSynchronize, (ze_event_handle_t event, uint64_t timeout),
     (event, timeout))
CALL(zeEventQueryStatus, (ze_event_handle_t event), (event))
CALL(zeEventHostReset, (ze_event_handle_t event), (event))
MAKE(zeModuleCreate,
     (ze_context_handle_t context, ze_device_handle_t device,
      const ze_module_desc_t *desc, ze_module_handle_t *module,
      ze_module_build_log_handle_t *build_log),
     (context, device, desc, module, build_log))
GIVE(zeModuleDestroy, (ze_module_handle_t module), (module))
CALL(zeModuleBuildLogGetString,
     (ze_module_build_log_handle_t module_build_log, size_t *size,
      char *build_log),
     (module_build_log, size, build_log))
/* What fails to go is gone all the same: nobody could try again. */
static ze_result_t ZE_APICALL
my_zeModuleBuildLogDestroy(ze_module_build_log_handle_t log)
{
    const ze_result_t result = faulty_zero_real.zeModuleBuildLogDestroy(log);

    return faulty_fails("zeModuleBuildLogDestroy") ? ZE_RESULT_ERROR_UNKNOWN
                                                   : result;
}
CALL(zeModuleGetNativeBinary,
     (ze_module_handle_t module, size_t *size, uint8_t *module_native_binary),
     (module, size, module_native_binary))
MAKE(zeKernelCreate,
     (ze_module_handle_t module, const ze_kernel_desc_t *desc,
      ze_kernel_handle_t *kernel),
     (module, desc, kernel))
GIVE(zeKernelDestroy, (ze_kernel_handle_t kernel), (kernel))
CALL(zeKernelSetArgumentValue,
     (ze_kernel_handle_t kernel, uint32_t index, size_t size,
      const void *value),
     (kernel, index, size, value))

static ze_result_t ZE_APICALL my_zeKernelSetGroupSize(ze_kernel_handle_t kernel,
                                                      uint32_t x, uint32_t y,
                                                      uint32_t z)
{
    if (faulty_fails("zeKernelSetGroupSize"))
        return ZE_RESULT_ERROR_UNKNOWN;
    faulty.group[0] = x;
    faulty.group[1] = y;
    faulty.group[2] = z;
    return faulty_zero_real.zeKernelSetGroupSize(kernel, x, y, z);
}

static ze_result_t ZE_APICALL my_zeKernelSuggestGroupSize(
    ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z,
    uint32_t *group_x, uint32_t *group_y, uint32_t *group_z)
{
    faulty.suggestions++;
    if (faulty_fails("zeKernelSuggestGroupSize"))
        return ZE_RESULT_ERROR_UNKNOWN;
    if (faulty.suggested == 0)
        return faulty_zero_real.zeKernelSuggestGroupSize(
            kernel, x, y, z, group_x, group_y, group_z);
    *group_x = faulty.suggested;
    *group_y = *group_z = 1;
    return ZE_RESULT_SUCCESS;
}

CALL(zeKernelSetIndirectAccess,
     (ze_kernel_handle_t kernel, ze_kernel_indirect_access_flags_t flags),
     (kernel, flags))
CALL(zeKernelGetProperties,
     (ze_kernel_handle_t kernel, ze_kernel_properties_t *out), (kernel, out))

const kiln__level_zero_api faulty_zero = {
#define MINE(needed, function) .function = my_##function,
    KILN__LEVEL_ZERO_MAP(MINE)
#undef MINE
};

int faulty_zero_open(void)
{
    char reason[256];
    uint32_t count = 0;

    return kiln__level_zero_api_open(&faulty_zero_real, reason,
                                     sizeof reason) == KILN_OK &&
           faulty_zero_real.zeInit(0) == ZE_RESULT_SUCCESS &&
           faulty_zero_real.zeDriverGet(&count, NULL) == ZE_RESULT_SUCCESS &&
           count > 0;
}
