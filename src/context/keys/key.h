/* key.h - every key there is; built by context/keys/key.c alone. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_KEYS_KEY_H
#define KILN_CONTEXT_KEYS_KEY_H

#include "base/digest/digest.h"
#include "context/keys/settings.h"
#include "kiln/sys/cache_tools.h"

/*
 * What each key is made of, and why: docs/design/keys.md. What of it can be
 * read back: key_fields.c.
 */
#define KILN__KEY_SCHEMA 2

/* Writes the settings whose mask meets `scopes`, each under its name. */
void kiln__key_settings(kiln__encoder *encoder, const kiln_config *config,
                        uint32_t scopes);
/* Fills owner, runtime and full of a config. */
kiln_status kiln__key_config(kiln_config *config);

/* Each adds its key to `out`, which the caller initialises and disposes.
   KILN_ENOMEM when the encoder failed. Digests that stand for settings above
   are written as the settings themselves: comparing the encoding compares
   them. */
kiln_status kiln__key_instance(kiln__encoder *out,
                               const kiln_signature *signature,
                               const kiln_config *config, kiln_digest root);
kiln_status kiln__key_program(kiln__encoder *out,
                              const kiln_signature *signature,
                              const kiln_config *config, kiln_digest program);
kiln_status kiln__key_binary(kiln__encoder *out, kiln_digest typed,
                             const kiln_config *config);
kiln_status kiln__key_runtime(kiln__encoder *out, kiln_digest typed,
                              const kiln_config *config);
kiln_status kiln__key_closure(kiln__encoder *out, kiln_digest library,
                              const char *symbol, const kiln_config *config);
/* Of what a consumer attached; `config` may be NULL. */
kiln_status kiln__key_attached(kiln__encoder *out, const kiln_context *context,
                               kiln_digest identity, const char *consumer,
                               const kiln_config *config);
/* Of what the driver, as it names itself and its device, made of an
   artifact. */
kiln_status kiln__key_native(kiln__encoder *out, kiln_digest binary,
                             kiln_digest payload, const char *driver);
/* Of the note that says why a binary is not kept. */
kiln_status kiln__key_session(kiln__encoder *out, kiln_digest binary);
/* Of the note that tool_identity.c leaves about a file: of libLLVM under the
   build of the code generator, of another tool under its name. */
kiln_status kiln__key_toolchain(kiln__encoder *out, const kiln_context *context,
                                const char *codegen);
/* Of what the text of a package defines, given the history of the package; the
   version is that of what every package sees. */
kiln_status kiln__key_source(kiln__encoder *out, const kiln_frontend *frontend,
                             const char *version, const char *package,
                             kiln_digest history, kiln_digest text);

/* ---- context/keys/key_fields.c ---- */

/* Shows an encoded key field by field, in section "key"; what it cannot name
   is numbered. Believes nothing of it. KILN_ENOMEM. */
kiln_status kiln__key_describe(const kiln_alloc *alloc, const void *encoded,
                               size_t size, kiln_field_fn see, void *env);
/* Is it a key of that name: "runtime", "closure"? */
int kiln__key_is_named(const kiln_key *key, const char *name);

/* Kiln's version, the pipeline's, and the LLVM that it was built for: equal
   on a machine without LLVM. */
const char *kiln__codegen_identity(void);

#endif /* KILN_CONTEXT_KEYS_KEY_H */
