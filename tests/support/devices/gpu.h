/* gpu.h - a backend over a fake driver, and a kernel for it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GPU_H
#define KILN_TESTS_GPU_H

#include "abi/device_abi.h"
#include "kiln.h"
#include "support/fake_gpu/fake_gpu.h"
#include "support/stores/report_table.h"
#include "tiers/binary/artifact.h"

/* One of the two vendors. */
typedef struct gpu_vendor {
    const char *backend;
    /* Environment variable that names the driver's library. */
    const char *variable;
    const char *folder; /* folder of the fakes, in the build folder's tests */
    const char *library;
    const char *target; /* without the backend's name */
    const char *format;
    /* Names of functions. */
    const char *load, *launch, *wait, *query, *allocate;
} gpu_vendor;

extern const gpu_vendor gpu_cuda, gpu_cuda_old, gpu_cuda_broken;
extern const gpu_vendor gpu_rocm, gpu_rocm_old;

/* What the host received. */
typedef struct gpu_heard {
    char text[4096]; /* what was printed */
    char log[512];   /* the last line of the log */
} gpu_heard;

typedef struct gpu_fixture {
    const gpu_vendor *of;
    void *library;
    fake_gpu *fake;
    fake_gpu_context_fn *context_new;
    fake_gpu_stream_fn *stream_new;
    fake_gpu_end_fn *context_end, *stream_end;
    fake_gpu_capture_fn *capture;
    fake_gpu_current_fn *current;
    fake_gpu_set_current_fn *set_current;

    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_artifact *artifact;
    const kiln_type *types[2];
    kiln_kernel kernel; /* entry(i64[:], i64), with exceptions and prints */
    gpu_heard heard;
    const void *facts; /* of the kernel; set before gpu_open() */
    size_t fact_size;
    int allocates; /* the kernel allocates; set before gpu_open() */
} gpu_fixture;

/* The block of the kernel's arguments, hidden ones included. */
typedef struct gpu_block {
    int64_t *data;
    int64_t size;
    int64_t value;
    uint64_t state;
    uint64_t launch;
} gpu_block;

/* Reports of the kernel's table. */
enum { GPU_BOUNDS, GPU_PRINT, GPU_ASSERTION };

/* Opens the fake, with all counts at zero, and makes a context. `alloc` may be
   NULL. Returns what making the context returned. */
kiln_status gpu_begin(gpu_fixture *f, const gpu_vendor *of,
                      const kiln_alloc *alloc);
/* Opens device 0, loads the kernel, makes a queue. */
kiln_status gpu_open(gpu_fixture *f, kiln_error **error);
/* Fills the kernel for that device and loads it. */
kiln_status gpu_load(gpu_fixture *f, kiln_kernel *kernel, int32_t device,
                     kiln_error **error);
kiln_status gpu_launch(gpu_fixture *f, kiln_queue *queue, uint64_t items,
                       int64_t *data, int64_t value, kiln_error **error);
/* Ends everything of this that exists. */
void gpu_end(gpu_fixture *f);
/* Asserts that nothing is left in the driver. */
void gpu_assert_balanced(const fake_gpu *fake);

/* For the test's "kernels": raises as device code does, and prints two
   values. */
void gpu_raise(const gpu_block *block, uint32_t report, int64_t value0,
               int64_t value1);
void gpu_print(const gpu_block *block, int64_t value, double other);

/* Fixtures for cmocka: *state is an opened gpu_fixture. */
int gpu_setup_cuda(void **state);
int gpu_setup_rocm(void **state);
int gpu_teardown(void **state); /* asserts that nothing is left */

#endif /* KILN_TESTS_GPU_H */
