/* fake_gpu.h - how a test inspects a fake driver, and makes it fail. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAKE_GPU_H
#define KILN_TESTS_FAKE_GPU_H

#include <stddef.h>
#include <stdint.h>

/*
 * This is a driver in memory: an address on the device is an address of the
 * host, and a launch calls a function of the test. It has the rules of a real
 * driver: handles belong to a context, which must be current; a call that a
 * capture forbids ends the capture. Several threads may use it.
 */

/* A launch, as the driver received it. */
typedef struct fake_launch {
    const char *function;
    const char *image; /* of its module */
    unsigned grid[3];  /* number of groups */
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void *arguments; /* the packed block, or NULL */
    size_t size;     /* size of the block */
    int is_extended; /* it came through the newer function */
} fake_launch;

typedef struct fake_gpu {
    /* What the driver has. */
    int device_count;
    int major, minor;
    char name[64]; /* of device 0; other devices have a number appended */
    char architecture[64]; /* in HIP's properties */
    int threads;     /* most threads of a group; a function has half of it */
    int local_bytes; /* of a group's memory; -1: the driver does not know */

    /* Called in a launch. */
    void (*run)(void *env, const fake_launch *launch);
    void *env;
    int is_held; /* work never ends, and queries say so */
    /* For measurements: counts nothing, and launches do nothing. */
    int is_quick;

    /* Call number `fail_at` from now on, counted from 1, returns `fail_with`.
       Only calls of the name `fail_name` count (NULL: all calls). A call that
       frees something frees it all the same. With `is_lasting` all later calls
       fail, too, except those that ask what is current. */
    const char *fail_name;
    uint64_t fail_at; /* 0: never */
    int32_t fail_with;
    int is_lasting;

    /* What the driver has seen. */
    uint64_t calls; /* calls that could fail */
    uint64_t launches, captured, loads, syncs;
    char captured_function[128]; /* of the last launch that was captured */
    int capture_broken;          /* a call ended a capture */
    char failed[64];             /* name of the call that was made to fail */
    char broken_by[64];
    int host_flags;
    int dynamic_allowed; /* bytes of dynamic group memory that any function has
                            asked for; 0: none has */

    /* Objects that were made and are not freed. */
    int64_t modules, streams, buffers, host_blocks, retained;
} fake_gpu;

/* Each fake exports these as "fake_gpu", "fake_gpu_...", and tests find them by
   dlsym(). This one sets all counts to zero, and nothing fails any more. */
typedef fake_gpu *fake_gpu_reset_fn(void);
/* A context or stream of the caller's; they are not counted. */
typedef void *fake_gpu_context_fn(int device);
typedef void *fake_gpu_stream_fn(void *context, int is_blocking);
typedef void fake_gpu_end_fn(void *handle);
typedef void fake_gpu_capture_fn(void *stream, int is_capturing);
/* What is current on the calling thread: a context; for HIP the number of a
   device plus 1. */
typedef void *fake_gpu_current_fn(void);
typedef void fake_gpu_set_current_fn(void *context);

#endif /* KILN_TESTS_FAKE_GPU_H */
