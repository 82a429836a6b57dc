/* level_zero_queue.c - queues of Level Zero: launches, waits, exceptions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/level_zero/level_zero.h"
#include "base/error.h"

/*
 * A queue is an immediate command list. Commands in it may run side by side, so
 * a barrier follows every launch. A wait or a poll appends one more barrier,
 * which signals the queue's event.
 */

typedef struct zero_queue {
    kiln__spirv_owner owner;
    kiln__level_zero_device *device;
    ze_command_list_handle_t native;
    int is_adopted;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    int is_marked; /* the event will be signalled */
    int is_stale;  /* but it comes before a later launch */
    int is_busy;   /* something was launched since the last wait */
    int is_lent;   /* others may launch as well, at unknown times */
    void *state;   /* NULL: not made yet */
    kiln__launch_shape shape;
    kiln__device_record record;
} zero_queue;

/* ---- queues ---- */

static ze_result_t event_new(zero_queue *queue)
{
    const kiln__level_zero_device *device = queue->device;
    const kiln__level_zero_api *api = device->api;
    const ze_event_pool_desc_t pool = {.stype =
                                           ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                   .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                   .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_device_handle_t id = device->facts.id;
    ze_result_t code =
        api->zeEventPoolCreate(device->native, &pool, 1, &id, &queue->pool);

    if (code == ZE_RESULT_SUCCESS)
        code = api->zeEventCreate(queue->pool, &event, &queue->event);
    return code;
}

static void queue_free(zero_queue *queue)
{
    const kiln__level_zero_api *api = queue->device->api;

    kiln__level_zero_release(queue->device, queue->state);
    if (queue->native != NULL && !queue->is_adopted)
        (void)api->zeCommandListDestroy(queue->native);
    if (queue->event != NULL)
        (void)api->zeEventDestroy(queue->event);
    if (queue->pool != NULL)
        (void)api->zeEventPoolDestroy(queue->pool);
    kiln__deallocate(&queue->device->base.context->alloc, queue, sizeof *queue);
}

kiln_status kiln__level_zero_queue_new(void *self, void *device, void *native,
                                       void **out, kiln_error **error)
{
    kiln__level_zero_device *on = device;
    const kiln_alloc *alloc = &on->base.context->alloc;
    zero_queue *queue = kiln__allocate(alloc, sizeof *queue);
    ze_result_t code = ZE_RESULT_SUCCESS;

    (void)self;
    if (queue == NULL)
        return kiln__error_no_memory(error);
    queue->owner = on->base.owner;
    queue->device = on;
    queue->native = native;
    queue->is_adopted = native != NULL;
    if (native == NULL)
        code = kiln__level_zero_list_new(&queue->native, on,
                                         ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    if (code == ZE_RESULT_SUCCESS)
        code = event_new(queue);
    if (code != ZE_RESULT_SUCCESS) {
        queue_free(queue);
        return kiln__level_zero_failed(error, code, "queue");
    }
    *out = queue;
    return KILN_OK;
}

/* Has the event signalled after everything that was appended so far. */
static ze_result_t mark(zero_queue *queue)
{
    const ze_result_t code = queue->device->api->zeCommandListAppendBarrier(
        queue->native, queue->event, 0, NULL);

    queue->is_marked = code == ZE_RESULT_SUCCESS;
    queue->is_stale = 0;
    return code;
}

/* Waits for the mark, or only checks it (`timeout_ns` 0), and resets the
   event. */
static ze_result_t finish_mark(zero_queue *queue, uint64_t timeout_ns)
{
    const kiln__level_zero_api *api = queue->device->api;
    const ze_result_t code =
        timeout_ns == 0 ? api->zeEventQueryStatus(queue->event)
                        : api->zeEventHostSynchronize(queue->event, timeout_ns);

    if (code == ZE_RESULT_NOT_READY)
        return code;
    queue->is_marked = 0;
    return code == ZE_RESULT_SUCCESS ? api->zeEventHostReset(queue->event)
                                     : code;
}

/* A mark that comes before a later launch is awaited first; then a new one is
   made. */
static ze_result_t finish_queue(zero_queue *queue, uint64_t timeout_ns)
{
    ze_result_t code = ZE_RESULT_SUCCESS;

    if (queue->is_marked && queue->is_stale)
        code = finish_mark(queue, timeout_ns);
    if (code == ZE_RESULT_SUCCESS && !queue->is_marked)
        code = mark(queue);
    return code == ZE_RESULT_SUCCESS ? finish_mark(queue, timeout_ns) : code;
}

void kiln__level_zero_queue_free(void *self, void *queue)
{
    zero_queue *old = queue;

    (void)self;
    /* The event must not be signalled any more, and the state not be used. */
    if (old->is_marked)
        (void)finish_mark(old, UINT64_MAX);
    if (old->is_busy)
        (void)finish_queue(old, UINT64_MAX);
    queue_free(old);
}

/* ---- launching ---- */

/* The group that the driver suggests; zeros: none. Most launches take the
   second entry of a kernel that has one. */
static kiln_status suggest(uint32_t block[3], const zero_queue *queue,
                           kiln__spirv_function *function,
                           const kiln_launch_request *request,
                           kiln_error **error)
{
    const uint64_t *grid = request->grid;
    kiln__spirv_kernel *kernel;

    if (grid[0] > UINT32_MAX || grid[1] > UINT32_MAX || grid[2] > UINT32_MAX)
        return KILN_OK;
    KILN_TRY(kiln__spirv_kernel_take(
        &kernel, function,
        function->known.parameters != NULL ? &function->known : &function->any,
        error));
    if (queue->device->api->zeKernelSuggestGroupSize(
            kernel->native, (uint32_t)grid[0], (uint32_t)grid[1],
            (uint32_t)grid[2], &block[0], &block[1],
            &block[2]) != ZE_RESULT_SUCCESS)
        memset(block, 0, 3 * sizeof *block);
    kiln__spirv_kernel_give(function, kernel);
    return KILN_OK;
}

static kiln_status find_shape(zero_queue *queue, kiln__spirv_function *function,
                              const kiln_launch_request *request,
                              kiln_error **error)
{
    uint32_t suggested[3] = {0};
    kiln__group_limits limits;

    if (kiln__launch_shape_is(&queue->shape, function->number, request))
        return KILN_OK;
    if ((request->block[0] | request->block[1] | request->block[2]) == 0)
        KILN_TRY(suggest(suggested, queue, function, request, error));
    limits = kiln__spirv_limits(function, request);
    return kiln__launch_shape_find(&queue->shape, function->number, request,
                                   &limits, suggested, error);
}

static ze_result_t set_arguments(const zero_queue *queue,
                                 const kiln__spirv_kernel *kernel,
                                 const void *arguments)
{
    const kiln__spirv_entry *entry = kernel->entry;
    ze_result_t code = ZE_RESULT_SUCCESS;

    for (size_t i = 0; i < entry->parameter_count && code == ZE_RESULT_SUCCESS;
         i++) {
        const kiln__spirv_parameter *at = &entry->parameters[i];
        const void *value = (const unsigned char *)arguments + at->offset;

        code = queue->device->api->zeKernelSetArgumentValue(
            kernel->native, (uint32_t)i,
            at->is_local ? kiln__spirv_local_size(value) : at->size,
            at->is_local ? NULL : value);
    }
    return code;
}

static ze_result_t append(const zero_queue *queue,
                          const kiln__spirv_kernel *kernel,
                          const void *arguments)
{
    const kiln__level_zero_api *api = queue->device->api;
    const uint32_t *block = queue->shape.block;
    const uint64_t *counts = queue->shape.groups;
    const ze_group_count_t groups = {(uint32_t)counts[0], (uint32_t)counts[1],
                                     (uint32_t)counts[2]};
    ze_result_t code = set_arguments(queue, kernel, arguments);

    if (code == ZE_RESULT_SUCCESS)
        code = api->zeKernelSetGroupSize(kernel->native, block[0], block[1],
                                         block[2]);
    if (code == ZE_RESULT_SUCCESS)
        code = api->zeCommandListAppendLaunchKernel(
            queue->native, kernel->native, &groups, NULL, 0, NULL);
    if (code == ZE_RESULT_SUCCESS)
        code = api->zeCommandListAppendBarrier(queue->native, NULL, 0, NULL);
    return code;
}

static kiln_status state_new(zero_queue *queue, kiln_error **error)
{
    KILN_TRY(kiln__level_zero_shared_new(&queue->state, queue->device,
                                         KILN__STATE_BYTES, error));
    kiln__device_state_init(queue->state);
    return KILN_OK;
}

static kiln_status need_state(zero_queue *queue,
                              const kiln__spirv_function *function,
                              kiln_error **error)
{
    return kiln__spirv_needs_state(function) && queue->state == NULL
               ? state_new(queue, error)
               : KILN_OK;
}

static kiln_status launch_with(zero_queue *queue,
                               const kiln__spirv_kernel *kernel,
                               const kiln__spirv_function *function,
                               const kiln_launch_request *request,
                               kiln_error **error)
{
    const uint32_t *block = queue->shape.block;
    ze_result_t code;

    queue->is_busy = 1;
    queue->is_stale = 1;
    code = append(queue, kernel, request->arguments);
    if (code == ZE_RESULT_SUCCESS)
        return KILN_OK;
    return kiln__error_set(error, kiln__level_zero_status(code),
                           "Level Zero: launch of %s: groups of %u,%u,%u "
                           "items: %s (%#x)",
                           function->info->method, block[0], block[1], block[2],
                           kiln__level_zero_code_name(code), (unsigned)code);
}

kiln_status kiln__level_zero_launch(void *self, void *queue,
                                    const kiln_launch_request *request,
                                    kiln_exception *exception,
                                    kiln_error **error)
{
    zero_queue *to = queue;
    kiln__spirv_function *function;
    kiln__spirv_kernel *kernel;
    kiln_status status;

    (void)self;
    (void)exception;
    KILN_TRY(
        kiln__spirv_launch_begin(&function, &to->device->base, request, error));
    KILN_TRY(find_shape(to, function, request, error));
    KILN_TRY(need_state(to, function, error));
    KILN_TRY(kiln__spirv_launch_take(&kernel, function, to->state, &to->shape,
                                     request, error));
    status = launch_with(to, kernel, function, request, error);
    kiln__spirv_kernel_give(function, kernel);
    return status;
}

kiln_status kiln__level_zero_native(void *self, void *queue, void *function,
                                    kiln_native_launch *out, kiln_error **error)
{
    zero_queue *to = queue;
    kiln__spirv_function *of = function;
    kiln__spirv_kernel *kernel;

    (void)self;
    if (to != NULL)
        KILN_TRY(kiln__spirv_function_on(&of, of, &to->device->base, error));
    KILN_TRY(kiln__spirv_kernel_own(&kernel, of, error));
    out->function = kernel->native;
    if (to != NULL) {
        KILN_TRY(need_state(to, of, error));
        to->is_lent = 1;
    }
    kiln__spirv_fill_native(out, of, to != NULL ? to->state : NULL);
    return KILN_OK;
}

/* ---- waiting ---- */

/* If others may launch, the mark may come before one of their launches, and
   says nothing about now. A fresh mark needs a moment even in an idle list: if
   polls did not give it that moment, they would never find the list idle. */
#define POLL_NS 100000u

static ze_result_t ask_queue(zero_queue *queue, int block)
{
    if (!block && !queue->is_busy && !queue->is_lent)
        return ZE_RESULT_SUCCESS;
    if (queue->is_lent)
        queue->is_stale = 1;
    if (block)
        return finish_queue(queue, UINT64_MAX);
    return finish_queue(queue, queue->is_lent ? POLL_NS : 0);
}

kiln_status kiln__level_zero_wait(void *self, void *queue, int32_t block,
                                  kiln_exception *exception, kiln_error **error)
{
    zero_queue *to = queue;
    kiln__loaded_kernels *kernels = &to->device->base.kernels;
    const ze_result_t code = ask_queue(to, block);
    const int is_left = code == ZE_RESULT_NOT_READY;
    kiln_status status = KILN_OK;

    (void)self;
    if (code != ZE_RESULT_SUCCESS && !is_left)
        return kiln__level_zero_failed(error, code, "wait");
    to->is_busy &= is_left;
    if (to->state != NULL && !is_left)
        status = kiln__device_state_take(to->state, kernels, &to->record);
    else if (to->state != NULL && to->is_lent)
        status = kiln__device_state_peek(to->state, kernels, &to->record);
    if (status == KILN_EEXCEPTION)
        *exception = to->record.exception;
    return status == KILN_OK && is_left ? KILN_EAGAIN : status;
}
