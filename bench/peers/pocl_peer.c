/* pocl_peer.c - the comparison in OpenCL C, from source. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer.h"

/*
 * The first device of the first platform is used. Buffers use the program's
 * memory where the device can, and are mapped for reading, so on a processor
 * nothing is copied.
 */
static const char source[] =
    "kernel void saxpy(global float *y, float a, global const float *x)\n"
    "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }\n"
    "kernel void nothing(global float *y, float a, global const float *x)\n"
    "{ }\n";
static const char variant_source[] =
    "kernel void scaled(global float *y, global const float *x)\n"
    "{ size_t i = get_global_id(0); y[i] = CONSTANT * x[i] + y[i]; }\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel saxpy, nothing;
static cl_mem whole_y, whole_x;
static size_t whole_size;

static int good(cl_int status, const char *what)
{
    if (status != CL_SUCCESS)
        fprintf(stderr, "%s: %d\n", what, (int)status);
    return status == CL_SUCCESS;
}
#define GOOD(call) good((call), #call)

static void tell(struct peer_about *about)
{
    cl_platform_id platform;

    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS)
        about->absent = "no OpenCL platform is installed";
    else if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) !=
             CL_SUCCESS)
        about->absent = "the OpenCL platform has no device";
    else
        (void)clGetPlatformInfo(platform, CL_PLATFORM_VERSION,
                                sizeof about->version, about->version, NULL);
}

static int open_device(const char *folder)
{
    cl_platform_id platform;
    cl_int status;

    (void)folder;
    if (!GOOD(clGetPlatformIDs(1, &platform, NULL)) ||
        !GOOD(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
        return 0;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!good(status, "clCreateContext"))
        return 0;
    queue = clCreateCommandQueue(context, device, 0, &status);
    return good(status, "clCreateCommandQueue");
}

static cl_program build(const char *text, const char *options)
{
    cl_int status;
    cl_program made =
        clCreateProgramWithSource(context, 1, &text, NULL, &status);

    if (!good(status, "clCreateProgramWithSource") ||
        !GOOD(clBuildProgram(made, 1, &device, options, NULL, NULL)))
        return NULL;
    return made;
}

static cl_mem share(cl_mem_flags flags, const float *values, size_t size)
{
    union {
        const float *given;
        void *taken;
    } memory = {values};
    cl_int status;
    cl_mem made = clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR,
                                 size * sizeof *values, memory.taken, &status);

    return good(status, "clCreateBuffer") ? made : NULL;
}

/* After this, the program's memory has the contents of the buffer. */
static int read_back(cl_mem buffer, size_t size)
{
    cl_int status;
    void *mapped =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0,
                           size * sizeof(float), 0, NULL, NULL, &status);

    return good(status, "clEnqueueMapBuffer") &&
           GOOD(
               clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL)) &&
           GOOD(clFinish(queue));
}

static int again(void)
{
    return GOOD(clEnqueueNDRangeKernel(queue, saxpy, 1, NULL, &whole_size, NULL,
                                       0, NULL, NULL)) &&
           GOOD(clFinish(queue));
}

static int set_arguments(cl_kernel kernel)
{
    const float a = PEER_A;

    return GOOD(clSetKernelArg(kernel, 0, sizeof whole_y, &whole_y)) &&
           GOOD(clSetKernelArg(kernel, 1, sizeof a, &a)) &&
           GOOD(clSetKernelArg(kernel, 2, sizeof whole_x, &whole_x));
}

static int build_once(void)
{
    cl_int status;

    if (program)
        return 1;
    program = build(source, NULL);
    if (!program)
        return 0;
    saxpy = clCreateKernel(program, "saxpy", &status);
    return good(status, "clCreateKernel");
}

static int execute(float *y, const float *x, size_t size)
{
    if (whole_y)
        clReleaseMemObject(whole_y);
    if (whole_x)
        clReleaseMemObject(whole_x);
    whole_size = size;
    whole_y = whole_x = NULL;
    if (!build_once())
        return 0;
    whole_y = share(CL_MEM_READ_WRITE, y, size);
    whole_x = share(CL_MEM_READ_ONLY, x, size);
    return whole_y && whole_x && set_arguments(saxpy) && again() &&
           read_back(whole_y, size);
}

/* The arguments are set each time, as in a program with many kernels. */
static int launch_nothing(int count)
{
    const size_t one = 1;
    cl_int status = CL_SUCCESS;

    if (!nothing)
        nothing = clCreateKernel(program, "nothing", &status);
    if (!good(status, "clCreateKernel"))
        return 0;
    for (int i = 0; i < count; i++)
        if (!set_arguments(nothing) ||
            !GOOD(clEnqueueNDRangeKernel(queue, nothing, 1, NULL, &one, NULL, 0,
                                         NULL, NULL)))
            return 0;
    return GOOD(clFinish(queue));
}

static int run_scaled(cl_kernel kernel, cl_mem to, cl_mem from, size_t size)
{
    return GOOD(clSetKernelArg(kernel, 0, sizeof to, &to)) &&
           GOOD(clSetKernelArg(kernel, 1, sizeof from, &from)) &&
           GOOD(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0,
                                       NULL, NULL)) &&
           read_back(to, size);
}

static int variant(int constant, float *y, const float *x, size_t size)
{
    char options[32];
    cl_program made;
    cl_kernel kernel;
    cl_mem to, from;
    cl_int status;
    int done;

    snprintf(options, sizeof options, "-DCONSTANT=%d.0f", constant);
    made = build(variant_source, options);
    if (!made)
        return 0;
    kernel = clCreateKernel(made, "scaled", &status);
    if (!good(status, "clCreateKernel"))
        return 0;
    to = share(CL_MEM_READ_WRITE, y, size);
    from = share(CL_MEM_READ_ONLY, x, size);
    done = to && from && run_scaled(kernel, to, from, size);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    clReleaseProgram(made);
    return done;
}

static void close_device(void)
{
    if (whole_y)
        clReleaseMemObject(whole_y);
    if (whole_x)
        clReleaseMemObject(whole_x);
    if (nothing)
        clReleaseKernel(nothing);
    if (saxpy)
        clReleaseKernel(saxpy);
    if (program)
        clReleaseProgram(program);
    if (queue)
        clReleaseCommandQueue(queue);
    if (context)
        clReleaseContext(context);
}

int main(int argc, char **argv)
{
    const struct peer peer = {.about = tell,
                              .open = open_device,
                              .execute = execute,
                              .again = again,
                              .launch_nothing = launch_nothing,
                              .variant = variant,
                              .close = close_device};

    if (argc > 1)
        setenv("POCL_CACHE_DIR", argv[1], 1);
    return peer_main(argc, argv, &peer);
}
