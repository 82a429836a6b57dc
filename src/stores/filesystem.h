/* filesystem.h - what Kiln may rely on in a file system. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_FILESYSTEM_H
#define KILN_STORES_FILESYSTEM_H

#include "base/data/memory.h"

typedef struct kiln__filesystem {
    /* True if files are on a network or come from another program (FUSE): such
       files are not locked. */
    int is_network;
    const char *name; /* "nfs"; "local" if is_network is 0; a static string */
    int may_pass;     /* it could not be asked now: draw no conclusions */
} kiln__filesystem;

/* The file system of an open file or folder; for an overlay, that of its upper
   folder. One that cannot be asked counts as a network. */
kiln__filesystem kiln__filesystem_of(const kiln_alloc *alloc, int descriptor);
/* The file system of the path, or of its nearest ancestor that exists. */
kiln__filesystem kiln__filesystem_of_path(const kiln_alloc *alloc,
                                          const char *path);

#endif /* KILN_STORES_FILESYSTEM_H */
