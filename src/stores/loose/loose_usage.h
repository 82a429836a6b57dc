/* loose_usage.h - counts what a loose store holds, without scanning it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_LOOSE_USAGE_H
#define KILN_STORES_LOOSE_USAGE_H

#include "stores/loose/loose_scan.h"

/* The count of one of the 256 folders. */
typedef struct kiln__usage {
    uint64_t bytes;
    uint64_t mark; /* 0: never scanned; else entries + 1, and in the high bits
                      how often it was scanned */
} kiln__usage;

typedef struct kiln__usage_table {
    kiln__usage shards[KILN__LOOSE_SHARDS];
} kiln__usage_table;

#define KILN__USAGE_NAME "usage"
#define KILN__USAGE_ENTRIES ((UINT64_C(1) << 40) - 1) /* low bits of a mark */

/* An absurd number comes from a damaged file: it counts as too much, so that
   the folder is scanned and the number corrected. */
static inline uint64_t kiln__usage_plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* Counts a file that was stored, unless its folder was never scanned. `table`
   receives all counts; if nothing can be counted it is all zero, and the result
   is false. */
int kiln__usage_add(kiln__usage_table *table, kiln__loose *loose, int folder,
                    unsigned shard, uint64_t bytes);
/* Sets the count of a folder that was scanned after its count `before` was
   read, in the file and in the table. What was counted in the meantime is
   added, whether the scan saw it or not. If another process has set the count
   in the meantime, that count stays. */
void kiln__usage_set(kiln__usage_table *table, kiln__loose *loose, int folder,
                     unsigned shard, const kiln__store_report *found);

#endif /* KILN_STORES_LOOSE_USAGE_H */
