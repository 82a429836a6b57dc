/* gpu_queue.c - streams, launches, waits, and reading what kernels left. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/gpu/gpu.h"

#include <inttypes.h>
#include <sched.h>

#include "base/error.h"
#include "context/log.h"
#include "tiers/binary/artifact.h"

/*
 * To launch a known kernel in a known shape takes three steps: look at the
 * function's first context, write the hidden arguments after the packed block,
 * call the driver with that block. Nothing is copied, locked or allocated.
 *
 * The state is in memory of the host that the device sees, so that it can be
 * read while kernels run and after the device was lost.
 */

#define STREAM_NON_BLOCKING 1u

/* ---- captures ---- */

/* True when the stream is being captured; then nothing else may be asked about
   it. If even this may not be asked of the legacy stream, another stream is
   being captured. */
static int is_capturing(const kiln__gpu_context *context, void *stream)
{
    int status = 0;
    kiln__gpu_result result;

    if (context->api->stream_is_capturing == NULL)
        return 0;
    result = context->api->stream_is_capturing(stream, &status);
    return result == 0 ? status != 0 : result == KILN__GPU_CAPTURE_IMPLICIT;
}

static kiln_status busy(const kiln__gpu_context *context, const char *what,
                        kiln_error **error)
{
    return kiln__error_set(error, KILN_EBUSY,
                           "%s: a stream is being captured: %s",
                           context->backend->vendor->name, what);
}

/* Returns the adopted queue after `last`, or the first one, and pins it: it
   stays until it is unpinned. Unpins `last`. */
static kiln__gpu_queue *pin_next(kiln__gpu_context *context,
                                 kiln__gpu_queue *last)
{
    kiln__gpu_queue *next;

    kiln__mutex_lock(&context->backend->lock);
    next = last != NULL ? last->next : context->adopted;
    if (last != NULL)
        last->pins--;
    if (next != NULL)
        next->pins++;
    kiln__mutex_unlock(&context->backend->lock);
    return next;
}

static void unpin(kiln__gpu_queue *queue)
{
    kiln__mutex_lock(&queue->context->backend->lock);
    queue->pins--;
    kiln__mutex_unlock(&queue->context->backend->lock);
}

kiln_status kiln__gpu_check_capture(kiln__gpu_context *context,
                                    kiln_error **error)
{
    kiln__gpu_place before;
    kiln__gpu_queue *at;
    int found;

    KILN_TRY(kiln__gpu_enter(context, &before, error));
    found = is_capturing(context, NULL);
    at = found ? NULL : pin_next(context, NULL);
    while (at != NULL && !found) {
        found = is_capturing(context, at->stream);
        if (found)
            unpin(at);
        else
            at = pin_next(context, at);
    }
    kiln__gpu_leave(context, &before);
    return found ? busy(context, "nothing can be loaded now; compile before",
                        error)
                 : KILN_OK;
}

static void link_adopted(kiln__gpu_queue *queue)
{
    kiln__gpu_context *context = queue->context;

    kiln__mutex_lock(&context->backend->lock);
    queue->next = context->adopted;
    context->adopted = queue;
    kiln__mutex_unlock(&context->backend->lock);
}

static void unlink_adopted(kiln__gpu_queue *queue)
{
    kiln__gpu_context *context = queue->context;
    kiln__gpu_queue **at = &context->adopted;

    kiln__mutex_lock(&context->backend->lock);
    while (queue->pins > 0) {
        kiln__mutex_unlock(&context->backend->lock);
        (void)sched_yield();
        kiln__mutex_lock(&context->backend->lock);
    }
    while (*at != queue)
        at = &(*at)->next;
    *at = queue->next;
    kiln__mutex_unlock(&context->backend->lock);
}

/* ---- making ---- */

/* Frees what was made. Nothing can be done if the driver refuses. */
static void end_native(const kiln__gpu_queue *queue)
{
    const kiln__gpu_api *api = queue->context->api;

    if (queue->state != NULL)
        (void)api->host_free(queue->state);
    if (queue->stream != NULL && !queue->is_adopted)
        (void)api->stream_destroy(queue->stream);
}

static kiln__gpu_result begin_native(kiln__gpu_queue *queue)
{
    const kiln__gpu_context *context = queue->context;
    const kiln__gpu_api *api = context->api;
    kiln__gpu_result result = 0;

    if (!queue->is_adopted)
        result = api->stream_create(&queue->stream, STREAM_NON_BLOCKING);
    if (result == 0)
        result = api->host_allocate(&queue->state, KILN__STATE_BYTES,
                                    context->backend->vendor->host_flags);
    if (result == 0)
        result = api->host_address(&queue->state_address, queue->state, 0);
    if (result != 0)
        end_native(queue);
    return result;
}

kiln_status kiln__gpu_queue_new(kiln__gpu_queue **out,
                                kiln__gpu_context *context, void *native,
                                kiln_error **error)
{
    const kiln_alloc *alloc = &context->backend->context->alloc;
    kiln__gpu_place before;
    kiln__gpu_queue *queue;
    kiln_status status;

    KILN_TRY(kiln__gpu_check(context, error));
    queue = kiln__allocate(alloc, sizeof *queue);
    if (queue == NULL)
        return kiln__error_no_memory(error);
    queue->context = context;
    queue->stream = native;
    queue->is_adopted = native != NULL;
    status = kiln__gpu_enter_apart(context, &before, error);
    if (status == KILN_OK) {
        const kiln__gpu_result result = begin_native(queue);

        if (result != 0)
            status = kiln__gpu_fail(context, result, error, "making a queue");
        kiln__gpu_leave(context, &before);
    }
    if (status != KILN_OK) {
        kiln__deallocate(alloc, queue, sizeof *queue);
        return status;
    }
    kiln__device_state_init(queue->state);
    if (queue->is_adopted)
        link_adopted(queue);
    *out = queue;
    return KILN_OK;
}

void kiln__gpu_queue_free(kiln__gpu_queue *queue)
{
    kiln__gpu_context *context = queue->context;
    kiln__gpu_place before;

    if (queue->is_adopted)
        unlink_adopted(queue);
    if (kiln__gpu_enter_to_free(context, &before)) {
        end_native(queue);
        kiln__gpu_leave(context, &before);
    }
    kiln__deallocate(&context->backend->context->alloc, queue, sizeof *queue);
}

/* ---- launching ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static kiln_status find_shape(kiln__gpu_queue *queue,
                              const kiln__gpu_function *function,
                              const kiln__gpu_entry *entry,
                              const kiln_launch_request *request,
                              kiln_error **error)
{
    kiln__group_limits limits = queue->context->limits;
    const uint32_t *asked = request->block;

    limits.items = entry->threads;
    limits.cut_items = function->info->any_block ? entry->threads : 0;
    limits.usual = KILN__GROUP_ITEMS;
    if ((asked[0] | asked[1] | asked[2]) == 0)
        limits.cut_items = least(limits.cut_items, KILN__GROUP_ITEMS);
    return kiln__launch_shape_find(&queue->shape, function->number, request,
                                   &limits, NULL, error);
}

/* True when the facts hold that the faster entry needs. What is captured may be
   launched again with other arguments, so it takes the entry for any launch. */
static int is_known(const kiln__gpu_queue *queue, const kiln__gpu_entry *entry,
                    kiln__launch_facts *facts,
                    const kiln_launch_request *request)
{
    const kiln__launch_shape *shape = &queue->shape;
    kiln__facts_shape known;
    uint64_t items = 1;

    if (entry->known == NULL || shape->is_cut)
        return 0;
    for (unsigned d = 0; d < 3; d++) {
        known.sizes[d] = shape->groups[d] * shape->block[d];
        known.sizes[3 + d] = shape->block[d];
        known.sizes[6 + d] = shape->groups[d];
        items *= shape->block[d];
    }
    return items <= entry->known_threads &&
           kiln__facts_hold(facts, request->arguments, &known) &&
           !is_capturing(queue->context, queue->stream);
}

static kiln__gpu_result call_driver(const kiln__gpu_queue *queue,
                                    void *function,
                                    const kiln_launch_request *request,
                                    size_t size)
{
    void *const arguments = request->arguments;
    const kiln__gpu_api *api = queue->context->api;
    const kiln__launch_shape *shape = &queue->shape;
    /* CU_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE and ..._END, and those of
       HIP. */
    void *extra[] = {(void *)(uintptr_t)1, arguments, (void *)(uintptr_t)2,
                     &size, queue->context->backend->vendor->launch_end};
    void **const block = size > 0 ? extra : NULL;
    /* The shape was checked: each number is within the device's limits. */
    const uint32_t groups[3] = {(uint32_t)shape->groups[0],
                                (uint32_t)shape->groups[1],
                                (uint32_t)shape->groups[2]};

    if (api->launch_ex != NULL) {
        const kiln__gpu_launch_config config = {
            .grid = {groups[0], groups[1], groups[2]},
            .block = {shape->block[0], shape->block[1], shape->block[2]},
            .shared_bytes = request->dynamic_local_bytes,
            .stream = queue->stream,
        };

        return api->launch_ex(&config, function, NULL, block);
    }
    return api->launch(function, groups[0], groups[1], groups[2],
                       shape->block[0], shape->block[1], shape->block[2],
                       request->dynamic_local_bytes, queue->stream, NULL,
                       block);
}

kiln_status kiln__gpu_queue_launch(kiln__gpu_queue *queue,
                                   const kiln_launch_request *request,
                                   kiln_error **error)
{
    kiln__gpu_context *context = queue->context;
    kiln__gpu_function *function = request->function;
    const kiln__gpu_entry *entry;
    kiln__gpu_place before;
    kiln__gpu_result result;
    void *handle;
    uint32_t size;

    KILN_TRY(kiln__gpu_check(context, error));
    KILN_TRY(kiln__gpu_function_in(&entry, function, context, error));
    if (!kiln__launch_shape_is(&queue->shape, function->number, request))
        KILN_TRY(find_shape(queue, function, entry, request, error));
    KILN_TRY(kiln__launch_local_check(context->name, context->local_bytes,
                                      request, error));
    size = kiln__device_hidden(request, queue->state_address, function->number);
    KILN_TRY(kiln__gpu_enter(context, &before, error));
    handle = is_known(queue, entry, function->module->facts, request)
                 ? entry->known
                 : entry->handle;
    result = call_driver(queue, handle, request, size);
    kiln__gpu_leave(context, &before);
    if (result != 0)
        return kiln__gpu_fail(context, result, error, "launch of %s",
                              kiln_kernel_get_info(request->kernel)->method);
    return KILN_OK;
}

/* ---- waiting ---- */

static kiln_status lend(kiln_status status, const kiln__gpu_queue *queue,
                        kiln_exception *exception)
{
    if (status == KILN_EEXCEPTION)
        *exception = queue->record.exception;
    return status;
}

/* Reads everything that is left, when nothing runs any more. What was printed
   before a device was lost often tells why. */
static kiln_status settle_queue(kiln__gpu_queue *queue,
                                kiln_exception *exception)
{
    return lend(kiln__device_state_take(queue->state,
                                        &queue->context->backend->kernels,
                                        &queue->record),
                queue, exception);
}

static kiln__gpu_result ask_queue(const kiln__gpu_queue *queue, int block)
{
    const kiln__gpu_api *api = queue->context->api;
    const kiln_context *owner = queue->context->backend->context;
    kiln__gpu_result result;

    if (!block)
        return api->stream_query(queue->stream);
    kiln__blocking_enter(owner);
    result = api->stream_synchronize(queue->stream);
    kiln__blocking_leave(owner);
    return result;
}

/* Asks the driver whether the stream is done, unless asking would end a
   capture. */
static kiln_status wait_native(kiln__gpu_queue *queue, int block,
                               kiln__gpu_result *result, kiln_error **error)
{
    kiln__gpu_context *context = queue->context;
    kiln__gpu_place before;
    int captured;

    KILN_TRY(kiln__gpu_enter(context, &before, error));
    captured = queue->is_adopted && is_capturing(context, queue->stream);
    if (!captured)
        *result = ask_queue(queue, block);
    kiln__gpu_leave(context, &before);
    return captured ? busy(context, "what is captured has not run yet", error)
                    : KILN_OK;
}

kiln_status kiln__gpu_queue_wait(kiln__gpu_queue *queue, int block,
                                 kiln_exception *exception, kiln_error **error)
{
    kiln__gpu_context *context = queue->context;
    kiln__gpu_result result = 0;
    kiln_status status;

    KILN_TRY(kiln__gpu_check_process(context, error));
    status = kiln__gpu_check(context, error);
    if (status == KILN_OK)
        status = wait_native(queue, block, &result, error);
    if (status == KILN_OK && result == KILN__GPU_NOT_READY) {
        status = kiln__device_state_peek(
            queue->state, &context->backend->kernels, &queue->record);
        return status == KILN_OK ? KILN_EAGAIN : lend(status, queue, exception);
    }
    if (status == KILN_OK && result == 0)
        return settle_queue(queue, exception);
    if (status == KILN_OK)
        status = kiln__gpu_fail(context, result, error, "waiting for a queue");
    if (kiln__gpu_check(context, NULL) != KILN_OK)
        (void)settle_queue(queue, exception);
    return status;
}
