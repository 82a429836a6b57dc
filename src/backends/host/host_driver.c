/* host_driver.c - the driver half of the host backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/host_backend.h"
#include "base/error.h"
#include "tiers/binary/artifact.h"

/*
 * The only device is this process. Its memory is that of the process, its
 * queues run each launch before the call returns, and its modules are ELF
 * images. There is nothing to adopt.
 */

typedef struct host_backend {
    kiln_context *context;
    kiln__host_pool *pool;
    kiln__host_timer timer;
    kiln__host_deferral deferral;
    kiln__host_space space;
} host_backend;

typedef struct host_queue {
    host_backend *backend;
    kiln__host_record record;
} host_queue;

/* ---- devices ---- */

static kiln_status describe_target(void *self, const char *name,
                                   kiln_target *out, kiln_error **error)
{
    (void)self;
    return kiln__host_target(out, name, error);
}

static uint32_t count_devices(void *self, const char **reason)
{
    (void)self;
    *reason = NULL;
#if defined(__x86_64__)
    return 1;
#else
    *reason = "this processor's architecture is not supported";
    return 0;
#endif
}

static kiln_status open(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error)
{
    const char *reason;

    if (native != NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "the host backend adopts no contexts");
    if (ordinal >= count_devices(self, &reason))
        return kiln__error_set(error, KILN_ENODEVICE,
                               "there is no host device %u; there is 0",
                               (unsigned)ordinal);
    *device = self;
    *device_name = "host";
    return KILN_OK;
}

static void close(void *self, void *device)
{
    (void)self;
    (void)device;
}

/* ---- modules ---- */

static kiln_status load_module(void *self, void *device,
                               const kiln_artifact *artifact, void **module,
                               kiln_error **error)
{
    host_backend *backend = self;
    const kiln_alloc *alloc = &backend->context->alloc;
    kiln__host_module *made;
    const void *bytes;
    size_t size;
    kiln_status status;

    (void)device;
    KILN_TRY(kiln__host_target_runs(kiln_artifact_target(artifact), error));
    made = kiln__allocate(alloc, sizeof *made);
    if (made == NULL)
        return kiln__error_no_memory(error);
    made->deferral = &backend->deferral;
    made->space = &backend->space;
    bytes = kiln_artifact_bytes(artifact, &size);
    kiln__host_pool_rest(backend->pool);
    status = kiln__host_image_load(&made->image, alloc, made->space, bytes,
                                   size, error);
    if (status != KILN_OK) {
        kiln__deallocate(alloc, made, sizeof *made);
        return status;
    }
    if (artifact->deferred_size > 0)
        made->artifact = kiln__artifact_retain_origin(artifact);
    *module = made;
    return KILN_OK;
}

static kiln_status symbol(void *self, void *module, const char *name,
                          void **function, kiln_error **error)
{
    const kiln__host_module *from = module;

    (void)self;
    *function = kiln__host_image_symbol(from->image, name);
    if (*function == NULL)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "host image: no function \"%.128s\"", name);
    return KILN_OK;
}

static void unload(void *self, void *module)
{
    host_backend *backend = self;
    kiln__host_module *old = module;

    kiln__host_image_unload(old->image);
    kiln__host_image_unload(atomic_load(&old->second));
    kiln_artifact_release(old->artifact);
    kiln__deallocate(&backend->context->alloc, old, sizeof *old);
}

/* ---- queues ---- */

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    host_backend *backend = self;
    host_queue *made;

    (void)device;
    if (native != NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "the host backend adopts no streams");
    made = kiln__allocate(&backend->context->alloc, sizeof *made);
    if (made == NULL)
        return kiln__error_no_memory(error);
    made->backend = backend;
    made->record.timer = &backend->timer;
    *queue = made;
    return KILN_OK;
}

static void queue_free(void *self, void *queue)
{
    host_backend *backend = self;

    kiln__deallocate(&backend->context->alloc, queue, sizeof(host_queue));
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    host_backend *backend = self;
    host_queue *to = queue;
    const kiln_status status = kiln__host_launch(
        backend->context, backend->pool, request, &to->record, error);

    if (status == KILN_EEXCEPTION)
        *exception = to->record.exception;
    return status;
}

static kiln_status wait(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)queue;
    (void)block;
    (void)exception;
    (void)error;
    return KILN_OK; /* a launch has ended when it returns */
}

/* Accesses only the flag, because signal handlers may call it. */
static kiln_status cancel(void *self, void *queue, kiln_error **error)
{
    host_queue *of = queue;

    (void)self;
    (void)error;
    kiln__host_stop_now(&of->record.stop, KILN__HOST_CANCELED);
    return KILN_OK;
}

/* ---- memory ---- */

/* Stands directly before a buffer's first byte. */
typedef struct buffer_head {
    void *memory; /* as the allocator returned it */
    size_t size;
} buffer_head;

#define BUFFER_ALIGNMENT 64

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    const host_backend *backend = self;
    buffer_head head;
    unsigned char *start;

    (void)device;
    if (__builtin_add_overflow(size, sizeof head + BUFFER_ALIGNMENT,
                               &head.size))
        return kiln__error_no_memory(error);
    head.memory = kiln__resize(&backend->context->alloc, NULL, 0, head.size);
    if (head.memory == NULL)
        return kiln__error_no_memory(error);
    start = (unsigned char *)head.memory + sizeof head;
    start += (BUFFER_ALIGNMENT - (uintptr_t)start % BUFFER_ALIGNMENT) %
             BUFFER_ALIGNMENT;
    memcpy(start - sizeof head, &head, sizeof head);
    *address = start;
    return KILN_OK;
}

static void buffer_free(void *self, void *device, void *address)
{
    const host_backend *backend = self;
    buffer_head head;

    (void)device;
    memcpy(&head, (unsigned char *)address - sizeof head, sizeof head);
    kiln__deallocate(&backend->context->alloc, head.memory, head.size);
}

static kiln_status copy(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error)
{
    (void)self;
    (void)device;
    (void)error;
    if (size > 0)
        memmove(to, from, (size_t)size);
    return KILN_OK;
}

/* ---- the backend ---- */

static void backend_free(void *self)
{
    host_backend *backend = self;

    kiln__host_space_dispose(&backend->space);
    kiln__host_deferral_dispose(&backend->deferral);
    kiln__host_timer_dispose(&backend->timer);
    kiln__host_pool_free(backend->pool);
    kiln__deallocate(&backend->context->alloc, backend, sizeof *backend);
}

static const kiln_backend_ops host_ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "host",
    .format = "elf",
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
    .cancel = cancel,
};

static kiln_status init_parts(host_backend *backend)
{
    kiln_context *context = backend->context;

    KILN_TRY(kiln__host_pool_new(&backend->pool, context));
    if (kiln__host_timer_init(&backend->timer, context) != KILN_OK) {
        kiln__host_pool_free(backend->pool);
        return KILN_ENOMEM;
    }
    if (kiln__host_deferral_init(&backend->deferral, context) != KILN_OK) {
        kiln__host_timer_dispose(&backend->timer);
        kiln__host_pool_free(backend->pool);
        return KILN_ENOMEM;
    }
    if (kiln__host_space_init(&backend->space, context) != KILN_OK) {
        kiln__host_deferral_dispose(&backend->deferral);
        kiln__host_timer_dispose(&backend->timer);
        kiln__host_pool_free(backend->pool);
        return KILN_ENOMEM;
    }
    return KILN_OK;
}

kiln_status kiln__host_backend_new(kiln_backend_ops *ops, void **self,
                                   kiln_context *context, kiln_error **error)
{
    host_backend *backend = kiln__allocate(&context->alloc, sizeof *backend);

    if (backend == NULL)
        return kiln__error_no_memory(error);
    backend->context = context;
    if (init_parts(backend) != KILN_OK) {
        kiln__deallocate(&context->alloc, backend, sizeof *backend);
        return kiln__error_no_memory(error);
    }
    *ops = host_ops;
    *self = backend;
    return KILN_OK;
}
