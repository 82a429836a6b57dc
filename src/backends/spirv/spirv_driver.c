/* spirv_driver.c - the SPIR-V backend: the devices of two drivers as one
   list. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/level_zero/level_zero.h"
#include "backends/spirv/opencl/opencl.h"
#include "backends/spirv/spirv.h"
#include "backends/without_device.h"
#include "base/error.h"
#include "base/options.h"

/*
 * Devices are numbered through: first those of Level Zero, then those of OpenCL
 * that Level Zero does not have; their places identify equal ones. The drivers
 * are opened only when something asks about devices.
 *
 * In a child of fork() the drivers are not called any more, not even to free
 * something: locks that their threads held are held there for ever.
 */

enum { LEVEL_ZERO, OPENCL, DRIVER_COUNT };

static const kiln__spirv_driver *const drivers[DRIVER_COUNT] = {
    &kiln__level_zero_driver, &kiln__opencl_driver};

typedef struct spirv_device {
    uint32_t driver;
    uint32_t ordinal; /* the driver's own number */
} spirv_device;

typedef struct spirv_backend {
    kiln_context *context;
    void *selves[DRIVER_COUNT]; /* NULL: the driver is not to be used */
    kiln__mutex lock;           /* protects the list */
    kiln__fork_guard guard;
    int is_forked;
    int is_known;
    int has_adopted; /* adopting was tried, which opened a driver */
    spirv_device devices[128];
    uint32_t count;
    char reason[512];
} spirv_backend;

#define DEVICES_MAX (sizeof((spirv_backend *)0)->devices / sizeof(spirv_device))

/* ---- devices of both ---- */

static int is_same(const kiln__spirv_place *a, const kiln__spirv_place *b)
{
    if (a->has_uuid && b->has_uuid)
        return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
    return a->has_pci && b->has_pci &&
           memcmp(a->pci, b->pci, sizeof a->pci) == 0;
}

static const kiln__spirv_facts *facts_of(const spirv_backend *backend,
                                         const spirv_device *device)
{
    return kiln__spirv_facts_of(backend->selves[device->driver],
                                device->ordinal);
}

static int is_listed(const spirv_backend *backend, uint32_t driver,
                     const kiln__spirv_place *place)
{
    for (uint32_t i = 0; i < backend->count; i++) {
        const spirv_device *other = &backend->devices[i];

        if (other->driver != driver &&
            is_same(place, &facts_of(backend, other)->place))
            return 1;
    }
    return 0;
}

static void add_devices(spirv_backend *backend, uint32_t driver, uint32_t count)
{
    for (uint32_t i = 0; i < count && backend->count < DEVICES_MAX; i++) {
        const spirv_device device = {driver, i};

        if (!is_listed(backend, driver, &facts_of(backend, &device)->place))
            backend->devices[backend->count++] = device;
    }
}

static void add_reason(spirv_backend *backend, uint32_t driver,
                       const char *reason)
{
    const size_t used = strlen(backend->reason);

    (void)snprintf(backend->reason + used, sizeof backend->reason - used,
                   "%s%s: %s", used > 0 ? "; " : "", drivers[driver]->title,
                   reason != NULL ? reason : "no device");
}

/* If there are no devices, and a driver may be missing only temporarily, the
   search is repeated at the next call. */
static void find_devices(spirv_backend *backend)
{
    int is_settled = 1;

    backend->reason[0] = '\0';
    for (uint32_t i = 0; i < DRIVER_COUNT; i++) {
        const char *reason = NULL;
        uint32_t count;

        if (backend->selves[i] == NULL)
            continue;
        count = drivers[i]->ops->count(backend->selves[i], &reason);
        if (count > 0)
            add_devices(backend, i, count);
        else
            add_reason(backend, i, reason);
        is_settled &= kiln__spirv_is_settled(backend->selves[i]);
    }
    backend->is_known = backend->count > 0 || is_settled;
}

static uint32_t count_devices(void *self, const char **reason)
{
    spirv_backend *backend = self;
    uint32_t count;

    kiln__mutex_lock(&backend->lock);
    if (!backend->is_known)
        find_devices(backend);
    count = backend->count;
    kiln__mutex_unlock(&backend->lock);
    *reason = count == 0 ? backend->reason : NULL;
    return count;
}

/* Called after fork(), when there is no other thread. */
static void forget(void *env)
{
    spirv_backend *backend = env;

    if (!backend->is_known && !backend->has_adopted)
        return;
    backend->is_forked = 1;
    backend->count = 0;
    (void)snprintf(backend->reason, sizeof backend->reason,
                   "the drivers were opened before fork(): their devices are "
                   "the parent's");
}

static kiln_status check_alive(const spirv_backend *backend, kiln_error **error)
{
    return backend->is_forked ? kiln__no_device(error, "spirv", backend->reason)
                              : KILN_OK;
}

/* ---- targets ---- */

/* Devices are searched only if the name leaves something open. */
static kiln_status describe_target(void *self, const char *name,
                                   kiln_target *out, kiln_error **error)
{
    spirv_backend *backend = self;
    const char *reason;

    if ((name != NULL && *name != '+') || count_devices(self, &reason) == 0)
        return kiln__spirv_target(out, name, NULL, error);
    return kiln__spirv_target(
        out, name, &facts_of(backend, &backend->devices[0])->level, error);
}

/* ---- opening ---- */

static kiln_status find_driver(uint32_t *out, const spirv_backend *backend,
                               const kiln_spirv_native *native,
                               kiln_error **error)
{
    for (uint32_t i = 0; i < DRIVER_COUNT; i++)
        if (strcmp(drivers[i]->name, native->driver) == 0) {
            *out = i;
            if (backend->selves[i] != NULL)
                return KILN_OK;
            return kiln__error_set(error, KILN_ENODEVICE,
                                   "the driver %s is switched off",
                                   native->driver);
        }
    return kiln__error_set(error, KILN_EINVAL,
                           "unknown driver \"%.64s\" to adopt from; there are "
                           "opencl, level-zero",
                           native->driver);
}

static kiln_status adopt(spirv_backend *backend, const void *given,
                         void **device, const char **device_name,
                         kiln_error **error)
{
    kiln_spirv_native native;
    uint32_t driver = 0;

    KILN_TRY(KILN__OPTIONS_READ(&native, given, kiln_spirv_native, error));
    if (native.driver == NULL || native.context == NULL)
        return kiln__error_set(error, KILN_EINVAL,
                               "spirv adopts what a kiln_spirv_native names: "
                               "driver and context");
    KILN_TRY(find_driver(&driver, backend, &native, error));
    kiln__mutex_lock(&backend->lock);
    backend->has_adopted = 1;
    kiln__mutex_unlock(&backend->lock);
    return drivers[driver]->ops->open(backend->selves[driver], 0, &native,
                                      device, device_name, error);
}

static kiln_status open(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error)
{
    spirv_backend *backend = self;
    const spirv_device *at;
    const char *reason;

    KILN_TRY(check_alive(backend, error));
    if (native != NULL)
        return adopt(backend, native, device, device_name, error);
    if (ordinal >= count_devices(self, &reason))
        return kiln__error_set(
            error, KILN_ENODEVICE, "there is no spirv device %u: %s",
            (unsigned)ordinal, reason != NULL ? reason : "there are fewer");
    at = &backend->devices[ordinal];
    return drivers[at->driver]->ops->open(backend->selves[at->driver],
                                          at->ordinal, NULL, device,
                                          device_name, error);
}

/* ---- what is passed on ---- */

static const kiln_backend_ops *ops_of(const void *handle, void **self)
{
    const kiln__spirv_owner *owner = handle;

    *self = owner->self;
    return owner->driver->ops;
}

static int is_forked(const void *self)
{
    return ((const spirv_backend *)self)->is_forked;
}

static void close(void *self, void *device)
{
    void *driver;

    if (!is_forked(self))
        ops_of(device, &driver)->close(driver, device);
}

static kiln_status load_module(void *self, void *device,
                               const kiln_artifact *artifact, void **module,
                               kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(device, &driver)
        ->load(driver, device, artifact, module, error);
}

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(module, &driver)
        ->symbol(driver, module, name, function, error);
}

static void unload(void *self, void *module)
{
    void *driver;

    if (!is_forked(self))
        ops_of(module, &driver)->unload(driver, module);
}

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(device, &driver)
        ->queue_new(driver, device, native, queue, error);
}

static void queue_free(void *self, void *queue)
{
    void *driver;

    if (!is_forked(self))
        ops_of(queue, &driver)->queue_free(driver, queue);
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(queue, &driver)
        ->launch(driver, queue, request, exception, error);
}

static kiln_status wait(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(queue, &driver)->wait(driver, queue, block, exception, error);
}

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(device, &driver)
        ->buffer_new(driver, device, size, address, error);
}

static void buffer_free(void *self, void *device, void *address)
{
    void *driver;

    if (!is_forked(self))
        ops_of(device, &driver)->buffer_free(driver, device, address);
}

static kiln_status copy(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(device, &driver)->copy(driver, device, to, from, size, error);
}

static kiln_status native(void *self, void *queue, void *function,
                          kiln_native_launch *out, kiln_error **error)
{
    const kiln__spirv_function *of = function;
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(queue != NULL ? queue : of->module, &driver)
        ->native(driver, queue, function, out, error);
}

static const char *identity(void *self, void *device)
{
    void *driver;

    if (is_forked(self))
        return NULL;
    return ops_of(device, &driver)->identity(driver, device);
}

static kiln_status load_native(void *self, void *device,
                               const kiln_artifact *artifact, const void *bytes,
                               size_t size, void **module, kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(device, &driver)
        ->load_native(driver, device, artifact, bytes, size, module, error);
}

static kiln_status save_native(void *self, void *module, kiln_blob *out,
                               kiln_error **error)
{
    void *driver;

    KILN_TRY(check_alive(self, error));
    return ops_of(module, &driver)->save_native(driver, module, out, error);
}

static int32_t native_grew(void *self, void *module)
{
    void *driver;
    const kiln_backend_ops *ops = ops_of(module, &driver);

    return !is_forked(self) && ops->native_grew != NULL &&
           ops->native_grew(driver, module);
}

static const char *native_tools(void *self, void *module)
{
    void *driver;
    const kiln_backend_ops *ops = ops_of(module, &driver);

    return !is_forked(self) && ops->native_tools != NULL
               ? ops->native_tools(driver, module)
               : NULL;
}

/* ---- the backend ---- */

static void backend_free(void *self)
{
    spirv_backend *backend = self;
    kiln_context *context = backend->context;

    for (uint32_t i = 0; i < DRIVER_COUNT; i++)
        if (backend->selves[i] != NULL)
            drivers[i]->ops->free(backend->selves[i]);
    kiln__fork_remove(&context->fork, &backend->guard);
    kiln__mutex_dispose(&backend->lock);
    kiln__deallocate(&context->alloc, backend, sizeof *backend);
}

const kiln_backend_ops kiln__spirv_ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "spirv",
    .format = "spirv",
    .describe = describe_target,
    .count = count_devices,
    .open = open,
    .close = close,
    .load = load_module,
    .symbol = symbol,
    .unload = unload,
    .queue_new = queue_new,
    .queue_free = queue_free,
    .launch = launch,
    .wait = wait,
    .buffer_new = buffer_new,
    .buffer_free = buffer_free,
    .copy = copy,
    .free = backend_free,
    .native = native,
    .identity = identity,
    .load_native = load_native,
    .save_native = save_native,
    .native_grew = native_grew,
    .native_tools = native_tools,
};

static int is_wanted(const kiln_context *context, uint32_t driver)
{
    return context->spirv_driver == NULL ||
           strcmp(context->spirv_driver, drivers[driver]->name) == 0;
}

static kiln_status check_choice(const char *driver, kiln_error **error)
{
    for (uint32_t i = 0; driver != NULL && i < DRIVER_COUNT; i++)
        if (strcmp(driver, drivers[i]->name) == 0)
            return KILN_OK;
    return driver == NULL
               ? KILN_OK
               : kiln__error_set(error, KILN_EINVAL,
                                 "the driver of backend spirv is '%s'; it can "
                                 "be opencl or level-zero",
                                 driver);
}

static kiln_status make_drivers(spirv_backend *backend,
                                const struct kiln__opencl_api *opencl,
                                const struct kiln__level_zero_api *zero,
                                kiln_error **error)
{
    kiln_context *context = backend->context;

    KILN_TRY(check_choice(context->spirv_driver, error));
    if (is_wanted(context, LEVEL_ZERO))
        KILN_TRY(kiln__level_zero_new(&backend->selves[LEVEL_ZERO], context,
                                      zero, error));
    if (is_wanted(context, OPENCL))
        KILN_TRY(
            kiln__opencl_new(&backend->selves[OPENCL], context, opencl, error));
    return KILN_OK;
}

kiln_status kiln__spirv_backend_new_on(void **self, kiln_context *context,
                                       const struct kiln__opencl_api *opencl,
                                       const struct kiln__level_zero_api *zero,
                                       kiln_error **error)
{
    spirv_backend *backend = kiln__allocate(&context->alloc, sizeof *backend);
    kiln_status status;

    if (backend == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&backend->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, backend, sizeof *backend);
        return kiln__error_no_memory(error);
    }
    backend->context = context;
    backend->guard = (kiln__fork_guard){&backend->lock, forget, backend, NULL};
    kiln__fork_add(&context->fork, &backend->guard);
    status = make_drivers(backend, opencl, zero, error);
    if (status != KILN_OK) {
        backend_free(backend);
        return status;
    }
    *self = backend;
    return KILN_OK;
}

kiln_status kiln__spirv_backend_new(kiln_backend_ops *ops, void **self,
                                    kiln_context *context, kiln_error **error)
{
    *ops = kiln__spirv_ops;
    return kiln__spirv_backend_new_on(self, context, NULL, NULL, error);
}
