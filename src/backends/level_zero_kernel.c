/* level_zero_kernel.c - kernels of Level Zero, one caller's at a time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "level_zero.h"
#include "report.h"

/*
 * A kernel's arguments and group size are its own until it is launched, so
 * each function keeps a list of idle ones, as for OpenCL: a launch takes one
 * off and gives it back, and the lock is held for the list alone.
 */

/* ---- one of Level Zero's kernels ---- */

static kiln_status kernel_new(kiln__level_zero_kernel **out,
                              const kiln__level_zero_module *module,
                              const char *name, kiln_error **error)
{
    const kiln__level_zero_device *device = module->device;
    const ze_kernel_desc_t request = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                      .pKernelName = name};
    kiln__level_zero_kernel *kernel =
        kiln__allocate(&device->context->alloc, sizeof *kernel);
    ze_result_t code;

    if (kernel == NULL)
        return kiln__error_no_memory(error);
    code =
        device->api->zeKernelCreate(module->native, &request, &kernel->native);
    if (code == ZE_RESULT_SUCCESS) {
        code = device->api->zeKernelSetIndirectAccess(
            kernel->native, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
        if (code == ZE_RESULT_SUCCESS) {
            *out = kernel;
            return KILN_OK;
        }
        (void)device->api->zeKernelDestroy(kernel->native);
    }
    kiln__deallocate(&device->context->alloc, kernel, sizeof *kernel);
    if (code == ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "Level Zero: the module has no kernel "
                               "\"%.128s\"",
                               name);
    return kiln__level_zero_failed(error, code, "kernel");
}

kiln_status kiln__level_zero_kernel_take(kiln__level_zero_kernel **out,
                                         kiln__level_zero_function *function,
                                         kiln_error **error)
{
    kiln__level_zero_kernel *kernel;

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

void kiln__level_zero_kernel_give(kiln__level_zero_function *function,
                                  kiln__level_zero_kernel *kernel)
{
    kiln__mutex_lock(&function->lock);
    kernel->next = function->idle;
    function->idle = kernel;
    kiln__mutex_unlock(&function->lock);
}

/* ---- functions ---- */

static kiln_status read_parameters(kiln__level_zero_function *function,
                                   kiln_error **error)
{
    const kiln__level_zero_module *module = function->module;
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

/* What the compiler knows of the kernel comes before what the device has. */
static void ask_limits(kiln__level_zero_function *function)
{
    const kiln__level_zero_device *device = function->module->device;
    const kiln__level_zero_facts *facts = &device->facts;
    ze_kernel_properties_t found = {.stype =
                                        ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};

    function->limits = (kiln__group_limits){.items = facts->group_items,
                                            .width = facts->width,
                                            .sizes = {facts->local_sizes[0],
                                                      facts->local_sizes[1],
                                                      facts->local_sizes[2]}};
    if (device->api->zeKernelGetProperties(function->native, &found) !=
            ZE_RESULT_SUCCESS ||
        found.maxSubgroupSize == 0)
        return;
    function->limits.width = found.maxSubgroupSize;
}

void kiln__level_zero_function_free(kiln__level_zero_function *function)
{
    kiln__level_zero_device *device = function->module->device;
    const kiln_alloc *alloc = &device->context->alloc;

    if (function->number != 0)
        kiln__loaded_kernels_remove(&device->kernels, function->number);
    while (function->idle != NULL) {
        kiln__level_zero_kernel *kernel = function->idle;

        function->idle = kernel->next;
        (void)device->api->zeKernelDestroy(kernel->native);
        kiln__deallocate(alloc, kernel, sizeof *kernel);
    }
    if (function->parameters != NULL)
        kiln__deallocate(alloc, function->parameters,
                         (function->parameter_count + 1) *
                             sizeof *function->parameters);
    kiln__fork_remove(&device->context->fork, &function->guard);
    kiln__mutex_dispose(&function->lock);
    kiln__deallocate(alloc, function, sizeof *function);
}

static kiln__level_zero_function *function_new(kiln__level_zero_module *module,
                                               const kiln_kernel_info *info)
{
    kiln_context *context = module->device->context;
    kiln__level_zero_function *function =
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

static kiln_status fill(kiln__level_zero_function *function, kiln_error **error)
{
    kiln__level_zero_module *module = function->module;
    kiln__level_zero_kernel *first;

    KILN_TRY(read_parameters(function, error));
    KILN_TRY(kernel_new(&first, module, function->info->name, error));
    function->native = first->native;
    kiln__level_zero_kernel_give(function, first);
    ask_limits(function);
    function->number = kiln__loaded_kernels_add(
        &module->device->kernels, module->artifact, function->info->name);
    return function->number != 0 ? KILN_OK : kiln__error_no_memory(error);
}

static kiln__level_zero_function *find(kiln__level_zero_module *module,
                                       const char *name)
{
    kiln__level_zero_function *at;

    kiln__mutex_lock(&module->lock);
    at = module->functions;
    while (at != NULL && strcmp(at->info->name, name) != 0)
        at = at->next;
    kiln__mutex_unlock(&module->lock);
    return at;
}

kiln_status kiln__level_zero_symbol(kiln__level_zero_function **out,
                                    kiln__level_zero_module *module,
                                    const char *name, kiln_error **error)
{
    const kiln_kernel_info *info;
    kiln__level_zero_function *function = find(module, name);
    kiln_status status;

    if (function != NULL) {
        *out = function;
        return KILN_OK;
    }
    info = kiln__spirv_kernel_info(module->artifact, name);
    if (info == NULL)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "Level Zero: the artifact has no kernel "
                               "\"%.128s\"",
                               name);
    function = function_new(module, info);
    if (function == NULL)
        return kiln__error_no_memory(error);
    status = fill(function, error);
    if (status != KILN_OK) {
        kiln__level_zero_function_free(function);
        return status;
    }
    kiln__mutex_lock(&module->lock);
    function->next = module->functions;
    module->functions = function;
    kiln__mutex_unlock(&module->lock);
    *out = function;
    return KILN_OK;
}
