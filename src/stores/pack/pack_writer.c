/* pack_writer.c - collects entries and makes a pack of them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/array.h"
#include "base/data/endian.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "kiln/kernel.h"
#include "stores/pack/pack_sink.h"

/*
 * Everything is known before the first byte is written: entries are sorted, and
 * their offsets follow from their sizes, so the header can come first. A pack
 * is therefore written from beginning to end, into memory or a file.
 */

typedef struct item {
    kiln_key key; /* points into `envelope` */
    kiln_blob envelope;
    uint64_t order; /* number in the order of adding */
} item;

struct kiln__pack_writer {
    kiln_alloc alloc;
    kiln__array_of(item) items;
    uint64_t added;
    int is_sorted;
};

kiln_status kiln__pack_writer_new(kiln__pack_writer **out,
                                  const kiln_alloc *alloc)
{
    kiln__pack_writer *writer = kiln__allocate(alloc, sizeof *writer);

    if (writer == NULL)
        return KILN_ENOMEM;
    writer->alloc = *alloc;
    *out = writer;
    return KILN_OK;
}

void kiln__pack_writer_free(kiln__pack_writer *writer)
{
    if (writer == NULL)
        return;

    const kiln_alloc alloc = writer->alloc;

    for (size_t i = 0; i < writer->items.count; i++)
        kiln_blob_release(&writer->items.items[i].envelope);
    kiln__array_dispose(&alloc, &writer->items);
    kiln__deallocate(&alloc, writer, sizeof *writer);
}

/* ---- adding ---- */

/* Takes over an envelope that was checked and has the key `key`. */
static kiln_status add_checked(kiln__pack_writer *writer, const kiln_key *key,
                               kiln_blob *envelope, kiln_error **error)
{
    const item added = {*key, *envelope, writer->added};

    if (!kiln__array_push(&writer->alloc, &writer->items, added))
        return kiln__error_no_memory(error);
    writer->added++;
    writer->is_sorted = 0;
    *envelope = (kiln_blob){0};
    return KILN_OK;
}

/* An entry with addresses of this process must not go into a file. */
static kiln_status refuse_session(const kiln__entry *entry, kiln_error **error)
{
    if (entry->relocation != KILN_RELOCATION_SESSION)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "an entry of class session has no place in a pack");
}

kiln_status kiln__pack_writer_add(kiln__pack_writer *writer,
                                  kiln_blob *envelope, kiln_error **error)
{
    kiln__entry_fault fault;
    kiln__entry entry;

    if (envelope->size > KILN__ENTRY_LARGEST)
        return kiln__error_set(error, KILN_EINVAL,
                               "an entry of %zu bytes is too large for a pack",
                               envelope->size);
    fault = kiln__entry_decode(&entry, envelope->data, envelope->size, NULL);
    if (fault != KILN__FAULT_NONE)
        return kiln__error_set(error, KILN_ECORRUPT, "an entry is damaged: %s",
                               kiln__entry_fault_text(fault));
    KILN_TRY(refuse_session(&entry, error));
    return add_checked(writer, &entry.key, envelope, error);
}

kiln_status kiln__pack_writer_add_entry(kiln__pack_writer *writer,
                                        const kiln__entry *entry,
                                        kiln_error **error)
{
    kiln_blob envelope = {0};
    kiln_status status;

    KILN_TRY(refuse_session(entry, error));
    if (kiln__entry_encode(&envelope, &writer->alloc, entry) != KILN_OK)
        return kiln__error_no_memory(error);
    status = kiln__pack_writer_add(writer, &envelope, error);
    kiln_blob_release(&envelope);
    return status;
}

static kiln_status add_from(kiln__pack_writer *writer, kiln_pack *pack,
                            size_t index, kiln_error **error)
{
    kiln__packed found;
    kiln_status status = kiln__pack_at(&found, pack, index);

    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, status, "pack %s: entry %zu: %s",
                               kiln__pack_name(pack), index,
                               status == KILN_EIO
                                   ? "cannot be read"
                                   : kiln__entry_fault_text(found.fault));
    status = refuse_session(&found.entry, error);
    if (status == KILN_OK)
        status = add_checked(writer, &found.entry.key, &found.bytes, error);
    kiln_blob_release(&found.bytes);
    return status;
}

kiln_status kiln__pack_writer_add_pack(kiln__pack_writer *writer,
                                       kiln_pack *pack, size_t *damaged,
                                       kiln_error **error)
{
    for (size_t i = 0; i < kiln__pack_count(pack); i++) {
        kiln_error *reason = NULL;
        const kiln_status status = add_from(writer, pack, i, &reason);

        if (status == KILN_ECORRUPT && damaged != NULL) {
            (*damaged)++;
            kiln_error_free(reason);
        } else if (status != KILN_OK) {
            if (error != NULL)
                *error = reason;
            else
                kiln_error_free(reason);
            return status;
        }
    }
    return KILN_OK;
}

/* ---- order ---- */

static int by_key(const item *a, const item *b)
{
    const size_t common = a->key.encoded_size < b->key.encoded_size
                              ? a->key.encoded_size
                              : b->key.encoded_size;
    int order = kiln__pack_compare(a->key.digest, b->key.digest);

    if (order == 0 && common > 0)
        order = memcmp(a->key.encoded, b->key.encoded, common);
    if (order == 0)
        order = (a->key.encoded_size > b->key.encoded_size) -
                (a->key.encoded_size < b->key.encoded_size);
    return order;
}

static int by_key_and_age(const void *a, const void *b)
{
    const item *first = a, *second = b;
    const int order = by_key(first, second);

    return order ? order
                 : (first->order > second->order) -
                       (first->order < second->order);
}

/* Sorts the items, and releases later ones of equal keys. */
static void sort(kiln__pack_writer *writer)
{
    item *items = writer->items.items;
    size_t kept = 0;

    if (writer->is_sorted || writer->items.count == 0)
        return;
    qsort(items, writer->items.count, sizeof *items, by_key_and_age);
    for (size_t i = 0; i < writer->items.count; i++) {
        if (kept > 0 && by_key(&items[kept - 1], &items[i]) == 0)
            kiln_blob_release(&items[i].envelope);
        else
            items[kept++] = items[i];
    }
    writer->items.count = kept;
    writer->is_sorted = 1;
}

size_t kiln__pack_writer_count(kiln__pack_writer *writer)
{
    sort(writer);
    return writer->items.count;
}

/* ---- the index ---- */

static void write_starts(unsigned char *index, const kiln__pack_writer *writer,
                         uint32_t bits)
{
    const uint64_t buckets = (uint64_t)1 << bits;
    uint64_t bucket = 0;

    for (size_t i = 0; i < writer->items.count; i++) {
        const uint64_t own =
            kiln__pack_bucket(writer->items.items[i].key.digest, bits);

        for (; bucket <= own; bucket++)
            kiln__le32_write(index + 4 * bucket, (uint32_t)i);
    }
    for (; bucket <= buckets; bucket++)
        kiln__le32_write(index + 4 * bucket, (uint32_t)writer->items.count);
}

static void write_slots(unsigned char *slots, const kiln__pack_writer *writer)
{
    uint64_t offset = KILN__PACK_HEADER_SIZE;

    for (size_t i = 0; i < writer->items.count; i++) {
        const item *at = &writer->items.items[i];
        const kiln__pack_slot slot = {at->key.digest, offset,
                                      at->envelope.size};

        kiln__pack_slot_write(slots + i * KILN__PACK_SLOT_SIZE, &slot);
        offset = kiln__pack_align(offset + slot.size);
    }
}

/* Makes the index, and fills the layout except for its sums. */
static kiln_status make_index(kiln_blob *out, kiln__pack_layout *layout,
                              const kiln__pack_writer *writer)
{
    uint64_t end = KILN__PACK_HEADER_SIZE, payload = 0;
    unsigned char *index;

    for (size_t i = 0; i < writer->items.count; i++) {
        const size_t size = writer->items.items[i].envelope.size;

        end = kiln__pack_align(end) + size;
        payload += size;
    }
    kiln__pack_layout_fill(layout, writer->items.count, payload, end);
    index = kiln__blob_new(
        out, &writer->alloc,
        (size_t)(layout->size - KILN__PACK_FOOTER_SIZE - layout->index));
    if (index == NULL)
        return KILN_ENOMEM;
    write_starts(index, writer, layout->bits);
    write_slots(index + (layout->slots - layout->index), writer);
    layout->index_sum = kiln__sum_bytes(out->data, out->size);
    return KILN_OK;
}

/* ---- from the beginning to the end ---- */

static kiln_status write_entries(kiln__pack_sink *sink,
                                 const kiln__pack_writer *writer)
{
    for (size_t i = 0; i < writer->items.count; i++) {
        const kiln_blob *envelope = &writer->items.items[i].envelope;

        KILN_TRY(sink->write(sink, envelope->data, envelope->size));
        KILN_TRY(kiln__pack_sink_pad(sink));
    }
    return KILN_OK;
}

/* Writes everything. What follows the last entry begins at a multiple of 64
   bytes. */
static kiln_status write_all(kiln__pack_sink *sink,
                             const kiln__pack_writer *writer,
                             kiln__pack_layout *layout, const kiln_blob *index)
{
    unsigned char header[KILN__PACK_HEADER_SIZE];
    unsigned char footer[KILN__PACK_FOOTER_SIZE];

    kiln__pack_header_write(header, footer, layout);
    KILN_TRY(sink->write(sink, header, sizeof header));
    KILN_TRY(write_entries(sink, writer));
    KILN_TRY(sink->write(sink, index->data, index->size));
    return sink->write(sink, footer, sizeof footer);
}

/* Computes the layout and the index, which a sink needs before the first
   byte. */
static kiln_status prepare(kiln_blob *index, kiln__pack_layout *layout,
                           kiln__pack_writer *writer, kiln_error **error)
{
    sort(writer);
    if (writer->items.count > UINT32_MAX)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "a pack has at most %u entries", UINT32_MAX);
    if (make_index(index, layout, writer) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

kiln_status kiln__pack_writer_to_blob(kiln_blob *out, kiln__pack_writer *writer,
                                      kiln_error **error)
{
    kiln_blob index = {0}, bytes = {0};
    kiln__pack_layout layout;
    kiln__pack_sink sink;
    kiln_status status;

    KILN_TRY(prepare(&index, &layout, writer, error));
    status = kiln__pack_sink_memory(&sink, &bytes, &writer->alloc, layout.size);
    if (status == KILN_OK)
        status = write_all(&sink, writer, &layout, &index);
    kiln_blob_release(&index);
    if (status != KILN_OK) {
        kiln_blob_release(&bytes);
        return kiln__error_no_memory(error);
    }
    *out = bytes;
    return KILN_OK;
}

kiln_status kiln__pack_writer_to_folder(kiln__pack_writer *writer, int folder,
                                        const char *path, kiln_error **error)
{
    kiln_blob index = {0};
    kiln__pack_layout layout;
    kiln__pack_sink sink;
    kiln_status status;

    KILN_TRY(prepare(&index, &layout, writer, error));
    status = kiln__pack_sink_open(&sink, &writer->alloc, folder, path,
                                  layout.size, error);
    if (status == KILN_OK) {
        status = write_all(&sink, writer, &layout, &index);
        status = kiln__pack_sink_close(&sink, path, status, error);
    }
    kiln_blob_release(&index);
    return status;
}

kiln_status kiln__pack_writer_to_file(kiln__pack_writer *writer,
                                      const char *path, kiln_error **error)
{
    return kiln__pack_writer_to_folder(writer, AT_FDCWD, path, error);
}
