/* buffer.h - memory for the bytes that are read from a file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_BUFFER_H
#define KILN_STORES_BUFFER_H

#include "base/data/memory.h"

/*
 * Stores never map files. Another process that may write to a file may truncate
 * or overwrite it in place (`cp new old`). Then touching a mapped page past the
 * new end would end this process with a signal, and bytes that had passed their
 * checks would change during use. Bytes that were read into memory are safe
 * from both; a file that became shorter is a short read.
 */

/* Allocates `size` bytes, not cleared, at a multiple of 64, as envelopes
   require. The blob may outlive everything but its allocator. NULL: no
   memory. */
char *kiln__buffer_new(kiln_blob *out, const kiln_alloc *alloc, size_t size);
/* Whether the blob is such a buffer, and its memory is malloc's. */
int kiln__buffer_is_of_malloc(const kiln_blob *blob);

#endif /* KILN_STORES_BUFFER_H */
