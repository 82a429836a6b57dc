/* pack_reader.h - access to a pack's bytes, in memory or in a file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_PACK_PACK_READER_H
#define KILN_STORES_PACK_PACK_READER_H

#include <stdatomic.h>

#include "base/system/kept.h"
#include "stores/pack/pack_format.h"

struct kiln_pack {
    kiln_alloc alloc;
    atomic_uint references;
    const unsigned char *base; /* memory of the caller; NULL: a file */
    kiln__kept file;           /* or none */
    /* A copy of the file's index, or NULL. Released when it is stored, acquired
       when it is read. */
    _Atomic(unsigned char *) index;
    atomic_size_t looks; /* number of look-ups in the file's index */
    char *path;          /* NULL: memory */
    kiln__pack_layout layout;
};

/* Copies bytes that are inside the pack: KILN_OK, or KILN_EIO. */
kiln_status kiln__pack_copy_out(const kiln_pack *pack, uint64_t offset,
                                void *to, size_t size);
/* Copies bytes that are inside the index, in the same way. */
kiln_status kiln__pack_look(kiln_pack *pack, uint64_t offset, void *to,
                            size_t size);
/* Lends bytes that are inside the pack. Memory is lent directly and holds the
   pack; of a file it is a copy, which nobody else changes. KILN_EIO,
   KILN_ENOMEM. Bytes of entries must be read with this function only: it makes
   sure that the descriptor is still that of the opened file, while the
   functions above may read another file that got its number. */
kiln_status kiln__pack_lend(kiln_blob *out, kiln_pack *pack, uint64_t offset,
                            size_t size);

#endif /* KILN_STORES_PACK_PACK_READER_H */
