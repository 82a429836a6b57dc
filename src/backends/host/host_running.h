/* host_running.h - a launch while its groups run. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_HOST_HOST_RUNNING_H
#define KILN_BACKENDS_HOST_HOST_RUNNING_H

#include "backends/host/host_backend.h"

typedef struct kiln__host_running {
    struct kiln__host_launch_state launch; /* first: generated code knows its
                                              address */
    kiln_context *context;
    kiln__host_entry entry;
    const void *function; /* the entry's address */
    const kiln_launch_request *request;
    kiln__host_record *record;
    const char *kernel;
    atomic_flag raised;
    kiln__thread raiser;       /* the thread that wrote the record */
    atomic_uint returned;      /* 1 if groups were left out */
    kiln__host_memory *memory; /* unused if memory_size is 0 */
    size_t memory_size;        /* for one group */
    atomic_uint no_memory;
    size_t stack_bytes; /* needed by the entry */
    atomic_uint no_stack;
    kiln__host_module *module;    /* for kernels with a second body, or NULL */
    _Atomic(kiln_error *) failed; /* why that could not be made */
    int is_heavy;                 /* it is known to take long */
} kiln__host_running;

/* ---- host_reports.c: what generated code calls ---- */

/* Set the callbacks of the launch, for reports. */
void kiln__host_take_reports(kiln__host_running *run);

/* ---- host_groups.c ---- */

/* Runs groups of a `kiln__host_running *` on this thread, or on one with a
   larger stack. */
void kiln__host_run_groups(void *env, uint64_t first, uint64_t last);
/* Is run_deferred() of the launch. */
int32_t kiln__host_run_second(struct kiln__host_launch_state *launch,
                              const void *arguments, uint64_t group,
                              void *memory, uint32_t which);

#endif /* KILN_BACKENDS_HOST_HOST_RUNNING_H */
