/* device_shape.c - chooses groups for a grid. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/device_driver.h"

#include <inttypes.h>

#include "base/error.h"

/*
 * A device launches whole groups. Groups that divide the grid are best, since
 * all of their items have work and the kernel's faster entry takes them. So a
 * group is first made of divisors of the grid, dimension by dimension: the
 * largest divisor that makes the group a whole number of sub-groups, or else
 * the largest. Usually the grid's x is a multiple of the limit, and the first
 * candidate fits.
 *
 * A grid of 1000003 items has no divisors, and groups of one item leave most of
 * a device idle. Where divisors make few items, and the kernel allows it, the
 * last groups go beyond the grid. Of such groups with more than half of the
 * possible items, and with rows of dimension 0 for whole sub-groups if there
 * are any, the one is taken with which the fewest sub-groups are launched.
 */

/* Groups of fewer items, unless they are the grid, keep too few sub-groups
   running: a processor of the device has room for 16 to 32 groups. */
#define FEW_ITEMS 64u

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

static void choose_within(uint32_t block[3], const uint64_t grid[3],
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

static uint64_t groups_of(uint64_t grid, uint32_t block)
{
    return grid / block + (grid % block != 0);
}

static uint64_t items_of(const uint32_t block[3])
{
    return (uint64_t)block[0] * block[1] * block[2];
}

/* Groups larger than usual are better than groups of few items. */
static void choose(uint32_t block[3], const uint64_t grid[3],
                   const kiln__group_limits *limits, uint32_t most)
{
    const uint32_t usual =
        limits->usual != 0 && limits->usual < most ? limits->usual : most;

    choose_within(block, grid, limits, usual);
    if (usual < most && items_of(block) < FEW_ITEMS)
        choose_within(block, grid, limits, most);
}

/* ---- groups that do not divide the grid ---- */

/* Returns how many groups a dimension may have. The items of all groups, those
   outside the grid too, are a number of 64 bits. */
static uint64_t groups_most(const kiln__group_limits *limits, int d,
                            uint32_t block)
{
    return least(limits->groups[d], UINT64_MAX / block);
}

static int has_groups(const uint32_t block[3], const uint64_t grid[3],
                      const kiln__group_limits *limits)
{
    for (int i = 0; i < 3; i++)
        if (groups_of(grid[i], block[i]) > groups_most(limits, i, block[i]))
            return 0;
    return 1;
}

/* A candidate, and what it costs. */
typedef struct candidate {
    uint32_t block[3];
    uint64_t items;
    uint64_t row;      /* items of a sub-group that are neighbours in memory */
    double sub_groups; /* that are launched; may be beyond 64 bits */
} candidate;

static void rate(candidate *c, const uint64_t grid[3], uint32_t width)
{
    c->items = items_of(c->block);
    c->row = least(c->block[0], width);
    c->sub_groups = (double)((c->items + width - 1) / width);
    for (int i = 0; i < 3; i++)
        c->sub_groups *= (double)groups_of(grid[i], c->block[i]);
}

static int is_better(const candidate *a, const candidate *b, uint32_t most)
{
    const uint64_t enough = most / 2 + 1;
    const uint64_t x = least(a->items, enough), y = least(b->items, enough);

    if (x != y)
        return x > y;
    if (a->row != b->row)
        return a->row > b->row;
    if (a->sub_groups < b->sub_groups || a->sub_groups > b->sub_groups)
        return a->sub_groups < b->sub_groups;
    return a->items > b->items;
}

/* Returns the size to try after `size`: the powers of two below the grid's,
   then the grid's; 0: there is none. */
static uint32_t next_size(uint32_t size, uint64_t grid, uint32_t room)
{
    const uint64_t next = least(grid, 2 * (uint64_t)size);

    return size == grid || next > room ? 0 : (uint32_t)next;
}

/* Tries all sizes of dimension `d` and of those after it. */
static void try_sizes(candidate *best, candidate *c, int d,
                      const uint64_t grid[3], const kiln__group_limits *limits)
{
    const uint32_t most = limits->cut_items;
    const uint32_t others = d > 0 ? (uint32_t)items_of(c->block) : 1;
    const uint32_t room =
        (uint32_t)least(most / others, at_least_one(limits->sizes[d]));

    for (uint32_t size = 1; size != 0; size = next_size(size, grid[d], room)) {
        c->block[d] = size;
        if (d < 2) {
            try_sizes(best, c, d + 1, grid, limits);
            c->block[d + 1] = 1;
            continue;
        }
        rate(c, grid, at_least_one(limits->width));
        if (has_groups(c->block, grid, limits) && is_better(c, best, most))
            *best = *c;
    }
}

/* Replaces a group of few items that divides the grid. */
static void choose_cut(uint32_t block[3], const uint64_t grid[3],
                       const kiln__group_limits *limits, uint32_t maximum)
{
    kiln__group_limits within = *limits;
    candidate best = {.items = 0}, c = {.block = {1, 1, 1}};

    if (maximum != 0 && maximum < within.cut_items)
        within.cut_items = maximum;
    if (has_groups(block, grid, limits) &&
        (items_of(block) >= least(FEW_ITEMS, within.cut_items) ||
         (block[0] == grid[0] && block[1] == grid[1] && block[2] == grid[2])))
        return;
    try_sizes(&best, &c, 0, grid, &within);
    if (best.items > 0)
        memcpy(block, best.block, sizeof best.block);
}

/* ---- checking ---- */

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
        fits &= block[i] != 0 && block[i] <= at_least_one(limits->sizes[i]);
        items = items > most ? items : items * block[i];
    }
    return items <= most && fits;
}

static int can_cut(const kiln_launch_request *request,
                   const kiln__group_limits *limits)
{
    return kiln_kernel_get_info(request->kernel)->any_block &&
           limits->cut_items != 0;
}

static kiln_status check(const uint32_t block[3],
                         const kiln_launch_request *request,
                         const kiln__group_limits *limits, uint32_t most,
                         kiln_error **error)
{
    const uint64_t *grid = request->grid;
    const int is_whole = divides(block, grid);

    if (!is_whole && !can_cut(request, limits))
        return kiln__error_set(
            error, KILN_EINVAL,
            "launch of %s: a grid of %" PRIu64 ",%" PRIu64 ",%" PRIu64
            " items is no whole number of groups of %u,%u,%u, which this "
            "kernel's code for the device needs; without a block, groups that "
            "divide the grid are chosen",
            method_of(request), grid[0], grid[1], grid[2], block[0], block[1],
            block[2]);
    if (!is_whole)
        most = (uint32_t)least(most, limits->cut_items);
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
    if (can_cut(request, limits))
        choose_cut(block, request->grid, limits, maximum);
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
    shape->is_cut = !divides(shape->block, request->grid);
    for (int i = 0; i < 3; i++) {
        const uint64_t room = groups_most(limits, i, shape->block[i]);

        shape->groups[i] = groups_of(request->grid[i], shape->block[i]);
        if (shape->groups[i] > room)
            return kiln__error_set(
                error, KILN_EINVAL,
                "launch of %s: %" PRIu64 " groups in dimension %d: the device "
                "takes %" PRIu64,
                method_of(request), shape->groups[i], i, room);
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
