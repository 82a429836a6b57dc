/* loose_usage.h - how much is in a loose store, without looking. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_LOOSE_USAGE_H
#define KILN_STORES_LOOSE_USAGE_H

#include "stores/loose/loose_scan.h"

/* What is counted of one folder in 256. */
typedef struct kiln__usage {
    uint64_t bytes;
    uint64_t mark; /* 0: never looked at; else entries + 1, and how often it
                      was looked at */
} kiln__usage;

typedef struct kiln__usage_table {
    kiln__usage shards[KILN__LOOSE_SHARDS];
} kiln__usage_table;

#define KILN__USAGE_NAME "usage"
#define KILN__USAGE_ENTRIES ((UINT64_C(1) << 40) - 1) /* of a mark */

/* A wild number is one of a damaged file: it is too much, and set right. */
static inline uint64_t kiln__usage_plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* Counts a file that was put, unless its folder was never looked at. `table` is
   all that is counted then; all zero, and false, where nothing can be. */
int kiln__usage_add(kiln__usage_table *table, kiln__loose *loose, int folder,
                    unsigned shard, uint64_t bytes);
/* Sets what is in a folder, which was looked at since it was `before`, there
   and in the table. What was counted meanwhile is added: it may have been seen
   or not. What somebody else has set meanwhile stays. */
void kiln__usage_set(kiln__usage_table *table, kiln__loose *loose, int folder,
                     unsigned shard, const kiln__store_report *found);

#endif /* KILN_STORES_LOOSE_USAGE_H */
