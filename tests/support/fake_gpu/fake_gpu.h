/* fake_gpu.h - how a test looks into a fake driver, and leads it astray. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAKE_GPU_H
#define KILN_TESTS_FAKE_GPU_H

#include <stddef.h>
#include <stdint.h>

/*
 * A driver in memory: an address on the device is one of the host, a launch
 * calls back. It keeps the rules that a real one has: handles belong to a
 * context, which must be current; a call that a capture forbids ends the
 * capture. It may be used from several threads.
 */

/* One launch, as the driver got it. */
typedef struct fake_launch {
    const char *function;
    const char *image; /* of its module */
    unsigned grid[3];  /* groups */
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void *arguments; /* the block, or NULL */
    size_t size;     /* of it */
    int is_extended; /* through the newer function */
} fake_launch;

typedef struct fake_gpu {
    /* What is there. */
    int device_count;
    int major, minor;
    char name[64];         /* of device 0; the others get a number behind it */
    char architecture[64]; /* in HIP's properties */
    int threads;           /* most of a group; of a function half of it */

    /* What happens in a launch. */
    void (*run)(void *env, const fake_launch *launch);
    void *env;
    int is_held;  /* work does not end: queries say so */
    int is_quick; /* for measurements: nothing is counted, launches are none */

    /* Call number `fail_at` from now on, counted from 1, of those whose name
       is `fail_name` (NULL: of all), returns `fail_with`. What gives something
       back does so all the same. With `is_lasting` all later calls fail, too,
       but for those that ask what is current. */
    const char *fail_name;
    uint64_t fail_at; /* 0: never */
    int32_t fail_with;
    int is_lasting;

    /* What was seen. */
    uint64_t calls; /* that could fail */
    uint64_t launches, captured, loads, syncs;
    int capture_broken; /* a call ended a capture */
    char failed[64];    /* the name of the call that was made to fail */
    char broken_by[64];
    int host_flags;

    /* What was made and not given back. */
    int64_t modules, streams, buffers, host_blocks, retained;
    int64_t depth; /* of the calling thread's contexts, when asked */
} fake_gpu;

/* Exported by each fake as "fake_gpu", "fake_gpu_..."; tests take them with
   dlsym(). All counts begin anew and nothing fails. */
typedef fake_gpu *fake_gpu_reset_fn(void);
/* A context, stream of the caller's own; they are not counted. */
typedef void *fake_gpu_context_fn(int device);
typedef void *fake_gpu_stream_fn(void *context, int is_blocking);
typedef void fake_gpu_end_fn(void *handle);
typedef void fake_gpu_capture_fn(void *stream, int is_capturing);
/* What is current on the calling thread: a context; of HIP a device, + 1. */
typedef void *fake_gpu_current_fn(void);
typedef void fake_gpu_set_current_fn(void *context);

#endif /* KILN_TESTS_FAKE_GPU_H */
