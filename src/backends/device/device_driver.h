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
 * A device has a table of the kernels that are loaded on it. Each launch
 * passes its kernel's number as a hidden argument, and what comes back with
 * that number, an exception or a print, is read by the kernel's own table of
 * reports, whatever was launched since.
 */

/* ---- device_kernels.c ---- */

/* One kernel that is loaded. The artifact is retained. */
typedef struct kiln__loaded_kernel {
    uint64_t number; /* never used twice by a device */
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
/* Adds the artifact's kernel of that name; its number, or 0: out of memory or
   there is none. */
uint64_t kiln__loaded_kernels_add(kiln__loaded_kernels *kernels,
                                  const kiln_artifact *artifact,
                                  const char *name);
void kiln__loaded_kernels_remove(kiln__loaded_kernels *kernels,
                                 uint64_t number);
/* The artifact of a kernel, which the caller releases, and its metadata, which
   is the artifact's; NULL: it is not loaded any more, or never was. */
const kiln_artifact *kiln__loaded_kernels_find(kiln__loaded_kernels *kernels,
                                               uint64_t number,
                                               const kiln_kernel_info **info);

/* ---- device_reports.c: tables of reports ---- */

/* An exception as the table has it. The texts are the table's. */
typedef struct kiln__exception_report {
    uint32_t kind;
    uint32_t ordinal;
    const char *method;
    const char *message;
} kiln__exception_report;

/* The parts of a print: where they begin, and how many values it has. */
typedef struct kiln__print_report {
    const unsigned char *parts;
    uint32_t part_count;
    uint32_t value_count;
} kiln__print_report;

/* Read report `number` of a table that may be damaged: KILN_ECORRUPT when
   there is none, it is of the other kind, or it does not end in the table. */
kiln_status kiln__report_exception(kiln__exception_report *out,
                                   const void *table, size_t size,
                                   uint32_t number);
kiln_status kiln__report_print(kiln__print_report *out, const void *table,
                               size_t size, uint32_t number);
/* The next part of a print that was read: moves `*at` behind it. `*text` is
   set when the part is a text. */
uint32_t kiln__report_part(const unsigned char **at, const char **text);

/* ---- device_state.c: what kernels left in a queue's state ---- */

/* What was read of a queue's state: lent until it is read again. */
typedef struct kiln__device_record {
    kiln_exception exception;
    char message[512];
    char kernel[512];
    char method[512];
    kiln__frame_record frames;
} kiln__device_record;

/* Bytes that a state takes with room for prints. */
#define KILN__PRINT_ROOM 65536u
#define KILN__STATE_BYTES (KILN__STATE_SIZE + KILN__PRINT_ROOM)

/* Makes memory of KILN__STATE_BYTES, which the host can write, aligned to
   KILN__STATE_ALIGNMENT, a state. */
void kiln__device_state_init(void *state);
/* After all work of the queue has ended: hands what was printed to the
   context's callback, says how much was lost in the log, and begins anew.
   KILN_EEXCEPTION: `record` is filled. */
kiln_status kiln__device_state_take(void *state, kiln__loaded_kernels *kernels,
                                    kiln__device_record *record);
/* True when an exception is ready, whatever else still runs. */
int kiln__device_state_has_exception(const void *state);
/* The same while work may be left, and for exceptions alone: KILN_OK when none
   is ready. Kernels that still run may raise the next one. */
kiln_status kiln__device_state_look(void *state, kiln__loaded_kernels *kernels,
                                    kiln__device_record *record);

/* Behind the packed block of the request: writes the hidden arguments if the
   kernel has any; returns the size of the whole block. */
uint32_t kiln__device_hidden(const kiln_launch_request *request, uint64_t state,
                             uint64_t number);

/* ---- device_shape.c ---- */

/* What groups a device, or one kernel on it, can have. */
typedef struct kiln__group_limits {
    uint32_t items;     /* in all */
    uint32_t width;     /* of a sub-group; a multiple of it is best */
    uint32_t sizes[3];  /* in each dimension */
    uint64_t groups[3]; /* of a grid */
} kiln__group_limits;

/* The shape of a queue's last launch: most that follow have the same. */
typedef struct kiln__launch_shape {
    uint64_t number; /* of the kernel; 0: none */
    uint64_t grid[3];
    uint32_t asked[3]; /* the block of the request */
    uint32_t block[3];
    uint64_t groups[3];
} kiln__launch_shape;

static inline int kiln__launch_shape_is(const kiln__launch_shape *shape,
                                        uint64_t number,
                                        const kiln_launch_request *request)
{
    return shape->number == number &&
           memcmp(shape->grid, request->grid, sizeof shape->grid) == 0 &&
           memcmp(shape->asked, request->block, sizeof shape->asked) == 0;
}

/* Fills the shape of a request for kernel `number`. A block of zeros becomes a
   group that divides the grid, within the limits and the kernel's maximum, if
   possible a multiple of the width: `suggested`, where it is not NULL and one
   within the limits. KILN_EINVAL, and no shape is known: a block that is given
   does not divide the grid or is too large, or there are too many groups. */
kiln_status kiln__launch_shape_find(kiln__launch_shape *shape, uint64_t number,
                                    const kiln_launch_request *request,
                                    const kiln__group_limits *limits,
                                    const uint32_t suggested[3],
                                    kiln_error **error);

#endif /* KILN_DEVICE_DRIVER_H */
