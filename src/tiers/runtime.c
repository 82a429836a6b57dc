/* runtime.c - tier 2: runtime functions' bitcode, by runtime key. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "state.h"

/*
 * Entries are never replaced or dropped while the context lives: bitcode on
 * loan stays where it is.
 */
typedef struct runtime_entry {
    size_t encoded_size;
    size_t size;
    unsigned char bytes[]; /* the encoded key, then the bitcode */
} runtime_entry;

static size_t entry_size(const runtime_entry *entry)
{
    return sizeof *entry + entry->encoded_size + entry->size;
}

const void *kiln__runtime_find(kiln_context *context, kiln_digest key,
                               const void *encoded, size_t encoded_size,
                               size_t *size)
{
    struct kiln__tiers *tiers = context->tiers;
    const runtime_entry *entry;

    kiln__mutex_lock(&tiers->lock);
    entry = kiln__map_get(&tiers->runtime, key);
    kiln__mutex_unlock(&tiers->lock);
    if (!entry || entry->encoded_size != encoded_size ||
        memcmp(entry->bytes, encoded, encoded_size) != 0)
        return NULL;
    kiln__count_request(context, KILN_TIER_RUNTIME, KILN__COUNT_HIT);
    *size = entry->size;
    return entry->bytes + encoded_size;
}

static runtime_entry *entry_new(const kiln_alloc *alloc, const void *encoded,
                                size_t encoded_size, const void *bitcode,
                                size_t size)
{
    runtime_entry *entry =
        kiln__allocate(alloc, sizeof *entry + encoded_size + size);

    if (!entry)
        return NULL;
    entry->encoded_size = encoded_size;
    entry->size = size;
    memcpy(entry->bytes, encoded, encoded_size);
    memcpy(entry->bytes + encoded_size, bitcode, size);
    return entry;
}

kiln_status kiln__runtime_keep(kiln_context *context, kiln_digest key,
                               const void *encoded, size_t encoded_size,
                               const void *bitcode, size_t size)
{
    struct kiln__tiers *tiers = context->tiers;
    const kiln_alloc *alloc = &context->alloc;
    runtime_entry *entry =
        entry_new(alloc, encoded, encoded_size, bitcode, size);
    int kept = 0;
    int there;

    kiln__count_request(context, KILN_TIER_RUNTIME, KILN__COUNT_BUILT);
    if (!entry)
        return KILN_ENOMEM;
    kiln__mutex_lock(&tiers->lock);
    there = kiln__map_get(&tiers->runtime, key) != NULL;
    if (!there)
        kept = kiln__map_set(&tiers->runtime, key, entry);
    kiln__mutex_unlock(&tiers->lock);
    if (kept)
        kiln__count_held(context, KILN_TIER_RUNTIME, 1, (int64_t)size);
    else
        kiln__deallocate(alloc, entry, entry_size(entry));
    return kept || there ? KILN_OK : KILN_ENOMEM;
}

static void free_entry(kiln_digest key, void *value, void *env)
{
    runtime_entry *entry = value;

    (void)key;
    kiln__deallocate(env, entry, entry_size(entry));
}

void kiln__runtime_free(struct kiln__tiers *tiers)
{
    kiln__map_each(&tiers->runtime, free_entry, &tiers->context->alloc);
    kiln__map_dispose(&tiers->runtime);
}
