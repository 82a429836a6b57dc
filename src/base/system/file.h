/* file.h - reads whole files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FILE_H
#define KILN_FILE_H

#include "base/data/memory.h"

/* Reads a regular file of at most `limit` bytes, and never blocks for a writer.
   The blob ends in a NUL that is not counted. The error of KILN_EIO names the
   path and the reason. */
kiln_status kiln__file_read(kiln_blob *out, const kiln_alloc *alloc,
                            const char *path, size_t limit, kiln_error **error);

#endif /* KILN_FILE_H */
