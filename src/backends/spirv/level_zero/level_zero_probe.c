/* level_zero_probe.c - finds Level Zero devices and their properties. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/level_zero/level_zero.h"

/*
 * Each device of each driver is asked once, and its answers are kept as facts:
 * features, limits, the queue group for kernels, the place that identifies it
 * among the devices of all drivers, and a text that names driver and device for
 * stored binaries.
 */

#define DRIVERS_MAX 16
#define DEVICES_MAX 64

/* ---- capabilities ---- */

static void read_modules(kiln__level_zero_facts *out,
                         const ze_device_module_properties_t *modules)
{
    const uint32_t version = modules->spirvVersionSupported;
    uint64_t *set = &out->base.level.features;

    out->base.level.minor = ZE_MAJOR_VERSION(version) > 1
                                ? KILN__SPIRV_MINOR_MOST
                                : ZE_MINOR_VERSION(version);
    *set = 0;
    if ((modules->flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0)
        *set |= KILN__SPIRV_BIT(FP16);
    if ((modules->flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0)
        *set |= KILN__SPIRV_BIT(FP64);
    if ((modules->flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0)
        *set |= KILN__SPIRV_BIT(INT64_ATOMICS);
    out->base.argument_bytes = modules->maxArgumentsSize;
    if (modules->maxArgumentsSize >= KILN__SPIRV_LARGE_BYTES)
        *set |= KILN__SPIRV_BIT(LARGE_ARGUMENTS);
}

static void read_groups(kiln__level_zero_facts *out,
                        const ze_device_compute_properties_t *compute)
{
    out->base.local_bytes = compute->maxSharedLocalMemory;
    out->group_items = compute->maxTotalGroupSize;
    out->local_sizes[0] = compute->maxGroupSizeX;
    out->local_sizes[1] = compute->maxGroupSizeY;
    out->local_sizes[2] = compute->maxGroupSizeZ;
    out->width = 1;
    for (uint32_t i = 0;
         i < compute->numSubGroupSizes && i < ZE_SUBGROUPSIZE_COUNT; i++) {
        out->base.level.features |= KILN__SPIRV_BIT(SUBGROUPS);
        if (compute->subGroupSizes[i] > out->width)
            out->width = compute->subGroupSizes[i];
    }
}

/* Finds the first queue group that runs kernels. */
static ze_result_t find_ordinal(kiln__level_zero_facts *out,
                                const kiln__level_zero_api *api)
{
    ze_command_queue_group_properties_t groups[16];
    uint32_t count = sizeof groups / sizeof *groups;
    ze_result_t code;

    memset(groups, 0, sizeof groups);
    for (uint32_t i = 0; i < count; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    code = api->zeDeviceGetCommandQueueGroupProperties(out->id, &count, groups);
    if (code != ZE_RESULT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < count; i++)
        if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) !=
            0) {
            out->ordinal = i;
            return ZE_RESULT_SUCCESS;
        }
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/* ---- identity ---- */

static void read_place(kiln__level_zero_facts *out,
                       const kiln__level_zero_api *api,
                       const ze_device_properties_t *device)
{
    ze_pci_ext_properties_t pci = {.stype =
                                       ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};

    memcpy(out->base.place.uuid, device->uuid.id, sizeof out->base.place.uuid);
    out->base.place.has_uuid = 1;
    if (api->zeDevicePciGetPropertiesExt == NULL ||
        api->zeDevicePciGetPropertiesExt(out->id, &pci) != ZE_RESULT_SUCCESS)
        return;
    out->base.place.has_pci = 1;
    out->base.place.pci[0] = pci.address.domain;
    out->base.place.pci[1] = pci.address.bus;
    out->base.place.pci[2] = pci.address.device;
    out->base.place.pci[3] = pci.address.function;
}

static void write_identity(kiln__level_zero_facts *out,
                           const ze_device_properties_t *device,
                           const ze_driver_properties_t *driver)
{
    char uuid[2 * ZE_MAX_DRIVER_UUID_SIZE + 1] = "";

    for (size_t i = 0; i < ZE_MAX_DRIVER_UUID_SIZE; i++)
        (void)snprintf(uuid + 2 * i, 3, "%02x", driver->uuid.id[i]);
    (void)snprintf(out->identity, sizeof out->identity,
                   "level-zero; %s; vendor %x, device %x; driver %x, %s",
                   out->name, (unsigned)device->vendorId,
                   (unsigned)device->deviceId, (unsigned)driver->driverVersion,
                   uuid);
}

ze_result_t kiln__level_zero_ask(kiln__level_zero_facts *out,
                                 const kiln__level_zero_api *api,
                                 ze_driver_handle_t driver,
                                 ze_device_handle_t id)
{
    ze_device_properties_t device = {.stype =
                                         ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_module_properties_t modules = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_device_compute_properties_t compute = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_driver_properties_t owner = {.stype =
                                        ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_result_t code = api->zeDeviceGetProperties(id, &device);

    memset(out, 0, sizeof *out);
    out->id = id;
    out->driver = driver;
    if (code == ZE_RESULT_SUCCESS)
        code = api->zeDeviceGetModuleProperties(id, &modules);
    if (code == ZE_RESULT_SUCCESS)
        code = api->zeDeviceGetComputeProperties(id, &compute);
    if (code == ZE_RESULT_SUCCESS && driver != NULL)
        code = api->zeDriverGetProperties(driver, &owner);
    if (code == ZE_RESULT_SUCCESS)
        code = find_ordinal(out, api);
    if (code != ZE_RESULT_SUCCESS)
        return code;
    (void)snprintf(out->name, sizeof out->name, "%.*s",
                   (int)sizeof device.name - 1, device.name);
    read_modules(out, &modules);
    read_groups(out, &compute);
    read_place(out, api, &device);
    if (driver != NULL)
        write_identity(out, &device, &owner);
    return ZE_RESULT_SUCCESS;
}

/* ---- all devices ---- */

static void note_fault(kiln__spirv_list *list, const char *what,
                       ze_result_t code)
{
    (void)snprintf(list->reason, sizeof list->reason, "%s: %s (%#x)", what,
                   kiln__level_zero_code_name(code), (unsigned)code);
}

static kiln_status add_devices(kiln__spirv_list *list,
                               const kiln__level_zero_api *api,
                               ze_driver_handle_t driver,
                               const kiln_alloc *alloc)
{
    ze_device_handle_t ids[DEVICES_MAX];
    uint32_t count = DEVICES_MAX;
    ze_result_t code = api->zeDeviceGet(driver, &count, ids);

    if (code != ZE_RESULT_SUCCESS) {
        note_fault(list, "zeDeviceGet", code);
        return KILN_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        kiln__level_zero_facts *facts =
            kiln__spirv_list_room(list, sizeof *facts, alloc);

        if (facts == NULL)
            return KILN_ENOMEM;
        code = kiln__level_zero_ask(facts, api, driver, ids[i]);
        if (code == ZE_RESULT_SUCCESS)
            list->count++;
        else
            note_fault(list, "a device is of no use", code);
    }
    return KILN_OK;
}

kiln_status kiln__level_zero_probe(kiln__spirv_list *out,
                                   const kiln__level_zero_api *api,
                                   const kiln_alloc *alloc)
{
    ze_driver_handle_t drivers[DRIVERS_MAX];
    uint32_t count = DRIVERS_MAX;
    ze_result_t code = api->zeInit(0);
    kiln_status status = KILN_OK;

    if (code == ZE_RESULT_SUCCESS)
        code = api->zeDriverGet(&count, drivers);
    if (code != ZE_RESULT_SUCCESS) {
        note_fault(out, "there is no driver", code);
        return KILN_OK;
    }
    (void)snprintf(out->reason, sizeof out->reason,
                   count == 0 ? "there is no driver"
                              : "no driver has a device");
    for (uint32_t i = 0; i < count && status == KILN_OK; i++)
        status = add_devices(out, api, drivers[i], alloc);
    return status;
}
