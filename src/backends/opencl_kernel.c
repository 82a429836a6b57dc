/* opencl_kernel.c - kernels of OpenCL, and how they get their arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "opencl.h"
#include "report.h"

/*
 * A cl_kernel holds the arguments that were set until it is enqueued, so it
 * can serve one caller at a time. Each function keeps a list of idle ones: a
 * launch takes one off, sets, enqueues and gives it back. The lock is held for
 * the list alone, not while the driver runs; another cl_kernel is made only
 * when more threads than ever before launch the function at once.
 */

/* ---- one of OpenCL's kernels ---- */

/* What the arguments point at may point at more memory. */
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

static kiln_status kernel_new(kiln__opencl_kernel **out,
                              const kiln__opencl_module *module,
                              const char *name, kiln_error **error)
{
    const kiln__opencl_device *device = module->device;
    kiln__opencl_kernel *kernel =
        kiln__allocate(&device->context->alloc, sizeof *kernel);
    cl_int code = CL_SUCCESS;

    if (kernel == NULL)
        return kiln__error_no_memory(error);
    kernel->native = device->api->clCreateKernel(module->program, name, &code);
    if (kernel->native != NULL)
        code = allow_reach(device, kernel->native);
    if (kernel->native != NULL && code == CL_SUCCESS) {
        *out = kernel;
        return KILN_OK;
    }
    if (kernel->native != NULL)
        (void)device->api->clReleaseKernel(kernel->native);
    kiln__deallocate(&device->context->alloc, kernel, sizeof *kernel);
    if (code == CL_INVALID_KERNEL_NAME)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "OpenCL: the module has no kernel \"%.128s\"",
                               name);
    return kiln__opencl_failed(
        error, code == CL_SUCCESS ? CL_INVALID_KERNEL : code, "kernel");
}

static void kernel_free(const kiln__opencl_device *device,
                        kiln__opencl_kernel *kernel)
{
    (void)device->api->clReleaseKernel(kernel->native);
    kiln__deallocate(&device->context->alloc, kernel, sizeof *kernel);
}

kiln_status kiln__opencl_kernel_take(kiln__opencl_kernel **out,
                                     kiln__opencl_function *function,
                                     kiln_error **error)
{
    kiln__opencl_kernel *kernel;

    kiln__mutex_lock(&function->lock);
    kernel = function->idle;
    if (kernel != NULL)
        function->idle = kernel->next;
    kiln__mutex_unlock(&function->lock);
    if (kernel == NULL)
        return kernel_new(out, function->module, function->info->name, error);
    *out = kernel;
    return KILN_OK;
}

void kiln__opencl_kernel_give(kiln__opencl_function *function,
                              kiln__opencl_kernel *kernel)
{
    kiln__mutex_lock(&function->lock);
    kernel->next = function->idle;
    function->idle = kernel;
    kiln__mutex_unlock(&function->lock);
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

/* A state whose address is passed as a number is not seen by the driver among
   the arguments. */
static cl_int tell_state(const kiln__opencl_device *device,
                         kiln__opencl_kernel *kernel, void *state)
{
    cl_int code;

    if (state == NULL || kernel->state == state ||
        device->facts.memory == KILN__OPENCL_MEMORY_USM)
        return CL_SUCCESS;
    code = device->api->clSetKernelExecInfo(
        kernel->native, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof state, &state);
    if (code == CL_SUCCESS)
        kernel->state = state;
    return code;
}

static kiln_status bad_argument(const kiln__opencl_function *function,
                                cl_int code, size_t index, kiln_error **error)
{
    return kiln__error_set(error, KILN_EDEVICE,
                           "OpenCL: launch of %s: parameter %llu: %s (%d)",
                           function->info->method, (unsigned long long)index,
                           kiln__opencl_code_name(code), (int)code);
}

kiln_status kiln__opencl_kernel_set(kiln__opencl_kernel *kernel,
                                    const kiln__opencl_function *function,
                                    const void *block, void *state,
                                    kiln_error **error)
{
    const kiln__opencl_device *device = function->module->device;
    cl_int code;

    for (size_t i = 0; i < function->parameter_count; i++) {
        const kiln__spirv_parameter *at = &function->parameters[i];
        const void *value = (const unsigned char *)block + at->offset;

        code = at->is_pointer
                   ? set_pointer(device, kernel->native, (cl_uint)i, value)
                   : device->api->clSetKernelArg(kernel->native, (cl_uint)i,
                                                 at->size, value);
        if (code != CL_SUCCESS)
            return bad_argument(function, code, i, error);
    }
    code = tell_state(device, kernel, state);
    return code == CL_SUCCESS ? KILN_OK
                              : kiln__opencl_failed(error, code, "state");
}

/* ---- functions ---- */

static uint32_t group_number(const kiln__opencl_function *function,
                             cl_kernel_work_group_info what)
{
    const kiln__opencl_device *device = function->module->device;
    size_t number = 0;

    if (device->api->clGetKernelWorkGroupInfo(
            function->native, device->facts.id, what, sizeof number, &number,
            NULL) != CL_SUCCESS ||
        number == 0)
        return 1;
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void ask_limits(kiln__opencl_function *function)
{
    kiln__group_limits *limits = &function->limits;

    limits->items = group_number(function, CL_KERNEL_WORK_GROUP_SIZE);
    limits->width =
        group_number(function, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    memcpy(limits->sizes, function->module->device->facts.local_sizes,
           sizeof limits->sizes);
}

static kiln_status read_parameters(kiln__opencl_function *function,
                                   kiln_error **error)
{
    const kiln__opencl_module *module = function->module;
    kiln__spirv_parameter all[KILN__SPIRV_PARAMETERS_MAX];
    size_t count = 0;

    KILN_TRY(kiln__spirv_parameters(all, &count, module->artifact,
                                    function->info, error));
    function->parameters =
        kiln__allocate_array(&module->device->context->alloc, count + 1,
                             sizeof *function->parameters);
    if (function->parameters == NULL)
        return kiln__error_no_memory(error);
    memcpy(function->parameters, all, count * sizeof *all);
    function->parameter_count = count;
    return KILN_OK;
}

void kiln__opencl_function_free(kiln__opencl_function *function)
{
    kiln__opencl_device *device = function->module->device;
    const kiln_alloc *alloc = &device->context->alloc;

    if (function->number != 0)
        kiln__loaded_kernels_remove(&device->kernels, function->number);
    while (function->idle != NULL) {
        kiln__opencl_kernel *kernel = function->idle;

        function->idle = kernel->next;
        kernel_free(device, kernel);
    }
    if (function->parameters != NULL)
        kiln__deallocate(alloc, function->parameters,
                         (function->parameter_count + 1) *
                             sizeof *function->parameters);
    kiln__fork_remove(&device->context->fork, &function->guard);
    kiln__mutex_dispose(&function->lock);
    kiln__deallocate(alloc, function, sizeof *function);
}

static kiln__opencl_function *function_new(kiln__opencl_module *module,
                                           const kiln_kernel_info *info)
{
    kiln_context *context = module->device->context;
    kiln__opencl_function *function =
        kiln__allocate(&context->alloc, sizeof *function);

    if (function == NULL)
        return NULL;
    if (kiln__mutex_init(&function->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, function, sizeof *function);
        return NULL;
    }
    function->guard.mutex = &function->lock;
    kiln__fork_add(&context->fork, &function->guard);
    function->module = module;
    function->info = info;
    return function;
}

static kiln_status fill(kiln__opencl_function *function, kiln_error **error)
{
    kiln__opencl_module *module = function->module;
    kiln__opencl_kernel *first;

    KILN_TRY(read_parameters(function, error));
    KILN_TRY(kernel_new(&first, module, function->info->name, error));
    function->native = first->native;
    kiln__opencl_kernel_give(function, first);
    ask_limits(function);
    function->number = kiln__loaded_kernels_add(
        &module->device->kernels, module->artifact, function->info->name);
    return function->number != 0 ? KILN_OK : kiln__error_no_memory(error);
}

static kiln__opencl_function *find(kiln__opencl_module *module,
                                   const char *name)
{
    kiln__opencl_function *at;

    kiln__mutex_lock(&module->lock);
    at = module->functions;
    while (at != NULL && strcmp(at->info->name, name) != 0)
        at = at->next;
    kiln__mutex_unlock(&module->lock);
    return at;
}

kiln_status kiln__opencl_symbol(kiln__opencl_function **out,
                                kiln__opencl_module *module, const char *name,
                                kiln_error **error)
{
    const kiln_kernel_info *info;
    kiln__opencl_function *function = find(module, name);
    kiln_status status;

    if (function != NULL) {
        *out = function;
        return KILN_OK;
    }
    info = kiln__spirv_kernel_info(module->artifact, name);
    if (info == NULL)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "OpenCL: the artifact has no kernel \"%.128s\"",
                               name);
    function = function_new(module, info);
    if (function == NULL)
        return kiln__error_no_memory(error);
    status = fill(function, error);
    if (status != KILN_OK) {
        kiln__opencl_function_free(function);
        return status;
    }
    kiln__mutex_lock(&module->lock);
    function->next = module->functions;
    module->functions = function;
    kiln__mutex_unlock(&module->lock);
    *out = function;
    return KILN_OK;
}
