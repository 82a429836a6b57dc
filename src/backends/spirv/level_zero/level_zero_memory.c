/* level_zero_memory.c - memory of Level Zero, and copies. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/level_zero/level_zero.h"
#include "base/error.h"

/*
 * Buffers are memory of the device; the state of a queue is host memory that
 * the device can access. A copy needs a command list, which runs one copy at a
 * time, so each device keeps a list of idle ones.
 */

#define ALIGNMENT 64

static kiln_status judge(void *const *address, ze_result_t code, uint64_t size,
                         kiln_error **error)
{
    if (code == ZE_RESULT_SUCCESS && *address != NULL)
        return KILN_OK;
    if (code == ZE_RESULT_SUCCESS)
        code = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    return kiln__error_set(error, kiln__level_zero_status(code),
                           "Level Zero: no memory of %llu bytes: %s (%#x)",
                           (unsigned long long)size,
                           kiln__level_zero_code_name(code), (unsigned)code);
}

kiln_status kiln__level_zero_memory_new(void *self, void *device, uint64_t size,
                                        void **address, kiln_error **error)
{
    const kiln__level_zero_device *on = device;
    const ze_device_mem_alloc_desc_t request = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const uint64_t least = size == 0 ? ALIGNMENT : size;

    (void)self;
    *address = NULL;
    return judge(address,
                 on->api->zeMemAllocDevice(on->native, &request, (size_t)least,
                                           ALIGNMENT, on->facts.id, address),
                 size, error);
}

kiln_status kiln__level_zero_shared_new(void **address,
                                        const kiln__level_zero_device *device,
                                        uint64_t size, kiln_error **error)
{
    const ze_host_mem_alloc_desc_t request = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};

    *address = NULL;
    return judge(address,
                 device->api->zeMemAllocHost(device->native, &request,
                                             (size_t)size, ALIGNMENT, address),
                 size, error);
}

void kiln__level_zero_release(const kiln__level_zero_device *device,
                              void *address)
{
    if (address != NULL)
        (void)device->api->zeMemFree(device->native, address);
}

void kiln__level_zero_memory_free(void *self, void *device, void *address)
{
    (void)self;
    kiln__level_zero_release(device, address);
}

/* ---- copies ---- */

ze_result_t kiln__level_zero_list_new(ze_command_list_handle_t *out,
                                      const kiln__level_zero_device *device,
                                      ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t request = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .ordinal = device->facts.ordinal,
        .mode = mode,
        .priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL};

    *out = NULL;
    return device->api->zeCommandListCreateImmediate(
        device->native, device->facts.id, &request, out);
}

/* NULL: `*code` gives the reason, which may be a lack of memory. */
static kiln__level_zero_copier *copier_new(
    const kiln__level_zero_device *device, ze_result_t *code)
{
    const kiln_alloc *alloc = &device->base.context->alloc;
    kiln__level_zero_copier *copier = kiln__allocate(alloc, sizeof *copier);

    *code = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (copier == NULL)
        return NULL;
    *code = kiln__level_zero_list_new(&copier->list, device,
                                      ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    if (*code == ZE_RESULT_SUCCESS)
        return copier;
    kiln__deallocate(alloc, copier, sizeof *copier);
    return NULL;
}

static kiln__level_zero_copier *copier_take(kiln__level_zero_device *device,
                                            ze_result_t *code)
{
    kiln__level_zero_copier *copier;

    kiln__mutex_lock(&device->lock);
    copier = device->idle;
    if (copier != NULL)
        device->idle = copier->next;
    kiln__mutex_unlock(&device->lock);
    return copier != NULL ? copier : copier_new(device, code);
}

static void copier_give(kiln__level_zero_device *device,
                        kiln__level_zero_copier *copier)
{
    kiln__mutex_lock(&device->lock);
    copier->next = device->idle;
    device->idle = copier;
    kiln__mutex_unlock(&device->lock);
}

void kiln__level_zero_copiers_free(kiln__level_zero_device *device)
{
    while (device->idle != NULL) {
        kiln__level_zero_copier *copier = device->idle;

        device->idle = copier->next;
        (void)device->api->zeCommandListDestroy(copier->list);
        kiln__deallocate(&device->base.context->alloc, copier, sizeof *copier);
    }
}

kiln_status kiln__level_zero_copy(void *self, void *device, void *to,
                                  const void *from, uint64_t size,
                                  kiln_error **error)
{
    kiln__level_zero_device *on = device;
    kiln__level_zero_copier *copier;
    ze_result_t code = ZE_RESULT_SUCCESS;

    (void)self;
    if (size == 0)
        return KILN_OK;
    copier = copier_take(on, &code);
    if (copier == NULL)
        return kiln__level_zero_failed(error, code, "command list for copies");
    code = on->api->zeCommandListAppendMemoryCopy(copier->list, to, from,
                                                  (size_t)size, NULL, 0, NULL);
    copier_give(on, copier);
    return code == ZE_RESULT_SUCCESS
               ? KILN_OK
               : kiln__level_zero_failed(error, code, "copy");
}
