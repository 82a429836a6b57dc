/* filesystem.h - what a file system can be trusted with. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_FILESYSTEM_H
#define KILN_STORES_FILESYSTEM_H

#include "base/data/memory.h"

typedef struct kiln__filesystem {
    /* It reaches over a network or into another program: files there are not
       locked. */
    int is_network;
    const char *name; /* "nfs"; "local" for all that is none. Static. */
    int may_pass;     /* it could not be asked now: nothing is to rest on it */
} kiln__filesystem;

/* Of an open file or folder; of an overlay, what is written to. One that
   cannot be asked counts as a network. */
kiln__filesystem kiln__filesystem_of(const kiln_alloc *alloc, int descriptor);
/* Of the path, or of its nearest ancestor that exists. */
kiln__filesystem kiln__filesystem_of_path(const kiln_alloc *alloc,
                                          const char *path);

#endif /* KILN_STORES_FILESYSTEM_H */
