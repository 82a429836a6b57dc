/* gpu_context.c - opens and adopts native contexts, and makes them current. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "backends/gpu/gpu.h"
#include "backends/without_device.h"
#include "base/error.h"

/* The capture mode in which a thread may make calls that would end a capture in
   another mode. */
#define CAPTURE_RELAXED 2

/* ---- making one current ---- */

kiln_status kiln__gpu_enter(kiln__gpu_context *context, kiln__gpu_place *before,
                            kiln_error **error)
{
    kiln__gpu_result result;

    KILN_TRY(kiln__gpu_check_process(context, error));
    *before = (kiln__gpu_place){0};
    result = context->backend->vendor->enter(context->api, context, before);
    if (result != 0)
        return kiln__gpu_fail(context, result, error, "entering device %s",
                              context->name);
    return KILN_OK;
}

void kiln__gpu_leave(const kiln__gpu_context *context,
                     const kiln__gpu_place *before)
{
    int mode = before->capture_mode;

    if (before->is_relaxed)
        (void)context->api->capture_mode(&mode);
    if (before->is_changed)
        context->backend->vendor->leave(context->api, before);
}

static void relax(const kiln__gpu_context *context, kiln__gpu_place *before)
{
    before->capture_mode = CAPTURE_RELAXED;
    before->is_relaxed = context->api->capture_mode != NULL &&
                         context->api->capture_mode(&before->capture_mode) == 0;
}

kiln_status kiln__gpu_enter_apart(kiln__gpu_context *context,
                                  kiln__gpu_place *before, kiln_error **error)
{
    KILN_TRY(kiln__gpu_enter(context, before, error));
    relax(context, before);
    return KILN_OK;
}

/* Tries once more, since what is to be freed should be freed if at all
   possible. */
int kiln__gpu_enter_to_free(kiln__gpu_context *context, kiln__gpu_place *before)
{
    if (kiln__gpu_enter(context, before, NULL) != KILN_OK &&
        kiln__gpu_enter(context, before, NULL) != KILN_OK)
        return 0;
    relax(context, before);
    return 1;
}

/* ---- attributes of a device ---- */

static kiln__gpu_result read_attributes(kiln__gpu_context *context)
{
    const kiln__gpu_vendor *vendor = context->backend->vendor;
    int values[10] = {0};
    const int wanted[10] = {vendor->major,       vendor->minor,
                            vendor->threads,     vendor->width,
                            vendor->block_x,     vendor->block_x + 1,
                            vendor->block_x + 2, vendor->grid_x,
                            vendor->grid_x + 1,  vendor->grid_x + 2};

    for (int i = 0; i < 10; i++) {
        const kiln__gpu_result result = context->api->device_attribute(
            &values[i], wanted[i], context->device);

        if (result != 0)
            return result;
        if (values[i] < 0)
            values[i] = 0;
    }
    context->major = values[0];
    context->minor = values[1];
    context->limits.items = (uint32_t)values[2];
    context->limits.width = (uint32_t)values[3];
    for (int i = 0; i < 3; i++) {
        context->limits.sizes[i] = (uint32_t)values[4 + i];
        context->limits.groups[i] = (uint64_t)values[7 + i];
    }
    /* Old drivers do not know it, and then say themselves what is too much. */
    if (context->api->device_attribute(&values[0], vendor->local,
                                       context->device) == 0 &&
        values[0] > 0)
        context->local_bytes = (uint32_t)values[0];
    return 0;
}

static kiln_status identify(kiln__gpu_context *context, kiln_error **error)
{
    kiln__gpu_result result = context->api->device_name(
        context->name, (int)sizeof context->name - 1, context->device);

    if (result == 0)
        result = read_attributes(context);
    if (result == 0)
        result = context->backend->vendor->identify(context->api, context);
    if (result != 0)
        return kiln__gpu_fail(context, result, error,
                              "reading what device %d is", context->device);
    return KILN_OK;
}

kiln_status kiln__gpu_first_architecture(char *text, size_t size,
                                         kiln__gpu_backend *backend,
                                         kiln_error **error)
{
    const kiln__gpu_driver *driver = kiln__gpu_driver_get(backend);
    kiln__gpu_context first = {.backend = backend};

    text[0] = '\0';
    if (driver == NULL)
        return kiln__error_no_memory(error);
    if (driver->may_pass && driver->api.init == NULL)
        return kiln__error_set(error, KILN_EIO,
                               "%s: the driver cannot be asked which device "
                               "there is: %s",
                               backend->vendor->name, driver->reason);
    if (driver->device_count == 0 || backend->is_child)
        return KILN_OK;
    first.api = &driver->api;
    if (first.api->device_get(&first.device, 0) == 0 &&
        identify(&first, NULL) == KILN_OK)
        (void)snprintf(text, size, "%s", first.architecture);
    return KILN_OK;
}

/* ---- opening ---- */

static void release(const kiln__gpu_context *context)
{
    if (context->is_retained && !context->backend->is_child)
        context->backend->vendor->release(context->api, context->device);
}

/* Called with the lock held. */
static kiln__gpu_context *find_context(kiln__gpu_backend *backend,
                                       const void *native)
{
    for (kiln__gpu_context *at = backend->contexts; at != NULL; at = at->next)
        if (at->native == native)
            return at;
    return NULL;
}

/* Returns the known context for the same native one, or publishes `fresh`.
   The native context is retained once or not at all, however many have
   opened it. */
static kiln__gpu_context *keep_context(kiln__gpu_backend *backend,
                                       kiln__gpu_context *fresh)
{
    kiln__gpu_context *known;

    kiln__mutex_lock(&backend->lock);
    known = find_context(backend, fresh->native);
    if (known == NULL) {
        fresh->next = backend->contexts;
        backend->contexts = known = fresh;
    } else if (fresh->is_retained && !known->is_retained) {
        known->is_retained = 1;
        fresh->is_retained = 0;
    }
    known->references++;
    kiln__mutex_unlock(&backend->lock);
    return known;
}

static kiln_status start(kiln__gpu_context **out, kiln__gpu_backend *backend,
                         const kiln__gpu_driver *driver, kiln_error **error)
{
    kiln__gpu_context *fresh =
        kiln__allocate(&backend->context->alloc, sizeof *fresh);

    if (fresh == NULL)
        return kiln__error_no_memory(error);
    fresh->backend = backend;
    fresh->api = &driver->api;
    *out = fresh;
    return KILN_OK;
}

static void context_free(kiln__gpu_context *context)
{
    kiln__deallocate(&context->backend->context->alloc, context,
                     sizeof *context);
}

static kiln_status get_driver(const kiln__gpu_driver **out,
                              kiln__gpu_backend *backend, kiln_error **error)
{
    const kiln__gpu_driver *driver = kiln__gpu_driver_get(backend);

    *out = driver;
    if (driver == NULL)
        return kiln__error_no_memory(error);
    return driver->device_count > 0
               ? KILN_OK
               : kiln__no_device(error, backend->vendor->name, driver->reason);
}

/* Identifies a context that was opened, and closes it if that fails. */
static kiln_status finish_context(kiln__gpu_context **out,
                                  kiln__gpu_context *fresh, kiln_error **error)
{
    const kiln_status status = identify(fresh, error);

    *out = NULL;
    if (status == KILN_OK)
        *out = keep_context(fresh->backend, fresh);
    if (*out != fresh) {
        release(fresh);
        context_free(fresh);
    }
    return status;
}

kiln_status kiln__gpu_context_open(kiln__gpu_context **out,
                                   kiln__gpu_backend *backend, uint32_t ordinal,
                                   kiln_error **error)
{
    const kiln__gpu_driver *driver;
    kiln__gpu_context *fresh = NULL;
    kiln__gpu_result result;
    kiln_status status;

    KILN_TRY(get_driver(&driver, backend, error));
    if (ordinal >= driver->device_count)
        return kiln__error_set(error, KILN_ENODEVICE,
                               "there is no %s device %u; there are %u",
                               backend->vendor->name, (unsigned)ordinal,
                               (unsigned)driver->device_count);
    KILN_TRY(start(&fresh, backend, driver, error));
    status = kiln__gpu_check(fresh, error);
    if (status != KILN_OK) {
        context_free(fresh);
        return status;
    }
    result = fresh->api->device_get(&fresh->device, (int)ordinal);
    if (result == 0)
        result =
            backend->vendor->retain(fresh->api, fresh->device, &fresh->native);
    if (result != 0) {
        status = kiln__gpu_fail(fresh, result, error, "opening device %u",
                                (unsigned)ordinal);
        context_free(fresh);
        return status;
    }
    fresh->is_retained = 1;
    return finish_context(out, fresh, error);
}

kiln_status kiln__gpu_context_adopt(kiln__gpu_context **out,
                                    kiln__gpu_backend *backend, void *native,
                                    kiln_error **error)
{
    const kiln__gpu_driver *driver;
    kiln__gpu_context *fresh = NULL;
    kiln__gpu_result result = 0;
    kiln_status status;

    KILN_TRY(get_driver(&driver, backend, error));
    KILN_TRY(start(&fresh, backend, driver, error));
    status = kiln__gpu_check(fresh, error);
    if (status == KILN_OK && backend->vendor->adopt == NULL)
        status = kiln__error_set(error, KILN_EUNSUPPORTED,
                                 "%s: contexts are not adopted",
                                 backend->vendor->name);
    if (status == KILN_OK) {
        fresh->native = native;
        result =
            backend->vendor->adopt(fresh->api, &fresh->native, &fresh->device);
    }
    if (result != 0)
        status = kiln__gpu_fail(fresh, result, error, "adopting a context");
    if (status != KILN_OK) {
        context_free(fresh);
        return status;
    }
    return finish_context(out, fresh, error);
}

void kiln__gpu_context_close(kiln__gpu_context *context)
{
    kiln__gpu_backend *backend = context->backend;
    kiln__gpu_context **at = &backend->contexts;
    uint32_t left;

    kiln__mutex_lock(&backend->lock);
    left = --context->references;
    if (left == 0) {
        while (*at != context)
            at = &(*at)->next;
        *at = context->next;
    }
    kiln__mutex_unlock(&backend->lock);
    if (left > 0)
        return;
    kiln__gpu_modules_leave(context);
    release(context);
    context_free(context);
}
