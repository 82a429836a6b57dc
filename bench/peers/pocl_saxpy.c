/* pocl_saxpy.c - the example saxpy through OpenCL, from source. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * This does what examples/saxpy does: one kernel from source, one launch over
 * 2^N items, every element checked. It is for comparing whole processes, or the
 * first execution alone: it prints how many milliseconds the program, its
 * kernel and the launch took after platform, context and queue were there.
 * POCL_KERNEL_CACHE=0 keeps PoCL from finding what an earlier process has
 * compiled.
 */
static const char source[] =
    "kernel void saxpy(global float *y, float a, global const float *x)\n"
    "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }\n";

#define CHECK(call) \
    do { \
        const cl_int status_ = (call); \
        if (status_ != CL_SUCCESS) { \
            fprintf(stderr, "%s: %d\n", #call, (int)status_); \
            return 1; \
        } \
    } while (0)

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    const size_t count = (size_t)1 << (argc > 1 ? atoi(argv[1]) : 10);
    const char *text = source;
    const float a = 2;
    float *x = calloc(count, sizeof *x), *y = calloc(count, sizeof *y);
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffers[2];
    cl_int status;
    size_t wrong = 0;
    double took;

    if (!x || !y)
        return 1;
    for (size_t i = 0; i < count; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    CHECK(status);
    queue = clCreateCommandQueue(context, device, 0, &status);
    CHECK(status);
    took = now_ms();
    program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    CHECK(status);
    CHECK(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    kernel = clCreateKernel(program, "saxpy", &status);
    CHECK(status);
    took = now_ms() - took;
    buffers[0] =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       count * sizeof *y, y, &status);
    CHECK(status);
    buffers[1] =
        clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                       count * sizeof *x, x, &status);
    CHECK(status);
    took -= now_ms();
    CHECK(clSetKernelArg(kernel, 0, sizeof buffers[0], &buffers[0]));
    CHECK(clSetKernelArg(kernel, 1, sizeof a, &a));
    CHECK(clSetKernelArg(kernel, 2, sizeof buffers[1], &buffers[1]));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL,
                                 NULL));
    CHECK(clFinish(queue));
    took += now_ms();
    CHECK(clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, count * sizeof *y,
                              y, 0, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        wrong += y[i] != a * (float)i + 1;
    printf("%zu of %zu elements are wrong\nfirst execution %.3f ms\n", wrong,
           count, took);
    return wrong != 0;
}
