/* opencl_memory.c - memory of OpenCL that kernels access by address. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/opencl/opencl.h"
#include "base/error.h"

/*
 * OpenCL has three kinds of such memory (kiln__opencl_memory): unified shared
 * memory of an extension, and shared virtual memory, fine- or coarse-grained. A
 * device has one of them. With the coarse-grained kind the host cannot see the
 * memory while the device uses it, so it copies.
 */

#define ALIGNMENT 64

static kiln_status no_room(kiln_error **error, uint64_t size)
{
    return kiln__error_set(error, KILN_ENOMEM,
                           "OpenCL: no memory of %llu bytes",
                           (unsigned long long)size);
}

static void *shared_new(const kiln__opencl_device *device, size_t size)
{
    cl_svm_mem_flags flags = CL_MEM_READ_WRITE;

    if (device->facts.memory == KILN__OPENCL_MEMORY_FINE)
        flags |= CL_MEM_SVM_FINE_GRAIN_BUFFER;
    return device->api->clSVMAlloc(device->native, flags, size, ALIGNMENT);
}

static kiln_status allocate(void **address, const kiln__opencl_device *device,
                            uint64_t size, kiln_error **error)
{
    const kiln__opencl_extensions *more = &device->facts.extensions;
    cl_int code = CL_SUCCESS;

    if (size == 0)
        size = ALIGNMENT;
    if (size > SIZE_MAX)
        return no_room(error, size);
    if (device->facts.memory == KILN__OPENCL_MEMORY_USM)
        *address =
            more->clDeviceMemAllocINTEL(device->native, device->facts.id, NULL,
                                        (size_t)size, ALIGNMENT, &code);
    else
        *address = shared_new(device, (size_t)size);
    if (*address == NULL || code != CL_SUCCESS)
        return no_room(error, size);
    return KILN_OK;
}

kiln_status kiln__opencl_memory_new(void *self, void *device, uint64_t size,
                                    void **address, kiln_error **error)
{
    (void)self;
    return allocate(address, device, size, error);
}

kiln_status kiln__opencl_shared_new(void **address, void **host,
                                    const kiln__opencl_device *device,
                                    uint64_t size, kiln_error **error)
{
    cl_int code = CL_SUCCESS;

    if (device->facts.memory != KILN__OPENCL_MEMORY_USM) {
        KILN_TRY(allocate(address, device, size, error));
        *host =
            device->facts.memory == KILN__OPENCL_MEMORY_FINE ? *address : NULL;
        return KILN_OK;
    }
    *address = device->facts.extensions.clHostMemAllocINTEL(
        device->native, NULL, (size_t)size, ALIGNMENT, &code);
    if (*address == NULL || code != CL_SUCCESS)
        return no_room(error, size);
    *host = *address;
    return KILN_OK;
}

void kiln__opencl_release(const kiln__opencl_device *device, void *address)
{
    if (address == NULL)
        return;
    if (device->facts.memory == KILN__OPENCL_MEMORY_USM)
        (void)device->facts.extensions.clMemFreeINTEL(device->native, address);
    else
        device->api->clSVMFree(device->native, address);
}

void kiln__opencl_memory_free(void *self, void *device, void *address)
{
    (void)self;
    kiln__opencl_release(device, address);
}

kiln_status kiln__opencl_copy_on(const kiln__opencl_device *device,
                                 cl_command_queue queue, void *to,
                                 const void *from, uint64_t size,
                                 kiln_error **error)
{
    cl_int code;

    if (size == 0)
        return KILN_OK;
    if (device->facts.memory == KILN__OPENCL_MEMORY_USM)
        code = device->facts.extensions.clEnqueueMemcpyINTEL(
            queue, CL_TRUE, to, from, (size_t)size, 0, NULL, NULL);
    else
        code = device->api->clEnqueueSVMMemcpy(queue, CL_TRUE, to, from,
                                               (size_t)size, 0, NULL, NULL);
    return code == CL_SUCCESS ? KILN_OK
                              : kiln__opencl_failed(error, code, "copy");
}

kiln_status kiln__opencl_copy(void *self, void *device, void *to,
                              const void *from, uint64_t size,
                              kiln_error **error)
{
    const kiln__opencl_device *at = device;

    (void)self;
    return kiln__opencl_copy_on(at, at->copies, to, from, size, error);
}
