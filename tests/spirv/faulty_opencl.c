/* faulty_opencl.c - the real OpenCL, of which one call fails. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "faulty.h"

#include <string.h>

faulty_state faulty;
kiln__opencl_api faulty_opencl_real;

/* How often work is looked at that has not ended differs from run to run. */
static int is_another_look(const char *function)
{
    const char *before = faulty.called;

    faulty.called = function;
    return before != NULL && strcmp(before, function) == 0 &&
           (strcmp(function, "clGetEventInfo") == 0 ||
            strcmp(function, "zeEventQueryStatus") == 0);
}

int faulty_fails(const char *function)
{
    if (!is_another_look(function))
        faulty.calls++;
    else if (faulty.calls == faulty.fail_at)
        return 0; /* it did when it was the first */
    if (faulty.fail_at == 0 || faulty.calls < faulty.fail_at ||
        (faulty.calls > faulty.fail_at && !faulty.lasting))
        return 0;
    faulty.failed = function;
    return 1;
}

/* ---- calls that return a code ---- */

#define CODE(function, parameters, arguments) \
    static cl_int CL_API_CALL my_##function parameters \
    { \
        return faulty_fails(#function) \
                   ? CL_OUT_OF_RESOURCES \
                   : faulty_opencl_real.function arguments; \
    }

/* Giving back cannot fail: nobody could do anything about it. */
#define RELEASE(function, type) \
    static cl_int CL_API_CALL my_##function(type object) \
    { \
        faulty.live--; \
        return faulty_opencl_real.function(object); \
    }

#define RETAIN(function, type) \
    static cl_int CL_API_CALL my_##function(type object) \
    { \
        if (faulty_fails(#function)) \
            return CL_OUT_OF_RESOURCES; \
        faulty.live++; \
        return faulty_opencl_real.function(object); \
    }

/* ---- calls that return an object, and the code last ---- */

#define OBJECT(type, function, parameters, arguments) \
    static type CL_API_CALL my_##function parameters \
    { \
        type made; \
        if (faulty_fails(#function)) { \
            *code = CL_OUT_OF_HOST_MEMORY; \
            return NULL; \
        } \
        made = faulty_opencl_real.function arguments; \
        faulty.live += made != NULL; \
        return made; \
    }

CODE(clGetPlatformIDs, (cl_uint n, cl_platform_id *out, cl_uint *count),
     (n, out, count))
CODE(clGetPlatformInfo,
     (cl_platform_id of, cl_platform_info what, size_t size, void *value,
      size_t *out),
     (of, what, size, value, out))
CODE(clGetDeviceIDs,
     (cl_platform_id of, cl_device_type type, cl_uint n, cl_device_id *out,
      cl_uint *count),
     (of, type, n, out, count))

static cl_int CL_API_CALL my_clGetDeviceInfo(cl_device_id of,
                                             cl_device_info what, size_t size,
                                             void *value, size_t *out)
{
    const cl_int code =
        faulty_fails("clGetDeviceInfo")
            ? CL_OUT_OF_RESOURCES
            : faulty_opencl_real.clGetDeviceInfo(of, what, size, value, out);

    if (code == CL_SUCCESS && what == CL_DEVICE_SVM_CAPABILITIES)
        *(cl_device_svm_capabilities *)value &= ~faulty.without;
    if (code == CL_SUCCESS && what == CL_DEVICE_MAX_PARAMETER_SIZE &&
        faulty.argument_bytes != 0)
        *(size_t *)value = faulty.argument_bytes;
    return code;
}

OBJECT(cl_context, clCreateContext,
       (const cl_context_properties *properties, cl_uint n,
        const cl_device_id *ids,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
        void *env, cl_int *code),
       (properties, n, ids, notify, env, code))
RETAIN(clRetainContext, cl_context)
RELEASE(clReleaseContext, cl_context)
CODE(clGetContextInfo,
     (cl_context of, cl_context_info what, size_t size, void *value,
      size_t *out),
     (of, what, size, value, out))
OBJECT(cl_command_queue, clCreateCommandQueue,
       (cl_context context, cl_device_id id,
        cl_command_queue_properties properties, cl_int *code),
       (context, id, properties, code))
RETAIN(clRetainCommandQueue, cl_command_queue)
RELEASE(clReleaseCommandQueue, cl_command_queue)
CODE(clGetCommandQueueInfo,
     (cl_command_queue of, cl_command_queue_info what, size_t size, void *value,
      size_t *out),
     (of, what, size, value, out))
OBJECT(cl_program, clCreateProgramWithBinary,
       (cl_context context, cl_uint n, const cl_device_id *ids,
        const size_t *sizes, const unsigned char **bytes, cl_int *states,
        cl_int *code),
       (context, n, ids, sizes, bytes, states, code))
OBJECT(cl_program, clCreateProgramWithIL,
       (cl_context context, const void *bytes, size_t size, cl_int *code),
       (context, bytes, size, code))
CODE(clBuildProgram,
     (cl_program program, cl_uint n, const cl_device_id *ids,
      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
      void *env),
     (program, n, ids, options, notify, env))
CODE(clGetProgramInfo,
     (cl_program of, cl_program_info what, size_t size, void *value,
      size_t *out),
     (of, what, size, value, out))
CODE(clGetProgramBuildInfo,
     (cl_program of, cl_device_id id, cl_program_build_info what, size_t size,
      void *value, size_t *out),
     (of, id, what, size, value, out))
RELEASE(clReleaseProgram, cl_program)
OBJECT(cl_kernel, clCreateKernel,
       (cl_program program, const char *name, cl_int *code),
       (program, name, code))
RELEASE(clReleaseKernel, cl_kernel)
CODE(clSetKernelArg,
     (cl_kernel kernel, cl_uint index, size_t size, const void *value),
     (kernel, index, size, value))
CODE(clSetKernelArgSVMPointer,
     (cl_kernel kernel, cl_uint index, const void *value),
     (kernel, index, value))

static cl_int CL_API_CALL my_clSetKernelExecInfo(cl_kernel kernel,
                                                 cl_kernel_exec_info what,
                                                 size_t size, const void *value)
{
    if (faulty_fails("clSetKernelExecInfo"))
        return CL_OUT_OF_RESOURCES;
    if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS && size <= sizeof faulty.reach) {
        faulty.reached = size / sizeof *faulty.reach;
        memcpy(faulty.reach, value, size);
    }
    return faulty_opencl_real.clSetKernelExecInfo(kernel, what, size, value);
}

CODE(clGetKernelWorkGroupInfo,
     (cl_kernel of, cl_device_id id, cl_kernel_work_group_info what,
      size_t size, void *value, size_t *out),
     (of, id, what, size, value, out))
CODE(clEnqueueNDRangeKernel,
     (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
      const size_t *offset, const size_t *global, const size_t *local,
      cl_uint n, const cl_event *waits, cl_event *event),
     (queue, kernel, dimensions, offset, global, local, n, waits, event))

static cl_int CL_API_CALL my_clEnqueueMarkerWithWaitList(cl_command_queue queue,
                                                         cl_uint n,
                                                         const cl_event *waits,
                                                         cl_event *event)
{
    cl_int code;

    if (faulty_fails("clEnqueueMarkerWithWaitList"))
        return CL_OUT_OF_RESOURCES;
    code =
        faulty_opencl_real.clEnqueueMarkerWithWaitList(queue, n, waits, event);
    faulty.live += code == CL_SUCCESS;
    return code;
}

CODE(clFlush, (cl_command_queue queue), (queue))
CODE(clFinish, (cl_command_queue queue), (queue))
CODE(clGetEventInfo,
     (cl_event of, cl_event_info what, size_t size, void *value, size_t *out),
     (of, what, size, value, out))
RELEASE(clReleaseEvent, cl_event)
CODE(clEnqueueSVMMemcpy,
     (cl_command_queue queue, cl_bool blocking, void *to, const void *from,
      size_t size, cl_uint n, const cl_event *waits, cl_event *event),
     (queue, blocking, to, from, size, n, waits, event))

/* ---- the rest ---- */

static void *CL_API_CALL
my_clGetExtensionFunctionAddressForPlatform(cl_platform_id of, const char *name)
{
    return faulty_fails("clGetExtensionFunctionAddressForPlatform")
               ? NULL
               : faulty_opencl_real.clGetExtensionFunctionAddressForPlatform(
                     of, name);
}

static void *CL_API_CALL my_clSVMAlloc(cl_context context,
                                       cl_svm_mem_flags flags, size_t size,
                                       cl_uint alignment)
{
    void *made =
        faulty_fails("clSVMAlloc")
            ? NULL
            : faulty_opencl_real.clSVMAlloc(context, flags, size, alignment);

    faulty.live += made != NULL;
    return made;
}

static void CL_API_CALL my_clSVMFree(cl_context context, void *address)
{
    faulty.live--;
    faulty_opencl_real.clSVMFree(context, address);
}

const kiln__opencl_api faulty_opencl = {
#define MINE(needed, function) .function = my_##function,
    KILN__OPENCL_MAP(MINE)
#undef MINE
};

int faulty_opencl_open(void)
{
    char reason[256];
    cl_uint count = 0;

    memset(&faulty, 0, sizeof faulty);
    return kiln__opencl_api_open(&faulty_opencl_real, reason, sizeof reason) ==
               KILN_OK &&
           faulty_opencl_real.clGetPlatformIDs(0, NULL, &count) == CL_SUCCESS &&
           count > 0;
}
