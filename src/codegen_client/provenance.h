/* provenance.h - which tools made an entry, and are they the installed ones? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_PROVENANCE_H
#define KILN_CODEGEN_CLIENT_PROVENANCE_H

#include "base/data/arena.h"
#include "codegen_client/tool_identity.h"

/*
 * Keys do not contain the compiler: they are the same on a machine without one.
 * The tools that made an entry are named in the entry, as NAME=IDENTITY words:
 * the code generator, and libLLVM if that is a separate library, by their GNU
 * build ids; and those tools of tool_paths.h that took part, by a digest of
 * their content. If a tool is installed here in another build, the entry is a
 * miss. If it is not installed, or if another tool would do the same work now,
 * the entry is used.
 *
 * Nothing is started or loaded to find that out. What was read once is noted
 * with the file's stamp (tool_identity.h): as long as that is unchanged, so is
 * the tool.
 */
kiln_status kiln__toolchain_new(kiln_context *context);
void kiln__toolchain_free(kiln_context *context);
/* The words for entries that are made now. "" before the code generator is
   opened. Lives with the context. */
const char *kiln__toolchain_text(kiln_context *context);
/* The same for an entry that these tools took part in. The text is in the arena
   or lives with the context. NULL: out of memory. */
const char *kiln__toolchain_words(kiln_context *context, kiln__arena *arena,
                                  const kiln__tool_use *uses, size_t count);
/* True if an entry with these words may be used. */
int kiln__toolchain_accepts(kiln_context *context, const char *text,
                            size_t size);

#endif /* KILN_CODEGEN_CLIENT_PROVENANCE_H */
