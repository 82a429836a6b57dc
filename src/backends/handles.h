/* handles.h - the structs of devices, buffers and queues. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HANDLES_H
#define KILN_HANDLES_H

#include <stdatomic.h>

#include "backends/backend.h"
#include "backends/workload.h"

/* `ops` and `self` are the backend's, or those of offline.c. */
struct kiln_device {
    kiln_context *context;
    const kiln_backend_ops *ops;
    void *self;
    void *handle;
    const char *name;
    kiln__backend *backend;
    const kiln__driver_device *shared; /* NULL: adopted or offline */
    const kiln_config *offline;        /* NULL: a real device */
    kiln__workload *workload;          /* of an offline device */
};

struct kiln_buffer {
    kiln_device *device;
    void *address;
    uint64_t size;
};

/* The heap of a queue. */
typedef struct kiln__queue_heap {
    void *address;  /* on the device; NULL: not made yet */
    uint64_t bytes; /* what kernels can allocate; 0: the default */
    int is_used;    /* by launches since it was last cleared */
    int is_lent;    /* a caller that launches by itself has its address */
} kiln__queue_heap;

struct kiln_queue {
    kiln_device *device;
    void *handle;
    uint32_t time_limit_ms;
    /* A launch, wait or poll is under way: the host's callbacks in it must not
       begin another one, which would take its heap and its record, and must not
       free its kernel. Atomic because any thread may look. */
    atomic_int is_busy;
    uint64_t launches; /* launches whose arguments were accepted */
    /* The frontend of the kernel that was launched last; the kernel itself may
       be gone when an exception is reported. */
    const kiln_frontend *frontend;
    kiln__queue_heap heap;
    kiln_exception exception; /* all zero but its size, for the next
                                 exception */
    kiln_queue *next;         /* of the context */
};

/* ---- launch.c ---- */

static inline int kiln__queue_is_busy(const kiln_queue *queue)
{
    return atomic_load_explicit(&queue->is_busy, memory_order_relaxed);
}
static inline void kiln__queue_set_busy(kiln_queue *queue, int is_busy)
{
    atomic_store_explicit(&queue->is_busy, is_busy, memory_order_relaxed);
}
/* KILN_EBUSY for a queue that is busy; `what` cannot be done with it. */
kiln_status kiln__queue_check_idle(const kiln_queue *queue, const char *what,
                                   kiln_error **error);

/* ---- queue_heap.c ---- */

/* Gives the heap's address; the first call makes the heap. */
kiln_status kiln__queue_heap_get(void **out, kiln_queue *queue,
                                 kiln_error **error);
/* Called when all work has ended: frees what kernels did not free. */
void kiln__queue_heap_rest(kiln_queue *queue);
void kiln__queue_heap_dispose(kiln_queue *queue);

#endif /* KILN_HANDLES_H */
