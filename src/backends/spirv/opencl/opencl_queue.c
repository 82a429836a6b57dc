/* opencl_queue.c - queues of OpenCL: launches, waits, exceptions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <sched.h>

#include "backends/spirv/opencl/opencl.h"
#include "base/error.h"

/*
 * A marker tells whether work is left. The first poll after a launch puts it
 * into the queue: launches themselves make no events.
 *
 * If the host cannot see the state as the device does, it has a copy of its
 * own: it copies the head, and the rest only if there is something in it.
 */

#define QUERIES 256 /* the most queries of one poll */

typedef struct opencl_queue {
    kiln__spirv_owner owner;
    kiln__opencl_device *device;
    cl_command_queue native;
    void *state;     /* address on the device; NULL: not made yet */
    void *host;      /* address of the same memory on the host, or NULL */
    void *view;      /* the host's copy, if it needs one */
    cl_event marker; /* comes after what was launched; may be NULL */
    int is_busy;     /* something was launched since the last wait */
    int is_lent;     /* others may launch as well, at unknown times */
    kiln__launch_shape shape;
    kiln__device_record record;
} opencl_queue;

/* ---- the state ---- */

static kiln_status push_state(const opencl_queue *queue, uint64_t size,
                              kiln_error **error)
{
    if (queue->host != NULL)
        return KILN_OK;
    return kiln__opencl_copy_on(queue->device, queue->native, queue->state,
                                queue->view, size, error);
}

static void state_free(opencl_queue *queue)
{
    const kiln_alloc *alloc = &queue->device->base.context->alloc;

    kiln__opencl_release(queue->device, queue->state);
    if (queue->view != NULL)
        kiln__deallocate(alloc, queue->view, KILN__STATE_BYTES);
    queue->state = NULL;
    queue->host = NULL;
    queue->view = NULL;
}

/* Called before the first launch of a kernel that needs a state. */
static kiln_status state_new(opencl_queue *queue, kiln_error **error)
{
    const kiln__opencl_device *device = queue->device;
    kiln_status status;

    KILN_TRY(kiln__opencl_shared_new(&queue->state, &queue->host, device,
                                     KILN__STATE_BYTES, error));
    if (queue->host == NULL) {
        queue->view =
            kiln__allocate(&device->base.context->alloc, KILN__STATE_BYTES);
        if (queue->view == NULL) {
            state_free(queue);
            return kiln__error_no_memory(error);
        }
    }
    kiln__device_state_init(queue->host != NULL ? queue->host : queue->view);
    status = push_state(queue, KILN__STATE_BYTES, error);
    if (status != KILN_OK)
        state_free(queue);
    return status;
}

/* Called when no work is left: reads what kernels wrote, and clears the
   state. */
static kiln_status take_state(opencl_queue *queue, kiln_exception *exception,
                              kiln_error **error)
{
    void *seen = queue->host != NULL ? queue->host : queue->view;
    const struct kiln__device_state *head = seen;
    kiln_status status;

    if (queue->state == NULL)
        return KILN_OK;
    if (queue->host == NULL) {
        KILN_TRY(kiln__opencl_copy_on(queue->device, queue->native, seen,
                                      queue->state, KILN__STATE_SIZE, error));
        if (head->phase == KILN__PHASE_NONE && head->printed == 0)
            return KILN_OK;
        KILN_TRY(kiln__opencl_copy_on(queue->device, queue->native, seen,
                                      queue->state, KILN__STATE_BYTES, error));
    }
    status = kiln__device_state_take(seen, &queue->device->base.kernels,
                                     &queue->record);
    KILN_TRY(push_state(queue, KILN__STATE_BYTES, error));
    if (status == KILN_EEXCEPTION)
        *exception = queue->record.exception;
    return status;
}

/* ---- queues ---- */

static cl_int adopt(opencl_queue *queue, cl_command_queue native)
{
    const kiln__opencl_api *api = queue->device->api;
    cl_context context = NULL;
    cl_int code = api->clGetCommandQueueInfo(native, CL_QUEUE_CONTEXT,
                                             sizeof context, &context, NULL);

    if (code == CL_SUCCESS && context != queue->device->native)
        return CL_INVALID_CONTEXT;
    if (code == CL_SUCCESS)
        code = api->clRetainCommandQueue(native);
    if (code == CL_SUCCESS)
        queue->native = native;
    return code;
}

kiln_status kiln__opencl_queue_new(void *self, void *device, void *native,
                                   void **out, kiln_error **error)
{
    kiln__opencl_device *on = device;
    opencl_queue *queue =
        kiln__allocate(&on->base.context->alloc, sizeof *queue);
    cl_int code = CL_SUCCESS;

    (void)self;
    if (queue == NULL)
        return kiln__error_no_memory(error);
    queue->owner = on->base.owner;
    queue->device = on;
    if (native != NULL)
        code = adopt(queue, native);
    else
        queue->native =
            on->api->clCreateCommandQueue(on->native, on->facts.id, 0, &code);
    if (queue->native == NULL) {
        kiln__deallocate(&on->base.context->alloc, queue, sizeof *queue);
        return kiln__opencl_failed(error, code, "queue");
    }
    *out = queue;
    return KILN_OK;
}

static void drop_marker(opencl_queue *queue)
{
    if (queue->marker != NULL)
        (void)queue->device->api->clReleaseEvent(queue->marker);
    queue->marker = NULL;
}

void kiln__opencl_queue_free(void *self, void *queue)
{
    opencl_queue *old = queue;
    const kiln__opencl_api *api = old->device->api;

    (void)self;
    drop_marker(old);
    if (old->is_busy) /* a wait has failed, so kernels may be using the state */
        (void)api->clFinish(old->native);
    state_free(old);
    (void)api->clReleaseCommandQueue(old->native);
    kiln__deallocate(&old->device->base.context->alloc, old, sizeof *old);
}

/* ---- launching ---- */

static cl_int enqueue(const opencl_queue *queue, cl_kernel kernel)
{
    const kiln__opencl_api *api = queue->device->api;
    const kiln__launch_shape *shape = &queue->shape;
    size_t global[3], local[3];
    cl_uint dimensions = 1;
    cl_int code;

    for (cl_uint i = 0; i < 3; i++) {
        global[i] = (size_t)(shape->groups[i] * shape->block[i]);
        local[i] = shape->block[i];
        if (global[i] > 1)
            dimensions = i + 1;
    }
    code = api->clEnqueueNDRangeKernel(queue->native, kernel, dimensions, NULL,
                                       global, local, 0, NULL, NULL);
    return code == CL_SUCCESS ? api->clFlush(queue->native) : code;
}

static kiln_status launch_with(opencl_queue *queue, kiln__spirv_kernel *kernel,
                               const kiln__spirv_function *function,
                               const kiln_launch_request *request,
                               kiln_error **error)
{
    const uint32_t *block = queue->shape.block;
    cl_int code;

    KILN_TRY(
        kiln__opencl_kernel_set(kernel, function, request->arguments, error));
    if (kiln__spirv_needs_state(function))
        KILN_TRY(kiln__opencl_kernel_tell(kernel, queue->device, queue->state,
                                          request->heap, error));
    code = enqueue(queue, kernel->native);
    if (code == CL_SUCCESS)
        return KILN_OK;
    return kiln__error_set(
        error, code == CL_OUT_OF_HOST_MEMORY ? KILN_ENOMEM : KILN_EDEVICE,
        "OpenCL: launch of %s: groups of %u,%u,%u items: "
        "%s (%d)",
        function->info->method, block[0], block[1], block[2],
        kiln__opencl_code_name(code), (int)code);
}

static kiln_status need_state(opencl_queue *queue,
                              const kiln__spirv_function *function,
                              kiln_error **error)
{
    return kiln__spirv_needs_state(function) && queue->state == NULL
               ? state_new(queue, error)
               : KILN_OK;
}

static kiln_status find_shape(opencl_queue *queue,
                              const kiln__spirv_function *function,
                              const kiln_launch_request *request,
                              kiln_error **error)
{
    kiln__group_limits limits;

    if (kiln__launch_shape_is(&queue->shape, function->number, request))
        return KILN_OK;
    limits = kiln__spirv_limits(function, request);
    return kiln__launch_shape_find(&queue->shape, function->number, request,
                                   &limits, NULL, error);
}

kiln_status kiln__opencl_launch(void *self, void *queue,
                                const kiln_launch_request *request,
                                kiln_exception *exception, kiln_error **error)
{
    opencl_queue *to = queue;
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
    drop_marker(to);
    to->is_busy = 1;
    status = launch_with(to, kernel, function, request, error);
    if (status == KILN_OK)
        atomic_store_explicit(&function->module->was_launched, 1,
                              memory_order_relaxed);
    kiln__spirv_kernel_give(function, kernel);
    return status;
}

kiln_status kiln__opencl_native(void *self, void *queue, void *function,
                                kiln_native_launch *out, kiln_error **error)
{
    opencl_queue *to = queue;
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
        KILN_TRY(kiln__opencl_kernel_tell(
            kernel, to->device, to->state,
            (void *)(uintptr_t)out->hidden[KILN__HIDDEN_HEAP - 1], error));
    }
    kiln__spirv_fill_native(out, of, to != NULL ? to->state : NULL);
    return KILN_OK;
}

/* ---- waiting ---- */

static kiln_status query_marker(opencl_queue *queue, kiln_error **error)
{
    const kiln__opencl_api *api = queue->device->api;
    cl_int state = CL_COMPLETE;
    cl_int code = CL_SUCCESS;

    if (queue->marker == NULL) {
        code = api->clEnqueueMarkerWithWaitList(queue->native, 0, NULL,
                                                &queue->marker);
        if (code == CL_SUCCESS)
            code = api->clFlush(queue->native);
    }
    if (code == CL_SUCCESS)
        code = api->clGetEventInfo(queue->marker,
                                   CL_EVENT_COMMAND_EXECUTION_STATUS,
                                   sizeof state, &state, NULL);
    if (code == CL_SUCCESS && state > CL_COMPLETE)
        return KILN_EAGAIN;
    if (code == CL_SUCCESS && state < 0)
        code = state;
    drop_marker(queue);
    return code == CL_SUCCESS ? KILN_OK
                              : kiln__opencl_failed(error, code, "poll");
}

/* If others may launch, the marker may come before one of their launches,
   and says nothing about now. A fresh marker needs a moment even in an idle
   queue: if polls did not give it that moment, they would never find the
   queue idle. */
static kiln_status query_idle(opencl_queue *queue, kiln_error **error)
{
    kiln_status status;

    if (queue->marker != NULL)
        KILN_TRY(query_marker(queue, error));
    status = query_marker(queue, error);
    for (int i = 0; i < QUERIES && status == KILN_EAGAIN; i++) {
        (void)sched_yield();
        status = query_marker(queue, error);
    }
    return status;
}

/* Work is, or may be, left: an exception can be read nevertheless, if the host
   sees the state. */
static kiln_status peek(opencl_queue *queue, kiln_exception *exception)
{
    if (!queue->is_lent || queue->host == NULL ||
        kiln__device_state_peek(queue->host, &queue->device->base.kernels,
                                &queue->record) != KILN_EEXCEPTION)
        return KILN_EAGAIN;
    *exception = queue->record.exception;
    return KILN_EEXCEPTION;
}

kiln_status kiln__opencl_wait(void *self, void *queue, int32_t block,
                              kiln_exception *exception, kiln_error **error)
{
    opencl_queue *to = queue;
    kiln_status status = KILN_OK;
    cl_int code;

    (void)self;
    if (block) {
        code = to->device->api->clFinish(to->native);
        drop_marker(to);
        if (code != CL_SUCCESS)
            return kiln__opencl_failed(error, code, "wait");
    } else if (to->is_lent) {
        status = query_idle(to, error);
    } else if (to->is_busy) {
        status = query_marker(to, error);
    }
    if (status != KILN_OK)
        return status == KILN_EAGAIN ? peek(to, exception) : status;
    to->is_busy = 0;
    return take_state(to, exception, error);
}
