/* toolchain.h - who made an entry, and is that what is here today? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLCHAIN_H
#define KILN_TOOLCHAIN_H

#include "core.h"

/*
 * Keys say what is wanted; they are the same on a machine without any compiler.
 * What made an entry stands in it, as NAME=BUILD-ID words: the code generator,
 * and libLLVM where that is a library of its own. A tool that is here and is
 * another one makes the entry a miss; one that is not here is no objection.
 *
 * Nothing is loaded to find out. Where libLLVM is, the code generator's last
 * use in this cache has left a note about, with the file's status: as long as
 * that is unchanged, so is the library.
 */
kiln_status kiln__toolchain_new(kiln_context *context);
void kiln__toolchain_free(kiln_context *context);
/* The words for entries that are made now, after the code generator was
   opened; "" before. Lives with the context. */
const char *kiln__toolchain_text(kiln_context *context);
/* May an entry with these words be used? */
int kiln__toolchain_accepts(kiln_context *context, const char *text,
                            size_t size);

#endif /* KILN_TOOLCHAIN_H */
