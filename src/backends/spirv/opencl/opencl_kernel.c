/* opencl_kernel.c - kernel objects of OpenCL, their arguments and limits. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/opencl/opencl.h"
#include "base/error.h"

/* ---- kernel objects ---- */

/* Memory that the arguments point to may contain pointers to more memory. */
static cl_int allow_reach(const kiln__opencl_device *device, cl_kernel kernel)
{
    static const cl_kernel_exec_info kinds[] = {
        CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL};
    const cl_bool yes = CL_TRUE;
    cl_int code = CL_SUCCESS;

    if (device->facts.memory != KILN__OPENCL_MEMORY_USM ||
        device->api->clSetKernelExecInfo == NULL)
        return CL_SUCCESS;
    for (size_t i = 0; i < 3 && code == CL_SUCCESS; i++)
        code = device->api->clSetKernelExecInfo(kernel, kinds[i], sizeof yes,
                                                &yes);
    return code;
}

kiln_status kiln__opencl_kernel_new(void **native,
                                    const kiln__spirv_module *module,
                                    const char *name, kiln_error **error)
{
    const kiln__opencl_device *device = kiln__opencl_of(module->device);
    cl_int code = CL_SUCCESS;
    const cl_kernel kernel =
        device->api->clCreateKernel(module->native, name, &code);

    if (kernel != NULL)
        code = allow_reach(device, kernel);
    if (kernel != NULL && code == CL_SUCCESS) {
        *native = kernel;
        return KILN_OK;
    }
    if (kernel != NULL)
        (void)device->api->clReleaseKernel(kernel);
    if (code == CL_INVALID_KERNEL_NAME)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "OpenCL: the module has no kernel \"%.128s\"",
                               name);
    return kiln__opencl_failed(
        error, code == CL_SUCCESS ? CL_INVALID_KERNEL : code, "kernel");
}

void kiln__opencl_kernel_free(const kiln__spirv_device *device, void *native)
{
    (void)kiln__opencl_of(device)->api->clReleaseKernel(native);
}

/* ---- arguments ---- */

static cl_int set_pointer(const kiln__opencl_device *device, cl_kernel kernel,
                          cl_uint index, const void *value)
{
    void *pointer;

    memcpy(&pointer, value, sizeof pointer);
    if (device->facts.memory == KILN__OPENCL_MEMORY_USM)
        return device->facts.extensions.clSetKernelArgMemPointerINTEL(
            kernel, index, pointer);
    return device->api->clSetKernelArgSVMPointer(kernel, index, pointer);
}

/* The driver does not see memory whose address is passed as a number, so it is
   told about it. */
kiln_status kiln__opencl_kernel_tell(kiln__spirv_kernel *kernel,
                                     const kiln__opencl_device *device,
                                     void *state, void *heap,
                                     kiln_error **error)
{
    void *const reach[2] = {state, heap};
    const size_t count = heap != NULL ? 2 : 1; /* there is no heap without a
                                                  state */
    cl_int code;

    if (state == NULL || memcmp(kernel->reach, reach, sizeof reach) == 0 ||
        device->facts.memory == KILN__OPENCL_MEMORY_USM)
        return KILN_OK;
    code = device->api->clSetKernelExecInfo(kernel->native,
                                            CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                            count * sizeof *reach, reach);
    if (code != CL_SUCCESS)
        return kiln__opencl_failed(error, code, "state");
    memcpy(kernel->reach, reach, sizeof reach);
    return KILN_OK;
}

static kiln_status bad_argument(const kiln__spirv_function *function,
                                cl_int code, size_t index, kiln_error **error)
{
    return kiln__error_set(
        error, KILN_EDEVICE, "OpenCL: launch of %s: parameter %llu: %s (%d)",
        function->info->method, (unsigned long long)index + 1,
        kiln__opencl_code_name(code), (int)code);
}

kiln_status kiln__opencl_kernel_set(const kiln__spirv_kernel *kernel,
                                    const kiln__spirv_function *function,
                                    const void *block, kiln_error **error)
{
    const kiln__opencl_device *device =
        kiln__opencl_of(function->module->device);
    const kiln__spirv_entry *entry = kernel->entry;
    cl_int code;

    for (size_t i = 0; i < entry->parameter_count; i++) {
        const kiln__spirv_parameter *at = &entry->parameters[i];
        const void *value = (const unsigned char *)block + at->offset;

        if (at->is_pointer)
            code = set_pointer(device, kernel->native, (cl_uint)i, value);
        else
            code = device->api->clSetKernelArg(
                kernel->native, (cl_uint)i,
                at->is_local ? kiln__spirv_local_size(value) : at->size,
                at->is_local ? NULL : value);
        if (code != CL_SUCCESS)
            return bad_argument(function, code, i, error);
    }
    return KILN_OK;
}

/* ---- limits ---- */

static uint32_t group_number(const kiln__opencl_device *device,
                             cl_kernel kernel, cl_kernel_work_group_info what)
{
    size_t number = 0;

    if (device->api->clGetKernelWorkGroupInfo(kernel, device->facts.id, what,
                                              sizeof number, &number,
                                              NULL) != CL_SUCCESS ||
        number == 0)
        return 1;
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

void kiln__opencl_ask_limits(kiln__group_limits *out,
                             const kiln__spirv_device *device, void *native)
{
    const kiln__opencl_device *of = kiln__opencl_of(device);

    out->items = group_number(of, native, CL_KERNEL_WORK_GROUP_SIZE);
    out->width =
        group_number(of, native, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    memcpy(out->sizes, of->facts.local_sizes, sizeof out->sizes);
    memset(out->groups, 0xff, sizeof out->groups);
}
