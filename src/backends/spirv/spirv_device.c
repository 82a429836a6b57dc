/* spirv_device.c - devices and their search, for both SPIR-V drivers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/spirv.h"
#include "base/error.h"
#include "base/system/dynlib.h"

/*
 * Each driver lists its devices once, under a lock that fork() waits for. A
 * list without devices that may be temporary is made again at the next call.
 * Here are also the parts of opening and closing a device that do not depend on
 * the driver.
 */

/* ---- the loader's library ---- */

kiln_status kiln__spirv_library_open(void *table, const char *library,
                                     const kiln__spirv_import *imports,
                                     size_t count, char *reason,
                                     size_t capacity)
{
    kiln_error *error = NULL;
    void *opened;

    const kiln_status status = kiln__dynlib_open(&opened, library, &error);

    if (status != KILN_OK) {
        (void)snprintf(reason, capacity, "%s", kiln_error_message(error));
        kiln_error_free(error);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        void *symbol = kiln__dynlib_symbol(opened, imports[i].name);

        if (symbol == NULL && imports[i].needed) {
            (void)snprintf(reason, capacity, "%s has no %s", library,
                           imports[i].name);
            return KILN_ENOTFOUND;
        }
        memcpy((char *)table + imports[i].member, &symbol, sizeof symbol);
    }
    return KILN_OK;
}

/* ---- lists ---- */

void *kiln__spirv_list_room(kiln__spirv_list *list, size_t facts_size,
                            const kiln_alloc *alloc)
{
    const uint32_t capacity = list->capacity + 8;
    void *grown;

    if (list->count == list->capacity) {
        grown = kiln__resize(alloc, list->facts, list->capacity * facts_size,
                             capacity * facts_size);
        if (grown == NULL)
            return NULL;
        list->facts = grown;
        list->capacity = capacity;
    }
    return (char *)list->facts + list->count * facts_size;
}

void kiln__spirv_list_dispose(kiln__spirv_list *list, size_t facts_size,
                              const kiln_alloc *alloc)
{
    kiln__deallocate(alloc, list->facts, list->capacity * facts_size);
    list->facts = NULL;
    list->count = 0;
    list->capacity = 0;
}

const kiln__spirv_facts *kiln__spirv_facts_of(const kiln__spirv_finder *finder,
                                              uint32_t ordinal)
{
    return (const kiln__spirv_facts *)((const char *)finder->list.facts +
                                       ordinal * finder->driver->facts_size);
}

/* ---- finding devices ---- */

kiln_status kiln__spirv_finder_new(kiln__spirv_finder **out,
                                   const kiln__spirv_driver *driver,
                                   kiln_context *context, kiln_error **error)
{
    kiln__spirv_finder *finder =
        kiln__allocate(&context->alloc, driver->finder_size);

    if (finder == NULL)
        return kiln__error_no_memory(error);
    if (kiln__mutex_init(&finder->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, finder, driver->finder_size);
        return kiln__error_no_memory(error);
    }
    finder->driver = driver;
    finder->context = context;
    finder->guard.mutex = &finder->lock;
    kiln__fork_add(&context->fork, &finder->guard);
    *out = finder;
    return KILN_OK;
}

void kiln__spirv_finder_free(void *self)
{
    kiln__spirv_finder *finder = self;
    kiln_context *context = finder->context;

    kiln__spirv_list_dispose(&finder->list, finder->driver->facts_size,
                             &context->alloc);
    kiln__fork_remove(&context->fork, &finder->guard);
    kiln__mutex_dispose(&finder->lock);
    kiln__deallocate(&context->alloc, finder, finder->driver->finder_size);
}

/* If there was no memory for the list, or the library could not be opened now,
   the next call searches again. */
static void find_devices(kiln__spirv_finder *finder)
{
    kiln__spirv_list *list = &finder->list;
    kiln_status status = finder->driver->open(finder);

    if (status == KILN_OK)
        status = finder->driver->probe(finder);
    finder->is_known = status == KILN_OK || status == KILN_ENOTFOUND;
    if (finder->is_known || status != KILN_ENOMEM)
        return;
    kiln__spirv_list_dispose(list, finder->driver->facts_size,
                             &finder->context->alloc);
    (void)snprintf(list->reason, sizeof list->reason, "%s",
                   kiln_status_text(KILN_ENOMEM));
}

int kiln__spirv_is_settled(const void *self)
{
    return ((const kiln__spirv_finder *)self)->is_known;
}

uint32_t kiln__spirv_count(void *self, const char **reason)
{
    kiln__spirv_finder *finder = self;

    kiln__mutex_lock(&finder->lock);
    if (!finder->is_known)
        find_devices(finder);
    kiln__mutex_unlock(&finder->lock);
    *reason = finder->list.count == 0 ? finder->list.reason : NULL;
    return finder->list.count;
}

/* ---- opening them ---- */

void kiln__spirv_close(void *self, void *device)
{
    kiln__spirv_device *old = device;
    const kiln__spirv_driver *driver = old->owner.driver;
    kiln_context *context = old->context;

    (void)self;
    kiln__spirv_replicas_leave(old);
    driver->device_free(old);
    kiln__loaded_kernels_dispose(&old->kernels);
    kiln__deallocate(&context->alloc, old, driver->device_size);
}

static kiln_status device_new(kiln__spirv_device **out,
                              kiln__spirv_finder *finder, kiln_error **error)
{
    kiln_context *context = finder->context;
    kiln__spirv_device *device =
        kiln__allocate(&context->alloc, finder->driver->device_size);

    if (device == NULL)
        return kiln__error_no_memory(error);
    device->owner = (kiln__spirv_owner){finder->driver, finder};
    device->context = context;
    if (kiln__loaded_kernels_init(&device->kernels, context) != KILN_OK) {
        kiln__deallocate(&context->alloc, device, finder->driver->device_size);
        return kiln__error_no_memory(error);
    }
    *out = device;
    return KILN_OK;
}

/* An adopted device need not be one of those that were found. */
kiln_status kiln__spirv_open(void *self, uint32_t ordinal, void *native,
                             void **device, const char **device_name,
                             kiln_error **error)
{
    kiln__spirv_finder *finder = self;
    const kiln__spirv_driver *driver = finder->driver;
    kiln__spirv_device *made = NULL;
    const char *reason;
    kiln_status status;

    if (ordinal >= kiln__spirv_count(self, &reason) && native == NULL)
        return kiln__error_set(error, KILN_ENODEVICE, "%s: %s", driver->title,
                               reason != NULL ? reason : "no such device");
    KILN_TRY(device_new(&made, finder, error));
    status = native != NULL ? driver->device_adopt(made, self, native, error)
                            : driver->device_open(made, self, ordinal, error);
    if (status != KILN_OK) {
        kiln__spirv_close(self, made);
        return status;
    }
    *device = made;
    *device_name = made->name;
    return KILN_OK;
}
