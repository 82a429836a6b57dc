/* handles.h - the inside of devices, buffers and queues. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HANDLES_H
#define KILN_HANDLES_H

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
    const kiln_config *offline;        /* NULL: real */
    kiln__workload *workload;          /* of an offline one */
};

struct kiln_buffer {
    kiln_device *device;
    void *address;
    uint64_t size;
};

/* Memory that kernels of a queue allocate. */
typedef struct kiln__queue_heap {
    void *address;  /* on the device; NULL: not made yet */
    uint64_t bytes; /* that kernels can have; 0: the default */
    int is_used;    /* by launches since it was last cleared */
    int is_lent;    /* who launches by himself knows its address for ever */
} kiln__queue_heap;

struct kiln_queue {
    kiln_device *device;
    void *handle;
    uint32_t time_limit_ms;
    uint64_t launches; /* taken without an error in their arguments */
    /* Of the kernel that was launched last, which may be gone by the time when
       an exception is heard of. */
    const kiln_frontend *frontend;
    kiln__queue_heap heap;
    kiln_exception exception; /* all zero but its size, for the next one */
};

/* ---- queue_heap.c ---- */

/* Makes the heap at the first call. Gives its address. */
kiln_status kiln__queue_heap_get(void **out, kiln_queue *queue,
                                 kiln_error **error);
/* All work has ended: what kernels did not free is free again. */
void kiln__queue_heap_rest(kiln_queue *queue);
void kiln__queue_heap_dispose(kiln_queue *queue);

#endif /* KILN_HANDLES_H */
