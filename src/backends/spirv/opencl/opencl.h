/* opencl.h - the OpenCL driver of the SPIR-V backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPENCL_H
#define KILN_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "backends/device/device_driver.h"
#include "backends/spirv/spirv.h"

/* ---- opencl_api.c: the loader's functions ---- */

/* X(needed, function): the functions of the library that are called. A function
   that is not needed may be missing; it is not called on devices of an older
   OpenCL. */
#define KILN__OPENCL_MAP(X) \
    X(1, clGetPlatformIDs) \
    X(1, clGetPlatformInfo) \
    X(1, clGetDeviceIDs) \
    X(1, clGetDeviceInfo) \
    X(1, clCreateContext) \
    X(1, clRetainContext) \
    X(1, clReleaseContext) \
    X(1, clGetContextInfo) \
    X(1, clCreateCommandQueue) \
    X(1, clRetainCommandQueue) \
    X(1, clReleaseCommandQueue) \
    X(1, clGetCommandQueueInfo) \
    X(1, clCreateProgramWithBinary) \
    X(1, clBuildProgram) \
    X(1, clGetProgramInfo) \
    X(1, clGetProgramBuildInfo) \
    X(1, clReleaseProgram) \
    X(1, clCreateKernel) \
    X(1, clReleaseKernel) \
    X(1, clSetKernelArg) \
    X(1, clGetKernelWorkGroupInfo) \
    X(1, clEnqueueNDRangeKernel) \
    X(1, clEnqueueMarkerWithWaitList) \
    X(1, clFlush) \
    X(1, clFinish) \
    X(1, clGetEventInfo) \
    X(1, clReleaseEvent) \
    X(1, clGetExtensionFunctionAddressForPlatform) \
    X(0, clCreateProgramWithIL) \
    X(0, clSVMAlloc) \
    X(0, clSVMFree) \
    X(0, clSetKernelArgSVMPointer) \
    X(0, clSetKernelExecInfo) \
    X(0, clEnqueueSVMMemcpy)

typedef struct kiln__opencl_api {
#define KILN__OPENCL_MEMBER(needed, function) __typeof__(function) *function;
    KILN__OPENCL_MAP(KILN__OPENCL_MEMBER)
#undef KILN__OPENCL_MEMBER
} kiln__opencl_api;

/* Opens the loader's library; if it cannot be opened, `reason` says why. */
kiln_status kiln__opencl_api_open(kiln__opencl_api *api, char *reason,
                                  size_t capacity);

/* "CL_OUT_OF_RESOURCES"; "" for an unknown code. */
const char *kiln__opencl_code_name(cl_int code);
/* Makes an error from a result of the driver: "OpenCL: WHAT: CL_..., -5". */
kiln_status kiln__opencl_failed(kiln_error **error, cl_int code,
                                const char *what);

/* X(function): functions of extensions; NULL where a platform lacks them. */
#define KILN__OPENCL_EXTENSION_MAP(X) \
    X(clCreateProgramWithILKHR) \
    X(clDeviceMemAllocINTEL) \
    X(clHostMemAllocINTEL) \
    X(clMemFreeINTEL) \
    X(clSetKernelArgMemPointerINTEL) \
    X(clEnqueueMemcpyINTEL)

typedef struct kiln__opencl_extensions {
#define KILN__OPENCL_MEMBER(function) function##_fn function;
    KILN__OPENCL_EXTENSION_MAP(KILN__OPENCL_MEMBER)
#undef KILN__OPENCL_MEMBER
} kiln__opencl_extensions;

/* ---- opencl_probe.c: devices ---- */

typedef enum kiln__opencl_memory {
    KILN__OPENCL_MEMORY_NONE,
    KILN__OPENCL_MEMORY_FINE,   /* shared, always visible to both sides */
    KILN__OPENCL_MEMORY_USM,    /* of the device, and of the host */
    KILN__OPENCL_MEMORY_COARSE, /* shared, visible to one side at a time */
} kiln__opencl_memory;

/* The facts about a device that can run modules. */
typedef struct kiln__opencl_facts {
    kiln__spirv_facts base;
    cl_platform_id platform;
    cl_device_id id;
    kiln__opencl_extensions extensions;
    kiln__opencl_memory memory;
    uint32_t il_minors; /* bit n: accepts SPIR-V 1.n directly */
    int takes_bitcode;  /* accepts bitcode of a translated module */
    uint32_t version;   /* 100 * major + minor of OpenCL */
    uint32_t local_sizes[3];
    int specialises; /* compiles again for each group size (PoCL) */
    char name[192];
    char identity[768]; /* names driver and device */
} kiln__opencl_facts;

/* Asks a device for its facts; false, with a reason, when it cannot be used. */
int kiln__opencl_ask(kiln__opencl_facts *out, const kiln__opencl_api *api,
                     cl_device_id id, char *reason, size_t capacity);

/* Lists the devices of all platforms: GPUs, then accelerators, then
   processors. */
kiln_status kiln__opencl_probe(kiln__spirv_list *out,
                               const kiln__opencl_api *api,
                               const kiln_alloc *alloc);

/* ---- opencl_driver.c ---- */

typedef struct kiln__opencl {
    kiln__spirv_finder base;
    const kiln__opencl_api *api;
    kiln__opencl_api own_api;
} kiln__opencl;

typedef struct kiln__opencl_device {
    kiln__spirv_device base;
    const kiln__opencl_api *api;
    kiln__opencl_facts facts;
    cl_context native;
    cl_command_queue copies; /* used by copy() only */
} kiln__opencl_device;

static inline const kiln__opencl_device *kiln__opencl_of(
    const kiln__spirv_device *device)
{
    return (const kiln__opencl_device *)device;
}

extern const kiln__spirv_driver kiln__opencl_driver;
/* `api` NULL: the library's, opened at the first use. */
kiln_status kiln__opencl_new(void **self, kiln_context *context,
                             const kiln__opencl_api *api, kiln_error **error);

/*
 * The functions below are those of a backend's table (kiln/sys/backend.h) and
 * of kiln__spirv_driver, and functions that they share.
 */

/* ---- opencl_memory.c ---- */

kiln_status kiln__opencl_memory_new(void *self, void *device, uint64_t size,
                                    void **address, kiln_error **error);
void kiln__opencl_memory_free(void *self, void *device, void *address);
kiln_status kiln__opencl_copy(void *self, void *device, void *to,
                              const void *from, uint64_t size,
                              kiln_error **error);
/* Allocates memory that host and device see. `*host` NULL: the host cannot
   access it and must copy. */
kiln_status kiln__opencl_shared_new(void **address, void **host,
                                    const kiln__opencl_device *device,
                                    uint64_t size, kiln_error **error);
void kiln__opencl_release(const kiln__opencl_device *device, void *address);
/* Copies in either direction, and waits. */
kiln_status kiln__opencl_copy_on(const kiln__opencl_device *device,
                                 cl_command_queue queue, void *to,
                                 const void *from, uint64_t size,
                                 kiln_error **error);

/* ---- opencl_program.c ---- */

/* The error contains the messages of the driver's compiler. */
kiln_status kiln__opencl_load(void *self, void *device,
                              const kiln_artifact *artifact, void **module,
                              kiln_error **error);
const char *kiln__opencl_identity(void *self, void *device);
kiln_status kiln__opencl_load_native(void *self, void *device,
                                     const kiln_artifact *artifact,
                                     const void *bytes, size_t size,
                                     void **module, kiln_error **error);
kiln_status kiln__opencl_save(void *self, void *module, kiln_blob *out,
                              kiln_error **error);
int32_t kiln__opencl_grew(void *self, void *module);
const char *kiln__opencl_tools(void *self, void *module);
void kiln__opencl_program_free(const kiln__spirv_device *device, void *native);

/* ---- opencl_kernel.c ---- */

kiln_status kiln__opencl_kernel_new(void **native,
                                    const kiln__spirv_module *module,
                                    const char *name, kiln_error **error);
void kiln__opencl_kernel_free(const kiln__spirv_device *device, void *native);
void kiln__opencl_ask_limits(kiln__group_limits *out,
                             const kiln__spirv_device *device, void *native);
/* Sets every argument from the packed block. */
kiln_status kiln__opencl_kernel_set(const kiln__spirv_kernel *kernel,
                                    const kiln__spirv_function *function,
                                    const void *block, kiln_error **error);
/* Tells the driver that the kernel accesses a state and a heap; NULL: none. */
kiln_status kiln__opencl_kernel_tell(kiln__spirv_kernel *kernel,
                                     const kiln__opencl_device *device,
                                     void *state, void *heap,
                                     kiln_error **error);

/* ---- opencl_queue.c ---- */

kiln_status kiln__opencl_queue_new(void *self, void *device, void *native,
                                   void **out, kiln_error **error);
void kiln__opencl_queue_free(void *self, void *queue);
kiln_status kiln__opencl_launch(void *self, void *queue,
                                const kiln_launch_request *request,
                                kiln_exception *exception, kiln_error **error);
kiln_status kiln__opencl_wait(void *self, void *queue, int32_t block,
                              kiln_exception *exception, kiln_error **error);
kiln_status kiln__opencl_native(void *self, void *queue, void *function,
                                kiln_native_launch *out, kiln_error **error);

#endif /* KILN_OPENCL_H */
