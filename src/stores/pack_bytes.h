/* pack_bytes.h - a pack's bytes, wherever they are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PACK_BYTES_H
#define KILN_PACK_BYTES_H

#include <stdatomic.h>

#include "pack_format.h"

struct kiln_pack {
    kiln_alloc alloc;
    atomic_uint references;
    int descriptor;             /* -1: memory of somebody else's */
    kiln__pack_may_map may_map; /* NULL: by the file system */
    /* NULL: read piece by piece, so far. Release when it is mapped, acquire
       when it is looked at. */
    _Atomic(const unsigned char *) base;
    atomic_uint loans; /* so far, until it is mapped */
    char *path;        /* NULL: memory */
    kiln__pack_layout layout;
};

/* Copies bytes out of the pack, which has them: KILN_OK, or KILN_EIO. */
kiln_status kiln__pack_copy_out(const kiln_pack *pack, uint64_t offset,
                                void *to, size_t size);
/* Lends bytes that the pack has: its own, which hold it, or a copy.
   KILN_EIO, KILN_ENOMEM. */
kiln_status kiln__pack_lend(kiln_blob *out, kiln_pack *pack, uint64_t offset,
                            size_t size);

#endif /* KILN_PACK_BYTES_H */
