/* device.c - devices, buffers and queues, on top of any backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/handles.h"

#include <string.h>

#include "backends/backend.h"
#include "backends/without_device.h"
#include "base/error.h"
#include "context/keys/settings.h"
#include "context/log.h"

/*
 * The public functions check their arguments and call the backend's table, or
 * that of offline.c for an offline device. Devices that a driver opened are
 * shared and stay until the context ends (kernel_load.c); a kiln_device refers
 * to one. Queues and buffers hold the backend's handle.
 */

/* ---- devices ---- */

kiln_status kiln__no_device(kiln_error **error, const char *backend,
                            const char *reason)
{
    return kiln__error_set(
        error, KILN_ENODEVICE,
        "no %s device: %s; without one, kiln_emit() gives a kernel's code, and "
        "kiln_device_open_offline() takes launches",
        backend, reason != NULL ? reason : "none was found");
}

/* Finds a backend whose devices can be opened. */
static kiln_status find_backend(kiln__backend **out, kiln_context *context,
                                const char *name, kiln_error **error)
{
    const kiln_backend_ops *ops;
    void *self;
    kiln__backend *entry = kiln__backend_entry(context, name, strlen(name));

    if (entry != NULL && !entry->is_here)
        return kiln__error_set(error, KILN_ENODEVICE,
                               "no %s device: the backend is %s", entry->name,
                               entry->absent);
    KILN_TRY(
        kiln__backend_find(&ops, &self, context, name, strlen(name), error));
    *out = entry;
    return KILN_OK;
}

static kiln_device *device_new(kiln_context *context, kiln__backend *backend)
{
    kiln_device *device = kiln__allocate(&context->alloc, sizeof *device);

    if (device == NULL)
        return NULL;
    device->context = context;
    device->backend = backend;
    device->ops = &backend->ops;
    device->self = backend->self;
    return device;
}

static void device_free(kiln_device *device)
{
    kiln__workload_free(device->workload);
    kiln__deallocate(&device->context->alloc, device, sizeof *device);
}

static kiln_status check_ordinal(const kiln__backend *backend, uint32_t ordinal,
                                 kiln_error **error)
{
    const char *reason = NULL;
    const uint32_t count = backend->ops.count(backend->self, &reason);

    if (ordinal < count)
        return KILN_OK;
    if (count == 0)
        return kiln__no_device(error, backend->name, reason);
    return kiln__error_set(error, KILN_ENODEVICE,
                           "no %s device %u: there are %u, counted from 0",
                           backend->name, (unsigned)ordinal, (unsigned)count);
}

kiln_status kiln_device_open(kiln_device **out, kiln_context *context,
                             const char *backend, uint32_t ordinal,
                             kiln_error **error)
{
    kiln__backend *entry;
    kiln_device *device;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(backend != NULL, error);
    KILN_TRY(find_backend(&entry, context, backend, error));
    KILN_TRY(check_ordinal(entry, ordinal, error));
    device = device_new(context, entry);
    if (device == NULL)
        return kiln__error_no_memory(error);
    status = kiln__driver_device_get(&device->shared, context, entry, ordinal,
                                     error);
    if (status != KILN_OK) {
        device_free(device);
        return status;
    }
    device->handle = device->shared->handle;
    device->name = device->shared->name;
    *out = device;
    return KILN_OK;
}

kiln_status kiln_device_adopt(kiln_device **out, kiln_context *context,
                              const char *backend, void *native_context,
                              kiln_error **error)
{
    kiln__backend *entry;
    kiln_device *device;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(backend != NULL, error);
    KILN_REQUIRE(native_context != NULL, error);
    KILN_TRY(find_backend(&entry, context, backend, error));
    device = device_new(context, entry);
    if (device == NULL)
        return kiln__error_no_memory(error);
    status = entry->ops.open(entry->self, 0, native_context, &device->handle,
                             &device->name, error);
    if (status != KILN_OK) {
        device_free(device);
        return status;
    }
    *out = device;
    return KILN_OK;
}

kiln_status kiln_device_open_offline(kiln_device **out, kiln_context *context,
                                     const kiln_config *config,
                                     kiln_error **error)
{
    kiln__backend *entry;
    kiln_device *device;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(config != NULL && config->context == context, error);
    KILN_TRY(find_backend(&entry, context, config->backend, error));
    device = device_new(context, entry);
    if (device == NULL)
        return kiln__error_no_memory(error);
    if (kiln__workload_new(&device->workload, context) != KILN_OK ||
        kiln__offline_add(context, config) != KILN_OK) {
        device_free(device);
        return kiln__error_no_memory(error);
    }
    device->ops = &kiln__offline_ops;
    device->self = context;
    device->handle = context;
    device->name = config->target;
    device->offline = config;
    *out = device;
    return KILN_OK;
}

kiln_status kiln_device_workload(kiln_blob *out, const kiln_device *device,
                                 kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(device != NULL, error);
    if (device->workload == NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "%s runs what it is given: an offline device "
                               "records a workload",
                               device->name);
    if (kiln__workload_text(out, device->workload, device->name) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

void kiln_device_close(kiln_device *device)
{
    if (device == NULL)
        return;
    if (device->offline != NULL)
        kiln__offline_remove(device->context, device->offline);
    else if (device->shared == NULL)
        device->ops->close(device->self, device->handle);
    device_free(device);
}

const char *kiln_device_name(const kiln_device *device)
{
    return device->name;
}

/* ---- buffers ---- */

kiln_status kiln_buffer_new(kiln_buffer **out, kiln_device *device,
                            uint64_t size, kiln_error **error)
{
    kiln_buffer *buffer;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(device != NULL, error);
    if (size > INT64_MAX)
        return kiln__error_no_memory(error);
    buffer = kiln__allocate(&device->context->alloc, sizeof *buffer);
    if (buffer == NULL)
        return kiln__error_no_memory(error);
    buffer->device = device;
    buffer->size = size;
    status = device->ops->buffer_new(device->self, device->handle, size,
                                     &buffer->address, error);
    if (status != KILN_OK) {
        kiln__deallocate(&device->context->alloc, buffer, sizeof *buffer);
        return status;
    }
    *out = buffer;
    return KILN_OK;
}

void kiln_buffer_free(kiln_buffer *buffer)
{
    const kiln_device *device;

    if (buffer == NULL)
        return;
    device = buffer->device;
    device->ops->buffer_free(device->self, device->handle, buffer->address);
    kiln__deallocate(&device->context->alloc, buffer, sizeof *buffer);
}

void *kiln_buffer_address(const kiln_buffer *buffer)
{
    return buffer->address;
}

uint64_t kiln_buffer_size(const kiln_buffer *buffer)
{
    return buffer->size;
}

static kiln_status check_range(const kiln_buffer *buffer, uint64_t offset,
                               uint64_t size, kiln_error **error)
{
    if (offset <= buffer->size && size <= buffer->size - offset)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "%llu bytes at %llu are not within a buffer of "
                           "%llu bytes",
                           (unsigned long long)size, (unsigned long long)offset,
                           (unsigned long long)buffer->size);
}

kiln_status kiln_buffer_write(kiln_buffer *buffer, uint64_t offset,
                              const void *from, uint64_t size,
                              kiln_error **error)
{
    const kiln_device *device;

    KILN_REQUIRE(buffer != NULL, error);
    KILN_REQUIRE(from != NULL || size == 0, error);
    KILN_TRY(check_range(buffer, offset, size, error));
    if (size == 0)
        return KILN_OK;
    device = buffer->device;
    return device->ops->copy(device->self, device->handle,
                             (char *)buffer->address + offset, from, size,
                             error);
}

kiln_status kiln_buffer_read(const kiln_buffer *buffer, uint64_t offset,
                             void *to, uint64_t size, kiln_error **error)
{
    const kiln_device *device;

    KILN_REQUIRE(buffer != NULL, error);
    KILN_REQUIRE(to != NULL || size == 0, error);
    KILN_TRY(check_range(buffer, offset, size, error));
    if (size == 0)
        return KILN_OK;
    device = buffer->device;
    return device->ops->copy(device->self, device->handle, to,
                             (const char *)buffer->address + offset, size,
                             error);
}

/* ---- queues ---- */

static void list(kiln_queue *queue)
{
    struct kiln__backends *backends = queue->device->context->backends;

    kiln__mutex_lock(&backends->lock);
    queue->next = backends->queues;
    backends->queues = queue;
    kiln__mutex_unlock(&backends->lock);
}

static void unlist(const kiln_queue *queue)
{
    struct kiln__backends *backends = queue->device->context->backends;
    kiln_queue **link = &backends->queues;

    kiln__mutex_lock(&backends->lock);
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    kiln__mutex_unlock(&backends->lock);
}

int kiln__queues_are_busy(const kiln_context *context)
{
    struct kiln__backends *backends = context->backends;
    const kiln_queue *at;

    kiln__mutex_lock(&backends->lock);
    at = backends->queues;
    while (at != NULL && !kiln__queue_is_busy(at))
        at = at->next;
    kiln__mutex_unlock(&backends->lock);
    return at != NULL;
}

static kiln_status queue_make(kiln_queue **out, kiln_device *device,
                              void *native, kiln_error **error)
{
    kiln_queue *queue = kiln__allocate(&device->context->alloc, sizeof *queue);
    kiln_status status;

    if (queue == NULL)
        return kiln__error_no_memory(error);
    queue->device = device;
    queue->exception.size = sizeof queue->exception;
    status = device->ops->queue_new(device->self, device->handle, native,
                                    &queue->handle, error);
    if (status != KILN_OK) {
        kiln__deallocate(&device->context->alloc, queue, sizeof *queue);
        return status;
    }
    list(queue);
    *out = queue;
    return KILN_OK;
}

kiln_status kiln_queue_new(kiln_queue **out, kiln_device *device,
                           kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(device != NULL, error);
    return queue_make(out, device, NULL, error);
}

kiln_status kiln_queue_adopt(kiln_queue **out, kiln_device *device,
                             void *native_stream, kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(device != NULL, error);
    KILN_REQUIRE(native_stream != NULL, error);
    return queue_make(out, device, native_stream, error);
}

void kiln_queue_free(kiln_queue *queue)
{
    const kiln_device *device;
    kiln_exception exception = {.size = sizeof exception};

    if (queue == NULL)
        return;
    device = queue->device;
    if (kiln__queue_is_busy(queue)) {
        kiln__log(device->context, KILN_LOG_WARNING,
                  "kiln_queue_free() in a callback of the queue does nothing");
        return;
    }
    /* What kernels printed is told while this waits. */
    kiln__queue_set_busy(queue, 1);
    (void)device->ops->wait(device->self, queue->handle, 1, &exception, NULL);
    if (device->ops->native_grew != NULL)
        kiln__growth_save(queue, device->context);
    kiln__queue_heap_dispose(queue);
    device->ops->queue_free(device->self, queue->handle);
    unlist(queue);
    kiln__deallocate(&device->context->alloc, queue, sizeof *queue);
}

uint64_t kiln_queue_launch_count(const kiln_queue *queue)
{
    return queue->launches;
}
