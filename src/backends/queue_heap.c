/* queue_heap.c - the heaps of queues, from which kernels allocate. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/handles.h"

#include <inttypes.h>

#include "abi/heap_abi.h"
#include "base/data/memory.h"
#include "base/error.h"

/*
 * A heap is an ordinary buffer, made at the first launch of a kernel that
 * allocates. The launches of a queue run one after the other, and an array
 * cannot outlive its kernel. So when all work is done nothing in the heap is
 * needed any more: then, and at the start, its tables are cleared by copying
 * zeros. A heap that could not be cleared is dropped, and the next launch makes
 * a new one. An exception is a heap whose address was given to a caller that
 * launches by itself, at times that Kiln does not know: it is never moved, and
 * is cleared whenever no work is left.
 */

static void drop(kiln_queue *queue)
{
    const kiln_device *device = queue->device;

    if (queue->heap.address != NULL)
        device->ops->buffer_free(device->self, device->handle,
                                 queue->heap.address);
    queue->heap.address = NULL;
    queue->heap.is_used = 0;
}

static uint64_t bytes_of(const kiln_queue *queue)
{
    return queue->heap.bytes != 0 ? queue->heap.bytes : KILN__HEAP_DEFAULT;
}

/* Writes the head, followed by zeros up to the pages. */
static kiln_status write_tables(kiln_queue *queue, kiln_error **error)
{
    const kiln_device *device = queue->device;
    const kiln_alloc *alloc = &device->context->alloc;
    const kiln__heap_shape shape = kiln__heap_measure(bytes_of(queue));
    const size_t size =
        (size_t)shape.cleared + offsetof(struct kiln__heap, changes);
    struct kiln__heap *tables = kiln__allocate(alloc, size);
    kiln_status status;

    if (tables == NULL)
        return kiln__error_no_memory(error);
    tables->pages = shape.pages;
    tables->words = (uint32_t)(shape.size / sizeof(uint32_t));
    status = device->ops->copy(device->self, device->handle,
                               queue->heap.address, tables, size, error);
    kiln__deallocate(alloc, tables, size);
    return status;
}

static kiln_status make(kiln_queue *queue, kiln_error **error)
{
    const kiln_device *device = queue->device;
    const kiln__heap_shape shape = kiln__heap_measure(bytes_of(queue));
    kiln_status status = device->ops->buffer_new(
        device->self, device->handle, shape.size, &queue->heap.address, error);

    if (status != KILN_OK) {
        queue->heap.address = NULL;
        return kiln__error_wrap(error, status,
                                "no heap of %" PRIu64 " bytes for kernels",
                                bytes_of(queue));
    }
    status = write_tables(queue, error);
    if (status != KILN_OK)
        drop(queue);
    return status;
}

kiln_status kiln__queue_heap_get(void **out, kiln_queue *queue,
                                 kiln_error **error)
{
    if (queue->heap.address == NULL)
        KILN_TRY(make(queue, error));
    queue->heap.is_used = 1;
    *out = queue->heap.address;
    return KILN_OK;
}

void kiln__queue_heap_rest(kiln_queue *queue)
{
    if (!queue->heap.is_used && !queue->heap.is_lent)
        return;
    queue->heap.is_used = 0;
    if (write_tables(queue, NULL) != KILN_OK && !queue->heap.is_lent)
        drop(queue);
}

void kiln__queue_heap_dispose(kiln_queue *queue)
{
    drop(queue);
}

kiln_status kiln_queue_set_heap(kiln_queue *queue, uint64_t bytes,
                                kiln_error **error)
{
    KILN_REQUIRE(queue != NULL, error);
    if (bytes > KILN__HEAP_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "a heap of %" PRIu64 " bytes: it has %" PRIu64
                               " at most",
                               bytes, KILN__HEAP_MAX);
    if (queue->heap.is_lent)
        return kiln__error_set(error, KILN_EBUSY,
                               "the heap's address was told for launches that "
                               "are not Kiln's: it stays");
    KILN_TRY(kiln__queue_check_idle(queue, "a change of the heap", error));
    if (queue->heap.is_used)
        return kiln__error_set(error, KILN_EBUSY,
                               "kernels may be using the heap: wait before");
    if (bytes != queue->heap.bytes)
        drop(queue);
    queue->heap.bytes = bytes;
    return KILN_OK;
}
