/* spirv_replica.c - loads kernels once more, on adopted devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <sched.h>

#include "backends/backend.h"
#include "backends/spirv/spirv.h"
#include "base/error.h"

/*
 * A kernel is loaded on the device that its config names. In the context of an
 * adopted device that function cannot be used, even if the physical device is
 * the same. So the first launch there loads the artifact again, as a replica
 * for that device. A replica lives until the kernel is unloaded or the device
 * is closed, whichever comes first; the thread that removes it from the lists
 * frees it. What the driver compiles for a replica is stored in the same way as
 * for the kernel's own device: at once, or at the replica's end if a launch
 * made the driver compile.
 *
 * The lock protects the lists, and is never held while a driver runs. If two
 * threads load the same replica at once, one is kept.
 */

static kiln__mutex *lock_of(const kiln__spirv_device *device)
{
    return &device->context->backends->lock;
}

/* ---- the lists, with the lock held ---- */

static kiln__spirv_module *find_replica(const kiln__spirv_module *home,
                                        const kiln__spirv_device *device)
{
    kiln__spirv_module *at = home->replicas;

    while (at != NULL && at->device != device)
        at = at->next_of_home;
    return at;
}

static void link_replica(kiln__spirv_module *replica, kiln__spirv_module *home)
{
    replica->home = home;
    replica->next_of_home = home->replicas;
    home->replicas = replica;
    replica->next_of_device = replica->device->replicas;
    replica->device->replicas = replica;
}

/* Removes the replica from both lists. Its device must wait until it has been
   freed. */
static void unlink_replica(kiln__spirv_module *replica)
{
    kiln__spirv_module **at = &replica->home->replicas;

    while (*at != replica)
        at = &(*at)->next_of_home;
    *at = replica->next_of_home;
    at = &replica->device->replicas;
    while (*at != replica)
        at = &(*at)->next_of_device;
    *at = replica->next_of_device;
    replica->device->replicas_leaving++;
}

/* ---- replicas ---- */

static kiln__spirv_module *get_replica(const kiln__spirv_module *home,
                                       const kiln__spirv_device *device)
{
    kiln__spirv_module *found;

    kiln__mutex_lock(lock_of(device));
    found = find_replica(home, device);
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

/* The device may belong to the other driver. */
static kiln_status load_replica(kiln__spirv_module **out,
                                const kiln__spirv_function *of,
                                kiln__spirv_device *device, kiln_error **error)
{
    kiln__spirv_module *home = of->module;
    kiln__native_load l = load_of(device, home->artifact, of->info);

    KILN_TRY(kiln__native_load_or_compile(&l, error));
    kiln__mutex_lock(lock_of(device));
    *out = find_replica(home, device);
    if (*out == NULL) {
        *out = l.module;
        link_replica(l.module, home);
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
    kiln__spirv_module *replica;
    void *function = of;

    if (of->module->device != device) {
        replica = get_replica(of->module, device);
        if (replica == NULL)
            KILN_TRY(load_replica(&replica, of, device, error));
        KILN_TRY(kiln__spirv_symbol(NULL, replica, of->info->name, &function,
                                    error));
    }
    *out = function;
    return KILN_OK;
}

/* ---- their end ---- */

/* Frees a replica that is in no list any more. */
static void end_replica(kiln__spirv_module *replica)
{
    kiln__spirv_device *device = replica->device;
    kiln__native_load l = load_of(device, replica->artifact, NULL);

    l.module = replica;
    if (l.ops->native_grew != NULL && l.ops->native_grew(l.self, replica))
        kiln__native_keep(&l, 1);
    kiln__spirv_unload(NULL, replica);
    kiln__mutex_lock(lock_of(device));
    device->replicas_leaving--;
    kiln__mutex_unlock(lock_of(device));
}

void kiln__spirv_replicas_end(kiln__spirv_module *home)
{
    kiln__spirv_module *replica;

    do {
        kiln__mutex_lock(lock_of(home->device));
        replica = home->replicas;
        if (replica != NULL)
            unlink_replica(replica);
        kiln__mutex_unlock(lock_of(home->device));
        if (replica != NULL)
            end_replica(replica);
    } while (replica != NULL);
}

void kiln__spirv_replicas_leave(kiln__spirv_device *device)
{
    kiln__spirv_module *replica;
    uint32_t leaving;

    do {
        kiln__mutex_lock(lock_of(device));
        replica = device->replicas;
        if (replica != NULL)
            unlink_replica(replica);
        leaving = device->replicas_leaving;
        kiln__mutex_unlock(lock_of(device));
        if (replica != NULL)
            end_replica(replica);
        else if (leaving > 0)
            (void)sched_yield();
    } while (replica != NULL || leaving > 0);
}
