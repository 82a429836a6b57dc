/* stored_runtime.c - connects tier 2 with the stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen_client/provenance.h"
#include "context/counters.h"
#include "context/log.h"
#include "stores/stores.h"
#include "tiers/entry_writer.h"
#include "tiers/memory_bounds.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/runtime/runtime_entry.h"

/*
 * Stores hold all bitcode that a kernel cannot do without, and of the optional
 * bitcode what was judged to be worth storing. The payload of an entry is the
 * bitcode; there is no meta.
 */
#define LOCK_WAIT_NS ((uint64_t)2000000000)

/* With the lock held. Marks the entry as ready, with its bitcode. */
static void make_ready(struct kiln__tiers *tiers, kiln__runtime_entry *entry,
                       void *bitcode, size_t size, uint64_t make_ns)
{
    entry->bitcode = bitcode;
    entry->size = size;
    entry->make_ns = make_ns;
    entry->state = KILN__RUNTIME_READY;
    entry->order = ++tiers->order;
    kiln__tiers_grew(tiers, size);
    kiln__condition_broadcast(&tiers->ended);
}

kiln_status kiln__runtime_keep(kiln_context *context,
                               kiln__runtime_entry *entry, const void *bitcode,
                               size_t size, uint64_t make_ns)
{
    struct kiln__tiers *tiers = context->tiers;
    void *copy = kiln__allocate_copy(&context->alloc, bitcode, size);

    if (copy == NULL)
        return KILN_ENOMEM;
    kiln__mutex_lock(&tiers->lock);
    make_ready(tiers, entry, copy, size, make_ns);
    kiln__mutex_unlock(&tiers->lock);
    kiln__count_held(context, KILN_TIER_RUNTIME, 1, (int64_t)size);
    return KILN_OK;
}

static kiln_key key_of(const kiln__runtime_entry *entry)
{
    return (kiln_key){entry->digest, entry->encoded, entry->encoded_size};
}

kiln_status kiln__entry_writer_runtime(kiln__entry_writer *out,
                                       kiln_context *context,
                                       const kiln__runtime_entry *entry)
{
    const kiln_key key = key_of(entry);
    const char *toolchain = entry->toolchain != NULL
                                ? entry->toolchain
                                : kiln__toolchain_text(context);

    kiln__entry_writer_init(out, &context->alloc, KILN__ENTRY_RUNTIME);
    out->entry.toolchain = toolchain;
    out->entry.toolchain_size = strlen(toolchain);
    out->entry.build_ns = entry->make_ns;
    out->entry.payload = entry->bitcode;
    out->entry.payload_size = entry->size;
    return kiln__entry_writer_finish(out, &key);
}

static int take_stored(kiln_context *context, kiln__runtime_entry *entry,
                       const kiln__stored *stored)
{
    if (!kiln__toolchain_accepts(context, stored->entry.toolchain,
                                 stored->entry.toolchain_size)) {
        kiln__stores_reject(context, stored, KILN__FAULT_TOOLCHAIN);
        return 0;
    }
    if (stored->entry.payload_size == 0) {
        kiln__stores_reject(context, stored, KILN__FAULT_MALFORMED);
        return 0;
    }
    entry->is_packed = stored->is_packed;
    entry->is_recalled = 1;
    kiln__string_free(&context->alloc, entry->toolchain);
    entry->toolchain = kiln__string_copy_n(
        &context->alloc, stored->entry.toolchain, stored->entry.toolchain_size);
    return entry->toolchain != NULL &&
           kiln__runtime_keep(context, entry, stored->entry.payload,
                              stored->entry.payload_size,
                              stored->entry.build_ns) == KILN_OK;
}

/* Called by a builder: bitcode from a store need not be built. */
static int recall(kiln_context *context, kiln__runtime_entry *entry)
{
    const kiln_key key = key_of(entry);
    kiln__stored stored = {0};
    kiln_status status;
    int found = 0;

    if (!kiln__stores_load(context, KILN__ENTRY_RUNTIME))
        return 0;
    status = kiln__stores_get(&stored, context, KILN__ENTRY_RUNTIME, &key);
    while (status == KILN_OK && !found) {
        found = take_stored(context, entry, &stored);
        if (!found)
            status =
                kiln__stores_next(&stored, context, KILN__ENTRY_RUNTIME, &key);
    }
    kiln__stored_release(&stored);
    return found;
}

/* Waits as long as a short build takes, but no longer than the settings
   allow. */
static kiln_status wait_for_lock(kiln_context *context,
                                 kiln__runtime_entry *entry)
{
    const uint64_t most_ms = kiln__stores_wait_ms(context);
    const uint64_t wait =
        most_ms < LOCK_WAIT_NS / 1000000 ? most_ms * 1000000 : LOCK_WAIT_NS;
    kiln_status status;

    kiln__own_blocking_enter(context);
    status = kiln__lock_wait(&entry->lock, context->tiers->locks, entry->digest,
                             kiln__clock_ns() + wait);
    kiln__own_blocking_leave(context);
    return status;
}

/* If the bitcode is not optional, only one process builds it, and the others
   wait. */
int kiln__runtime_recall(kiln_context *context, kiln__runtime_entry *entry)
{
    int found = recall(context, entry);

    if (found || entry->is_optional ||
        !kiln__stores_share(context, KILN__ENTRY_RUNTIME))
        return found;
    if (wait_for_lock(context, entry) == KILN_OK)
        found = recall(context, entry);
    if (found)
        kiln__lock_release(&entry->lock);
    return found;
}

void kiln__runtime_save(kiln_context *context, const kiln__runtime_entry *entry)
{
    kiln__entry_writer writer;

    if (!kiln__stores_write(context, KILN__ENTRY_RUNTIME))
        return;
    if (kiln__entry_writer_runtime(&writer, context, entry) == KILN_OK)
        kiln__entry_writer_put(context, &writer);
    kiln__entry_writer_dispose(&writer);
}

void kiln__runtime_unsave(kiln_context *context,
                          const kiln__runtime_entry *entry)
{
    const kiln_key key = key_of(entry);
    kiln__stored stored = {0};
    kiln_status status =
        kiln__stores_get(&stored, context, KILN__ENTRY_RUNTIME, &key);

    while (status == KILN_OK) {
        if (stored.entry.payload_size == entry->size &&
            memcmp(stored.entry.payload, entry->bitcode, entry->size) == 0)
            kiln__stores_reject(context, &stored, KILN__FAULT_MALFORMED);
        status = kiln__stores_next(&stored, context, KILN__ENTRY_RUNTIME, &key);
    }
    kiln__stored_release(&stored);
}
