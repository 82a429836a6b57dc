/* pack_reader.h - a pack's bytes, wherever they are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_PACK_PACK_READER_H
#define KILN_STORES_PACK_PACK_READER_H

#include <stdatomic.h>

#include "base/system/kept.h"
#include "stores/pack/pack_format.h"

struct kiln_pack {
    kiln_alloc alloc;
    atomic_uint references;
    const unsigned char *base; /* memory of somebody else's; NULL: a file */
    kiln__kept file;           /* or none */
    /* A copy of the file's index, or NULL so far. Release when it is there,
       acquire when it is looked at. */
    _Atomic(unsigned char *) index;
    atomic_size_t looks; /* at the file's index */
    char *path;          /* NULL: memory */
    kiln__pack_layout layout;
};

/* Copies bytes out of the pack, which has them: KILN_OK, or KILN_EIO. */
kiln_status kiln__pack_copy_out(const kiln_pack *pack, uint64_t offset,
                                void *to, size_t size);
/* Copies bytes of the index out, which has them; likewise. */
kiln_status kiln__pack_look(kiln_pack *pack, uint64_t offset, void *to,
                            size_t size);
/* Lends bytes that the pack has: of memory its own, which hold it; of a file a
   copy, which nobody else changes. KILN_EIO, KILN_ENOMEM. Bytes of an entry are
   had by this alone: they are the file's that was opened, while what is copied
   out may be of a file that got its number. */
kiln_status kiln__pack_lend(kiln_blob *out, kiln_pack *pack, uint64_t offset,
                            size_t size);

#endif /* KILN_STORES_PACK_PACK_READER_H */
