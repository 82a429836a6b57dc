/* opencl_api.c - the functions of the OpenCL loader, and its codes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "backends/spirv/opencl/opencl.h"
#include "base/error.h"

kiln_status kiln__opencl_api_open(kiln__opencl_api *api, char *reason,
                                  size_t capacity)
{
    static const kiln__spirv_import imports[] = {
#define IMPORT(needed, function) \
    {#function, offsetof(kiln__opencl_api, function), needed},
        KILN__OPENCL_MAP(IMPORT)
#undef IMPORT
    };

    memset(api, 0, sizeof *api);
    return kiln__spirv_library_open(api, "libOpenCL.so.1", imports,
                                    sizeof imports / sizeof *imports, reason,
                                    capacity);
}

/* ---- codes ---- */

#define CODE_MAP(X) \
    X(CL_DEVICE_NOT_FOUND) \
    X(CL_DEVICE_NOT_AVAILABLE) \
    X(CL_COMPILER_NOT_AVAILABLE) \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) \
    X(CL_OUT_OF_RESOURCES) \
    X(CL_OUT_OF_HOST_MEMORY) \
    X(CL_PROFILING_INFO_NOT_AVAILABLE) \
    X(CL_MEM_COPY_OVERLAP) \
    X(CL_BUILD_PROGRAM_FAILURE) \
    X(CL_MAP_FAILURE) \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET) \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
    X(CL_COMPILE_PROGRAM_FAILURE) \
    X(CL_LINKER_NOT_AVAILABLE) \
    X(CL_LINK_PROGRAM_FAILURE) \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) \
    X(CL_INVALID_VALUE) \
    X(CL_INVALID_DEVICE_TYPE) \
    X(CL_INVALID_PLATFORM) \
    X(CL_INVALID_DEVICE) \
    X(CL_INVALID_CONTEXT) \
    X(CL_INVALID_QUEUE_PROPERTIES) \
    X(CL_INVALID_COMMAND_QUEUE) \
    X(CL_INVALID_HOST_PTR) \
    X(CL_INVALID_MEM_OBJECT) \
    X(CL_INVALID_BINARY) \
    X(CL_INVALID_BUILD_OPTIONS) \
    X(CL_INVALID_PROGRAM) \
    X(CL_INVALID_PROGRAM_EXECUTABLE) \
    X(CL_INVALID_KERNEL_NAME) \
    X(CL_INVALID_KERNEL_DEFINITION) \
    X(CL_INVALID_KERNEL) \
    X(CL_INVALID_ARG_INDEX) \
    X(CL_INVALID_ARG_VALUE) \
    X(CL_INVALID_ARG_SIZE) \
    X(CL_INVALID_KERNEL_ARGS) \
    X(CL_INVALID_WORK_DIMENSION) \
    X(CL_INVALID_WORK_GROUP_SIZE) \
    X(CL_INVALID_WORK_ITEM_SIZE) \
    X(CL_INVALID_GLOBAL_OFFSET) \
    X(CL_INVALID_EVENT_WAIT_LIST) \
    X(CL_INVALID_EVENT) \
    X(CL_INVALID_OPERATION) \
    X(CL_INVALID_BUFFER_SIZE) \
    X(CL_INVALID_GLOBAL_WORK_SIZE) \
    X(CL_INVALID_PROPERTY) \
    X(CL_INVALID_COMPILER_OPTIONS) \
    X(CL_INVALID_LINKER_OPTIONS) \
    X(CL_INVALID_SPEC_ID) \
    X(CL_MAX_SIZE_RESTRICTION_EXCEEDED) \
    X(CL_PLATFORM_NOT_FOUND_KHR)

const char *kiln__opencl_code_name(cl_int code)
{
    static const struct {
        cl_int code;
        const char *name;
    } codes[] = {
#define CODE(name) {name, #name},
        CODE_MAP(CODE)
#undef CODE
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].name;
    return "";
}

static kiln_status status_of(cl_int code)
{
    if (code == CL_OUT_OF_HOST_MEMORY ||
        code == CL_MEM_OBJECT_ALLOCATION_FAILURE)
        return KILN_ENOMEM;
    if (code == CL_DEVICE_NOT_AVAILABLE || code == CL_DEVICE_NOT_FOUND ||
        code == CL_PLATFORM_NOT_FOUND_KHR)
        return KILN_ENODEVICE;
    return KILN_EDEVICE;
}

kiln_status kiln__opencl_failed(kiln_error **error, cl_int code,
                                const char *what)
{
    return kiln__error_set(error, status_of(code), "OpenCL: %s: %s (%d)", what,
                           kiln__opencl_code_name(code), (int)code);
}
