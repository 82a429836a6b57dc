/* key.h - all keys; only context/keys/key.c builds them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_KEYS_KEY_H
#define KILN_CONTEXT_KEYS_KEY_H

#include "base/digest/digest.h"
#include "context/keys/settings.h"
#include "kiln/sys/cache_tools.h"

/*
 * docs/design/keys.md says what each key consists of, and why. key_fields.c
 * reads keys back.
 */
#define KILN__KEY_SCHEMA 2

/* Writes the settings that have one of `scopes`, each with its name. */
void kiln__key_settings(kiln__encoder *encoder, const kiln_config *config,
                        uint32_t scopes);
/* Computes owner, runtime and full digest of a config. */
kiln_status kiln__key_config(kiln_config *config);

/* Each function adds its key to `out`, which the caller initialises and
   disposes of. KILN_ENOMEM when the encoder failed. Settings are written by
   value, not as the digest of a config, so that comparing two encodings
   compares the settings. */
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
/* The key of what a consumer attached; `config` may be NULL. */
kiln_status kiln__key_attached(kiln__encoder *out, const kiln_context *context,
                               kiln_digest identity, const char *consumer,
                               const kiln_config *config);
/* The key of what a driver made from an artifact; `driver` is how the driver
   names itself and its device. */
kiln_status kiln__key_native(kiln__encoder *out, kiln_digest binary,
                             kiln_digest payload, const char *driver);
/* The key of the note that says why a binary is not stored. */
kiln_status kiln__key_session(kiln__encoder *out, kiln_digest binary);
/* The key of a note that tool_identity.c keeps about a file: for libLLVM under
   the build of the code generator, for another tool under its name. */
kiln_status kiln__key_toolchain(kiln__encoder *out, const kiln_context *context,
                                const char *codegen);
/* The key of what the text of a package defines, given the package's history.
   The version is that of the core package, which every package sees. */
kiln_status kiln__key_source(kiln__encoder *out, const kiln_frontend *frontend,
                             const char *version, const char *package,
                             kiln_digest history, kiln_digest text);
/* The key of a part of what another language's compiler made: `part` says
   which, and `of` is a digest of what that is found by. */
kiln_status kiln__key_translation(kiln__encoder *out,
                                  const kiln_frontend *frontend,
                                  const char *part, kiln_digest of);

/* ---- context/keys/key_fields.c ---- */

/* Shows an encoded key field by field, in section "key"; fields without a name
   are numbered. The bytes need not be valid. KILN_ENOMEM. */
kiln_status kiln__key_describe(const kiln_alloc *alloc, const void *encoded,
                               size_t size, kiln_field_fn see, void *env);
/* True if it is a key of that name: "runtime", "closure". */
int kiln__key_is_named(const kiln_key *key, const char *name);

/* The versions of Kiln, of its pipeline and of the LLVM that it was built for:
   equal on a machine without LLVM. */
const char *kiln__codegen_identity(void);

#endif /* KILN_CONTEXT_KEYS_KEY_H */
