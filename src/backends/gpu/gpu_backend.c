/* gpu_backend.c - the functions of the backends cuda and rocm. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/backend.h"
#include "backends/gpu/gpu.h"
#include "base/error.h"
#include "context/environment.h"

/* ---- targets and devices ---- */

static kiln_status describe_target(void *self, const char *name,
                                   kiln_target *out, kiln_error **error)
{
    kiln__gpu_backend *backend = self;

    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    return backend->vendor->describe(backend, name, out, error);
}

static uint32_t count_devices(void *self, const char **reason)
{
    const kiln__gpu_driver *driver = kiln__gpu_driver_get(self);

    *reason = driver == NULL              ? "out of memory"
              : driver->device_count == 0 ? driver->reason
                                          : NULL;
    return driver == NULL ? 0 : driver->device_count;
}

static kiln_status open(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error)
{
    kiln__gpu_context *context = NULL;

    if (native != NULL)
        KILN_TRY(kiln__gpu_context_adopt(&context, self, native, error));
    else
        KILN_TRY(kiln__gpu_context_open(&context, self, ordinal, error));
    *device = context;
    *device_name = context->name;
    return KILN_OK;
}

static void close(void *self, void *device)
{
    (void)self;
    kiln__gpu_context_close(device);
}

/* ---- modules ---- */

static kiln_status load_module(void *self, void *device,
                               const kiln_artifact *artifact, void **module,
                               kiln_error **error)
{
    kiln__gpu_module *made = NULL;

    (void)self;
    KILN_TRY(kiln__gpu_module_new(&made, device, artifact, error));
    *module = made;
    return KILN_OK;
}

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    kiln__gpu_function *made = NULL;

    (void)self;
    KILN_TRY(kiln__gpu_function_new(&made, module, name, error));
    *function = made;
    return KILN_OK;
}

static void unload(void *self, void *module)
{
    (void)self;
    kiln__gpu_module_free(module);
}

/* ---- queues ---- */

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    kiln__gpu_queue *made = NULL;

    (void)self;
    KILN_TRY(kiln__gpu_queue_new(&made, device, native, error));
    *queue = made;
    return KILN_OK;
}

static void queue_free(void *self, void *queue)
{
    (void)self;
    kiln__gpu_queue_free(queue);
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)exception;
    return kiln__gpu_queue_launch(queue, request, error);
}

static kiln_status wait(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error)
{
    (void)self;
    return kiln__gpu_queue_wait(queue, block != 0, exception, error);
}

/* Without a queue, the launch is for the context where the module was loaded
   first, and has no state to report to. */
static kiln_status native(void *self, void *queue, void *function,
                          kiln_native_launch *out, kiln_error **error)
{
    kiln__gpu_function *of = function;
    const kiln__gpu_queue *on = queue;
    const kiln__gpu_entry *entry = &of->first;

    (void)self;
    if (on != NULL) {
        KILN_TRY(kiln__gpu_function_in(&entry, of, on->context, error));
        out->hidden[0] = on->state_address;
        out->hidden[1] = of->number;
    }
    for (uint32_t i = 0; of->info->any_block && i < KILN__CUT_SIZES; i++)
        out->hidden[of->info->hidden_arguments - 1 - i] = KILN__WHOLE_GROUPS;
    out->function = entry->handle;
    return KILN_OK;
}

/* ---- memory ---- */

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    kiln__gpu_context *context = device;
    kiln__gpu_place before;
    kiln__gpu_result result;
    uint64_t made = 0;

    (void)self;
    KILN_TRY(kiln__gpu_check(context, error));
    KILN_TRY(kiln__gpu_enter_apart(context, &before, error));
    /* Drivers refuse to allocate 0 bytes. */
    result = context->api->memory_allocate(&made, size > 0 ? (size_t)size : 1);
    kiln__gpu_leave(context, &before);
    if (result != 0)
        return kiln__gpu_fail(context, result, error, "a buffer of %llu bytes",
                              (unsigned long long)size);
    *address = (void *)(uintptr_t)made;
    return KILN_OK;
}

static void buffer_free(void *self, void *device, void *address)
{
    kiln__gpu_context *context = device;
    kiln__gpu_place before;

    (void)self;
    if (!kiln__gpu_enter_to_free(context, &before))
        return;
    (void)context->api->memory_free((uint64_t)(uintptr_t)address);
    kiln__gpu_leave(context, &before);
}

/* hipMemcpyDefault: the driver finds out which memory an address is in. */
#define COPY_DEFAULT 4

static kiln_status copy(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error)
{
    kiln__gpu_context *context = device;
    const kiln__gpu_api *api = context->api;
    kiln__gpu_place before;
    kiln__gpu_result result;

    (void)self;
    KILN_TRY(kiln__gpu_check(context, error));
    if (size == 0)
        return KILN_OK;
    KILN_TRY(kiln__gpu_enter_apart(context, &before, error));
    if (api->copy != NULL)
        result = api->copy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from,
                           (size_t)size);
    else
        result = api->copy_kind(to, from, (size_t)size, COPY_DEFAULT);
    kiln__gpu_leave(context, &before);
    if (result != 0)
        return kiln__gpu_fail(context, result, error, "copying %llu bytes",
                              (unsigned long long)size);
    return KILN_OK;
}

/* ---- the backend ---- */

/* A driver does not work in the child of a fork(). One that was not opened
   before may be opened in the child. */
static void mark_child_after_fork(void *env)
{
    kiln__gpu_backend *backend = env;
    const kiln__gpu_driver *driver = atomic_load(&backend->driver);

    if (driver != NULL && !driver->may_pass)
        backend->is_child = 1;
}

static void backend_free(void *self)
{
    kiln__gpu_backend *backend = self;
    const kiln_alloc *alloc = &backend->context->alloc;

    kiln__loaded_kernels_dispose(&backend->kernels);
    kiln__fork_remove(&backend->context->fork, &backend->guard);
    kiln__mutex_dispose(&backend->lock);
    kiln__gpu_drivers_free(backend);
    kiln__string_free(alloc, backend->library);
    kiln__deallocate(alloc, backend, sizeof *backend);
}

static const kiln_backend_ops gpu_ops = {
    .size = sizeof(kiln_backend_ops),
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
};

/* Copies the path of the driver's library, if the user gave one. */
static kiln_status copy_library(kiln__gpu_backend *backend)
{
    const char *named = kiln__environment_text(backend->vendor->variable);

    if (named != NULL)
        backend->library = kiln__string_copy(&backend->context->alloc, named);
    return named != NULL && backend->library == NULL ? KILN_ENOMEM : KILN_OK;
}

kiln_status kiln__gpu_backend_new(kiln_backend_ops *ops, void **self,
                                  kiln_context *context,
                                  const kiln__gpu_vendor *vendor,
                                  kiln_error **error)
{
    kiln__gpu_backend *backend =
        kiln__allocate(&context->alloc, sizeof *backend);

    if (backend == NULL)
        return kiln__error_no_memory(error);
    backend->context = context;
    backend->vendor = vendor;
    if (kiln__mutex_init(&backend->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, backend, sizeof *backend);
        return kiln__error_no_memory(error);
    }
    backend->guard = (kiln__fork_guard){.mutex = &backend->lock,
                                        .child = mark_child_after_fork,
                                        .env = backend};
    kiln__fork_add(&context->fork, &backend->guard);
    if (copy_library(backend) != KILN_OK ||
        kiln__loaded_kernels_init(&backend->kernels, context) != KILN_OK) {
        backend_free(backend);
        return kiln__error_no_memory(error);
    }
    *ops = gpu_ops;
    ops->name = vendor->name;
    ops->format = vendor->format;
    *self = backend;
    return KILN_OK;
}
