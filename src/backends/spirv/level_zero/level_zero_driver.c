/* level_zero_driver.c - opens devices of Level Zero for the SPIR-V backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/level_zero/level_zero.h"
#include "base/error.h"

/*
 * A device has a Level Zero context: one of its own, or the adopted one. The
 * table of functions at the end of the file makes this driver known to
 * spirv_driver.c.
 */

/* ---- devices ---- */

static kiln_status open_driver(kiln__spirv_finder *finder)
{
    kiln__level_zero *driver = (kiln__level_zero *)finder;

    if (driver->api != NULL)
        return KILN_OK;
    KILN_TRY(kiln__level_zero_api_open(&driver->own_api, finder->list.reason,
                                       sizeof finder->list.reason));
    driver->api = &driver->own_api;
    return KILN_OK;
}

static kiln_status probe(kiln__spirv_finder *finder)
{
    return kiln__level_zero_probe(&finder->list,
                                  ((const kiln__level_zero *)finder)->api,
                                  &finder->context->alloc);
}

static void device_free(kiln__spirv_device *device)
{
    kiln__level_zero_device *old = (kiln__level_zero_device *)device;

    kiln__level_zero_copiers_free(old);
    if (old->native != NULL && !old->is_adopted)
        (void)old->api->zeContextDestroy(old->native);
    if (!old->has_lock)
        return;
    kiln__fork_remove(&device->context->fork, &old->guard);
    kiln__mutex_dispose(&old->lock);
}

static kiln_status add_lock(kiln__level_zero_device *device, kiln_error **error)
{
    if (kiln__mutex_init(&device->lock) != KILN_OK)
        return kiln__error_no_memory(error);
    device->guard.mutex = &device->lock;
    device->has_lock = 1;
    kiln__fork_add(&device->base.context->fork, &device->guard);
    return KILN_OK;
}

static const kiln__level_zero_facts *facts_of(const kiln__level_zero *driver,
                                              uint32_t ordinal)
{
    return (const kiln__level_zero_facts *)kiln__spirv_facts_of(&driver->base,
                                                                ordinal);
}

static void take_facts(kiln__level_zero_device *device,
                       const kiln__level_zero_facts *facts)
{
    device->facts = *facts;
    device->base.level = facts->base.level;
    device->base.argument_bytes = facts->base.argument_bytes;
    device->base.local_bytes = facts->base.local_bytes;
    device->base.name = device->facts.name;
}

static kiln_status open_own(kiln__spirv_device *base, void *self,
                            uint32_t ordinal, kiln_error **error)
{
    const ze_context_desc_t request = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    kiln__level_zero_device *device = (kiln__level_zero_device *)base;
    const kiln__level_zero *driver = self;
    ze_result_t code;

    device->api = driver->api;
    take_facts(device, facts_of(driver, ordinal));
    KILN_TRY(add_lock(device, error));
    code = device->api->zeContextCreate(device->facts.driver, &request,
                                        &device->native);
    if (code == ZE_RESULT_SUCCESS)
        return KILN_OK;
    device->native = NULL;
    return kiln__level_zero_failed(error, code, "context");
}

/* A device that was found before has its facts; another one is asked. */
static ze_result_t find_facts(kiln__level_zero_facts *out,
                              const kiln__level_zero *driver,
                              ze_device_handle_t id)
{
    for (uint32_t i = 0; i < driver->base.list.count; i++)
        if (facts_of(driver, i)->id == id) {
            *out = *facts_of(driver, i);
            return ZE_RESULT_SUCCESS;
        }
    return kiln__level_zero_ask(out, driver->api, NULL, id);
}

static kiln_status open_adopted(kiln__spirv_device *base, void *self,
                                const kiln_spirv_native *native,
                                kiln_error **error)
{
    kiln__level_zero_device *device = (kiln__level_zero_device *)base;
    const kiln__level_zero *driver = self;
    kiln__level_zero_facts facts;
    ze_result_t code;

    if (driver->api == NULL)
        return kiln__error_set(error, KILN_ENODEVICE, "Level Zero: %s",
                               driver->base.list.reason);
    if (native->device == NULL)
        return kiln__error_set(error, KILN_EINVAL,
                               "Level Zero: a context is adopted with a "
                               "device; it is NULL");
    device->api = driver->api;
    code = find_facts(&facts, driver, native->device);
    if (code != ZE_RESULT_SUCCESS)
        return kiln__level_zero_failed(error, code, "adopted device");
    take_facts(device, &facts);
    device->native = native->context;
    device->is_adopted = 1;
    return add_lock(device, error);
}

/* ---- the driver ---- */

static const kiln_backend_ops ops = {
    .size = sizeof(kiln_backend_ops),
    .name = "level-zero",
    .format = "spirv",
    .count = kiln__spirv_count,
    .open = kiln__spirv_open,
    .close = kiln__spirv_close,
    .load = kiln__level_zero_load,
    .symbol = kiln__spirv_symbol,
    .unload = kiln__spirv_unload,
    .queue_new = kiln__level_zero_queue_new,
    .queue_free = kiln__level_zero_queue_free,
    .launch = kiln__level_zero_launch,
    .wait = kiln__level_zero_wait,
    .buffer_new = kiln__level_zero_memory_new,
    .buffer_free = kiln__level_zero_memory_free,
    .copy = kiln__level_zero_copy,
    .free = kiln__spirv_finder_free,
    .native = kiln__level_zero_native,
    .identity = kiln__level_zero_identity,
    .load_native = kiln__level_zero_load_native,
    .save_native = kiln__level_zero_save,
};

const kiln__spirv_driver kiln__level_zero_driver = {
    .name = "level-zero",
    .title = "Level Zero",
    .ops = &ops,
    .facts_size = sizeof(kiln__level_zero_facts),
    .finder_size = sizeof(kiln__level_zero),
    .device_size = sizeof(kiln__level_zero_device),
    .open = open_driver,
    .probe = probe,
    .device_open = open_own,
    .device_adopt = open_adopted,
    .device_free = device_free,
    .program_free = kiln__level_zero_program_free,
    .kernel_new = kiln__level_zero_kernel_new,
    .kernel_free = kiln__level_zero_kernel_free,
    .ask_limits = kiln__level_zero_ask_limits,
};

kiln_status kiln__level_zero_new(void **self, kiln_context *context,
                                 const kiln__level_zero_api *api,
                                 kiln_error **error)
{
    kiln__spirv_finder *finder = NULL;

    KILN_TRY(kiln__spirv_finder_new(&finder, &kiln__level_zero_driver, context,
                                    error));
    ((kiln__level_zero *)finder)->api = api;
    *self = finder;
    return KILN_OK;
}
