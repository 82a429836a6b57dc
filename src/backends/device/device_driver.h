/* device_driver.h - what the drivers of devices share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEVICE_DRIVER_H
#define KILN_DEVICE_DRIVER_H

#include <string.h>

#include "abi/device_abi.h"
#include "backends/report_text.h"
#include "base/system/thread.h"
#include "context/context.h"
#include "kiln/sys/backend.h"

/*
 * A device has a table of the kernels that are loaded on it. Each launch passes
 * the number of its kernel as a hidden argument. An exception or a print comes
 * back with that number and is read by the kernel's own table of reports,
 * whatever was launched since.
 */

/* ---- device_kernels.c ---- */

/* A loaded kernel. The artifact is retained. */
typedef struct kiln__loaded_kernel {
    uint64_t number; /* a device never uses a number twice */
    const kiln_artifact *artifact;
    const kiln_kernel_info *info;
    struct kiln__loaded_kernel *next;
} kiln__loaded_kernel;

typedef struct kiln__loaded_kernels {
    kiln_context *context;
    kiln__mutex lock;
    kiln__fork_guard guard;
    kiln__loaded_kernel *first;
    uint64_t last_number;
} kiln__loaded_kernels;

kiln_status kiln__loaded_kernels_init(kiln__loaded_kernels *kernels,
                                      kiln_context *context);
void kiln__loaded_kernels_dispose(kiln__loaded_kernels *kernels);
/* Adds the artifact's kernel of that name and returns its number; 0: out of
   memory, or there is no such kernel. */
uint64_t kiln__loaded_kernels_add(kiln__loaded_kernels *kernels,
                                  const kiln_artifact *artifact,
                                  const char *name);
void kiln__loaded_kernels_remove(kiln__loaded_kernels *kernels,
                                 uint64_t number);
/* Returns the artifact of a kernel, which the caller releases, and stores its
   metadata, which lives as long as the artifact. NULL: the kernel is not
   loaded. */
const kiln_artifact *kiln__loaded_kernels_find(kiln__loaded_kernels *kernels,
                                               uint64_t number,
                                               const kiln_kernel_info **info);

/* ---- device_reports.c: tables of reports ---- */

/* An exception as the table describes it. The texts are the table's. */
typedef struct kiln__exception_report {
    uint32_t kind;
    uint32_t ordinal;
    const char *method;
    const char *message;
} kiln__exception_report;

/* A print as the table describes it: where its parts begin, and how many values
   it has. */
typedef struct kiln__print_report {
    const unsigned char *parts;
    uint32_t part_count;
    uint32_t value_count;
} kiln__print_report;

/* Read report `number` of a table that may be damaged. KILN_ECORRUPT: there
   is no such report, it is of the other kind, or it does not end within the
   table. */
kiln_status kiln__report_exception(kiln__exception_report *out,
                                   const void *table, size_t size,
                                   uint32_t number);
kiln_status kiln__report_print(kiln__print_report *out, const void *table,
                               size_t size, uint32_t number);
/* Returns the kind of the next part of a print and moves `*at` after it.
   `*text` is set when the part has a text. */
uint32_t kiln__report_part(const unsigned char **at, const char **text);

/* ---- device_state.c: what kernels have left in a queue's state ---- */

/* What was read from a queue's state; it is lent until the state is read
   again. */
typedef struct kiln__device_record {
    kiln_exception exception;
    char message[512];
    char kernel[512];
    char method[512];
    kiln__frame_record frames;
} kiln__device_record;

/* Size of a state with its room for prints. */
#define KILN__PRINT_ROOM 65536u
#define KILN__STATE_BYTES (KILN__STATE_SIZE + KILN__PRINT_ROOM)

/* Initialises memory as a state: KILN__STATE_BYTES that the host can write,
   aligned to KILN__STATE_ALIGNMENT. */
void kiln__device_state_init(void *state);
/* Called when all work of the queue has ended. Passes what was printed to the
   context's callback, logs how much was lost, and resets the state.
   KILN_EEXCEPTION: there was an exception, and `record` describes it. */
kiln_status kiln__device_state_take(void *state, kiln__loaded_kernels *kernels,
                                    kiln__device_record *record);
/* True when an exception is ready. Work may still run. */
int kiln__device_state_has_exception(const void *state);
/* As kiln__device_state_take(), while work may still run, and for exceptions
   only. KILN_OK: none is ready. Kernels that still run may raise the next
   one. */
kiln_status kiln__device_state_peek(void *state, kiln__loaded_kernels *kernels,
                                    kiln__device_record *record);

/* Writes the hidden arguments after the packed block of the request, if the
   kernel has any; returns the size of the whole block. */
uint32_t kiln__device_hidden(const kiln_launch_request *request, uint64_t state,
                             uint64_t number);

/* ---- device_shape.c ---- */

/* Most items of a group that does not divide the grid, where nobody asks for
   another number; on CUDA and ROCm, of any group then. */
#define KILN__GROUP_ITEMS 256u

/* Which groups a device, or one kernel on it, can have. */
typedef struct kiln__group_limits {
    uint32_t items;     /* most items of a group */
    uint32_t usual;     /* the same where nobody asks for a group; 0: no less */
    uint32_t cut_items; /* the same where groups do not divide the grid */
    uint32_t width;     /* of a sub-group; multiples of it are best */
    uint32_t sizes[3];  /* most items along each dimension */
    uint64_t groups[3]; /* most groups of a grid */
} kiln__group_limits;

/* The shape of a queue's last launch. Most launches that follow have the
   same. */
typedef struct kiln__launch_shape {
    uint64_t number; /* the kernel's number; 0: no shape is known */
    uint64_t grid[3];
    uint32_t asked[3]; /* the block of the request */
    uint32_t block[3];
    uint64_t groups[3];
    int is_cut; /* the last groups have items outside the grid */
} kiln__launch_shape;

static inline int kiln__launch_shape_is(const kiln__launch_shape *shape,
                                        uint64_t number,
                                        const kiln_launch_request *request)
{
    return shape->number == number &&
           memcmp(shape->grid, request->grid, sizeof shape->grid) == 0 &&
           memcmp(shape->asked, request->block, sizeof shape->asked) == 0;
}

/* Refuses a launch with dynamic memory whose groups need more than the `most`
   bytes that a group of the device has; 0: unknown. */
kiln_status kiln__launch_local_check(const char *device, uint64_t most,
                                     const kiln_launch_request *request,
                                     kiln_error **error);

/*
 * Fills the shape of a request for kernel `number`. A block of zeros is
 * replaced by a group within the limits and the kernel's maximum: one that
 * divides the grid, or, where such groups are small and the kernel has
 * `any_block`, one that does not. `suggested`, which may be NULL, is taken
 * instead of another group that divides the grid, if it does so and is within
 * the limits. KILN_EINVAL, and no shape is known: a given block is too large,
 * or does not divide the grid though the kernel needs that, or there are too
 * many groups.
 */
kiln_status kiln__launch_shape_find(kiln__launch_shape *shape, uint64_t number,
                                    const kiln_launch_request *request,
                                    const kiln__group_limits *limits,
                                    const uint32_t suggested[3],
                                    kiln_error **error);

#endif /* KILN_DEVICE_DRIVER_H */
