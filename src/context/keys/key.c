/* key.c - builds all keys. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>

#include "context/cache_settings.h"
#include "context/keys/key.h"
#include "context/types/types.h"

/*
 * A key is a list of fields in the encoding of encoder.h: its name and schema,
 * then the fields that key.h lists. Settings go in by value, each after its
 * name, so that the full comparison of two keys compares the settings
 * themselves; the digests in a config only stand for settings in tables in
 * memory.
 *
 * No address, display name or [load] setting enters a key. Everything in it is
 * a function of the program, the settings and this build's own versions.
 */

/* The LLVM release that code generation is built for. It is compiled in, so
   that a machine without LLVM forms the same keys. */
#ifndef KILN_LLVM_VERSION
#define KILN_LLVM_VERSION "22.1.8"
#endif

/* Must be raised whenever lowering, linking or the passes may make other code
   from the same input. */
#define PIPELINE_VERSION "196"

/* Names the library of runtime functions that binaries are linked with. */
#define RUNTIME_LIBRARY "none"

const char *kiln__codegen_identity(void)
{
    return "kiln " KILN_VERSION_STRING " pipeline " PIPELINE_VERSION
           " llvm " KILN_LLVM_VERSION;
}

#define ENCODE_TEXT(encoder, value) kiln__encode_text((encoder), (value))
#define ENCODE_NUMBER(encoder, value) kiln__encode_u64((encoder), (value))
#define ENCODE_SETTING(member, kind, mask) \
    if ((mask)&scopes) { \
        kiln__encode_text(encoder, #member); \
        ENCODE_##kind(encoder, config->member); \
    }

void kiln__key_settings(kiln__encoder *encoder, const kiln_config *config,
                        uint32_t scopes)
{
    KILN__SETTING_MAP(ENCODE_SETTING)
}

static void begin_key(kiln__encoder *out, const char *name)
{
    kiln__encode_text(out, name);
    kiln__encode_u64(out, KILN__KEY_SCHEMA);
}

/* Adds the user's salt: a text that tells stored things apart where Kiln cannot
   see a difference. */
static void salt(kiln__encoder *out, const kiln_context *context)
{
    const char *text = context->cache != NULL ? context->cache->salt : NULL;

    if (text != NULL)
        kiln__encode_text(out, text);
}

static kiln_status end(const kiln__encoder *out)
{
    return out->failed ? KILN_ENOMEM : KILN_OK;
}

static kiln_status settings_digest(kiln_digest *out, const kiln_config *config,
                                   uint32_t scopes)
{
    kiln__encoder encoder;
    kiln_status status;

    kiln__encoder_init(&encoder, &config->context->alloc);
    begin_key(&encoder, "settings");
    kiln__key_settings(&encoder, config, scopes);
    status = end(&encoder);
    if (status == KILN_OK)
        *out = kiln__encoder_digest(&encoder);
    kiln__encoder_dispose(&encoder);
    return status;
}

kiln_status kiln__key_config(kiln_config *config)
{
    const uint32_t typed = KILN__SCOPE_TYPED;
    const uint32_t runtime = typed | KILN__SCOPE_RUNTIME;
    const uint32_t full = runtime | KILN__SCOPE_BINARY;
    kiln_status status = settings_digest(&config->owner, config, typed);

    if (status == KILN_OK)
        status = settings_digest(&config->runtime, config, runtime);
    if (status == KILN_OK)
        status = settings_digest(&config->full, config, full);
    return status;
}

static kiln_status key_signature(kiln__encoder *out, const char *name,
                                 const kiln_signature *signature,
                                 const kiln_config *config, kiln_digest digest)
{
    begin_key(out, name);
    kiln__encode_text(out, signature->function->frontend->name);
    kiln__key_settings(out, config, KILN__SCOPE_TYPED);
    kiln__encode_text(out, signature->function->name);
    kiln__encode_u64(out, signature->count);
    for (size_t i = 0; i < signature->count; i++)
        kiln__type_encode(out, signature->types[i]);
    kiln__encode_digest(out, digest);
    salt(out, config->context);
    return end(out);
}

kiln_status kiln__key_instance(kiln__encoder *out,
                               const kiln_signature *signature,
                               const kiln_config *config, kiln_digest root)
{
    return key_signature(out, "instance", signature, config, root);
}

kiln_status kiln__key_program(kiln__encoder *out,
                              const kiln_signature *signature,
                              const kiln_config *config, kiln_digest program)
{
    return key_signature(out, "program", signature, config, program);
}

kiln_status kiln__key_binary(kiln__encoder *out, kiln_digest typed,
                             const kiln_config *config)
{
    begin_key(out, "binary");
    kiln__encode_digest(out, typed);
    kiln__encode_text(out, RUNTIME_LIBRARY);
    kiln__key_settings(out, config, KILN__SCOPE_BINARY);
    kiln__encode_text(out, kiln__codegen_identity());
    salt(out, config->context);
    return end(out);
}

/* The salt is already in the binary key. */
kiln_status kiln__key_native(kiln__encoder *out, kiln_digest binary,
                             kiln_digest payload, const char *driver)
{
    begin_key(out, "native");
    kiln__encode_digest(out, binary);
    kiln__encode_digest(out, payload);
    kiln__encode_text(out, driver);
    return end(out);
}

kiln_status kiln__key_session(kiln__encoder *out, kiln_digest binary)
{
    begin_key(out, "session");
    kiln__encode_digest(out, binary);
    return end(out);
}

kiln_status kiln__key_runtime(kiln__encoder *out, kiln_digest typed,
                              const kiln_config *config)
{
    begin_key(out, "runtime");
    kiln__key_settings(out, config, KILN__SCOPE_TYPED | KILN__SCOPE_RUNTIME);
    kiln__encode_digest(out, typed);
    kiln__encode_text(out, kiln__codegen_identity());
    salt(out, config->context);
    return end(out);
}

kiln_status kiln__key_closure(kiln__encoder *out, kiln_digest library,
                              const char *symbol, const kiln_config *config)
{
    begin_key(out, "closure");
    kiln__key_settings(out, config, KILN__SCOPE_RUNTIME);
    kiln__encode_digest(out, library);
    kiln__encode_text(out, symbol);
    kiln__encode_text(out, kiln__codegen_identity());
    salt(out, config->context);
    return end(out);
}

kiln_status kiln__key_attached(kiln__encoder *out, const kiln_context *context,
                               kiln_digest identity, const char *consumer,
                               const kiln_config *config)
{
    begin_key(out, "attached");
    kiln__encode_text(out, consumer);
    kiln__encode_digest(out, identity);
    kiln__encode_u64(out, config != NULL);
    if (config != NULL)
        kiln__key_settings(out, config,
                           KILN__SCOPE_TYPED | KILN__SCOPE_RUNTIME |
                               KILN__SCOPE_BINARY);
    salt(out, context);
    return end(out);
}

kiln_status kiln__key_toolchain(kiln__encoder *out, const kiln_context *context,
                                const char *codegen)
{
    begin_key(out, "toolchain");
    kiln__encode_text(out, codegen);
    salt(out, context);
    return end(out);
}

kiln_status kiln__key_source(kiln__encoder *out, const kiln_frontend *frontend,
                             const char *version, const char *package,
                             kiln_digest history, kiln_digest text)
{
    begin_key(out, "source");
    kiln__encode_text(out, frontend->name);
    kiln__encode_text(out, version);
    kiln__encode_text(out, package);
    kiln__encode_digest(out, history);
    kiln__encode_digest(out, text);
    salt(out, frontend->context);
    return end(out);
}

kiln_status kiln__key_translation(kiln__encoder *out,
                                  const kiln_frontend *frontend,
                                  const char *part, kiln_digest of)
{
    begin_key(out, "translation");
    kiln__encode_text(out, frontend->name);
    kiln__encode_text(out, kiln__codegen_identity());
    kiln__encode_text(out, part);
    kiln__encode_digest(out, of);
    salt(out, frontend->context);
    return end(out);
}
