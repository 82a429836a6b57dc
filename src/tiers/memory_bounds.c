/* memory_bounds.c - bounds what the tiers keep in memory without users. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

#include "stores/stores.h"
#include "tiers/binary/binary_table.h"
#include "tiers/memory_bounds.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/tiers_state.h"

/*
 * An artifact is in use by its loaded kernels, bitcode by the builds that read
 * it. What is not in use is kept for later requests, up to the number of bytes
 * that the settings allow. Beyond that the oldest is dropped first; it may come
 * back from a store, or is built again.
 *
 * This is checked when a collection has unloaded kernels, and whenever enough
 * was added that the bound may be exceeded by a sixteenth.
 */
#define SLACK_PART 16

static int compare_order(const void *a, const void *b)
{
    const uint64_t first = ((const kiln__idle *)a)->order;
    const uint64_t second = ((const kiln__idle *)b)->order;

    return first < second ? -1 : first > second;
}

static uint64_t sum_of(const kiln__idle_list *list)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < list->count; i++)
        sum += list->items[i].size;
    return sum;
}

static void drop(struct kiln__tiers *tiers, const kiln__idle *idle)
{
    if (idle->runtime != NULL)
        kiln__runtime_drop(tiers, idle->runtime);
    else
        kiln__artifact_drop(tiers, idle->artifact);
}

/* With the lock held. If there is no memory for the list, everything stays. */
static void trim(struct kiln__tiers *tiers, uint64_t most)
{
    const kiln_alloc *alloc = &tiers->context->alloc;
    kiln__idle_list list = {0};
    uint64_t sum;

    if (kiln__artifacts_idle(&list, tiers) == KILN_OK &&
        kiln__runtime_idle(&list, tiers) == KILN_OK) {
        sum = sum_of(&list);
        if (sum > most)
            qsort(list.items, list.count, sizeof *list.items, compare_order);
        for (size_t i = 0; i < list.count && sum > most; i++) {
            sum -= list.items[i].size;
            drop(tiers, &list.items[i]);
        }
        tiers->idle_bytes = sum;
        tiers->grown_bytes = 0;
    }
    kiln__array_dispose(alloc, &list);
}

void kiln__tiers_trim(struct kiln__tiers *tiers)
{
    const uint64_t most = kiln__stores_mem_size(tiers->context);

    kiln__mutex_lock(&tiers->lock);
    trim(tiers, most);
    kiln__mutex_unlock(&tiers->lock);
}

void kiln__tiers_bound(struct kiln__tiers *tiers)
{
    const uint64_t most = kiln__stores_mem_size(tiers->context);

    if (tiers->grown_bytes > most / SLACK_PART &&
        tiers->grown_bytes >
            most - (tiers->idle_bytes < most ? tiers->idle_bytes : most))
        trim(tiers, most);
}
