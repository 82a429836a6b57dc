/* device_kernels.c - the table of kernels that are loaded on a device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/device_driver.h"

#include <string.h>

#include "tiers/binary/artifact.h"

/*
 * The newest kernel is the first in the list, because kernels that are removed
 * soon were mostly added late. Code that reads a kernel's table of reports
 * holds the artifact meanwhile, so removing a kernel waits for nobody.
 */

kiln_status kiln__loaded_kernels_init(kiln__loaded_kernels *kernels,
                                      kiln_context *context)
{
    *kernels = (kiln__loaded_kernels){.context = context};
    if (kiln__mutex_init(&kernels->lock) != KILN_OK) {
        kernels->context = NULL;
        return KILN_ENOMEM;
    }
    kernels->guard.mutex = &kernels->lock;
    kiln__fork_add(&context->fork, &kernels->guard);
    return KILN_OK;
}

static void kernel_free(const kiln__loaded_kernels *kernels,
                        kiln__loaded_kernel *kernel)
{
    kiln_artifact_release(kernel->artifact);
    kiln__deallocate(&kernels->context->alloc, kernel, sizeof *kernel);
}

void kiln__loaded_kernels_dispose(kiln__loaded_kernels *kernels)
{
    if (kernels->context == NULL)
        return;
    while (kernels->first != NULL) {
        kiln__loaded_kernel *kernel = kernels->first;

        kernels->first = kernel->next;
        kernel_free(kernels, kernel);
    }
    kiln__fork_remove(&kernels->context->fork, &kernels->guard);
    kiln__mutex_dispose(&kernels->lock);
    kernels->context = NULL;
}

uint64_t kiln__loaded_kernels_add(kiln__loaded_kernels *kernels,
                                  const kiln_artifact *artifact,
                                  const char *name)
{
    const kiln_kernel_info *info = kiln__artifact_kernel_named(artifact, name);
    kiln__loaded_kernel *kernel;
    uint64_t number;

    if (info == NULL)
        return 0;
    kernel = kiln__allocate(&kernels->context->alloc, sizeof *kernel);
    if (kernel == NULL)
        return 0;
    kernel->artifact = kiln__artifact_retain_origin(artifact);
    kernel->info = info;
    kiln__mutex_lock(&kernels->lock);
    number = ++kernels->last_number;
    kernel->number = number;
    kernel->next = kernels->first;
    kernels->first = kernel;
    kiln__mutex_unlock(&kernels->lock);
    return number;
}

void kiln__loaded_kernels_remove(kiln__loaded_kernels *kernels, uint64_t number)
{
    kiln__loaded_kernel **at, *old;

    kiln__mutex_lock(&kernels->lock);
    at = &kernels->first;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    old = *at;
    if (old != NULL)
        *at = old->next;
    kiln__mutex_unlock(&kernels->lock);
    if (old != NULL)
        kernel_free(kernels, old);
}

const kiln_artifact *kiln__loaded_kernels_find(kiln__loaded_kernels *kernels,
                                               uint64_t number,
                                               const kiln_kernel_info **info)
{
    const kiln_artifact *found = NULL;
    const kiln__loaded_kernel *kernel;

    kiln__mutex_lock(&kernels->lock);
    kernel = kernels->first;
    while (kernel != NULL && kernel->number != number)
        kernel = kernel->next;
    if (kernel != NULL) {
        found = kiln_artifact_retain(kernel->artifact);
        *info = kernel->info;
    }
    kiln__mutex_unlock(&kernels->lock);
    return found;
}
