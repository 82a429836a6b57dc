/* packs.h - entries and packs for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_PACKS_H
#define KILN_TESTS_PACKS_H

#include "stores/pack/pack.h"

/* An entry that follows from its number: key, sections, payload of `size`
   bytes at most. What it points to is static, until the next call. */
kiln__entry pack_entry(uint64_t number, size_t size);

/* Adds the entries `first` to `end` - 1. */
kiln_status pack_fill(kiln__pack_writer *writer, uint64_t first, uint64_t end,
                      size_t size);

/* The bytes of a pack of the entries 0 to `count` - 1; fails the test when it
   cannot be made. */
kiln_blob pack_bytes(uint64_t count, size_t size);

/* Is the entry of the number there, just as it was made? 1: yes; 0: it is
   missing or cannot be believed; -1: it is another one. */
int pack_holds(kiln_pack *pack, uint64_t number, size_t size);

#endif /* KILN_TESTS_PACKS_H */
