/* test_cuda_abi.c - our own declarations of CUDA's driver, and the vendor's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends cuda */
#include <string.h>

#include "backends/cuda/cuda_driver.h"
#include "support/harness.h"

#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAS_CUDA_H 1
#endif
#endif

#ifndef HAS_CUDA_H

int main(void)
{
    return program_skip(SKIP_PACKAGE, "no cuda.h");
}

#else

/* ---- types ---- */

/* Ours are handles as pointers, results and enumerations as ints. */
_Static_assert(sizeof(CUresult) == sizeof(kiln__gpu_result), "result");
_Static_assert(sizeof(CUdevice_attribute) == sizeof(int), "attribute");
_Static_assert(sizeof(CUfunction_attribute) == sizeof(int), "attribute");
_Static_assert(sizeof(CUjit_option) == sizeof(int), "option");
_Static_assert(sizeof(CUstreamCaptureStatus) == sizeof(int), "status");
_Static_assert(sizeof(CUstreamCaptureMode) == sizeof(int), "mode");
_Static_assert(sizeof(CUdeviceptr) == sizeof(uint64_t), "address");
_Static_assert(sizeof(CUdevice) == sizeof(int), "device");
_Static_assert(sizeof(CUcontext) == sizeof(void *), "handle");

#define SAME(function, ...) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(function), \
                                                CUresult(__VA_ARGS__)), \
                   #function)

SAME(cuInit, unsigned);
SAME(cuDeviceGetCount, int *);
SAME(cuDeviceGet, CUdevice *, int);
SAME(cuDeviceGetName, char *, int, CUdevice);
SAME(cuDeviceGetAttribute, int *, CUdevice_attribute, CUdevice);
SAME(cuDevicePrimaryCtxRetain, CUcontext *, CUdevice);
SAME(cuDevicePrimaryCtxRelease, CUdevice);
SAME(cuCtxPushCurrent, CUcontext);
SAME(cuCtxPopCurrent, CUcontext *);
SAME(cuCtxGetCurrent, CUcontext *);
SAME(cuCtxGetDevice, CUdevice *);
SAME(cuCtxSynchronize, void);
SAME(cuModuleLoadDataEx, CUmodule *, const void *, unsigned, CUjit_option *,
     void **);
SAME(cuModuleUnload, CUmodule);
SAME(cuModuleGetFunction, CUfunction *, CUmodule, const char *);
SAME(cuFuncGetAttribute, int *, CUfunction_attribute, CUfunction);
SAME(cuStreamCreate, CUstream *, unsigned);
SAME(cuStreamDestroy, CUstream);
SAME(cuStreamSynchronize, CUstream);
SAME(cuStreamQuery, CUstream);
SAME(cuStreamIsCapturing, CUstream, CUstreamCaptureStatus *);
SAME(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode *);
SAME(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned,
     unsigned, unsigned, unsigned, CUstream, void **, void **);
SAME(cuLaunchKernelEx, const CUlaunchConfig *, CUfunction, void **, void **);
SAME(cuMemAlloc, CUdeviceptr *, size_t);
SAME(cuMemFree, CUdeviceptr);
SAME(cuMemcpy, CUdeviceptr, CUdeviceptr, size_t);
SAME(cuMemHostAlloc, void **, size_t, unsigned);
SAME(cuMemFreeHost, void *);
SAME(cuMemHostGetDevicePointer, CUdeviceptr *, void *, unsigned);
SAME(cuGetErrorName, CUresult, const char **);
SAME(cuGetErrorString, CUresult, const char **);

/* ---- layouts ---- */

#define SAME_PLACE(ours, theirs) \
    _Static_assert(offsetof(kiln__gpu_launch_config, ours) == \
                       offsetof(CUlaunchConfig, theirs), \
                   #theirs)

_Static_assert(sizeof(kiln__gpu_launch_config) == sizeof(CUlaunchConfig),
               "launch");
SAME_PLACE(grid, gridDimX);
SAME_PLACE(block, blockDimX);
SAME_PLACE(shared_bytes, sharedMemBytes);
SAME_PLACE(stream, hStream);
SAME_PLACE(attributes, attrs);
SAME_PLACE(attribute_count, numAttrs);

/* ---- numbers ---- */

static void numbers_are_the_vendors(void **state)
{
    const kiln__gpu_vendor *cuda = &kiln__cuda_vendor;

    (void)state;
    assert_int_equal(cuda->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    assert_int_equal(cuda->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    assert_int_equal(cuda->threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    assert_int_equal(cuda->block_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    assert_int_equal(cuda->block_x + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    assert_int_equal(cuda->grid_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    assert_int_equal(cuda->grid_x + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    assert_int_equal(cuda->width, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    assert_int_equal(cuda->host_flags,
                     CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    assert_ptr_equal(cuda->launch_end, CU_LAUNCH_PARAM_END);
    assert_int_equal((uintptr_t)CU_LAUNCH_PARAM_BUFFER_POINTER, 1);
    assert_int_equal((uintptr_t)CU_LAUNCH_PARAM_BUFFER_SIZE, 2);
    assert_int_equal(CU_JIT_INFO_LOG_BUFFER, 3);
    assert_int_equal(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4);
    assert_int_equal(CU_JIT_ERROR_LOG_BUFFER, 5);
    assert_int_equal(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6);
    assert_int_equal(CU_STREAM_NON_BLOCKING, 1);
    assert_int_equal(CU_STREAM_CAPTURE_MODE_RELAXED, 2);
    assert_int_equal(CU_STREAM_CAPTURE_STATUS_NONE, 0);
    assert_int_equal(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0);
}

static void assert_meaning(CUresult result, kiln_status status, int is_lasting)
{
    int lasting = -1;

    assert_int_equal(
        kiln__gpu_result_status((kiln__gpu_result)result, &lasting), status);
    assert_int_equal(lasting, is_lasting);
}

static void results_mean_what_their_names_say(void **state)
{
    (void)state;
    assert_int_equal(KILN__GPU_NOT_READY, CUDA_ERROR_NOT_READY);
    assert_int_equal(KILN__GPU_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
    assert_int_equal(KILN__GPU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(KILN__GPU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(KILN__GPU_CAPTURE_IMPLICIT,
                     CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_meaning(CUDA_ERROR_OUT_OF_MEMORY, KILN_ENOMEM, 0);
    assert_meaning(CUDA_ERROR_NO_DEVICE, KILN_ENODEVICE, 0);
    assert_meaning(CUDA_ERROR_STUB_LIBRARY, KILN_ENODEVICE, 0);
    assert_meaning(CUDA_ERROR_INVALID_IMAGE, KILN_ECORRUPT, 0);
    assert_meaning(CUDA_ERROR_INVALID_PTX, KILN_ECORRUPT, 0);
    assert_meaning(CUDA_ERROR_INVALID_SOURCE, KILN_ECORRUPT, 0);
    assert_meaning(CUDA_ERROR_NO_BINARY_FOR_GPU, KILN_ENODEVICE, 0);
    assert_meaning(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, KILN_ENODEVICE, 0);
    assert_meaning(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, KILN_ENODEVICE, 0);
    assert_meaning(CUDA_ERROR_ECC_UNCORRECTABLE, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_ILLEGAL_ADDRESS, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_LAUNCH_TIMEOUT, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_ASSERT, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_HARDWARE_STACK_ERROR, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_MISALIGNED_ADDRESS, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_INVALID_PC, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_LAUNCH_FAILED, KILN_EDEVICE, 1);
    assert_meaning(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, KILN_EDEVICE, 0);
    assert_meaning(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, KILN_EBUSY, 0);
    assert_meaning(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, KILN_EBUSY, 0);
    assert_meaning(CUDA_ERROR_UNKNOWN, KILN_EDEVICE, 0);
}

/* ---- names ---- */

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name) /* the header's own macros choose versions */
#define ASSERT_NAME(index, function) \
    assert_string_equal(kiln__cuda_vendor.symbols[KILN__GPU_##index].name, \
                        TEXT(function))

static void names_are_those_of_the_library(void **state)
{
    (void)state;
    ASSERT_NAME(context_release, cuDevicePrimaryCtxRelease);
    ASSERT_NAME(context_push, cuCtxPushCurrent);
    ASSERT_NAME(context_pop, cuCtxPopCurrent);
    ASSERT_NAME(module_load, cuModuleLoadDataEx);
    ASSERT_NAME(stream_create, cuStreamCreate);
    ASSERT_NAME(stream_destroy, cuStreamDestroy);
    ASSERT_NAME(stream_synchronize, cuStreamSynchronize);
    ASSERT_NAME(stream_query, cuStreamQuery);
    ASSERT_NAME(stream_is_capturing, cuStreamIsCapturing);
    ASSERT_NAME(capture_mode, cuThreadExchangeStreamCaptureMode);
    ASSERT_NAME(launch, cuLaunchKernel);
    ASSERT_NAME(launch_ex, cuLaunchKernelEx);
    ASSERT_NAME(memory_allocate, cuMemAlloc);
    ASSERT_NAME(memory_free, cuMemFree);
    ASSERT_NAME(copy, cuMemcpy);
    ASSERT_NAME(host_allocate, cuMemHostAlloc);
    ASSERT_NAME(host_free, cuMemFreeHost);
    ASSERT_NAME(host_address, cuMemHostGetDevicePointer);
    ASSERT_NAME(function_attribute, cuFuncGetAttribute);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_vendors),
        cmocka_unit_test(results_mean_what_their_names_say),
        cmocka_unit_test(names_are_those_of_the_library),
    };

    return cmocka_run_group_tests_name("cuda_abi", tests, NULL, NULL);
}

#endif
