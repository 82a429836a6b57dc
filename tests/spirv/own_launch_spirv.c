/* own_launch_spirv.c - launches by a runtime with OpenCL or Level Zero. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "spirv_runtime.h"
#include "support/devices/own_launch.h"
#include "support/harness.h"

static spirv_runtime own;

void own_begin(kernels *k, kiln_device **device, kiln_queue **queue)
{
    assert_true(spirv_runtime_open(&own) && spirv_runtime_begin(&own));
    assert_ok(kiln_device_adopt(device, k->context, "spirv", &own.native,
                                &test_error));
    assert_ok(kiln_queue_adopt(queue, *device, own.streams[0], &test_error));
}

/* ---- OpenCL ---- */

static cl_int cl_set(cl_kernel kernel, cl_uint at, const own_value *value,
                     const void *bytes)
{
    void *pointer;

    if (!value->is_pointer)
        return own.cl.clSetKernelArg(kernel, at, value->size, bytes);
    memcpy(&pointer, bytes, sizeof pointer);
    return own.cl.clSetKernelArgSVMPointer(kernel, at, pointer);
}

static void cl_launch(cl_kernel kernel, const own_block *block,
                      const own_shape *shape)
{
    size_t global[3], local[3];

    for (size_t i = 0; i < block->count; i++)
        assert_int_equal(cl_set(kernel, (cl_uint)i, &block->values[i],
                                block->bytes + block->values[i].offset),
                         CL_SUCCESS);
    for (int i = 0; i < 3; i++) {
        local[i] = shape->items[i];
        global[i] = local[i] * shape->groups[i];
    }
    assert_int_equal(own.cl.clEnqueueNDRangeKernel(own.streams[0], kernel, 3,
                                                   NULL, global, local, 0, NULL,
                                                   NULL),
                     CL_SUCCESS);
    assert_int_equal(own.cl.clFinish(own.streams[0]), CL_SUCCESS);
}

/* ---- Level Zero ---- */

static void ze_launch(ze_kernel_handle_t kernel, const own_block *block,
                      const own_shape *shape)
{
    const ze_group_count_t groups = {shape->groups[0], shape->groups[1],
                                     shape->groups[2]};
    const kiln__level_zero_api *ze = &own.ze;

    for (size_t i = 0; i < block->count; i++)
        assert_int_equal(ze->zeKernelSetArgumentValue(
                             kernel, (uint32_t)i, block->values[i].size,
                             block->bytes + block->values[i].offset),
                         ZE_RESULT_SUCCESS);
    assert_int_equal(ze->zeKernelSetGroupSize(kernel, shape->items[0],
                                              shape->items[1], shape->items[2]),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(ze->zeCommandListAppendLaunchKernel(
                         own.streams[0], kernel, &groups, NULL, 0, NULL),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(
        ze->zeCommandListAppendBarrier(own.streams[0], NULL, 0, NULL),
        ZE_RESULT_SUCCESS);
}

/* ---- either ---- */

void own_launch(void *function, const own_block *block, const own_shape *shape)
{
    if (own.is_zero)
        ze_launch(function, block, shape);
    else
        cl_launch(function, block, shape);
}

void own_end(void)
{
    spirv_runtime_end(&own);
}
