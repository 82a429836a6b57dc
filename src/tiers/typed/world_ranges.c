/* world_ranges.c - the ranges of worlds in which code instances are valid. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "base/error.h"
#include "tiers/typed/code_state.h"
#include "tiers/worlds.h"

/*
 * A code instance has a range in the worlds of its own frontend, and one for
 * each other frontend of anything below it. Ranges only shrink, those of
 * published instances only under the tiers' lock. Their ends are atomic, so
 * that they can be read without it.
 */

int kiln__code_is_good(const kiln_code *code)
{
    if (atomic_load(&code->max_world) != UINT64_MAX)
        return 0;
    for (size_t i = 0; i < code->others.count; i++)
        if (atomic_load(&code->others.items[i].maximum) != UINT64_MAX)
            return 0;
    return 1;
}

static kiln__world_range *find_range(const kiln__world_range_list *list,
                                     const kiln_frontend *frontend)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].frontend == frontend)
            return &list->items[i];
    return NULL;
}

kiln_status kiln__code_range(const kiln_code *code,
                             const kiln_frontend *frontend, uint64_t *minimum,
                             uint64_t *maximum)
{
    const kiln__world_range *other;

    if (frontend == code->frontend) {
        *minimum = code->min_world;
        *maximum = atomic_load(&code->max_world);
        return KILN_OK;
    }
    other = find_range(&code->others, frontend);
    if (other == NULL)
        return KILN_ENOTFOUND;
    *minimum = other->minimum;
    *maximum = atomic_load(&other->maximum);
    return KILN_OK;
}

/* ---- tests ---- */

static int includes(uint64_t minimum, uint64_t maximum, kiln_frontend *frontend,
                    const kiln__worlds *worlds, kiln_frontend **untaken)
{
    const uint64_t world = kiln__worlds_of(worlds, frontend);

    if (world)
        return world >= minimum && world <= maximum;
    if (!*untaken)
        *untaken = frontend;
    return maximum == UINT64_MAX;
}

int kiln__code_is_for(const kiln_code *code, const kiln__worlds *worlds,
                      kiln_frontend **untaken)
{
    *untaken = NULL;
    if (!includes(code->min_world, atomic_load(&code->max_world),
                  code->frontend, worlds, untaken))
        return 0;
    for (size_t i = 0; i < code->others.count; i++) {
        const kiln__world_range *range = &code->others.items[i];

        if (!includes(range->minimum, atomic_load(&range->maximum),
                      range->frontend, worlds, untaken))
            return 0;
    }
    return 1;
}

/* ---- shrinking ---- */

static int lower(_Atomic uint64_t *maximum, uint64_t to)
{
    if (atomic_load(maximum) <= to)
        return 0;
    atomic_store(maximum, to);
    return 1;
}

kiln_status kiln__ranges_narrow(const kiln_alloc *alloc,
                                kiln__world_range_list *list,
                                kiln_frontend *frontend, uint64_t minimum,
                                uint64_t maximum)
{
    kiln__world_range *range = find_range(list, frontend);

    if (range == NULL) {
        if (!kiln__array_reserve(alloc, list, 1))
            return KILN_ENOMEM;
        range = &list->items[list->count++];
        range->frontend = frontend;
        range->minimum = minimum;
        atomic_init(&range->maximum, maximum);
        return KILN_OK;
    }
    if (range->minimum < minimum)
        range->minimum = minimum;
    (void)lower(&range->maximum, maximum);
    return KILN_OK;
}

kiln_status kiln__ranges_narrow_by(const kiln_alloc *alloc,
                                   kiln__world_range_list *list,
                                   const kiln_code *code)
{
    KILN_TRY(kiln__ranges_narrow(alloc, list, code->frontend, code->min_world,
                                 atomic_load(&code->max_world)));
    for (size_t i = 0; i < code->others.count; i++) {
        const kiln__world_range *range = &code->others.items[i];

        KILN_TRY(kiln__ranges_narrow(alloc, list, range->frontend,
                                     range->minimum,
                                     atomic_load(&range->maximum)));
    }
    return KILN_OK;
}

int kiln__code_end(kiln_code *code, const kiln_frontend *frontend,
                   uint64_t maximum)
{
    kiln__world_range *other;

    if (frontend == code->frontend)
        return lower(&code->max_world, maximum);
    other = find_range(&code->others, frontend);
    return other != NULL && lower(&other->maximum, maximum);
}
