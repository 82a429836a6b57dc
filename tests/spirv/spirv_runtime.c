/* spirv_runtime.c - contexts and queues that Kiln did not make. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "spirv_runtime.h"

#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

int spirv_runtime_open(spirv_runtime *runtime)
{
    const char *driver = getenv("KILN_SPIRV_DRIVER");
    char reason[256];

    runtime->is_zero = driver != NULL && strcmp(driver, "level-zero") == 0;
    return (runtime->is_zero
                ? kiln__level_zero_api_open(&runtime->ze, reason, sizeof reason)
                : kiln__opencl_api_open(&runtime->cl, reason, sizeof reason)) ==
           KILN_OK;
}

static int cl_begin(spirv_runtime *r)
{
    const kiln__opencl_api *cl = &r->cl;
    cl_platform_id platform;
    cl_device_id id;
    cl_uint count = 0;
    cl_int code = 0;

    if (cl->clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS ||
        count == 0 ||
        cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) !=
            CL_SUCCESS)
        return 0;
    r->native = (kiln_spirv_native){
        sizeof r->native, "opencl",
        cl->clCreateContext(NULL, 1, &id, NULL, NULL, &code), NULL};
    for (int i = 0; i < 2; i++)
        r->streams[i] =
            cl->clCreateCommandQueue(r->native.context, id, 0, &code);
    return 1;
}

static int ze_begin(spirv_runtime *r)
{
    const kiln__level_zero_api *ze = &r->ze;
    const ze_context_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_driver_handle_t driver;
    ze_device_handle_t id;
    ze_context_handle_t context = NULL;
    uint32_t count = 1;

    if (ze->zeInit(0) != ZE_RESULT_SUCCESS ||
        ze->zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS || count == 0 ||
        ze->zeDeviceGet(driver, &count, &id) != ZE_RESULT_SUCCESS)
        return 0;
    assert_int_equal(ze->zeContextCreate(driver, &wanted, &context), 0);
    r->native =
        (kiln_spirv_native){sizeof r->native, "level-zero", context, id};
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            ze->zeCommandListCreateImmediate(
                context, id, &desc,
                (ze_command_list_handle_t *)(void *)&r->streams[i]),
            0);
    return 1;
}

int spirv_runtime_begin(spirv_runtime *runtime)
{
    return runtime->is_zero ? ze_begin(runtime) : cl_begin(runtime);
}

void spirv_runtime_end(const spirv_runtime *runtime)
{
    const kiln__opencl_api *cl = &runtime->cl;
    const kiln__level_zero_api *ze = &runtime->ze;

    for (int i = 0; i < 2; i++)
        assert_int_equal(
            runtime->is_zero
                ? (int)ze->zeCommandListDestroy(runtime->streams[i])
                : cl->clReleaseCommandQueue(runtime->streams[i]),
            0);
    assert_int_equal(runtime->is_zero
                         ? (int)ze->zeContextDestroy(runtime->native.context)
                         : cl->clReleaseContext(runtime->native.context),
                     0);
}
