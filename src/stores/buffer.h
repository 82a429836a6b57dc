/* buffer.h - memory into which the bytes of a file are read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_BUFFER_H
#define KILN_STORES_BUFFER_H

#include <sys/types.h>

#include "base/data/memory.h"

/*
 * Stores never map files. Whoever may write to a file may cut it or write it
 * anew in place (`cp new old`): touching a mapped page past its new end would
 * end the process by a signal, and bytes that passed their checks would change
 * under those who use them. What is read into memory of ours does neither; a
 * file that became shorter is a short read.
 */

/* Memory for `size` bytes, not cleared, at a multiple of 64, as envelopes want
   it; the blob may outlive everything but its allocator. NULL: no memory. */
char *kiln__buffer_new(kiln_blob *out, const kiln_alloc *alloc, size_t size);
/* Reads from the offset on: how many bytes there were, up to `size`, or -1 and
   errno. */
ssize_t kiln__buffer_fill(int file, void *bytes, size_t size, uint64_t offset);

#endif /* KILN_STORES_BUFFER_H */
