/* opencl.h - the OpenCL driver below the SPIR-V backend. */
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

/* X(needed, function): every function of the library that is called here. One
   that is not needed may be missing, and is not called on a device of an older
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

/* Opens the loader's library; `reason` says why it cannot be. */
kiln_status kiln__opencl_api_open(kiln__opencl_api *api, char *reason,
                                  size_t capacity);

/* "CL_OUT_OF_RESOURCES"; "" for what is unknown. */
const char *kiln__opencl_code_name(cl_int code);
/* Makes an error of what the driver answered: "OpenCL: WHAT: CL_..., -5". */
kiln_status kiln__opencl_failed(kiln_error **error, cl_int code,
                                const char *what);

/* X(function): of extensions; NULL where a platform lacks them. */
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

/* ---- opencl_probe.c: which devices there are ---- */

typedef enum kiln__opencl_memory {
    KILN__OPENCL_MEMORY_NONE,
    KILN__OPENCL_MEMORY_FINE,   /* shared, seen by both sides */
    KILN__OPENCL_MEMORY_USM,    /* the device's own, and the host's */
    KILN__OPENCL_MEMORY_COARSE, /* shared, seen by one side at a time */
} kiln__opencl_memory;

/* A device that can run modules, and all that was asked about it. */
typedef struct kiln__opencl_facts {
    kiln__spirv_facts base;
    cl_platform_id platform;
    cl_device_id id;
    kiln__opencl_extensions extensions;
    kiln__opencl_memory memory;
    uint32_t il_minors; /* bit n: takes SPIR-V 1.n as it is */
    int takes_bitcode;  /* of a translated module */
    uint32_t version;   /* 100 * major + minor of OpenCL */
    uint32_t local_sizes[3];
    int specialises; /* compiles again for each size of groups (PoCL) */
    char name[192];
    char identity[768]; /* names driver and device */
} kiln__opencl_facts;

/* Asks a device; false, with a reason, when it is of no use. */
int kiln__opencl_ask(kiln__opencl_facts *out, const kiln__opencl_api *api,
                     cl_device_id id, char *reason, size_t capacity);

/* Devices of all platforms: GPUs, then accelerators, then processors. */
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
    cl_command_queue copies; /* of copy() alone */
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
 * What follows are functions of the table of a backend (kiln/sys/backend.h),
 * members of kiln__spirv_driver, and what they share.
 */

/* ---- opencl_memory.c ---- */

kiln_status kiln__opencl_memory_new(void *self, void *device, uint64_t size,
                                    void **address, kiln_error **error);
void kiln__opencl_memory_free(void *self, void *device, void *address);
kiln_status kiln__opencl_copy(void *self, void *device, void *to,
                              const void *from, uint64_t size,
                              kiln_error **error);
/* Memory that host and device see; NULL in `*host`: the host cannot, and must
   copy. */
kiln_status kiln__opencl_shared_new(void **address, void **host,
                                    const kiln__opencl_device *device,
                                    uint64_t size, kiln_error **error);
void kiln__opencl_release(const kiln__opencl_device *device, void *address);
/* Copies either way, and waits. */
kiln_status kiln__opencl_copy_on(const kiln__opencl_device *device,
                                 cl_command_queue queue, void *to,
                                 const void *from, uint64_t size,
                                 kiln_error **error);

/* ---- opencl_program.c ---- */

/* What the driver's compiler says is in the error. */
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
void kiln__opencl_ask_limits(kiln__spirv_function *function, void *native);
/* Sets every argument from the packed block. */
kiln_status kiln__opencl_kernel_set(const kiln__spirv_kernel *kernel,
                                    const kiln__spirv_function *function,
                                    const void *block, kiln_error **error);
/* Tells the driver that the kernel reaches a state and a heap; NULL: none. */
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
