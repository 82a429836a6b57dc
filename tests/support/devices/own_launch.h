/* own_launch.h - launches by a runtime itself, with functions of a driver. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_OWN_LAUNCH_H
#define KILN_TESTS_OWN_LAUNCH_H

#include "support/devices/kernels.h"

#define OWN_BYTES 256
#define OWN_VALUES 16

/* A value of the packed block or of the hidden arguments after it. */
typedef struct own_value {
    uint32_t offset;
    uint32_t size;
    int is_pointer;
} own_value;

/* The arguments of a launch, as one block and one by one. */
typedef struct own_block {
    unsigned char bytes[OWN_BYTES];
    size_t size;
    own_value values[OWN_VALUES];
    size_t count;
} own_block;

typedef struct own_shape {
    uint32_t groups[3];
    uint32_t items[3]; /* of a group */
} own_shape;

/*
 * What a runtime has of the driver. Each function fails the test if the driver
 * refuses something.
 */

/* Makes a stream, and lets Kiln adopt it: sets `device` and `queue`. */
void own_begin(kernels *k, kiln_device **device, kiln_queue **queue);
/* Launches on the stream, and waits for it if the driver can do that. */
void own_launch(void *function, const own_block *block, const own_shape *shape);
/* Frees what own_begin() made. */
void own_end(void);

#endif /* KILN_TESTS_OWN_LAUNCH_H */
