/* device_shape.c - chooses groups for a grid. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/device_driver.h"

#include <inttypes.h>

#include "base/error.h"

/*
 * On a device a grid is a whole number of groups. So a group is chosen from the
 * divisors of the grid, dimension by dimension: the largest divisor that makes
 * the group a whole number of sub-groups, or else the largest. Usually the
 * grid's x is a multiple of the limit, and the first candidate fits.
 */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t at_least_one(uint32_t number)
{
    return number > 0 ? number : 1;
}

/* Returns the largest divisor of `size`, at most `room`, whose product with
   `items` is a multiple of `width`; 0: there is none. */
static uint32_t divisor(uint64_t size, uint32_t room, uint32_t items,
                        uint32_t width)
{
    for (uint32_t d = (uint32_t)least(size, room); d > 0; d--)
        if ((uint64_t)items * d % width == 0 && size % d == 0)
            return d;
    return 0;
}

static void choose(uint32_t block[3], const uint64_t grid[3],
                   const kiln__group_limits *limits, uint32_t most)
{
    const uint32_t width = at_least_one(limits->width);
    uint32_t items = 1;

    for (int i = 0; i < 3; i++) {
        const uint32_t room =
            (uint32_t)least(most / items, at_least_one(limits->sizes[i]));

        block[i] = divisor(grid[i], room, items, width);
        if (block[i] == 0)
            block[i] = divisor(grid[i], room, 1, 1);
        items *= block[i];
    }
}

static const char *method_of(const kiln_launch_request *request)
{
    return kiln_kernel_get_info(request->kernel)->method;
}

static int divides(const uint32_t block[3], const uint64_t grid[3])
{
    for (int i = 0; i < 3; i++)
        if (block[i] == 0 || grid[i] % block[i] != 0)
            return 0;
    return 1;
}

static int is_within(const uint32_t block[3], const kiln__group_limits *limits,
                     uint32_t most)
{
    uint64_t items = 1;
    int fits = 1;

    for (int i = 0; i < 3; i++) {
        fits &= block[i] <= at_least_one(limits->sizes[i]);
        items = items > most ? items : items * block[i];
    }
    return items <= most && fits;
}

static kiln_status check(const uint32_t block[3],
                         const kiln_launch_request *request,
                         const kiln__group_limits *limits, uint32_t most,
                         kiln_error **error)
{
    const uint64_t *grid = request->grid;

    if (!divides(block, grid))
        return kiln__error_set(
            error, KILN_EINVAL,
            "launch of %s: a grid of %" PRIu64 ",%" PRIu64 ",%" PRIu64
            " items is no whole number of groups of %u,%u,%u",
            method_of(request), grid[0], grid[1], grid[2], block[0], block[1],
            block[2]);
    if (is_within(block, limits, most))
        return KILN_OK;
    return kiln__error_set(
        error, KILN_EINVAL,
        "launch of %s: a group of %u,%u,%u items is too large: at most %u, "
        "and %u,%u,%u in its dimensions",
        method_of(request), block[0], block[1], block[2], most,
        limits->sizes[0], limits->sizes[1], limits->sizes[2]);
}

static kiln_status find_block(uint32_t block[3],
                              const kiln_launch_request *request,
                              const kiln__group_limits *limits,
                              const uint32_t suggested[3], kiln_error **error)
{
    const uint32_t *asked = request->block;
    const uint32_t maximum =
        kiln_kernel_get_info(request->kernel)->maximum_group_size;
    uint32_t most = at_least_one(limits->items);

    if (maximum != 0 && maximum < most)
        most = maximum;
    if ((asked[0] | asked[1] | asked[2]) != 0) {
        memcpy(block, asked, 3 * sizeof *block);
        return check(block, request, limits, most, error);
    }
    if (suggested != NULL && divides(suggested, request->grid) &&
        is_within(suggested, limits, most))
        memcpy(block, suggested, 3 * sizeof *block);
    else
        choose(block, request->grid, limits, most);
    return KILN_OK;
}

kiln_status kiln__launch_shape_find(kiln__launch_shape *shape, uint64_t number,
                                    const kiln_launch_request *request,
                                    const kiln__group_limits *limits,
                                    const uint32_t suggested[3],
                                    kiln_error **error)
{
    shape->number = 0;
    KILN_TRY(find_block(shape->block, request, limits, suggested, error));
    for (int i = 0; i < 3; i++) {
        shape->groups[i] = request->grid[i] / shape->block[i];
        if (shape->groups[i] > limits->groups[i])
            return kiln__error_set(
                error, KILN_EINVAL,
                "launch of %s: %" PRIu64 " groups in dimension %d: the device "
                "takes %" PRIu64,
                method_of(request), shape->groups[i], i, limits->groups[i]);
    }
    memcpy(shape->grid, request->grid, sizeof shape->grid);
    memcpy(shape->asked, request->block, sizeof shape->asked);
    shape->number = number;
    return KILN_OK;
}

/* ---- group memory ---- */

kiln_status kiln__launch_local_check(const char *device, uint64_t most,
                                     const kiln_launch_request *request,
                                     kiln_error **error)
{
    const uint32_t dynamic = request->dynamic_local_bytes;
    const kiln_kernel_info *info;

    if (dynamic == 0 || most == 0)
        return KILN_OK;
    info = kiln_kernel_get_info(request->kernel);
    if ((uint64_t)info->static_local_bytes + dynamic <= most)
        return KILN_OK;
    return kiln__error_set(
        error, KILN_EINVAL,
        "launch of %s: a group needs %" PRIu32 " bytes of memory and %" PRIu32
        " of dynamic memory; on %s a group has %" PRIu64,
        info->method, info->static_local_bytes, dynamic, device, most);
}
