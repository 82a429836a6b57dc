/* own_launch_gpu.c - a runtime that has streams of CUDA or of HIP. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/own_launch.h"
#include "support/harness.h"

/*
 * As programs do that use the vendor's runtime: the device's primary context,
 * and a stream in it. The functions of HIP are CUDA's under other names.
 */

typedef int32_t result;

static struct {
    int is_cuda;
    void *library, *stream;
    result (*stream_end)(void *);
    result (*stream_wait)(void *);
    result (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, unsigned, void *, void **, void **);
} own;

static void *found(const char *cuda, const char *hip)
{
    void *function = dlsym(own.library, own.is_cuda ? cuda : hip);

    assert_non_null(function);
    return function;
}

#define GET(to, cuda, hip) (*(void **)(void *)&(to) = found(cuda, hip))

/* The primary context becomes the thread's, as cudaSetDevice() makes it. */
static void choose_device(void)
{
    result (*init)(unsigned), (*retain)(void **, int), (*push)(void *),
        (*set_device)(int);
    void *context = NULL;

    GET(init, "cuInit", "hipInit");
    assert_int_equal(init(0), 0);
    if (own.is_cuda) {
        GET(retain, "cuDevicePrimaryCtxRetain", "");
        GET(push, "cuCtxPushCurrent_v2", "");
        assert_int_equal(retain(&context, 0), 0);
        assert_int_equal(push(context), 0);
    } else {
        GET(set_device, "", "hipSetDevice");
        assert_int_equal(set_device(0), 0);
    }
}

void own_begin(kernels *k, kiln_device **device, kiln_queue **queue)
{
    result (*stream_new)(void **, unsigned);
    const char *path;

    own.is_cuda = strcmp(kernels_backend(), "cuda") == 0;
    path = getenv(own.is_cuda ? "KILN_CUDA_DRIVER" : "KILN_ROCM_DRIVER");
    assert_non_null(path);
    own.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(own.library);
    GET(stream_new, "cuStreamCreate", "hipStreamCreateWithFlags");
    GET(own.stream_end, "cuStreamDestroy_v2", "hipStreamDestroy");
    GET(own.stream_wait, "cuStreamSynchronize", "hipStreamSynchronize");
    GET(own.launch, "cuLaunchKernel", "hipModuleLaunchKernel");
    choose_device();
    assert_int_equal(stream_new(&own.stream, 1), 0);
    *device = k->device;
    assert_ok(kiln_queue_adopt(queue, k->device, own.stream, &test_error));
}

void own_launch(void *function, const own_block *block, const own_shape *shape)
{
    const uint32_t *groups = shape->groups, *items = shape->items;
    unsigned char bytes[OWN_BYTES];
    size_t size = block->size;
    /* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE and _END; HIP's end is 3. */
    void *extra[] = {(void *)1, bytes, (void *)2, &size,
                     own.is_cuda ? NULL : (void *)3};

    memcpy(bytes, block->bytes, sizeof bytes);
    assert_int_equal(own.launch(function, groups[0], groups[1], groups[2],
                                items[0], items[1], items[2], 0, own.stream,
                                NULL, extra),
                     0);
    assert_int_equal(own.stream_wait(own.stream), 0);
}

/* The library stays: Kiln has it, too. */
void own_end(void)
{
    assert_int_equal(own.stream_end(own.stream), 0);
}
