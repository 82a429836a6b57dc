/* level_zero_driver.c - Level Zero as a driver below the SPIR-V backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "level_zero.h"
#include "report.h"

/*
 * Devices are looked for once, when they are first asked about. The lock is
 * held meanwhile, so that nobody sees half a list; nothing else takes it, and
 * fork() waits for it.
 */

/* ---- devices ---- */

static void find_devices(kiln__level_zero *driver)
{
    const kiln_alloc *alloc = &driver->context->alloc;

    driver->is_known = 1;
    if (driver->api == NULL) {
        if (!kiln__level_zero_api_open(&driver->own_api, driver->list.reason,
                                       sizeof driver->list.reason))
            return;
        driver->api = &driver->own_api;
    }
    if (kiln__level_zero_probe(&driver->list, driver->api, alloc) == KILN_OK)
        return;
    kiln__level_zero_list_dispose(&driver->list, alloc);
    driver->is_known = 0; /* it may go better another time */
    (void)snprintf(driver->list.reason, sizeof driver->list.reason, "%s",
                   kiln_status_text(KILN_ENOMEM));
}

static uint32_t count(void *self, const char **reason)
{
    kiln__level_zero *driver = self;

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
    const kiln__level_zero *driver = self;

    *level = driver->list.devices[ordinal].level;
    *place = driver->list.devices[ordinal].place;
}

static void device_free(kiln__level_zero_device *device)
{
    kiln_context *context = device->context;

    kiln__level_zero_copiers_free(device);
    if (device->native != NULL && !device->is_adopted)
        (void)device->api->zeContextDestroy(device->native);
    kiln__loaded_kernels_dispose(&device->kernels);
    kiln__fork_remove(&context->fork, &device->guard);
    kiln__mutex_dispose(&device->lock);
    kiln__deallocate(&context->alloc, device, sizeof *device);
}

static kiln_status device_new(kiln__level_zero_device **out,
                              kiln__level_zero *driver, kiln_error **error)
{
    kiln_context *context = driver->context;
    kiln__level_zero_device *device =
        kiln__allocate(&context->alloc, sizeof *device);

    if (device == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&device->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, device, sizeof *device);
        return kiln__error_no_memory(error);
    }
    device->guard.mutex = &device->lock;
    kiln__fork_add(&context->fork, &device->guard);
    device->owner = (kiln__spirv_owner){kiln__level_zero_driver.ops, driver};
    device->api = driver->api;
    device->context = context;
    if (kiln__loaded_kernels_init(&device->kernels, context) != KILN_OK) {
        device_free(device);
        return kiln__error_no_memory(error);
    }
    *out = device;
    return KILN_OK;
}

static kiln_status open_own(kiln__level_zero_device *device,
                            const kiln__level_zero_facts *facts,
                            kiln_error **error)
{
    const ze_context_desc_t request = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_result_t code =
        device->api->zeContextCreate(facts->driver, &request, &device->native);

    device->facts = *facts;
    if (code == ZE_RESULT_SUCCESS)
        return KILN_OK;
    device->native = NULL;
    return kiln__level_zero_failed(error, code, "context");
}

/* A device that was found has a driver to name; another one is asked. */
static ze_result_t find_facts(kiln__level_zero_facts *out,
                              const kiln__level_zero *driver,
                              ze_device_handle_t id)
{
    for (uint32_t i = 0; i < driver->list.count; i++)
        if (driver->list.devices[i].id == id) {
            *out = driver->list.devices[i];
            return ZE_RESULT_SUCCESS;
        }
    return kiln__level_zero_ask(out, driver->api, NULL, id);
}

static kiln_status open_adopted(kiln__level_zero_device *device,
                                const kiln__level_zero *driver,
                                const kiln_spirv_native *native,
                                kiln_error **error)
{
    ze_result_t code;

    if (native->device == NULL)
        return kiln__error_set(error, KILN_EINVAL,
                               "Level Zero: a context is adopted with a "
                               "device; it is NULL");
    code = find_facts(&device->facts, driver, native->device);
    if (code != ZE_RESULT_SUCCESS)
        return kiln__level_zero_failed(error, code, "adopted device");
    device->native = native->context;
    device->is_adopted = 1;
    return KILN_OK;
}

static kiln_status open(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error)
{
    kiln__level_zero *driver = self;
    const char *reason;
    kiln__level_zero_device *made = NULL;
    kiln_status status;

    if (ordinal >= count(self, &reason) && (native == NULL || !driver->api))
        return kiln__error_set(error, KILN_ENODEVICE, "Level Zero: %s",
                               reason != NULL ? reason : "no such device");
    KILN_TRY(device_new(&made, driver, error));
    status = native != NULL
                 ? open_adopted(made, driver, native, error)
                 : open_own(made, &driver->list.devices[ordinal], error);
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
    kiln__level_zero_module *made = NULL;
    kiln__spirv_walk walk;
    size_t size;
    const void *bytes = kiln_artifact_bytes(artifact, &size);

    (void)self;
    KILN_TRY(kiln__spirv_walk_init(&walk, bytes, size, error));
    KILN_TRY(kiln__level_zero_load(&made, device, artifact,
                                   ZE_MODULE_FORMAT_IL_SPIRV, bytes, size,
                                   error));
    *module = made;
    return KILN_OK;
}

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    kiln__level_zero_function *found = NULL;

    (void)self;
    KILN_TRY(kiln__level_zero_symbol(&found, module, name, error));
    *function = found;
    return KILN_OK;
}

static void unload(void *self, void *module)
{
    (void)self;
    kiln__level_zero_unload(module);
}

static void *native_function(void *self, void *module, void *function)
{
    const kiln__level_zero_function *of = function;

    (void)self;
    (void)module;
    return of->native;
}

/* ---- the driver's own binaries ---- */

static const char *identity(void *self, void *device)
{
    const kiln__level_zero_device *of = device;

    (void)self;
    return of->facts.identity[0] != '\0' ? of->facts.identity : NULL;
}

static kiln_status load_native(void *self, void *device,
                               const kiln_artifact *artifact, const void *bytes,
                               size_t size, void **module, kiln_error **error)
{
    kiln__level_zero_module *made = NULL;

    (void)self;
    KILN_TRY(kiln__level_zero_load(
        &made, device, artifact, ZE_MODULE_FORMAT_NATIVE, bytes, size, error));
    *module = made;
    return KILN_OK;
}

static kiln_status save_native(void *self, void *module, kiln_blob *out,
                               kiln_error **error)
{
    (void)self;
    return kiln__level_zero_save(out, module, error);
}

/* ---- queues ---- */

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    (void)self;
    return kiln__level_zero_queue_new(queue, device, native, error);
}

static void queue_free(void *self, void *queue)
{
    (void)self;
    kiln__level_zero_queue_free(queue);
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)exception;
    return kiln__level_zero_launch(queue, request, error);
}

static kiln_status wait(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error)
{
    (void)self;
    return kiln__level_zero_wait(queue, block, exception, error);
}

/* ---- memory ---- */

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    (void)self;
    return kiln__level_zero_memory_new(address, device, size, error);
}

static void buffer_free(void *self, void *device, void *address)
{
    (void)self;
    kiln__level_zero_memory_free(device, address);
}

static kiln_status copy(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error)
{
    (void)self;
    return kiln__level_zero_copy(device, to, from, size, error);
}

/* ---- the driver ---- */

static void driver_free(void *self)
{
    kiln__level_zero *driver = self;
    kiln_context *context = driver->context;

    kiln__level_zero_list_dispose(&driver->list, &context->alloc);
    kiln__fork_remove(&context->fork, &driver->guard);
    kiln__mutex_dispose(&driver->lock);
    kiln__deallocate(&context->alloc, driver, sizeof *driver);
}

static const kiln_backend_ops ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "level-zero",
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

const kiln__spirv_driver kiln__level_zero_driver = {
    .name = "level-zero",
    .title = "Level Zero",
    .ops = &ops,
    .device = describe_device,
};

kiln_status kiln__level_zero_new(void **self, kiln_context *context,
                                 const kiln__level_zero_api *api,
                                 kiln_error **error)
{
    kiln__level_zero *driver = kiln__allocate(&context->alloc, sizeof *driver);

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
