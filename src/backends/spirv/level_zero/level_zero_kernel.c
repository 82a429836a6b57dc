/* level_zero_kernel.c - kernel objects of Level Zero. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/spirv/level_zero/level_zero.h"
#include "base/error.h"

/*
 * Makes the driver's kernel objects for spirv_kernel.c, and finds their
 * limits. Arguments are set by level_zero_queue.c.
 */

/* Memory that the arguments point to may contain pointers to more memory. */
static ze_result_t allow_reach(const kiln__level_zero_api *api,
                               ze_kernel_handle_t kernel)
{
    return api->zeKernelSetIndirectAccess(
        kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                    ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                    ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
}

kiln_status kiln__level_zero_kernel_new(void **native,
                                        const kiln__spirv_module *module,
                                        const char *name, kiln_error **error)
{
    const kiln__level_zero_api *api = kiln__level_zero_of(module->device)->api;
    const ze_kernel_desc_t request = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                      .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    ze_result_t code = api->zeKernelCreate(module->native, &request, &kernel);

    if (code == ZE_RESULT_SUCCESS) {
        code = allow_reach(api, kernel);
        if (code == ZE_RESULT_SUCCESS) {
            *native = kernel;
            return KILN_OK;
        }
        (void)api->zeKernelDestroy(kernel);
    }
    if (code == ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "Level Zero: the module has no kernel "
                               "\"%.128s\"",
                               name);
    return kiln__level_zero_failed(error, code, "kernel");
}

void kiln__level_zero_kernel_free(const kiln__spirv_device *device,
                                  void *native)
{
    (void)kiln__level_zero_of(device)->api->zeKernelDestroy(native);
}

/* What the compiler knows about the kernel has precedence over the device's
   properties. */
void kiln__level_zero_ask_limits(kiln__group_limits *out,
                                 const kiln__spirv_device *device, void *native)
{
    const kiln__level_zero_device *of = kiln__level_zero_of(device);
    ze_kernel_properties_t found = {.stype =
                                        ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};

    out->items = of->facts.group_items;
    out->width = of->facts.width;
    memcpy(out->sizes, of->facts.local_sizes, sizeof out->sizes);
    for (int i = 0; i < 3; i++)
        out->groups[i] = UINT32_MAX; /* members of ze_group_count_t have 32
                                           bits */
    if (of->api->zeKernelGetProperties(native, &found) == ZE_RESULT_SUCCESS &&
        found.maxSubgroupSize != 0)
        out->width = found.maxSubgroupSize;
}
