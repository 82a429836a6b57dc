/* pack.c - finds entries in a pack and checks them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/pack/pack.h"

#include <string.h>

#include "base/data/endian.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "stores/pack/pack_reader.h"

/*
 * Nothing in a pack's index is trusted: its numbers are checked against the
 * header, which was checked against the size of the file when the pack was
 * opened. What the index leads to must be an envelope of exactly the wanted
 * key.
 */

/* ---- the index ---- */

/* A bucket has about four slots, so several are read together. */
#define SLOTS_AT_ONCE 16u

typedef struct slots {
    kiln_pack *pack;
    uint64_t first, count; /* which ones are in `bytes` */
    unsigned char bytes[SLOTS_AT_ONCE * KILN__PACK_SLOT_SIZE];
} slots;

static void slots_begin(slots *s, kiln_pack *pack)
{
    s->pack = pack;
    s->first = s->count = 0;
}

static kiln_status slot_at(kiln__pack_slot *out, slots *s, uint64_t index)
{
    const kiln__pack_layout *layout = &s->pack->layout;

    if (index < s->first || index - s->first >= s->count) {
        const uint64_t left = layout->count - index;

        s->first = index;
        s->count = left < SLOTS_AT_ONCE ? left : SLOTS_AT_ONCE;
        KILN_TRY(kiln__pack_look(
            s->pack, layout->slots + index * KILN__PACK_SLOT_SIZE, s->bytes,
            (size_t)(s->count * KILN__PACK_SLOT_SIZE)));
    }
    kiln__pack_slot_read(out,
                         s->bytes + (index - s->first) * KILN__PACK_SLOT_SIZE);
    return KILN_OK;
}

/* Finds the slots among which the digest would be; there may be none. */
static kiln_status find_bucket(uint64_t *first, uint64_t *end, kiln_pack *pack,
                               kiln_digest digest)
{
    const uint64_t bucket = kiln__pack_bucket(digest, pack->layout.bits);
    unsigned char bytes[8];

    KILN_TRY(kiln__pack_look(pack, pack->layout.index + 4 * bucket, bytes,
                             sizeof bytes));
    *first = kiln__le32_read(bytes);
    *end = kiln__le32_read(bytes + 4);
    if (*end > pack->layout.count)
        *end = pack->layout.count;
    if (*first > *end)
        *first = *end;
    return KILN_OK;
}

/* Finds the first slot in [first, end) that is not below the digest. */
static kiln_status find_slot(uint64_t *out, slots *s, kiln_digest digest,
                             uint64_t first, uint64_t end)
{
    while (first < end) {
        /* If few are left, start at the first: one read gets all. */
        const uint64_t middle =
            end - first <= SLOTS_AT_ONCE ? first : first + (end - first) / 2;
        kiln__pack_slot slot;

        KILN_TRY(slot_at(&slot, s, middle));
        if (kiln__pack_compare(slot.digest, digest) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    *out = first;
    return KILN_OK;
}

/* ---- entries ---- */

static int lies_within(const kiln_pack *pack, const kiln__pack_slot *slot)
{
    return slot->offset % KILN__PACK_ALIGNMENT == 0 &&
           slot->offset >= KILN__PACK_HEADER_SIZE &&
           slot->offset <= pack->layout.index &&
           slot->size <= pack->layout.index - slot->offset;
}

/* Releases the bytes; the entry pointed into them. */
static void let_go(kiln__packed *found)
{
    kiln_blob_release(&found->bytes);
    found->entry = (kiln__entry){0};
}

/* For an entry that is large without reason, for example in a sparse pack, only
   the head is read. KILN_ECORRUPT with the fault. */
static kiln_status look_at_head(kiln__entry_fault *fault, const kiln_pack *pack,
                                const kiln__pack_slot *slot)
{
    unsigned char head[KILN__ENTRY_HEAD_SIZE];

    *fault = KILN__FAULT_MALFORMED;
    if (!lies_within(pack, slot) || slot->size > KILN__ENTRY_LARGEST)
        return KILN_ECORRUPT;
    *fault = KILN__FAULT_NONE;
    if (slot->size < KILN__ENTRY_LARGE)
        return KILN_OK;
    KILN_TRY(kiln__pack_copy_out(pack, slot->offset, head, sizeof head));
    *fault = kiln__entry_begins(head, slot->size);
    return *fault == KILN__FAULT_NONE ? KILN_OK : KILN_ECORRUPT;
}

/* Lends the entry of the slot, if it has the key (NULL: any key). */
static kiln_status lend_entry(kiln__packed *out, kiln_pack *pack,
                              const kiln__pack_slot *slot, const kiln_key *key)
{
    KILN_TRY(look_at_head(&out->fault, pack, slot));
    KILN_TRY(
        kiln__pack_lend(&out->bytes, pack, slot->offset, (size_t)slot->size));
    out->fault =
        kiln__entry_decode(&out->entry, out->bytes.data, out->bytes.size, key);
    if (out->fault == KILN__FAULT_NONE)
        return KILN_OK;
    let_go(out);
    return KILN_ECORRUPT;
}

/* Nobody can make two keys with one digest, but a damaged pack may claim to
   have millions: this bounds how many slots, and how many bytes, are read. */
#define ALIKE_MOST 64u
#define ALIKE_BYTES_MOST KILN__ENTRY_LARGEST

/* Every key has a slot, also if several have one digest. A damaged entry does
   not hide those after it; if none of them fits, its fault is the result. */
kiln_status kiln__pack_find(kiln__packed *out, kiln_pack *pack,
                            const kiln_key *key)
{
    slots s;
    kiln__entry_fault fault = KILN__FAULT_NONE;
    kiln__pack_slot slot;
    uint64_t at, end, bytes = 0;

    slots_begin(&s, pack);
    *out = (kiln__packed){.fault = KILN__FAULT_NONE};
    KILN_TRY(find_bucket(&at, &end, pack, key->digest));
    KILN_TRY(find_slot(&at, &s, key->digest, at, end));
    if (end - at > ALIKE_MOST)
        end = at + ALIKE_MOST;
    for (; at < end && bytes < ALIKE_BYTES_MOST; at++) {
        KILN_TRY(slot_at(&slot, &s, at));
        if (!kiln__digest_equal(slot.digest, key->digest))
            break;

        const kiln_status status = lend_entry(out, pack, &slot, key);

        if (status != KILN_ECORRUPT)
            return status;
        if (out->fault != KILN__FAULT_KEY)
            fault = out->fault;
        if (lies_within(pack, &slot))
            bytes += slot.size;
    }
    out->fault = fault;
    return fault == KILN__FAULT_NONE ? KILN_ENOTFOUND : KILN_ECORRUPT;
}

kiln_status kiln__pack_at(kiln__packed *out, kiln_pack *pack, size_t index)
{
    slots s;
    kiln__pack_slot slot;
    kiln_status status;

    slots_begin(&s, pack);
    *out = (kiln__packed){.fault = KILN__FAULT_NONE};
    if (index >= pack->layout.count)
        return KILN_ENOTFOUND;
    KILN_TRY(slot_at(&slot, &s, index));
    out->digest = slot.digest;
    status = lend_entry(out, pack, &slot, NULL);
    if (status != KILN_OK)
        return status;
    if (kiln__digest_equal(slot.digest, out->entry.key.digest))
        return KILN_OK;
    let_go(out);
    out->fault = KILN__FAULT_KEY;
    return KILN_ECORRUPT;
}

/* ---- all of it ---- */

/* Header and footer may have changed since the pack was opened. */
static kiln_status verify_ends(const kiln_pack *pack, kiln_error **error)
{
    const uint64_t size = pack->layout.size;
    unsigned char header[KILN__PACK_HEADER_SIZE];
    unsigned char footer[KILN__PACK_FOOTER_SIZE];
    kiln__pack_layout layout;

    if (kiln__pack_copy_out(pack, 0, header, sizeof header) != KILN_OK ||
        kiln__pack_copy_out(pack, size - sizeof footer, footer,
                            sizeof footer) != KILN_OK)
        return kiln__error_set(error, KILN_EIO, "pack %s: cannot be read",
                               kiln__pack_name(pack));
    if (kiln__pack_header_read(&layout, header, footer, size) == NULL &&
        kiln__sum_equal(layout.sum, pack->layout.sum))
        return KILN_OK;
    return kiln__error_set(error, KILN_ECORRUPT,
                           "pack %s: it was written over while it was open",
                           kiln__pack_name(pack));
}

static kiln_status verify_index(kiln_pack *pack, kiln_error **error)
{
    const kiln__pack_layout *layout = &pack->layout;
    const uint64_t size = layout->size - KILN__PACK_FOOTER_SIZE - layout->index;
    kiln_blob index = {0};
    kiln__sum sum;
    kiln_status status =
        kiln__pack_lend(&index, pack, layout->index, (size_t)size);

    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, status, "pack %s: cannot be read",
                               kiln__pack_name(pack));
    sum = kiln__sum_bytes(index.data, index.size);
    kiln_blob_release(&index);
    if (kiln__sum_equal(sum, layout->index_sum))
        return KILN_OK;
    return kiln__error_set(error, KILN_ECORRUPT,
                           "pack %s: its index is damaged",
                           kiln__pack_name(pack));
}

static kiln_status verify_entry(kiln_pack *pack, size_t index,
                                kiln_error **error)
{
    kiln__packed by_number, by_key;
    kiln_status status = kiln__pack_at(&by_number, pack, index);

    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, status, "pack %s: entry %zu: %s",
                               kiln__pack_name(pack), index,
                               kiln__entry_fault_text(by_number.fault));
    status = kiln__pack_find(&by_key, pack, &by_number.entry.key);
    kiln_blob_release(&by_number.bytes);
    kiln_blob_release(&by_key.bytes);
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "pack %s: entry %zu is not found by its key",
                               kiln__pack_name(pack), index);
    return KILN_OK;
}

/* True if there are only zeros between two entries. */
static int is_gap(const kiln_pack *pack, uint64_t from, uint64_t to)
{
    static const unsigned char zeros[KILN__PACK_ALIGNMENT];
    unsigned char bytes[KILN__PACK_ALIGNMENT];

    return to - from < sizeof bytes &&
           kiln__pack_copy_out(pack, from, bytes, (size_t)(to - from)) ==
               KILN_OK &&
           memcmp(bytes, zeros, (size_t)(to - from)) == 0;
}

/* Checks that the entries follow one another from the header to the index. */
static kiln_status verify_places(kiln_pack *pack, kiln_error **error)
{
    slots s;
    uint64_t end = KILN__PACK_HEADER_SIZE, sum = 0;
    int is_whole = 1;

    slots_begin(&s, pack);
    for (uint64_t i = 0; i < pack->layout.count && is_whole; i++) {
        kiln__pack_slot slot;

        is_whole = slot_at(&slot, &s, i) == KILN_OK &&
                   lies_within(pack, &slot) &&
                   slot.offset == kiln__pack_align(end) &&
                   is_gap(pack, end, slot.offset);
        end = slot.offset + slot.size;
        sum += slot.size;
    }
    if (is_whole && pack->layout.index == kiln__pack_align(end) &&
        is_gap(pack, end, pack->layout.index) && sum == pack->layout.payload)
        return KILN_OK;
    return kiln__error_set(error, KILN_ECORRUPT,
                           "pack %s: its entries are not where they should be",
                           kiln__pack_name(pack));
}

kiln_status kiln__pack_verify(kiln_pack *pack, kiln_error **error)
{
    KILN_TRY(verify_ends(pack, error));
    /* Slots in this order cannot come from a hole in a sparse file, so the file
       really has the bytes that are read next. */
    KILN_TRY(verify_places(pack, error));
    KILN_TRY(verify_index(pack, error));
    for (size_t i = 0; i < kiln__pack_count(pack); i++)
        KILN_TRY(verify_entry(pack, i, error));
    return KILN_OK;
}
