/* cl_entry.c - the parts of a translation as entries of stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/keys/key.h"
#include "frontend/opencl/cl_program.h"
#include "stores/entry_versions.h"
#include "stores/stores.h"

/*
 * The meta of each part begins with a version and the compiler's build. An
 * entry of another compiler than the one that is installed is of no use; if
 * none is installed, every entry may be used.
 */

kiln_status kiln__cl_key(kiln_key *out, kiln__encoder *encoder,
                         const kiln__cl *cl, const char *part, kiln_digest of)
{
    kiln__encoder_init(encoder, cl->alloc);
    KILN_TRY(kiln__key_translation(encoder, cl->frontend, part, of));
    *out = (kiln_key){kiln__encoder_digest(encoder), encoder->bytes,
                      encoder->size};
    return KILN_OK;
}

/* Asked once. The text lives with the frontend. */
static const char *compiler_of(kiln__cl *cl)
{
    char id[KILN__BUILD_ID_TEXT_SIZE];
    int is_known;

    kiln__mutex_lock(&cl->lock);
    is_known = cl->has_compiler;
    kiln__mutex_unlock(&cl->lock);
    if (is_known)
        return cl->compiler;
    kiln__source_compiler(id, cl->context);
    kiln__mutex_lock(&cl->lock);
    if (!cl->has_compiler) {
        memcpy(cl->compiler, id, sizeof id);
        cl->has_compiler = 1;
    }
    kiln__mutex_unlock(&cl->lock);
    return cl->compiler;
}

void kiln__cl_meta_begin(kiln__encoder *out, kiln__cl *cl)
{
    kiln__encoder_init(out, cl->alloc);
    kiln__encode_u64(out, KILN__META_TRANSLATION);
    kiln__encode_text(out, compiler_of(cl));
}

int kiln__cl_meta_read(kiln__reader *reader, kiln__cl *cl)
{
    const char *here = compiler_of(cl);
    kiln__span_of_bytes made;

    if (kiln__read_u64(reader) != KILN__META_TRANSLATION)
        return 0;
    made = kiln__read_text(reader);
    if (reader->failed || made.data == NULL)
        return 0;
    return here[0] == '\0' || (strlen(here) == made.size &&
                               memcmp(here, made.data, made.size) == 0);
}

void kiln__cl_put(kiln__cl *cl, const char *part, kiln_digest of,
                  kiln__entry *entry)
{
    kiln__encoder encoder;

    entry->kind = KILN__ENTRY_TRANSLATION;
    entry->relocation = KILN_RELOCATION_PORTABLE;
    if (kiln__cl_key(&entry->key, &encoder, cl, part, of) == KILN_OK) {
        kiln__cl_known_add(cl, entry);
        if (kiln__stores_write(cl->context, KILN__ENTRY_TRANSLATION))
            kiln__stores_put(cl->context, entry, 1);
    }
    kiln__encoder_dispose(&encoder);
}

kiln_status kiln__cl_get(kiln__cl *cl, const char *part, kiln_digest of,
                         kiln_status (*read)(const kiln__entry *entry,
                                             void *env),
                         void *env)
{
    kiln_context *context = cl->context;
    kiln__stored stored = {0};
    kiln__encoder encoder;
    kiln_key key;
    kiln_status status, outcome = KILN_ENOTFOUND;

    if (!kiln__stores_load(context, KILN__ENTRY_TRANSLATION))
        return KILN_ENOTFOUND;
    status = kiln__cl_key(&key, &encoder, cl, part, of);
    if (status == KILN_OK)
        status =
            kiln__stores_get(&stored, context, KILN__ENTRY_TRANSLATION, &key);
    while (status == KILN_OK) {
        outcome = read(&stored.entry, env);
        if (outcome == KILN_OK && !stored.is_packed)
            kiln__cl_known_add(cl, &stored.entry);
        if (outcome != KILN_ENOTFOUND)
            break;
        status =
            kiln__stores_next(&stored, context, KILN__ENTRY_TRANSLATION, &key);
    }
    kiln__stored_release(&stored);
    kiln__encoder_dispose(&encoder);
    return outcome;
}
