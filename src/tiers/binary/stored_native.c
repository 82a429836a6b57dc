/* stored_native.c - stores and loads what drivers made from artifacts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen_client/provenance.h"
#include "context/keys/key.h"
#include "context/log.h"
#include "context/trace.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/stored_native.h"
#include "tiers/entry_writer.h"

/*
 * A driver may compile what it loads. To save that in the next process, its own
 * binary is stored beside the artifact, under a key that names artifact, driver
 * and device. It is optional: if anything is wrong with it, the artifact is
 * loaded instead. The entry names the tools besides the driver that made it: if
 * a translator is installed here in another build, the entry is a miss.
 *
 * Meta, after a version: target, kernel. The payload belongs to the driver. It
 * is useless on another machine, so no delta contains it. Mode VERIFY does not
 * compare it, because a driver need not write the same bytes twice.
 */

static int has_addresses(const kiln_artifact *artifact)
{
    return artifact->relocation != KILN_RELOCATION_PORTABLE;
}

static kiln_status make_key(kiln__encoder *out, kiln_context *context,
                            const kiln_artifact *artifact, const char *driver)
{
    kiln__encoder_init(out, &context->alloc);
    return kiln__key_native(out, artifact->key,
                            kiln__digest_bytes(artifact->bytes, artifact->size),
                            driver);
}

/* ---- reading ---- */

static kiln_status use(kiln_context *context, const kiln__stored *stored,
                       const kiln__native_user *user)
{
    const uint64_t begun = kiln__trace_begin(context);
    const kiln_status status =
        user->use(user->env, stored->entry.payload, stored->entry.payload_size);
    const kiln__trace_note note = {
        .category = "driver",
        .verb = "load native",
        .name = user->name,
        .tier = kiln__trace_tier(KILN_TIER_BINARY),
        .outcome = status == KILN_OK ? "hit" : "refused",
        .bytes = stored->entry.payload_size,
    };

    kiln__trace_end(context, begun, &note);
    return status;
}

/* Sets `fault` to what is wrong with the entry; nothing is wrong if only memory
   or the device was lacking. */
static kiln_status try(kiln__entry_fault *fault, kiln_context *context,
                       const kiln__stored *stored,
                       const kiln__native_user *user)
{
    kiln_status status;

    *fault = KILN__FAULT_TOOLCHAIN;
    if (!kiln__toolchain_accepts(context, stored->entry.toolchain,
                                 stored->entry.toolchain_size))
        return KILN_EMISMATCH;
    status = use(context, stored, user);
    *fault = status == KILN_ENOMEM || status == KILN_ENODEVICE
                 ? KILN__FAULT_NONE
                 : KILN__FAULT_STALE;
    return status;
}

static kiln_status find_native(kiln_context *context, const kiln_key *key,
                               const kiln__native_user *user)
{
    kiln__stored stored = {0};
    kiln_status found =
        kiln__stores_get(&stored, context, KILN__ENTRY_NATIVE, key);
    kiln_status status = KILN_ENOTFOUND;
    kiln__entry_fault fault;

    while (found == KILN_OK && status != KILN_OK) {
        status = try(&fault, context, &stored, user);
        if (status == KILN_OK)
            break;
        if (fault != KILN__FAULT_NONE)
            kiln__stores_reject(context, &stored, fault);
        found = kiln__stores_next(&stored, context, KILN__ENTRY_NATIVE, key);
    }
    kiln__stored_release(&stored);
    return status == KILN_OK ? KILN_OK : KILN_ENOTFOUND;
}

kiln_status kiln__native_recall(kiln_context *context,
                                const kiln_artifact *artifact,
                                const char *driver,
                                const kiln__native_user *user)
{
    kiln__encoder encoder;
    kiln_status status = KILN_ENOTFOUND;

    if (driver == NULL || has_addresses(artifact) ||
        !kiln__stores_load(context, KILN__ENTRY_NATIVE))
        return KILN_ENOTFOUND;
    if (make_key(&encoder, context, artifact, driver) == KILN_OK) {
        const kiln_key key = {kiln__encoder_digest(&encoder), encoder.bytes,
                              encoder.size};

        status = find_native(context, &key, user);
    }
    kiln__encoder_dispose(&encoder);
    return status;
}

/* ---- writing ---- */

int kiln__native_is_wanted(kiln_context *context, const kiln_artifact *artifact,
                           const char *driver)
{
    return driver != NULL && !has_addresses(artifact) &&
           kiln__stores_write(context, KILN__ENTRY_NATIVE);
}

void kiln__native_save(kiln_context *context, const kiln_artifact *artifact,
                       const char *driver, const kiln__native_made *made)
{
    kiln__encoder encoder;
    kiln__entry_writer writer;

    if (make_key(&encoder, context, artifact, driver) == KILN_OK) {
        const kiln_key key = {kiln__encoder_digest(&encoder), encoder.bytes,
                              encoder.size};

        kiln__entry_writer_init(&writer, &context->alloc, KILN__ENTRY_NATIVE);
        kiln__encode_u64(&writer.meta, KILN__META_NATIVE);
        kiln__encode_text(&writer.meta, artifact->target);
        kiln__encode_text(&writer.meta, artifact->kernels[0].method);
        writer.entry.toolchain = made->tools != NULL ? made->tools : "";
        writer.entry.toolchain_size = strlen(writer.entry.toolchain);
        writer.entry.build_ns = made->build_ns;
        writer.entry.payload = made->bytes.data;
        writer.entry.payload_size = made->bytes.size;
        if (kiln__entry_writer_finish(&writer, &key) == KILN_OK)
            kiln__stores_put(context, &writer.entry, made->replace);
        kiln__entry_writer_dispose(&writer);
    }
    kiln__encoder_dispose(&encoder);
}
