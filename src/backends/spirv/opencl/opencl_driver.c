/* opencl_driver.c - opens devices of OpenCL for the SPIR-V backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/opencl/opencl.h"
#include "base/error.h"

/*
 * A device has an OpenCL context: one of its own, or the adopted one, and a
 * queue for copies. The table of functions at the end of the file makes this
 * driver known to spirv_driver.c.
 */

/* ---- devices ---- */

static kiln_status open_driver(kiln__spirv_finder *finder)
{
    kiln__opencl *driver = (kiln__opencl *)finder;

    if (driver->api != NULL)
        return KILN_OK;
    KILN_TRY(kiln__opencl_api_open(&driver->own_api, finder->list.reason,
                                   sizeof finder->list.reason));
    driver->api = &driver->own_api;
    return KILN_OK;
}

static kiln_status probe(kiln__spirv_finder *finder)
{
    return kiln__opencl_probe(&finder->list,
                              ((const kiln__opencl *)finder)->api,
                              &finder->context->alloc);
}

static void device_free(kiln__spirv_device *device)
{
    const kiln__opencl_device *old = kiln__opencl_of(device);

    if (old->copies != NULL)
        (void)old->api->clReleaseCommandQueue(old->copies);
    if (old->native != NULL)
        (void)old->api->clReleaseContext(old->native);
}

/* Completes a device that has its facts and its context. */
static kiln_status complete(kiln__opencl_device *device, kiln_error **error)
{
    cl_int code = CL_SUCCESS;

    device->base.level = device->facts.base.level;
    device->base.argument_bytes = device->facts.base.argument_bytes;
    device->base.local_bytes = device->facts.base.local_bytes;
    device->base.name = device->facts.name;
    device->copies = device->api->clCreateCommandQueue(
        device->native, device->facts.id, 0, &code);
    return device->copies != NULL
               ? KILN_OK
               : kiln__opencl_failed(error, code, "queue for copies");
}

/* Makes a context with this device only. */
static kiln_status open_own(kiln__spirv_device *base, void *self,
                            uint32_t ordinal, kiln_error **error)
{
    kiln__opencl_device *device = (kiln__opencl_device *)base;
    const kiln__opencl *driver = self;
    const kiln__opencl_facts *facts =
        (const kiln__opencl_facts *)kiln__spirv_facts_of(&driver->base,
                                                         ordinal);
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)facts->platform, 0};
    cl_int code = CL_SUCCESS;

    device->api = driver->api;
    device->facts = *facts;
    device->native = device->api->clCreateContext(properties, 1, &facts->id,
                                                  NULL, NULL, &code);
    return device->native != NULL ? complete(device, error)
                                  : kiln__opencl_failed(error, code, "context");
}

/* Gives the named device, or the first one of the context. */
static kiln_status device_of(cl_device_id *out, const kiln__opencl_api *api,
                             const kiln_spirv_native *native,
                             kiln_error **error)
{
    cl_device_id ids[64];
    size_t size = 0;
    const cl_int code = api->clGetContextInfo(
        native->context, CL_CONTEXT_DEVICES, sizeof ids, ids, &size);

    if (code != CL_SUCCESS)
        return kiln__opencl_failed(error, code, "adopted context");
    for (size_t i = 0; i < size / sizeof *ids; i++)
        if (native->device == NULL || native->device == (void *)ids[i]) {
            *out = ids[i];
            return KILN_OK;
        }
    return kiln__error_set(error, KILN_EINVAL,
                           "OpenCL: the adopted context does not have that "
                           "device");
}

static kiln_status open_adopted(kiln__spirv_device *base, void *self,
                                const kiln_spirv_native *native,
                                kiln_error **error)
{
    kiln__opencl_device *device = (kiln__opencl_device *)base;
    const kiln__opencl_api *api = ((const kiln__opencl *)self)->api;
    char reason[256];
    cl_device_id id = NULL;
    cl_int code;

    if (api == NULL)
        return kiln__error_set(error, KILN_ENODEVICE, "OpenCL: %s",
                               ((const kiln__opencl *)self)->base.list.reason);
    device->api = api;
    KILN_TRY(device_of(&id, api, native, error));
    if (!kiln__opencl_ask(&device->facts, api, id, reason, sizeof reason))
        return kiln__error_set(error, KILN_ENODEVICE, "OpenCL: %s", reason);
    code = api->clRetainContext(native->context);
    if (code != CL_SUCCESS)
        return kiln__opencl_failed(error, code, "adopted context");
    device->native = native->context;
    return complete(device, error);
}

/* ---- the driver ---- */

static const kiln_backend_ops ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "opencl",
    .format = "spirv",
    .count = kiln__spirv_count,
    .open = kiln__spirv_open,
    .close = kiln__spirv_close,
    .load = kiln__opencl_load,
    .symbol = kiln__spirv_symbol,
    .unload = kiln__spirv_unload,
    .queue_new = kiln__opencl_queue_new,
    .queue_free = kiln__opencl_queue_free,
    .launch = kiln__opencl_launch,
    .wait = kiln__opencl_wait,
    .buffer_new = kiln__opencl_memory_new,
    .buffer_free = kiln__opencl_memory_free,
    .copy = kiln__opencl_copy,
    .free = kiln__spirv_finder_free,
    .native = kiln__opencl_native,
    .identity = kiln__opencl_identity,
    .load_native = kiln__opencl_load_native,
    .save_native = kiln__opencl_save,
    .native_grew = kiln__opencl_grew,
    .native_tools = kiln__opencl_tools,
};

const kiln__spirv_driver kiln__opencl_driver = {
    .name = "opencl",
    .title = "OpenCL",
    .ops = &ops,
    .facts_size = sizeof(kiln__opencl_facts),
    .finder_size = sizeof(kiln__opencl),
    .device_size = sizeof(kiln__opencl_device),
    .open = open_driver,
    .probe = probe,
    .device_open = open_own,
    .device_adopt = open_adopted,
    .device_free = device_free,
    .program_free = kiln__opencl_program_free,
    .kernel_new = kiln__opencl_kernel_new,
    .kernel_free = kiln__opencl_kernel_free,
    .ask_limits = kiln__opencl_ask_limits,
};

kiln_status kiln__opencl_new(void **self, kiln_context *context,
                             const kiln__opencl_api *api, kiln_error **error)
{
    kiln__spirv_finder *finder = NULL;

    KILN_TRY(
        kiln__spirv_finder_new(&finder, &kiln__opencl_driver, context, error));
    ((kiln__opencl *)finder)->api = api;
    *self = finder;
    return KILN_OK;
}
