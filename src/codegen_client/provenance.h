/* provenance.h - who made an entry, and is that what is here today? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_PROVENANCE_H
#define KILN_CODEGEN_CLIENT_PROVENANCE_H

#include "base/data/arena.h"
#include "codegen_client/tool_identity.h"

/*
 * Keys say what is wanted; they are the same on a machine without any compiler.
 * What made an entry stands in it, as NAME=IDENTITY words: the code generator,
 * and libLLVM where that is a library of its own, by their GNU build ids; and
 * of the tools of tool_paths.h those that took part, by their contents. A tool
 * that is here and is another build of the same makes the entry a miss. One
 * that is not here is no objection, and neither is that another tool would do
 * the same work now.
 *
 * Nothing is started or loaded to find out, and what was read once is noted
 * with the file's status (tool_identity.h): as long as that is unchanged, so
 * is the tool.
 */
kiln_status kiln__toolchain_new(kiln_context *context);
void kiln__toolchain_free(kiln_context *context);
/* The words for entries that are made now, after the code generator was
   opened; "" before. Lives with the context. */
const char *kiln__toolchain_text(kiln_context *context);
/* The same for an entry that these tools took part in; in the arena, or
   living with the context. NULL: out of memory. */
const char *kiln__toolchain_words(kiln_context *context, kiln__arena *arena,
                                  const kiln__tool_use *uses, size_t count);
/* May an entry with these words be used? */
int kiln__toolchain_accepts(kiln_context *context, const char *text,
                            size_t size);

#endif /* KILN_CODEGEN_CLIENT_PROVENANCE_H */
