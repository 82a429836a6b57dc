/* spirv_guest.c - kernels on devices that were adopted, beside their own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <sched.h>

#include "backends.h"
#include "report.h"
#include "spirv.h"

/*
 * A kernel is loaded on the device that its config names. In the context of an
 * adopted device that function is of no use, even if the device is the same:
 * the first launch there loads the artifact once more, as a guest of that
 * device. The guest stays until the kernel is unloaded or the device closes,
 * whichever comes first; who takes it off the lists ends it. What the driver
 * compiles for it is kept as for the kernel's own device: at once, or at the
 * guest's end if that came with a launch.
 *
 * The lists are the lock's, which is never held while a driver runs. What two
 * threads load at once is kept once.
 */

static kiln__mutex *lock_of(const kiln__spirv_device *device)
{
    return &device->context->backends->lock;
}

/* ---- the lists, with the lock held ---- */

static kiln__spirv_module *find(const kiln__spirv_module *home,
                                const kiln__spirv_device *device)
{
    kiln__spirv_module *at = home->guests;

    while (at != NULL && at->device != device)
        at = at->next_of_home;
    return at;
}

static void link_guest(kiln__spirv_module *guest, kiln__spirv_module *home)
{
    guest->home = home;
    guest->next_of_home = home->guests;
    home->guests = guest;
    guest->next_of_device = guest->device->guests;
    guest->device->guests = guest;
}

/* The device waits for what is about to end. */
static void unlink_guest(kiln__spirv_module *guest)
{
    kiln__spirv_module **at = &guest->home->guests;

    while (*at != guest)
        at = &(*at)->next_of_home;
    *at = guest->next_of_home;
    at = &guest->device->guests;
    while (*at != guest)
        at = &(*at)->next_of_device;
    *at = guest->next_of_device;
    guest->device->guests_leaving++;
}

/* ---- guests ---- */

static kiln__spirv_module *find_guest(const kiln__spirv_module *home,
                                      const kiln__spirv_device *device)
{
    kiln__spirv_module *found;

    kiln__mutex_lock(lock_of(device));
    found = find(home, device);
    kiln__mutex_unlock(lock_of(device));
    return found;
}

static kiln__native_load load_of(kiln__spirv_device *device,
                                 const kiln_artifact *artifact,
                                 const kiln_kernel_info *kernel)
{
    return (kiln__native_load){.ops = device->owner.driver->ops,
                               .self = device->owner.self,
                               .device = device,
                               .context = device->context,
                               .artifact = artifact,
                               .kernel = kernel};
}

/* The device's driver need not be that of the kernel's own device. */
static kiln_status load_guest(kiln__spirv_module **out,
                              const kiln__spirv_function *of,
                              kiln__spirv_device *device, kiln_error **error)
{
    kiln__spirv_module *home = of->module;
    kiln__native_load l = load_of(device, home->artifact, of->info);

    KILN_TRY(kiln__native_load_or_compile(&l, error));
    kiln__mutex_lock(lock_of(device));
    *out = find(home, device);
    if (*out == NULL) {
        *out = l.module;
        link_guest(l.module, home);
    }
    kiln__mutex_unlock(lock_of(device));
    if (*out != l.module)
        kiln__spirv_unload(NULL, l.module);
    return KILN_OK;
}

kiln_status kiln__spirv_function_on(kiln__spirv_function **out,
                                    kiln__spirv_function *of,
                                    kiln__spirv_device *device,
                                    kiln_error **error)
{
    kiln__spirv_module *guest;
    void *function = of;

    if (of->module->device != device) {
        guest = find_guest(of->module, device);
        if (guest == NULL)
            KILN_TRY(load_guest(&guest, of, device, error));
        KILN_TRY(
            kiln__spirv_symbol(NULL, guest, of->info->name, &function, error));
    }
    *out = function;
    return KILN_OK;
}

/* ---- their end ---- */

/* Nobody else has it any more. */
static void end_guest(kiln__spirv_module *guest)
{
    kiln__spirv_device *device = guest->device;
    kiln__native_load l = load_of(device, guest->artifact, NULL);

    l.module = guest;
    if (l.ops->native_grew != NULL && l.ops->native_grew(l.self, guest))
        kiln__native_keep(&l, 1);
    kiln__spirv_unload(NULL, guest);
    kiln__mutex_lock(lock_of(device));
    device->guests_leaving--;
    kiln__mutex_unlock(lock_of(device));
}

void kiln__spirv_guests_end(kiln__spirv_module *home)
{
    kiln__spirv_module *guest;

    do {
        kiln__mutex_lock(lock_of(home->device));
        guest = home->guests;
        if (guest != NULL)
            unlink_guest(guest);
        kiln__mutex_unlock(lock_of(home->device));
        if (guest != NULL)
            end_guest(guest);
    } while (guest != NULL);
}

void kiln__spirv_guests_leave(kiln__spirv_device *device)
{
    kiln__spirv_module *guest;
    uint32_t leaving;

    do {
        kiln__mutex_lock(lock_of(device));
        guest = device->guests;
        if (guest != NULL)
            unlink_guest(guest);
        leaving = device->guests_leaving;
        kiln__mutex_unlock(lock_of(device));
        if (guest != NULL)
            end_guest(guest);
        else if (leaving > 0)
            (void)sched_yield();
    } while (guest != NULL || leaving > 0);
}
