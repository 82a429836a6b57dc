/* entry_writer.c - makes entries and puts them into the stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/log.h"
#include "stores/stores.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/entry_writer.h"
#include "tiers/typed/assumptions.h"

/*
 * The files stored_*.c fill a kiln__entry_writer: they encode key and meta, and
 * point to the payload. Nothing is copied before the stores encode the
 * envelope. In mode VERIFY the entry is first compared with what each store
 * has: an entry that differs is reported in the log and rejected.
 */

void kiln__entry_writer_init(kiln__entry_writer *writer,
                             const kiln_alloc *alloc, int32_t kind)
{
    *writer = (kiln__entry_writer){.entry = {.kind = kind}};
    kiln__encoder_init(&writer->key, alloc);
    kiln__encoder_init(&writer->meta, alloc);
}

kiln_status kiln__entry_writer_finish(kiln__entry_writer *writer,
                                      const kiln_key *key)
{
    if (writer->key.failed || writer->meta.failed)
        return KILN_ENOMEM;
    writer->entry.key = key != NULL
                            ? *key
                            : (kiln_key){kiln__encoder_digest(&writer->key),
                                         writer->key.bytes, writer->key.size};
    writer->entry.meta = writer->meta.bytes;
    writer->entry.meta_size = writer->meta.size;
    return KILN_OK;
}

static int is_same(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static int is_same_meta(const kiln_alloc *alloc, const kiln__entry *made,
                        const kiln__entry *stored)
{
    return is_same(made->meta, made->meta_size, stored->meta,
                   stored->meta_size) ||
           (made->kind == KILN__ENTRY_BINARY &&
            kiln__entries_of_one_artifact(alloc, made, stored));
}

/* Compares a new entry with a stored one; the time of building may differ. */
static int agrees(const kiln_alloc *alloc, const kiln__entry *made,
                  const kiln__entry *stored)
{
    return made->relocation == stored->relocation &&
           is_same_meta(alloc, made, stored) &&
           is_same(made->payload, made->payload_size, stored->payload,
                   stored->payload_size);
}

/* An entry of a code instance may belong to another program although its key is
   the same. */
static kiln__entry_fault fault_of(kiln_context *context,
                                  const kiln__entry *made,
                                  const kiln__entry *stored)
{
    char digest[KILN_DIGEST_TEXT_SIZE];

    if (agrees(&context->alloc, made, stored))
        return KILN__FAULT_NONE;
    if (made->kind == KILN__ENTRY_INSTANCE &&
        kiln__entries_of_two_programs(&context->alloc, made, stored))
        return KILN__FAULT_STALE;
    kiln_digest_text(made->key.digest, digest);
    kiln__log(context, KILN_LOG_ERROR,
              "cache: entry %s (%s) differs from what is built now", digest,
              kiln__entry_kind_text(made->kind));
    return KILN__FAULT_DIFFERENT;
}

/* Compares with every store that has the key. */
static void verify(kiln_context *context, const kiln__entry *made)
{
    kiln__stored stored = {0};
    kiln_status status =
        kiln__stores_get(&stored, context, made->kind, &made->key);

    while (status == KILN_OK) {
        const kiln__entry_fault fault = fault_of(context, made, &stored.entry);

        if (fault != KILN__FAULT_NONE)
            kiln__stores_reject(context, &stored, fault);
        status = kiln__stores_next(&stored, context, made->kind, &made->key);
    }
    kiln__stored_release(&stored);
}

void kiln__entry_writer_put(kiln_context *context,
                            const kiln__entry_writer *writer)
{
    if (kiln__stores_mode(context) == KILN__CACHE_VERIFY)
        verify(context, &writer->entry);
    kiln__stores_put(context, &writer->entry, 0);
}

void kiln__entry_writer_dispose(kiln__entry_writer *writer)
{
    kiln__encoder_dispose(&writer->key);
    kiln__encoder_dispose(&writer->meta);
}

void kiln__query_encode(kiln__encoder *out, const kiln_query *query)
{
    kiln__encode_u64(out, query->subject);
    kiln__encode_bytes(out, query->data, query->size);
    kiln__encode_digest(out, query->answer);
}

kiln_query kiln__query_read(kiln__reader *reader)
{
    kiln_query query = {.subject = kiln__read_u64(reader)};
    const kiln__span_of_bytes data = kiln__read_bytes(reader);

    query.data = data.data;
    query.size = data.size;
    query.answer = kiln__read_digest(reader);
    reader->failed |= query.size == 0;
    return query;
}
