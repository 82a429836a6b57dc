/* side_peer.c - runs a case on the first platform of OpenCL. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

/* One case under way. */
typedef struct running {
    const cl_case *c;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffers[CASE_ARGUMENTS_MAX];
} running;

static int good(cl_int status, const char *what)
{
    if (status != CL_SUCCESS)
        (void)fprintf(stderr, "%s: %d\n", what, (int)status);
    return status == CL_SUCCESS;
}
#define GOOD(call) good((call), #call)

int peer_open(void)
{
    cl_platform_id platform;
    cl_int status;

    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) !=
            CL_SUCCESS) {
        (void)fprintf(stderr, "no OpenCL platform is installed\n");
        return 0;
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!good(status, "clCreateContext"))
        return 0;
    queue = clCreateCommandQueue(context, device, 0, &status);
    return good(status, "clCreateCommandQueue");
}

void peer_close(void)
{
    if (queue != NULL)
        (void)clReleaseCommandQueue(queue);
    if (context != NULL)
        (void)clReleaseContext(context);
}

/* Returns the content of a file as a string from malloc, or NULL. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, (size_t)1 << 20);

    if (file == NULL || text == NULL ||
        fread(text, 1, ((size_t)1 << 20) - 1, file) == 0) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (file != NULL)
        (void)fclose(file);
    return text;
}

static int build(running *r)
{
    char *text = read_text(r->c->path);
    const char *source = text;
    cl_int status;

    if (text == NULL)
        return 0;
    r->program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    free(text);
    if (!good(status, "clCreateProgramWithSource") ||
        !GOOD(
            clBuildProgram(r->program, 1, &device, r->c->options, NULL, NULL)))
        return 0;
    r->kernel = clCreateKernel(r->program, r->c->kernel, &status);
    return good(status, "clCreateKernel");
}

static int set_argument(running *r, cl_uint i)
{
    const case_argument *a = &r->c->arguments[i];
    cl_int status;

    if (a->kind == CASE_SCALAR)
        return GOOD(clSetKernelArg(r->kernel, i, a->size, a->scalar));
    if (a->kind == CASE_LOCAL)
        return GOOD(clSetKernelArg(r->kernel, i, a->size, NULL));
    r->buffers[i] =
        clCreateBuffer(context, CL_MEM_READ_WRITE, a->size, NULL, &status);
    return good(status, "clCreateBuffer") &&
           GOOD(clSetKernelArg(r->kernel, i, sizeof r->buffers[i],
                               &r->buffers[i]));
}

static int reset(void *env)
{
    running *r = env;

    for (size_t i = 0; i < r->c->count; i++)
        if (r->buffers[i] != NULL &&
            !GOOD(clEnqueueWriteBuffer(
                queue, r->buffers[i], CL_TRUE, 0, r->c->arguments[i].size,
                r->c->arguments[i].bytes, 0, NULL, NULL)))
            return 0;
    return 1;
}

static int launch(void *env)
{
    running *r = env;

    return GOOD(clEnqueueNDRangeKernel(
               queue, r->kernel, (cl_uint)r->c->dimensions, NULL, r->c->global,
               r->c->local, 0, NULL, NULL)) &&
           GOOD(clFinish(queue));
}

static int take_results(case_run *out, const running *r)
{
    for (size_t i = 0; i < r->c->count; i++)
        if (r->buffers[i] != NULL &&
            !GOOD(clEnqueueReadBuffer(queue, r->buffers[i], CL_TRUE, 0,
                                      r->c->arguments[i].size, out->results[i],
                                      0, NULL, NULL)))
            return 0;
    return 1;
}

static int run(case_run *out, running *r, int with_times)
{
    const double start = now_ms();

    if (!build(r))
        return 0;
    out->build_ms = now_ms() - start;
    for (cl_uint i = 0; i < r->c->count; i++)
        if (!set_argument(r, i))
            return 0;
    if (!reset(r) || !launch(r) || !take_results(out, r))
        return 0;
    if (with_times)
        out->second_ms = run_time(reset, launch, r);
    return out->second_ms >= 0;
}

int peer_run(case_run *out, const cl_case *c, int with_times)
{
    running r = {.c = c};
    const int ran = run_begin(out, c) && run(out, &r, with_times);

    for (size_t i = 0; i < c->count; i++)
        if (r.buffers[i] != NULL)
            (void)clReleaseMemObject(r.buffers[i]);
    if (r.kernel != NULL)
        (void)clReleaseKernel(r.kernel);
    if (r.program != NULL)
        (void)clReleaseProgram(r.program);
    return ran;
}
