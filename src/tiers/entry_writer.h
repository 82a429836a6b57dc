/* entry_writer.h - what the tiers know, as entries of stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_ENTRY_WRITER_H
#define KILN_TIERS_ENTRY_WRITER_H

#include "base/data/decoder.h"
#include "base/digest/digest.h"
#include "kiln/sys/frontend.h"
#include "stores/entry.h"

/* An entry that is being made. It points into what it is made from. */
typedef struct kiln__entry_writer {
    kiln__entry entry;
    kiln__encoder key;
    kiln__encoder meta;
} kiln__entry_writer;

void kiln__entry_writer_init(kiln__entry_writer *writer,
                             const kiln_alloc *alloc, int32_t kind);
/* Completes the entry with key and meta; `key` NULL: the key that `writer->key`
   encodes. */
kiln_status kiln__entry_writer_finish(kiln__entry_writer *writer,
                                      const kiln_key *key);
/* Puts the entry into the stores, according to the mode. */
void kiln__entry_writer_put(kiln_context *context,
                            const kiln__entry_writer *writer);
void kiln__entry_writer_dispose(kiln__entry_writer *writer);
/* The encoding of a query in every meta. A query that is read points into the
   meta; an empty one fails. */
void kiln__query_encode(kiln__encoder *out, const kiln_query *query);
kiln_query kiln__query_read(kiln__reader *reader);

#endif /* KILN_TIERS_ENTRY_WRITER_H */
