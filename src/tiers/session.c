/* session.c - notes why an artifact is not stored. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/decoder.h"
#include "context/keys/key.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_describe.h"
#include "tiers/entry_writer.h"
#include "tiers/session.h"

/*
 * An artifact that contains an address of its process is built again in each
 * process. The process that built it leaves this note, so that another one can
 * give the reason. Nothing else reads it. It stays in this user's folder,
 * because the reason names a number of the process that wrote it.
 *
 * Meta, after a version: target, kernel, reason. There is no payload.
 */

void kiln__session_note(kiln_context *context, const kiln_artifact *artifact,
                        const char *reason)
{
    kiln__entry_writer writer;

    if (reason == NULL || !kiln__stores_write(context, KILN__ENTRY_SESSION))
        return;
    kiln__entry_writer_init(&writer, &context->alloc, KILN__ENTRY_SESSION);
    kiln__encode_u64(&writer.meta, KILN__META_SESSION);
    kiln__encode_text(&writer.meta, artifact->target);
    kiln__encode_text(&writer.meta, artifact->kernels[0].method);
    kiln__encode_text(&writer.meta, reason);
    if (kiln__key_session(&writer.key, artifact->key) == KILN_OK &&
        kiln__entry_writer_finish(&writer, NULL) == KILN_OK)
        kiln__stores_put(context, &writer.entry, 0);
    kiln__entry_writer_dispose(&writer);
}

int kiln__session_reason(kiln__text *out, const kiln__entry *entry,
                         kiln_digest binary)
{
    kiln__span_of_bytes reason;
    kiln__reader reader;
    kiln__encoder key;
    int is_it;

    if (entry->kind != KILN__ENTRY_SESSION)
        return 0;
    kiln__encoder_init(&key, out->alloc);
    is_it = kiln__key_session(&key, binary) == KILN_OK &&
            key.size == entry->key.encoded_size &&
            memcmp(key.bytes, entry->key.encoded, key.size) == 0;
    kiln__encoder_dispose(&key);
    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (!is_it || kiln__read_u64(&reader) != KILN__META_SESSION)
        return 0;
    (void)kiln__read_text(&reader);
    (void)kiln__read_text(&reader);
    reason = kiln__read_text(&reader);
    if (!kiln__reader_is_done(&reader) || reason.data == NULL)
        return 0;
    out->size = 0;
    kiln__text_add_n(out, reason.data, reason.size);
    return 1;
}
