/* fake_ze.c - the fake's driver, device and context; the tables for the
   loader. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fake_ze.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"

static fake_device device;
static int driver_object;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const kiln__opencl_facts *find_facts(void)
{
    const kiln__opencl_facts *facts = device.list.facts;

    for (uint32_t i = 0; i < device.list.count; i++)
        if (facts[i].memory == KILN__OPENCL_MEMORY_FINE)
            return &facts[i];
    return NULL;
}

/* The device lives as long as the process, as in real drivers. */
static void find_device(void)
{
    char reason[256];
    cl_int code = CL_SUCCESS;

    if (kiln_context_new(&device.kiln, NULL, NULL) != KILN_OK ||
        kiln__opencl_api_open(&device.api, reason, sizeof reason) != KILN_OK ||
        kiln__opencl_probe(&device.list, &device.api, &kiln__malloc) != KILN_OK)
        return;
    device.facts = find_facts();
    if (device.facts == NULL)
        return;
    device.context = device.api.clCreateContext(NULL, 1, &device.facts->id,
                                                NULL, NULL, &code);
    if (device.context == NULL)
        device.facts = NULL;
}

fake_device *fake_device_get(void)
{
    (void)pthread_once(&once, find_device);
    return &device;
}

ze_result_t fake_result(cl_int code)
{
    if (code == CL_SUCCESS)
        return ZE_RESULT_SUCCESS;
    if (code == CL_OUT_OF_HOST_MEMORY)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (code == CL_INVALID_ARG_INDEX)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (code == CL_INVALID_ARG_SIZE)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    if (code == CL_INVALID_WORK_GROUP_SIZE)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    return ZE_RESULT_ERROR_UNKNOWN;
}

/* ---- driver ---- */

static ze_result_t init(ze_init_flags_t flags)
{
    (void)flags;
    return fake_device_get()->facts != NULL ? ZE_RESULT_SUCCESS
                                            : ZE_RESULT_ERROR_UNINITIALIZED;
}

static ze_result_t driver_get(uint32_t *count, ze_driver_handle_t *drivers)
{
    if (*count > 0 && drivers != NULL)
        drivers[0] = (ze_driver_handle_t)(void *)&driver_object;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_version(ze_driver_handle_t driver,
                                  ze_api_version_t *version)
{
    (void)driver;
    *version = ZE_API_VERSION_CURRENT;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_properties(ze_driver_handle_t driver,
                                     ze_driver_properties_t *properties)
{
    (void)driver;
    memset(&properties->uuid, 7, sizeof properties->uuid);
    properties->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_extensions(ze_driver_handle_t driver, uint32_t *count,
                                     ze_driver_extension_properties_t *out)
{
    (void)driver;
    (void)out;
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

/* ---- device ---- */

static ze_result_t device_get(ze_driver_handle_t driver, uint32_t *count,
                              ze_device_handle_t *devices)
{
    (void)driver;
    if (*count > 0 && devices != NULL)
        devices[0] = (ze_device_handle_t)(void *)&device;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_properties(ze_device_handle_t of,
                                     ze_device_properties_t *out)
{
    const fake_device *at = (const fake_device *)(void *)of;

    out->type = ZE_DEVICE_TYPE_CPU;
    out->vendorId = 0x4b;
    out->deviceId = 1;
    memset(&out->uuid, 3, sizeof out->uuid);
    (void)snprintf(out->name, sizeof out->name, "fake over %s",
                   at->facts->name);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_modules(ze_device_handle_t of,
                                  ze_device_module_properties_t *out)
{
    const fake_device *at = (const fake_device *)(void *)of;
    const uint64_t set = at->facts->base.level.features;

    out->spirvVersionSupported =
        ZE_MAKE_VERSION(1, at->facts->base.level.minor);
    out->flags = 0;
    if ((set & KILN__SPIRV_BIT(FP16)) != 0)
        out->flags |= ZE_DEVICE_MODULE_FLAG_FP16;
    if ((set & KILN__SPIRV_BIT(FP64)) != 0)
        out->flags |= ZE_DEVICE_MODULE_FLAG_FP64;
    if ((set & KILN__SPIRV_BIT(INT64_ATOMICS)) != 0)
        out->flags |= ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_compute(ze_device_handle_t of,
                                  ze_device_compute_properties_t *out)
{
    const fake_device *at = (const fake_device *)(void *)of;

    out->maxTotalGroupSize = 1024;
    out->maxSharedLocalMemory = 128u << 10;
    out->maxGroupSizeX = at->facts->local_sizes[0];
    out->maxGroupSizeY = at->facts->local_sizes[1];
    out->maxGroupSizeZ = at->facts->local_sizes[2];
    out->maxGroupCountX = UINT32_MAX;
    out->maxGroupCountY = UINT32_MAX;
    out->maxGroupCountZ = UINT32_MAX;
    out->numSubGroupSizes = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_queues(ze_device_handle_t of, uint32_t *count,
                                 ze_command_queue_group_properties_t *out)
{
    (void)of;
    if (*count > 0 && out != NULL) {
        out[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                       ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        out[0].numQueues = 1;
    }
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

/* ---- contexts: kernels and lists must be of the same one ---- */

static ze_result_t context_create(ze_driver_handle_t driver,
                                  const ze_context_desc_t *desc,
                                  ze_context_handle_t *out)
{
    (void)driver;
    (void)desc;
    *out = malloc(1);
    return *out != NULL ? ZE_RESULT_SUCCESS
                        : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t context_destroy(ze_context_handle_t context)
{
    free((void *)context);
    return ZE_RESULT_SUCCESS;
}

/* ---- tables ---- */

#define TABLE(name, type) \
    ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, \
                                             type *table)

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t)
{
    (void)version;
    table->pfnInit = init;
    return ZE_RESULT_SUCCESS;
}

TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t)
{
    (void)version;
    table->pfnGet = driver_get;
    table->pfnGetApiVersion = driver_version;
    table->pfnGetProperties = driver_properties;
    table->pfnGetExtensionProperties = driver_extensions;
    return ZE_RESULT_SUCCESS;
}

TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t)
{
    (void)version;
    table->pfnGet = device_get;
    table->pfnGetProperties = device_properties;
    table->pfnGetModuleProperties = device_modules;
    table->pfnGetComputeProperties = device_compute;
    table->pfnGetCommandQueueGroupProperties = device_queues;
    return ZE_RESULT_SUCCESS;
}

TABLE(zeGetContextProcAddrTable, ze_context_dditable_t)
{
    (void)version;
    table->pfnCreate = context_create;
    table->pfnDestroy = context_destroy;
    return ZE_RESULT_SUCCESS;
}

#define FILLED(name, type, fill) \
    TABLE(name, type) \
    { \
        (void)version; \
        fill(table); \
        return ZE_RESULT_SUCCESS; \
    }

FILLED(zeGetModuleProcAddrTable, ze_module_dditable_t, fake_module_table)
FILLED(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t,
       fake_build_log_table)
FILLED(zeGetKernelProcAddrTable, ze_kernel_dditable_t, fake_kernel_table)
FILLED(zeGetCommandListProcAddrTable, ze_command_list_dditable_t,
       fake_list_table)
FILLED(zeGetEventProcAddrTable, ze_event_dditable_t, fake_event_table)
FILLED(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t,
       fake_event_pool_table)
FILLED(zeGetMemProcAddrTable, ze_mem_dditable_t, fake_memory_table)

/* Tables that the loader demands, with no functions. */
#define EMPTY(name, type) \
    TABLE(name, type) \
    { \
        (void)version; \
        (void)table; \
        return ZE_RESULT_SUCCESS; \
    }

EMPTY(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
EMPTY(zeGetFenceProcAddrTable, ze_fence_dditable_t)
EMPTY(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
EMPTY(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
EMPTY(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
EMPTY(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
EMPTY(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
EMPTY(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
EMPTY(zetGetDeviceProcAddrTable, zet_device_dditable_t)
EMPTY(zetGetContextProcAddrTable, zet_context_dditable_t)
EMPTY(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
EMPTY(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
EMPTY(zetGetModuleProcAddrTable, zet_module_dditable_t)
EMPTY(zetGetDebugProcAddrTable, zet_debug_dditable_t)
EMPTY(zetGetMetricProcAddrTable, zet_metric_dditable_t)
EMPTY(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
EMPTY(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t)
EMPTY(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
EMPTY(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
EMPTY(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
EMPTY(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
EMPTY(zesGetDeviceProcAddrTable, zes_device_dditable_t)
EMPTY(zesGetDriverProcAddrTable, zes_driver_dditable_t)
EMPTY(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
EMPTY(zesGetEngineProcAddrTable, zes_engine_dditable_t)
EMPTY(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
EMPTY(zesGetFanProcAddrTable, zes_fan_dditable_t)
EMPTY(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
EMPTY(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
EMPTY(zesGetLedProcAddrTable, zes_led_dditable_t)
EMPTY(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
EMPTY(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
EMPTY(zesGetPowerProcAddrTable, zes_power_dditable_t)
EMPTY(zesGetPsuProcAddrTable, zes_psu_dditable_t)
EMPTY(zesGetRasProcAddrTable, zes_ras_dditable_t)
EMPTY(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
EMPTY(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
EMPTY(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
