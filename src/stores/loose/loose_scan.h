/* loose_scan.h - lists and evicts the files of a loose store. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_LOOSE_SCAN_H
#define KILN_STORES_LOOSE_SCAN_H

#include "base/data/array.h"
#include "stores/loose/loose.h"

#define KILN__LOOSE_SHARDS 256

/* A file of the store. The struct is small, because there can be a million. */
typedef struct kiln__loose_file {
    int64_t used_ns; /* time of last use, since 1970 */
    uint64_t size;
    uint64_t disk_size;
    kiln_digest digest; /* read from the name */
} kiln__loose_file;

typedef struct kiln__loose_scan {
    kiln__loose *loose;
    int folder;
    int64_t now_ns;
    kiln__array_of(kiln__loose_file) files;
    uint64_t bytes;
    kiln__store_report report;
} kiln__loose_scan;

/* KILN_ENOTFOUND: the store has no folder. */
kiln_status kiln__loose_scan_begin(kiln__loose_scan *scan, kiln__loose *loose);
void kiln__loose_scan_end(kiln__loose_scan *scan);
/* Adds the entries of one of the folders, at most `limit` files. Removes
   temporary files that writers left behind, and corrects times of use in the
   future. */
kiln_status kiln__loose_scan_shard(kiln__loose_scan *scan, unsigned shard,
                                   size_t limit);
/* Makes the file of this name, if there is one, the most recently used one.
   Clocks of file systems may be so coarse that other files look as new. */
void kiln__loose_scan_keep(kiln__loose_scan *scan, const char *name);
/* Drops files, the longest unused first, until the bounds hold. Also drops
   files that were unused for longer than `max_age_s`, at most `age_limit` of
   them. The file to keep stays. */
void kiln__loose_scan_evict(kiln__loose_scan *scan, uint64_t max_bytes,
                            uint64_t max_entries, uint64_t max_age_s,
                            size_t age_limit);

#endif /* KILN_STORES_LOOSE_SCAN_H */
