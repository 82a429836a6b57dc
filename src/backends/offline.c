/* offline.c - a device that accepts launches and runs nothing. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/backend.h"

#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

/*
 * The device's handle is the context. Queues need no state, because launches
 * are counted where they are checked. Buffers are memory that the system
 * provides when it is first touched, so that a program may set up a large
 * problem on a small machine. They begin as zeros, and reading gives what was
 * written.
 */

static kiln_status queue_new(void *self, void *device, void *native,
                             void **queue, kiln_error **error)
{
    (void)device;
    if (native != NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "an offline device adopts no streams");
    *queue = self;
    return KILN_OK;
}

static void queue_free(void *self, void *queue)
{
    (void)self;
    (void)queue;
}

static kiln_status launch(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)queue;
    (void)request;
    (void)exception;
    (void)error;
    return KILN_OK;
}

static kiln_status wait(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error)
{
    (void)self;
    (void)queue;
    (void)block;
    (void)exception;
    (void)error;
    return KILN_OK;
}

/* Nothing is running. */
static kiln_status cancel(void *self, void *queue, kiln_error **error)
{
    (void)self;
    (void)queue;
    (void)error;
    return KILN_OK;
}

/* The page before the bytes holds the size of the mapping. */
#define HEAD_SIZE 4096

static kiln_status buffer_new(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error)
{
    uint64_t total;
    unsigned char *memory;

    (void)self;
    (void)device;
    if (__builtin_add_overflow(size, HEAD_SIZE, &total))
        return kiln__error_no_memory(error);
    memory = mmap(NULL, (size_t)total, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return kiln__error_no_memory(error);
    memcpy(memory, &total, sizeof total);
    *address = memory + HEAD_SIZE;
    return KILN_OK;
}

static void buffer_free(void *self, void *device, void *address)
{
    unsigned char *memory = (unsigned char *)address - HEAD_SIZE;
    uint64_t total;

    (void)self;
    (void)device;
    memcpy(&total, memory, sizeof total);
    munmap(memory, (size_t)total);
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

static void close(void *self, void *device)
{
    (void)self;
    (void)device;
}

/* It is not registered, so it needs no functions that find and open devices. */
const kiln_backend_ops kiln__offline_ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "offline",
    .format = "none",
    .close = close,
    .queue_new = queue_new,
    .queue_free = queue_free,
    .launch = launch,
    .wait = wait,
    .buffer_new = buffer_new,
    .buffer_free = buffer_free,
    .copy = copy,
    .cancel = cancel,
};
