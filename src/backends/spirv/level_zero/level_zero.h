/* level_zero.h - the Level Zero driver of the SPIR-V backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LEVEL_ZERO_H
#define KILN_LEVEL_ZERO_H

#include <level_zero/ze_api.h>

#include "backends/device/device_driver.h"
#include "backends/spirv/spirv.h"

/* ---- level_zero_api.c: the loader's functions ---- */

/* X(needed, function): a function that is not needed may be missing. */
#define KILN__LEVEL_ZERO_MAP(X) \
    X(1, zeInit) \
    X(1, zeDriverGet) \
    X(1, zeDriverGetProperties) \
    X(1, zeDeviceGet) \
    X(1, zeDeviceGetProperties) \
    X(1, zeDeviceGetModuleProperties) \
    X(1, zeDeviceGetComputeProperties) \
    X(0, zeDevicePciGetPropertiesExt) \
    X(1, zeDeviceGetCommandQueueGroupProperties) \
    X(1, zeContextCreate) \
    X(1, zeContextDestroy) \
    X(1, zeMemAllocDevice) \
    X(1, zeMemAllocHost) \
    X(1, zeMemFree) \
    X(1, zeCommandListCreateImmediate) \
    X(1, zeCommandListDestroy) \
    X(1, zeCommandListAppendBarrier) \
    X(1, zeCommandListAppendMemoryCopy) \
    X(1, zeCommandListAppendLaunchKernel) \
    X(1, zeEventPoolCreate) \
    X(1, zeEventPoolDestroy) \
    X(1, zeEventCreate) \
    X(1, zeEventDestroy) \
    X(1, zeEventHostSynchronize) \
    X(1, zeEventQueryStatus) \
    X(1, zeEventHostReset) \
    X(1, zeModuleCreate) \
    X(1, zeModuleDestroy) \
    X(1, zeModuleBuildLogGetString) \
    X(1, zeModuleBuildLogDestroy) \
    X(1, zeModuleGetNativeBinary) \
    X(1, zeKernelCreate) \
    X(1, zeKernelDestroy) \
    X(1, zeKernelSetArgumentValue) \
    X(1, zeKernelSetGroupSize) \
    X(1, zeKernelSuggestGroupSize) \
    X(1, zeKernelSetIndirectAccess) \
    X(1, zeKernelGetProperties)

typedef struct kiln__level_zero_api {
#define KILN__LEVEL_ZERO_MEMBER(needed, function) \
    __typeof__(function) *function;
    KILN__LEVEL_ZERO_MAP(KILN__LEVEL_ZERO_MEMBER)
#undef KILN__LEVEL_ZERO_MEMBER
} kiln__level_zero_api;

/* Opens the loader's library; if it cannot be opened, `reason` says why. */
kiln_status kiln__level_zero_api_open(kiln__level_zero_api *api, char *reason,
                                      size_t capacity);

/* "ZE_RESULT_ERROR_DEVICE_LOST"; "" for an unknown code. */
const char *kiln__level_zero_code_name(ze_result_t code);
/* Makes an error from a result of the driver. */
kiln_status kiln__level_zero_failed(kiln_error **error, ze_result_t code,
                                    const char *what);
kiln_status kiln__level_zero_status(ze_result_t code);

/* ---- level_zero_probe.c: devices ---- */

typedef struct kiln__level_zero_facts {
    kiln__spirv_facts base;
    ze_driver_handle_t driver; /* NULL: of an adopted context */
    ze_device_handle_t id;
    uint32_t group_items; /* the most in a group */
    uint32_t local_sizes[3];
    uint32_t width;   /* of a sub-group */
    uint32_t ordinal; /* of the command queue group for kernels */
    char name[ZE_MAX_DEVICE_NAME];
    char identity[640]; /* names driver and device */
} kiln__level_zero_facts;

/* Asks a device for its facts; the driver may be NULL. */
ze_result_t kiln__level_zero_ask(kiln__level_zero_facts *out,
                                 const kiln__level_zero_api *api,
                                 ze_driver_handle_t driver,
                                 ze_device_handle_t id);
/* Lists the devices of all drivers. */
kiln_status kiln__level_zero_probe(kiln__spirv_list *out,
                                   const kiln__level_zero_api *api,
                                   const kiln_alloc *alloc);

/* ---- level_zero_driver.c ---- */

typedef struct kiln__level_zero {
    kiln__spirv_finder base;
    const kiln__level_zero_api *api;
    kiln__level_zero_api own_api;
} kiln__level_zero;

/* A command list for a copy and its wait; used by one caller at a time. */
typedef struct kiln__level_zero_copier {
    ze_command_list_handle_t list;
    struct kiln__level_zero_copier *next;
} kiln__level_zero_copier;

typedef struct kiln__level_zero_device {
    kiln__spirv_device base;
    const kiln__level_zero_api *api;
    kiln__level_zero_facts facts;
    ze_context_handle_t native;
    int is_adopted;
    int has_lock;
    kiln__mutex lock; /* protects the list */
    kiln__fork_guard guard;
    kiln__level_zero_copier *idle;
} kiln__level_zero_device;

static inline const kiln__level_zero_device *kiln__level_zero_of(
    const kiln__spirv_device *device)
{
    return (const kiln__level_zero_device *)device;
}

extern const kiln__spirv_driver kiln__level_zero_driver;
/* `api` NULL: the library's, opened at the first use. */
kiln_status kiln__level_zero_new(void **self, kiln_context *context,
                                 const kiln__level_zero_api *api,
                                 kiln_error **error);

/*
 * The functions below are those of a backend's table (kiln/sys/backend.h) and
 * of kiln__spirv_driver, and functions that they share.
 */

/* ---- level_zero_memory.c ---- */

kiln_status kiln__level_zero_memory_new(void *self, void *device, uint64_t size,
                                        void **address, kiln_error **error);
void kiln__level_zero_memory_free(void *self, void *device, void *address);
kiln_status kiln__level_zero_copy(void *self, void *device, void *to,
                                  const void *from, uint64_t size,
                                  kiln_error **error);
/* Allocates host memory that the device can access. */
kiln_status kiln__level_zero_shared_new(void **address,
                                        const kiln__level_zero_device *device,
                                        uint64_t size, kiln_error **error);
void kiln__level_zero_release(const kiln__level_zero_device *device,
                              void *address);
void kiln__level_zero_copiers_free(kiln__level_zero_device *device);
/* Makes a command list that runs commands as soon as they are appended. */
ze_result_t kiln__level_zero_list_new(ze_command_list_handle_t *out,
                                      const kiln__level_zero_device *device,
                                      ze_command_queue_mode_t mode);

/* ---- level_zero_module.c ---- */

/* The error contains the messages of the driver's compiler. */
kiln_status kiln__level_zero_load(void *self, void *device,
                                  const kiln_artifact *artifact, void **module,
                                  kiln_error **error);
const char *kiln__level_zero_identity(void *self, void *device);
kiln_status kiln__level_zero_load_native(void *self, void *device,
                                         const kiln_artifact *artifact,
                                         const void *bytes, size_t size,
                                         void **module, kiln_error **error);
kiln_status kiln__level_zero_save(void *self, void *module, kiln_blob *out,
                                  kiln_error **error);
void kiln__level_zero_program_free(const kiln__spirv_device *device,
                                   void *native);

/* ---- level_zero_kernel.c ---- */

kiln_status kiln__level_zero_kernel_new(void **native,
                                        const kiln__spirv_module *module,
                                        const char *name, kiln_error **error);
void kiln__level_zero_kernel_free(const kiln__spirv_device *device,
                                  void *native);
void kiln__level_zero_ask_limits(kiln__group_limits *out,
                                 const kiln__spirv_device *device,
                                 void *native);

/* ---- level_zero_queue.c ---- */

kiln_status kiln__level_zero_queue_new(void *self, void *device, void *native,
                                       void **out, kiln_error **error);
void kiln__level_zero_queue_free(void *self, void *queue);
kiln_status kiln__level_zero_launch(void *self, void *queue,
                                    const kiln_launch_request *request,
                                    kiln_exception *exception,
                                    kiln_error **error);
kiln_status kiln__level_zero_wait(void *self, void *queue, int32_t block,
                                  kiln_exception *exception,
                                  kiln_error **error);
kiln_status kiln__level_zero_native(void *self, void *queue, void *function,
                                    kiln_native_launch *out,
                                    kiln_error **error);

#endif /* KILN_LEVEL_ZERO_H */
