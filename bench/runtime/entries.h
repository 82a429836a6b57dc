/* entries.h - numbered entries for stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_ENTRIES_H
#define BENCH_ENTRIES_H

#include "stores/entry.h"

#define ENTRIES_ASKED 256u   /* entries of a store that are asked for */
#define ENTRIES_KEY_SIZE 200 /* as long as the keys of real jobs */

/* Entries that are asked for are large. */
#define ENTRIES_LARGE ((size_t)16 << 10)
#define ENTRIES_SMALL ((size_t)64)

/* Writes the key's bytes to `bytes`, which must live as long as the key. */
kiln_key entries_key(char bytes[ENTRIES_KEY_SIZE], uint64_t number);
/* Makes an entry with a payload of `size` bytes, at most ENTRIES_LARGE. */
kiln__entry entries_make(char bytes[ENTRIES_KEY_SIZE], uint64_t number,
                         size_t size);

#endif /* BENCH_ENTRIES_H */
