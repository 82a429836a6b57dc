/* fake_ze_list.c - lists, events and memory of the fake Level Zero driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fake_ze.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- all lists ----
 *
 * A test may let every wait fail and then free memory that a kernel still uses.
 * Memory of a real device is not in the process's heap, but this memory is. So
 * it is freed when nothing runs any more.
 */

static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static fake_list *lists;

static void add_list(fake_list *list)
{
    pthread_mutex_lock(&lists_lock);
    list->next = lists;
    lists = list;
    pthread_mutex_unlock(&lists_lock);
}

static void remove_list(const fake_list *list)
{
    fake_list **at = &lists;

    pthread_mutex_lock(&lists_lock);
    while (*at != NULL && *at != list)
        at = &(*at)->next;
    if (*at != NULL)
        *at = list->next;
    pthread_mutex_unlock(&lists_lock);
}

static void finish_lists(const fake_device *d)
{
    pthread_mutex_lock(&lists_lock);
    for (const fake_list *at = lists; at != NULL; at = at->next)
        (void)d->api.clFinish(at->queue);
    pthread_mutex_unlock(&lists_lock);
}

/* ---- memory ---- */

static ze_result_t memory_new(size_t size, size_t alignment, void **out)
{
    const fake_device *d = fake_device_get();

    *out = d->api.clSVMAlloc(d->context,
                             CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER,
                             size, (cl_uint)alignment);
    return *out != NULL ? ZE_RESULT_SUCCESS
                        : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

static ze_result_t memory_device(ze_context_handle_t context,
                                 const ze_device_mem_alloc_desc_t *desc,
                                 size_t size, size_t alignment,
                                 ze_device_handle_t of, void **out)
{
    (void)context;
    (void)desc;
    (void)of;
    return memory_new(size, alignment, out);
}

static ze_result_t memory_host(ze_context_handle_t context,
                               const ze_host_mem_alloc_desc_t *desc,
                               size_t size, size_t alignment, void **out)
{
    (void)context;
    (void)desc;
    return memory_new(size, alignment, out);
}

static ze_result_t memory_free(ze_context_handle_t context, void *address)
{
    const fake_device *d = fake_device_get();

    (void)context;
    finish_lists(d);
    d->api.clSVMFree(d->context, address);
    return ZE_RESULT_SUCCESS;
}

void fake_memory_table(ze_mem_dditable_t *table)
{
    table->pfnAllocDevice = memory_device;
    table->pfnAllocHost = memory_host;
    table->pfnFree = memory_free;
}

/* ---- events ---- */

static ze_result_t pool_create(ze_context_handle_t context,
                               const ze_event_pool_desc_t *desc, uint32_t count,
                               ze_device_handle_t *devices,
                               ze_event_pool_handle_t *out)
{
    void *pool = malloc(1);

    (void)context;
    (void)desc;
    (void)count;
    (void)devices;
    *out = (ze_event_pool_handle_t)pool;
    return pool != NULL ? ZE_RESULT_SUCCESS
                        : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t pool_destroy(ze_event_pool_handle_t pool)
{
    free((void *)pool);
    return ZE_RESULT_SUCCESS;
}

void fake_event_pool_table(ze_event_pool_dditable_t *table)
{
    table->pfnCreate = pool_create;
    table->pfnDestroy = pool_destroy;
}

static ze_result_t event_create(ze_event_pool_handle_t pool,
                                const ze_event_desc_t *desc,
                                ze_event_handle_t *out)
{
    fake_event *event = calloc(1, sizeof *event);

    (void)pool;
    (void)desc;
    *out = (ze_event_handle_t)(void *)event;
    return event != NULL ? ZE_RESULT_SUCCESS
                         : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t event_reset(ze_event_handle_t handle)
{
    fake_event *event = (fake_event *)(void *)handle;

    if (event->marker != NULL)
        (void)fake_device_get()->api.clReleaseEvent(event->marker);
    event->marker = NULL;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t event_destroy(ze_event_handle_t handle)
{
    (void)event_reset(handle);
    free((void *)handle);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t event_query(ze_event_handle_t handle)
{
    const fake_event *event = (const fake_event *)(void *)handle;
    cl_int state = CL_QUEUED;

    if (event->marker == NULL)
        return ZE_RESULT_NOT_READY;
    if (fake_device_get()->api.clGetEventInfo(
            event->marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
            &state, NULL) != CL_SUCCESS ||
        state < 0)
        return ZE_RESULT_ERROR_DEVICE_LOST;
    return state == CL_COMPLETE ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t query_until(ze_event_handle_t handle, uint64_t end_ns)
{
    ze_result_t result;

    do {
        (void)sched_yield();
        result = event_query(handle);
    } while (result == ZE_RESULT_NOT_READY && kiln__clock_ns() < end_ns);
    return result;
}

static ze_result_t event_wait(ze_event_handle_t handle, uint64_t timeout)
{
    const fake_event *event = (const fake_event *)(void *)handle;

    if (event->marker == NULL || timeout == 0)
        return event_query(handle);
    if (timeout != UINT64_MAX)
        return query_until(handle, kiln__clock_ns() + timeout);
    return fake_result(fake_device_get()->api.clFinish(event->queue));
}

void fake_event_table(ze_event_dditable_t *table)
{
    table->pfnCreate = event_create;
    table->pfnDestroy = event_destroy;
    table->pfnHostReset = event_reset;
    table->pfnQueryStatus = event_query;
    table->pfnHostSynchronize = event_wait;
}

/* ---- lists ---- */

static ze_result_t list_create(ze_context_handle_t context,
                               ze_device_handle_t of,
                               const ze_command_queue_desc_t *desc,
                               ze_command_list_handle_t *out)
{
    const fake_device *d = (const fake_device *)(void *)of;
    fake_list *list = calloc(1, sizeof *list);
    cl_int code = CL_OUT_OF_HOST_MEMORY;

    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->context = context;
    list->queue =
        d->api.clCreateCommandQueue(d->context, d->facts->id, 0, &code);
    list->is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    if (list->queue == NULL) {
        free(list);
        return fake_result(code);
    }
    add_list(list);
    *out = (ze_command_list_handle_t)(void *)list;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t list_destroy(ze_command_list_handle_t handle)
{
    fake_list *list = (fake_list *)(void *)handle;

    remove_list(list);
    (void)fake_device_get()->api.clFinish(list->queue);
    (void)fake_device_get()->api.clReleaseCommandQueue(list->queue);
    free(list);
    return ZE_RESULT_SUCCESS;
}

/* OpenCL's queue is in order, so a barrier only has to signal its event. */
static ze_result_t append_barrier(ze_command_list_handle_t handle,
                                  ze_event_handle_t signal, uint32_t count,
                                  ze_event_handle_t *waits)
{
    const fake_list *list = (const fake_list *)(void *)handle;
    fake_event *event = (fake_event *)(void *)signal;
    const kiln__opencl_api *api = &fake_device_get()->api;
    cl_int code;

    (void)count;
    (void)waits;
    if (event == NULL)
        return ZE_RESULT_SUCCESS;
    if (event->marker != NULL) /* it was not reset */
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    event->queue = list->queue;
    code =
        api->clEnqueueMarkerWithWaitList(list->queue, 0, NULL, &event->marker);
    return fake_result(code == CL_SUCCESS ? api->clFlush(list->queue) : code);
}

static ze_result_t append_copy(ze_command_list_handle_t handle, void *to,
                               const void *from, size_t size,
                               ze_event_handle_t signal, uint32_t count,
                               ze_event_handle_t *waits)
{
    const fake_list *list = (const fake_list *)(void *)handle;
    const cl_int code = fake_device_get()->api.clEnqueueSVMMemcpy(
        list->queue, list->is_synchronous ? CL_TRUE : CL_FALSE, to, from, size,
        0, NULL, NULL);

    if (code != CL_SUCCESS)
        return fake_result(code);
    return append_barrier(handle, signal, count, waits);
}

static ze_result_t append_launch(ze_command_list_handle_t handle,
                                 ze_kernel_handle_t of,
                                 const ze_group_count_t *groups,
                                 ze_event_handle_t signal, uint32_t count,
                                 ze_event_handle_t *waits)
{
    const fake_list *list = (const fake_list *)(void *)handle;
    const fake_kernel *kernel = (const fake_kernel *)(void *)of;
    const size_t global[3] = {groups->groupCountX * kernel->group[0],
                              groups->groupCountY * kernel->group[1],
                              groups->groupCountZ * kernel->group[2]};
    const kiln__opencl_api *api = &fake_device_get()->api;
    cl_int code;

    if (kernel->context != list->context)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    code = api->clEnqueueNDRangeKernel(list->queue, kernel->native, 3, NULL,
                                       global, kernel->group, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = api->clFlush(list->queue);
    if (code != CL_SUCCESS)
        return fake_result(code);
    return append_barrier(handle, signal, count, waits);
}

void fake_list_table(ze_command_list_dditable_t *table)
{
    table->pfnCreateImmediate = list_create;
    table->pfnDestroy = list_destroy;
    table->pfnAppendBarrier = append_barrier;
    table->pfnAppendMemoryCopy = append_copy;
    table->pfnAppendLaunchKernel = append_launch;
}
