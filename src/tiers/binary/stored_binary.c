/* stored_binary.c - stores and loads artifacts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen_client/provenance.h"
#include "context/log.h"
#include "stores/stores.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/binary_table.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_writer.h"
#include "tiers/tiers.h"

kiln_status kiln__entry_writer_artifact(kiln__entry_writer *out,
                                        const kiln_alloc *alloc,
                                        const kiln_artifact *artifact)
{
    const kiln_key key = {artifact->key, artifact->encoded_key,
                          artifact->encoded_key_size};

    kiln__entry_writer_init(out, alloc, KILN__ENTRY_BINARY);
    kiln__artifact_encode_meta(&out->meta, artifact);
    out->entry.relocation = artifact->relocation;
    out->entry.build_ns = artifact->compile_ns;
    out->entry.toolchain = artifact->toolchain;
    out->entry.toolchain_size = strlen(artifact->toolchain);
    out->entry.payload = artifact->bytes;
    out->entry.payload_size = artifact->size;
    return kiln__entry_writer_finish(out, &key);
}

static void save(kiln_context *context, const kiln_artifact *artifact,
                 int replace)
{
    kiln__entry_writer writer;

    if (!kiln__stores_write(context, KILN__ENTRY_BINARY))
        return;
    if (kiln__entry_writer_artifact(&writer, &context->alloc, artifact) !=
        KILN_OK)
        ;
    else if (replace)
        kiln__stores_put(context, &writer.entry, 1);
    else
        kiln__entry_writer_put(context, &writer);
    kiln__entry_writer_dispose(&writer);
}

void kiln__artifact_save(kiln_context *context, const kiln_artifact *artifact)
{
    save(context, artifact, 0);
}

void kiln__artifact_replace(kiln_context *context, const kiln_artifact *old,
                            const kiln_artifact *artifact)
{
    kiln__artifact_exchange(context, old, artifact);
    save(context, artifact, 1);
}

static const kiln_artifact *take_artifact(kiln_context *context,
                                          kiln__stored *stored)
{
    const kiln_artifact *artifact = NULL;
    kiln_status status;

    if (!kiln__toolchain_accepts(context, stored->entry.toolchain,
                                 stored->entry.toolchain_size)) {
        kiln__stores_reject(context, stored, KILN__FAULT_TOOLCHAIN);
        return NULL;
    }
    status = kiln__artifact_take(&artifact, &context->alloc, stored);
    if (status == KILN_ECORRUPT)
        kiln__stores_reject(context, stored, KILN__FAULT_MALFORMED);
    if (artifact != NULL)
        kiln__tiers_note_build(context, stored->entry.build_ns);
    if (artifact != NULL &&
        kiln__artifact_keep(context, artifact, stored->is_packed) != KILN_OK)
        kiln__log(context, KILN_LOG_WARNING, "an artifact is not kept");
    return artifact;
}

const kiln_artifact *kiln__artifact_recall(kiln_context *context,
                                           const kiln_key *key)
{
    const kiln_artifact *artifact = NULL;
    kiln__stored stored = {0};
    kiln_status status;

    if (!kiln__stores_load(context, KILN__ENTRY_BINARY))
        return NULL;
    status = kiln__stores_get(&stored, context, KILN__ENTRY_BINARY, key);
    while (status == KILN_OK && artifact == NULL) {
        artifact = take_artifact(context, &stored);
        if (artifact == NULL)
            status =
                kiln__stores_next(&stored, context, KILN__ENTRY_BINARY, key);
    }
    kiln__stored_release(&stored);
    return artifact;
}

void kiln__artifact_reject(kiln_context *context, const kiln_artifact *artifact)
{
    const kiln_key key = {artifact->key, artifact->encoded_key,
                          artifact->encoded_key_size};
    kiln__stored stored = {0};
    kiln_status status =
        kiln__stores_get(&stored, context, KILN__ENTRY_BINARY, &key);

    kiln__artifact_forget(context, artifact);
    while (status == KILN_OK) {
        if (stored.entry.payload_size == artifact->size &&
            memcmp(stored.entry.payload, artifact->bytes, artifact->size) == 0)
            kiln__stores_reject(context, &stored, KILN__FAULT_MALFORMED);
        status = kiln__stores_next(&stored, context, KILN__ENTRY_BINARY, &key);
    }
    kiln__stored_release(&stored);
}

/* ---- artifacts from other ranks ---- */

kiln_status kiln__artifact_envelope(kiln_blob *out, const kiln_context *context,
                                    const kiln_artifact *artifact)
{
    kiln__entry_writer writer;
    kiln_status status =
        kiln__entry_writer_artifact(&writer, &context->alloc, artifact);

    if (status == KILN_OK)
        status = kiln__entry_encode(out, &context->alloc, &writer.entry);
    kiln__entry_writer_dispose(&writer);
    return status;
}

/* The sender must have compiled with the same code generator; a rank with
   another one than the owner builds for itself. */
const kiln_artifact *kiln__artifact_receive(kiln_context *context,
                                            const void *bytes, size_t size,
                                            const kiln_key *key)
{
    const kiln_artifact *artifact = NULL;
    kiln__entry entry;

    if (kiln__entry_decode(&entry, bytes, size, key) != KILN__FAULT_NONE ||
        entry.kind != KILN__ENTRY_BINARY ||
        entry.relocation == KILN_RELOCATION_SESSION ||
        !kiln__toolchain_accepts(context, entry.toolchain,
                                 entry.toolchain_size) ||
        kiln__artifact_decode(&artifact, &context->alloc, &entry) != KILN_OK)
        return NULL;
    kiln__tiers_note_build(context, entry.build_ns);
    if (kiln__artifact_keep(context, artifact, 0) != KILN_OK)
        kiln__log(context, KILN_LOG_WARNING, "an artifact is not kept");
    kiln__artifact_save(context, artifact);
    return artifact;
}
