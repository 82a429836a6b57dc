/* bitcode_library.h - bitcode libraries that the embedder added. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_RUNTIME_BITCODE_LIBRARY_H
#define KILN_TIERS_RUNTIME_BITCODE_LIBRARY_H

#include "codegen_client/tool_identity.h"
#include "tiers/typed/code_instance.h"

/* Finds the newest library that offers the symbol to the config's backend, and
   reads it if need be. KILN_ENOTFOUND, with an error that names the symbol. */
kiln_status kiln__library_find(kiln__library_use *out, kiln_context *context,
                               const kiln_config *config, const char *symbol,
                               kiln_error **error);
/* The library in a file. It is read once in a context and lives with it. */
kiln_status kiln__library_open(const struct kiln__library **out,
                               kiln_context *context, const char *name,
                               const char *path, kiln_error **error);
/* From now on no library can be added. */
void kiln__libraries_close(kiln_context *context);

/* For a library that was found. */
const char *kiln__library_name(const struct kiln__library *library);
/* Describes one of Kiln's own libraries as a tool that took part in an
   artifact. */
kiln__tool_use kiln__library_as_tool(const struct kiln__library *library);
const void *kiln__library_bytes(const struct kiln__library *library,
                                size_t *size);
kiln_digest kiln__library_digest(const struct kiln__library *library);

/* ---- bitcode_library.c ---- */
kiln_status kiln__libraries_new(kiln_context *context);
void kiln__libraries_free(kiln_context *context);

#endif /* KILN_TIERS_RUNTIME_BITCODE_LIBRARY_H */
