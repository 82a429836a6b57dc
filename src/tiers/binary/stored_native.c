/* stored_native.c - what drivers made of artifacts, as entries of stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen_client/provenance.h"
#include "context/keys/key.h"
#include "context/log.h"
#include "context/trace.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"
#include "tiers/binary/artifact.h"
#include "tiers/tiers_state.h"

/*
 * A driver that compiles what it loads is spared that in the next process: its
 * own binary is kept beside the artifact, under a key that names the artifact,
 * driver and device. It is never needed: whatever is wrong with it, the
 * artifact is loaded instead. What made it beside the driver stands in it: a
 * translator that is here in another build makes it a miss.
 *
 * Meta, after a version: target, kernel. The payload is the driver's. It means
 * nothing on another machine, so that no delta holds it; nor is it compared by
 * mode VERIFY, since drivers need not write the same bytes twice.
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

/* Says what is wrong with the entry; without memory or device, nothing is. */
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

static kiln_status find(kiln_context *context, const kiln_key *key,
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

    if (!driver || has_addresses(artifact) ||
        !kiln__stores_load(context, KILN__ENTRY_NATIVE))
        return KILN_ENOTFOUND;
    if (make_key(&encoder, context, artifact, driver) == KILN_OK) {
        const kiln_key key = {kiln__encoder_digest(&encoder), encoder.bytes,
                              encoder.size};

        status = find(context, &key, user);
    }
    kiln__encoder_dispose(&encoder);
    return status;
}

/* ---- writing ---- */

int kiln__native_is_wanted(kiln_context *context, const kiln_artifact *artifact,
                           const char *driver)
{
    return driver && !has_addresses(artifact) &&
           kiln__stores_write(context, KILN__ENTRY_NATIVE);
}

void kiln__native_save(kiln_context *context, const kiln_artifact *artifact,
                       const char *driver, const kiln__native_made *made)
{
    kiln__encoder encoder;
    kiln__entry_writer draft;

    if (make_key(&encoder, context, artifact, driver) == KILN_OK) {
        const kiln_key key = {kiln__encoder_digest(&encoder), encoder.bytes,
                              encoder.size};

        kiln__entry_writer_init(&draft, &context->alloc, KILN__ENTRY_NATIVE);
        kiln__encode_u64(&draft.meta, KILN__META_NATIVE);
        kiln__encode_text(&draft.meta, artifact->target);
        kiln__encode_text(&draft.meta, artifact->kernels[0].method);
        draft.entry.toolchain = made->tools ? made->tools : "";
        draft.entry.toolchain_size = strlen(draft.entry.toolchain);
        draft.entry.build_ns = made->build_ns;
        draft.entry.payload = made->bytes.data;
        draft.entry.payload_size = made->bytes.size;
        if (kiln__entry_writer_finish(&draft, &key) == KILN_OK)
            kiln__stores_put(context, &draft.entry, made->replace);
        kiln__entry_writer_dispose(&draft);
    }
    kiln__encoder_dispose(&encoder);
}
