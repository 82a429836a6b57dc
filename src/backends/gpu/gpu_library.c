/* gpu_library.c - opens a vendor's driver, once for each Kiln context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/gpu/gpu.h"
#include "base/error.h"
#include "base/system/dynlib.h"

/*
 * A driver that is missing, too old or without devices is no error. It is
 * remembered with its reason, which is reported to callers that ask for a
 * device. Drivers are never closed.
 *
 * A failure that may pass is reported, too, and the next caller tries again: a
 * library that could not be opened for want of descriptors, a driver that could
 * not initialise for want of memory. The reason must stay alive, because it is
 * lent. So a record of a failure is kept after the next one with another reason
 * (`earlier`).
 */

static void say(kiln__gpu_driver *driver, const char *what, const char *more)
{
    (void)snprintf(driver->reason, sizeof driver->reason, "%s%s", what, more);
}

/* Opens the first of the vendor's names that can be opened, or the given
   library. */
static void *open_library(kiln__gpu_driver *driver, kiln__gpu_backend *backend)
{
    const char *const named[] = {backend->library, NULL};
    const char *const *at =
        backend->library != NULL ? named : backend->vendor->libraries;
    void *library = NULL;

    for (; *at != NULL && library == NULL; at++) {
        kiln_error *error = NULL;

        if (kiln__dynlib_open(&library, *at, &error) == KILN_OK)
            break;
        /* Of several failures, the reason of the first one is kept. */
        if (driver->reason[0] == '\0')
            say(driver, kiln_error_message(error), "");
        driver->may_pass |= kiln_error_status(error) != KILN_ENOTFOUND;
        kiln_error_free(error);
        library = NULL;
    }
    driver->may_pass &= library == NULL;
    return library;
}

static int take_symbols(kiln__gpu_driver *driver, void *library,
                        const kiln__gpu_vendor *vendor)
{
    char *members = (char *)&driver->api;

    for (int i = 0; i < KILN__GPU_API_COUNT; i++) {
        const kiln__gpu_symbol *symbol = &vendor->symbols[i];
        void *address;

        if (symbol->name == NULL)
            continue;
        address = kiln__dynlib_symbol(library, symbol->name);
        if (address == NULL && !symbol->is_optional) {
            say(driver, "the driver is too old or no driver: it lacks ",
                symbol->name);
            return 0;
        }
        /* All members are pointers to functions, without gaps. */
        memcpy(members + (size_t)i * sizeof address, &address, sizeof address);
    }
    return 1;
}

_Static_assert(sizeof(kiln__gpu_api) == KILN__GPU_API_COUNT * sizeof(void *),
               "a table of pointers and nothing else");

static void count_devices(kiln__gpu_driver *driver,
                          const kiln__gpu_vendor *vendor)
{
    const kiln__gpu_api *api = &driver->api;
    const char *what = vendor->symbols[KILN__GPU_init].name;
    char text[256];
    int count = 0;
    kiln__gpu_result result = api->init(0);

    if (result == 0) {
        what = vendor->symbols[KILN__GPU_device_count].name;
        result = api->device_count(&count);
    }
    if (result != 0) {
        kiln__gpu_result_text(text, sizeof text, api, result);
        (void)snprintf(driver->reason, sizeof driver->reason, "%s: %s", what,
                       text);
        driver->may_pass = kiln__gpu_result_may_pass(result);
        return;
    }
    if (count <= 0) {
        say(driver, "the driver lists none", "");
        return;
    }
    driver->device_count = (uint32_t)count;
    driver->reason[0] = '\0';
}

static kiln__gpu_driver *open_driver(kiln__gpu_backend *backend)
{
    kiln__gpu_driver *driver =
        kiln__allocate(&backend->context->alloc, sizeof *driver);
    void *library;

    if (driver == NULL)
        return NULL;
    library = open_library(driver, backend);
    if (library != NULL && take_symbols(driver, library, backend->vendor))
        count_devices(driver, backend->vendor);
    return driver;
}

static int is_settled(const kiln__gpu_driver *known,
                      const kiln__gpu_driver *fresh)
{
    return known != NULL &&
           (!known->may_pass || (fresh != NULL && fresh->may_pass &&
                                 strcmp(fresh->reason, known->reason) == 0));
}

const kiln__gpu_driver *kiln__gpu_driver_get(kiln__gpu_backend *backend)
{
    kiln__gpu_driver *known =
        atomic_load_explicit(&backend->driver, memory_order_acquire);
    kiln__gpu_driver *fresh;

    if (is_settled(known, NULL))
        return known;
    fresh = open_driver(backend);
    if (fresh == NULL)
        return NULL;
    /* Another thread may have done the same. Drivers may be opened and
       initialised twice. */
    while (!is_settled(known, fresh)) {
        fresh->earlier = known;
        if (atomic_compare_exchange_strong_explicit(&backend->driver, &known,
                                                    fresh, memory_order_acq_rel,
                                                    memory_order_acquire))
            return fresh;
    }
    kiln__deallocate(&backend->context->alloc, fresh, sizeof *fresh);
    return known;
}

void kiln__gpu_drivers_free(kiln__gpu_backend *backend)
{
    kiln__gpu_driver *driver = atomic_load(&backend->driver);

    while (driver != NULL) {
        kiln__gpu_driver *earlier = driver->earlier;

        kiln__deallocate(&backend->context->alloc, driver, sizeof *driver);
        driver = earlier;
    }
}
