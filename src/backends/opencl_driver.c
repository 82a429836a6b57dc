/* opencl_driver.c - OpenCL as a driver below the SPIR-V backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "opencl.h"
#include "report.h"

/*
 * Devices are looked for once, when they are first asked about: a driver that
 * is opened starts threads. The lock is held meanwhile, so that nobody sees
 * half a list; nothing else takes it, and fork() waits for it.
 */

/* ---- devices ---- */

static void find_devices(kiln__opencl *driver)
{
    const kiln_alloc *alloc = &driver->context->alloc;

    driver->is_known = 1;
    if (driver->api == NULL) {
        if (!kiln__opencl_api_open(&driver->own_api, driver->list.reason,
                                   sizeof driver->list.reason))
            return;
        driver->api = &driver->own_api;
    }
    if (kiln__opencl_probe(&driver->list, driver->api, alloc) == KILN_OK)
        return;
    kiln__opencl_list_dispose(&driver->list, alloc);
    driver->is_known = 0; /* it may go better another time */
    (void)snprintf(driver->list.reason, sizeof driver->list.reason, "%s",
                   kiln_status_text(KILN_ENOMEM));
}

static uint32_t count(void *self, const char **reason)
{
    kiln__opencl *driver = self;

    kiln__mutex_lock(&driver->lock);
    if (!driver->is_known)
        find_devices(driver);
    kiln__mutex_unlock(&driver->lock);
    *reason = driver->list.count == 0 ? driver->list.reason : NULL;
    return driver->list.count;
}

static void describe_device(void *self, uint32_t ordinal,
                            kiln__spirv_level *level, kiln__spirv_place *place)
{
    const kiln__opencl *driver = self;

    *level = driver->list.devices[ordinal].level;
    *place = driver->list.devices[ordinal].place;
}

static void device_free(kiln__opencl_device *device)
{
    kiln_context *context = device->context;

    if (device->copies != NULL)
        (void)device->api->clReleaseCommandQueue(device->copies);
    if (device->native != NULL)
        (void)device->api->clReleaseContext(device->native);
    kiln__loaded_kernels_dispose(&device->kernels);
    kiln__deallocate(&context->alloc, device, sizeof *device);
}

static kiln_status device_new(kiln__opencl_device **out, kiln__opencl *driver,
                              kiln_error **error)
{
    kiln_context *context = driver->context;
    kiln__opencl_device *device =
        kiln__allocate(&context->alloc, sizeof *device);

    if (device == NULL)
        return kiln__error_no_memory(error);
    device->owner = (kiln__spirv_owner){kiln__opencl_driver.ops, driver};
    device->driver = driver;
    device->api = driver->api;
    device->context = context;
    if (kiln__loaded_kernels_init(&device->kernels, context) != KILN_OK) {
        device_free(device);
        return kiln__error_no_memory(error);
    }
    *out = device;
    return KILN_OK;
}

/* A context of our own with the one device in it. */
static kiln_status open_own(kiln__opencl_device *device,
                            const kiln__opencl_facts *facts, kiln_error **error)
{
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)facts->platform, 0};
    cl_int code = CL_SUCCESS;

    device->facts = *facts;
    device->native = device->api->clCreateContext(properties, 1, &facts->id,
                                                  NULL, NULL, &code);
    return device->native != NULL ? KILN_OK
                                  : kiln__opencl_failed(error, code, "context");
}

/* The device that is named, or the first one of a context. */
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

static kiln_status open_adopted(kiln__opencl_device *device,
                                const kiln_spirv_native *native,
                                kiln_error **error)
{
    const kiln__opencl_api *api = device->api;
    char reason[256];
    cl_device_id id = NULL;
    cl_int code;

    KILN_TRY(device_of(&id, api, native, error));
    if (!kiln__opencl_ask(&device->facts, api, id, reason, sizeof reason))
        return kiln__error_set(error, KILN_ENODEVICE, "OpenCL: %s", reason);
    code = api->clRetainContext(native->context);
    if (code != CL_SUCCESS)
        return kiln__opencl_failed(error, code, "adopted context");
    device->native = native->context;
    return KILN_OK;
}

static kiln_status open(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error)
{
    kiln__opencl *driver = self;
    const char *reason;
    kiln__opencl_device *made = NULL;
    cl_int code = CL_SUCCESS;
    kiln_status status;

    if (ordinal >= count(self, &reason) && (native == NULL || !driver->api))
        return kiln__error_set(error, KILN_ENODEVICE, "OpenCL: %s",
                               reason != NULL ? reason : "no such device");
    KILN_TRY(device_new(&made, driver, error));
    status = native != NULL
                 ? open_adopted(made, native, error)
                 : open_own(made, &driver->list.devices[ordinal], error);
    if (status == KILN_OK) {
        made->copies = made->api->clCreateCommandQueue(
            made->native, made->facts.id, 0, &code);
        if (made->copies == NULL)
            status = kiln__opencl_failed(error, code, "queue for copies");
    }
    if (status != KILN_OK) {
        device_free(made);
        return status;
    }
    *device = made;
    *device_name = made->facts.name;
    return KILN_OK;
}

static void close(void *self, void *device)
{
    (void)self;
    device_free(device);
}

/* ---- modules ---- */

static kiln_status load(void *self, void *device, const kiln_artifact *artifact,
                        void **module, kiln_error **error)
{
    kiln__opencl_module *made;

    (void)self;
    KILN_TRY(kiln__opencl_load(&made, device, artifact, error));
    *module = made;
    return KILN_OK;
}

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    kiln__opencl_function *found;

    (void)self;
    KILN_TRY(kiln__opencl_symbol(&found, module, name, error));
    *function = found;
    return KILN_OK;
}

static void unload(void *self, void *module)
{
    (void)self;
    kiln__opencl_unload(module);
}

static void *native_function(void *self, void *module, void *function)
{
    const kiln__opencl_function *of = function;

    (void)self;
    (void)module;
    return of->native;
}

/* ---- the driver's own binaries ---- */

static const char *identity(void *self, void *device)
{
    const kiln__opencl_device *of = device;

    (void)self;
    return of->facts.identity;
}

static kiln_status load_native(void *self, void *device,
                               const kiln_artifact *artifact, const void *bytes,
                               size_t size, void **module, kiln_error **error)
{
    kiln__opencl_module *made;

    (void)self;
    KILN_TRY(
        kiln__opencl_load_native(&made, device, artifact, bytes, size, error));
    *module = made;
    return KILN_OK;
}

static kiln_status save_native(void *self, void *module, kiln_blob *out,
                               kiln_error **error)
{
    (void)self;
    return kiln__opencl_save(out, module, error);
}

/* ---- queues ---- */

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    (void)self;
    return kiln__opencl_queue_new(queue, device, native, error);
}

static void queue_free(void *self, void *queue)
{
    (void)self;
    kiln__opencl_queue_free(queue);
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)exception;
    return kiln__opencl_launch(queue, request, error);
}

static kiln_status wait(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error)
{
    (void)self;
    return kiln__opencl_wait(queue, block, exception, error);
}

/* ---- memory ---- */

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    (void)self;
    return kiln__opencl_memory_new(address, device, size, error);
}

static void buffer_free(void *self, void *device, void *address)
{
    (void)self;
    kiln__opencl_memory_free(device, address);
}

static kiln_status copy(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error)
{
    const kiln__opencl_device *at = device;

    (void)self;
    return kiln__opencl_copy(at, at->copies, to, from, size, error);
}

/* ---- the driver ---- */

static void driver_free(void *self)
{
    kiln__opencl *driver = self;
    kiln_context *context = driver->context;

    kiln__opencl_list_dispose(&driver->list, &context->alloc);
    kiln__fork_remove(&context->fork, &driver->guard);
    kiln__mutex_dispose(&driver->lock);
    kiln__deallocate(&context->alloc, driver, sizeof *driver);
}

static const kiln_backend_ops ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "opencl",
    .format = "spirv",
    .count = count,
    .open = open,
    .close = close,
    .load = load,
    .symbol = symbol,
    .unload = unload,
    .queue_new = queue_new,
    .queue_free = queue_free,
    .launch = launch,
    .wait = wait,
    .buffer_new = buffer_new,
    .buffer_free = buffer_free,
    .copy = copy,
    .free = driver_free,
    .native_function = native_function,
    .identity = identity,
    .load_native = load_native,
    .save_native = save_native,
};

const kiln__spirv_driver kiln__opencl_driver = {
    .name = "opencl",
    .title = "OpenCL",
    .ops = &ops,
    .device = describe_device,
};

kiln_status kiln__opencl_new(void **self, kiln_context *context,
                             const kiln__opencl_api *api, kiln_error **error)
{
    kiln__opencl *driver = kiln__allocate(&context->alloc, sizeof *driver);

    if (driver == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&driver->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, driver, sizeof *driver);
        return kiln__error_no_memory(error);
    }
    driver->context = context;
    driver->api = api;
    driver->guard.mutex = &driver->lock;
    kiln__fork_add(&context->fork, &driver->guard);
    *self = driver;
    return KILN_OK;
}
