/* packs.h - makes entries and packs for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_PACKS_H
#define KILN_TESTS_PACKS_H

#include "stores/pack/pack.h"

/* Returns an entry that is determined by its number: key, sections, payload of
   at most `size` bytes. What it points to is static and valid until the next
   call. */
kiln__entry pack_entry(uint64_t number, size_t size);

/* Adds the entries `first` to `end` - 1. */
kiln_status pack_fill(kiln__pack_writer *writer, uint64_t first, uint64_t end,
                      size_t size);

/* Returns the bytes of a pack of the entries 0 to `count` - 1. Fails the test
   if it cannot. */
kiln_blob pack_bytes(uint64_t count, size_t size);

/* Looks up the entry of that number. 1: it is as it was made; 0: it is missing
   or rejected; -1: it is another one. */
int pack_holds(kiln_pack *pack, uint64_t number, size_t size);

#endif /* KILN_TESTS_PACKS_H */
