/* pack_store.c - a pack as a read-only store. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "stores/pack/pack.h"
#include "stores/pack/pack_reader.h"

static kiln_status get(void *self, const kiln_key *key, kiln_blob *out,
                       kiln_error **error)
{
    kiln__packed found;
    kiln_status status = kiln__pack_find(&found, self, key);

    if (status == KILN_ENOTFOUND)
        return status;
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(
            error, status, "pack %s: an entry is damaged: %s",
            kiln__pack_name(self),
            status == KILN_EIO ? "cannot be read"
                               : kiln__entry_fault_text(found.fault));
    *out = found.bytes;
    if (found.entry.kind == KILN__ENTRY_RAW) {
        out->data = found.entry.payload;
        out->size = found.entry.payload_size;
    }
    return KILN_OK;
}

kiln_status kiln__pack_store_find(kiln__stored *out, kiln__entry_fault *fault,
                                  void *self, const kiln_key *key)
{
    kiln__packed found;
    const kiln_status status = kiln__pack_find(&found, self, key);

    *out = (kiln__stored){.entry = found.entry, .bytes = found.bytes};
    *fault = found.fault;
    if (status == KILN_EIO || status == KILN_ENOMEM)
        *fault = KILN__FAULT_COUNT; /* it could not answer */
    return status == KILN_OK ? KILN_OK : KILN_ENOTFOUND;
}

static kiln_status put(void *self, const kiln_key *key, const void *bytes,
                       size_t size, kiln_error **error)
{
    (void)key;
    (void)bytes;
    (void)size;
    return kiln__error_set(error, KILN_EREADONLY, "pack %s takes no entries",
                           kiln__pack_name(self));
}

static void end(void *self)
{
    kiln__pack_release(self);
}

static kiln_status count_entries(void *self, uint64_t *entries, uint64_t *bytes)
{
    const kiln_pack *pack = self;

    *entries = pack->layout.count;
    *bytes = pack->layout.size;
    return KILN_OK;
}

const kiln_store_ops kiln__pack_store_ops = {
    .size = sizeof kiln__pack_store_ops,
    .name = "pack",
    .get = get,
    .put = put,
    .free = end,
    .stat = count_entries,
};

void *kiln__pack_store(kiln_pack *pack)
{
    return kiln__pack_retain(pack);
}

static kiln_status find_checked(kiln__stored *out, kiln__entry_fault *fault,
                                void *self, const kiln_key *key)
{
    kiln__packed found = {0};
    const kiln_status status = kiln__pack_find(&found, self, key);

    *fault = status == KILN_OK ? KILN__FAULT_NONE : found.fault;
    if (status != KILN_OK)
        return status;
    out->entry = found.entry;
    out->bytes = found.bytes;
    return KILN_OK;
}

kiln__store_source kiln__pack_source(kiln_pack *pack, int32_t priority)
{
    return (kiln__store_source){.ops = &kiln__pack_store_ops,
                                .self = pack,
                                .find = find_checked,
                                .priority = priority,
                                .is_packed = priority == KILN_STORE_PACKS,
                                .pack = pack};
}
