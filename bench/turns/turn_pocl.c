/* turn_pocl.c - a kernel in OpenCL C, on the first OpenCL platform. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turn.h"

/* A platform that compiles for each size of groups does so at the first launch,
   which is a part of compiling here. */

static const turn_case *here;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem buffers[TURN_ARGUMENTS_MAX];
static char name[256] = "OpenCL";

static int good(cl_int status, const char *what)
{
    char number[16];

    if (status == CL_SUCCESS)
        return 1;
    (void)snprintf(number, sizeof number, "%d", (int)status);
    return turn_complain(what, number);
}
#define GOOD(call) good((call), #call)

static int open_platform(void)
{
    cl_platform_id platform;
    cl_int status;

    if (!GOOD(clGetPlatformIDs(1, &platform, NULL)) ||
        !GOOD(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
        return 0;
    (void)clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof name, name,
                            NULL);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!good(status, "clCreateContext"))
        return 0;
    queue = clCreateCommandQueue(context, device, 0, &status);
    return good(status, "clCreateCommandQueue");
}

/* ---- compiling ---- */

static char *read_text(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MOST);

    if (file == NULL || text == NULL || fread(text, 1, MOST - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file != NULL)
        (void)fclose(file);
    return text;
}

static int build(const char *options)
{
    char *text = read_text(here->source);
    const char *source = text;
    cl_program program;
    cl_int status;

    if (text == NULL)
        return turn_complain(here->source, "cannot be read");
    program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    free(text);
    if (!good(status, "clCreateProgramWithSource") ||
        !GOOD(clBuildProgram(program, 1, &device, options, NULL, NULL)))
        return 0;
    kernel = clCreateKernel(program, here->kernel, &status);
    return good(status, "clCreateKernel");
}

static int set_argument(cl_uint i)
{
    const turn_argument *a = &here->arguments[i];
    cl_int status;

    if (a->rank == 0)
        return GOOD(clSetKernelArg(kernel, i, a->bytes, a->initial));
    buffers[i] =
        clCreateBuffer(context, CL_MEM_READ_WRITE, a->bytes, NULL, &status);
    return good(status, "clCreateBuffer") &&
           GOOD(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]));
}

static int write_array(size_t i)
{
    const turn_argument *a = &here->arguments[i];

    return GOOD(clEnqueueWriteBuffer(queue, buffers[i], CL_TRUE, 0, a->bytes,
                                     a->data, 0, NULL, NULL));
}

static int read_array(size_t i)
{
    const turn_argument *a = &here->arguments[i];

    return GOOD(clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, a->bytes,
                                    a->data, 0, NULL, NULL));
}

static int launch(void)
{
    size_t grid[3], block[3];

    for (int d = 0; d < 3; d++) {
        grid[d] = (size_t)here->grid[d];
        block[d] = (size_t)here->block[d];
    }
    return GOOD(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, grid,
                                       block[0] > 0 ? block : NULL, 0, NULL,
                                       NULL)) &&
           GOOD(clFinish(queue));
}

static int open_pocl(const turn_case *c, int count, char **options, double *ms)
{
    double start;

    here = c;
    if (!open_platform())
        return 0;
    start = turn_now_ns();
    if (!build(count > 0 && strcmp(options[0], "fast") == 0
                   ? "-cl-fast-relaxed-math"
                   : ""))
        return 0;
    *ms = (turn_now_ns() - start) / 1e6;
    for (cl_uint i = 0; i < c->count; i++)
        if (!set_argument(i) || (buffers[i] != NULL && !write_array(i)))
            return 0;
    start = turn_now_ns();
    if (!launch())
        return 0;
    *ms += (turn_now_ns() - start) / 1e6;
    return 1;
}

static const char *version(void)
{
    return name;
}

const turn_side turn_side_here = {
    .usage = "[fast]",
    .open = open_pocl,
    .launch = launch,
    .write = write_array,
    .read = read_array,
    .version = version,
};
