/* loose_prune.c - keeps a loose store within its bounds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/data/sum.h"
#include "stores/loose/loose_usage.h"

/*
 * No process scans the store when it opens, reads or closes it; with large
 * bounds not even when it stores an entry. The content of each of the 256
 * folders is counted in a small file (loose_usage.h). Storing an entry adds to
 * the count. When the sum is too large, the process scans the fullest folder
 * and evicts there, then in the next one. Eviction frees a fifth of a folder's
 * share, so only one of many stored entries causes a scan. A scan corrects the
 * count, and precedes any eviction.
 *
 * A folder that was not scanned since the file of counts was made has no count.
 * Each stored entry causes scans of a few such folders, so soon there are none
 * left. Moreover, some stored entries cause a scan of their folder without
 * need, at random; large entries more likely. These scans find entries that a
 * process did not count because it died, and entries that were unused for too
 * long.
 *
 * Keys are digests, so the folders fill evenly, and each has its share of the
 * bounds. But entries differ in size: one folder may hold more than its share
 * while the whole store has room.
 *
 * With small bounds a folder's share would be an entry or two, so every stored
 * entry causes a scan of the whole store. The last process that stores
 * something sees what all others stored before. So when no process stores
 * entries any more, the bounds hold, small or large, however many processes
 * there were.
 *
 * Entries that were unused for too long are dropped, but at most half of a
 * folder at a time: if a clock jumps ahead, everything looks old, and entries
 * that are used get a new time before the next scan.
 */

#define SMALL_ENTRIES ((uint64_t)4096)
#define SMALL_SIZE ((uint64_t)64 << 20)
#define BLOCK ((uint64_t)4096)      /* space that the smallest file takes */
#define LOOKS 2.0                   /* at random, per filling of a folder */
#define FILES_MAX ((size_t)1 << 16) /* scanned in one folder */
#define UNSEEN_MAX 8                /* uncounted folders scanned per entry */

/* ---- the bounds ---- */

typedef struct bounds {
    uint64_t size;
    uint64_t entries;
} bounds;

static uint64_t filesystem_size(kiln__loose *loose, int folder)
{
    uint64_t size = atomic_load(&loose->filesystem_size);
    struct statvfs facts;

    if (size == 0 && fstatvfs(folder, &facts) == 0) {
        size = (uint64_t)facts.f_blocks * facts.f_frsize;
        atomic_store(&loose->filesystem_size, size);
    }
    return size;
}

/* At most one twentieth of the file system; no such bound if its size is
   unknown. */
static bounds bounds_of(kiln__loose *loose, int folder)
{
    const uint64_t part = filesystem_size(loose, folder) / 20;
    bounds of = {loose->options.max_size, loose->options.max_entries};

    if (part > 0 && part < of.size)
        of.size = part;
    return of;
}

static int is_small(bounds of)
{
    return of.size < SMALL_SIZE || of.entries < SMALL_ENTRIES;
}

static uint64_t low_water(uint64_t bound)
{
    return bound == KILN_CACHE_UNBOUNDED ? bound : bound - bound / 5;
}

/* ---- counts ---- */

static uint64_t entries_of(const kiln__usage *usage)
{
    const uint64_t counted = usage->mark & KILN__USAGE_ENTRIES;

    return counted > 0 ? counted - 1 : 0;
}

static bounds usage_sum(const kiln__usage_table *table)
{
    bounds sum = {0, 0};

    for (size_t i = 0; i < KILN__LOOSE_SHARDS; i++) {
        sum.size = kiln__usage_plus(sum.size, table->shards[i].bytes);
        sum.entries =
            kiln__usage_plus(sum.entries, entries_of(&table->shards[i]));
    }
    return sum;
}

static int is_too_much(const kiln__usage_table *table, bounds of)
{
    const bounds sum = usage_sum(table);

    return sum.size > of.size || sum.entries > of.entries;
}

/* Returns the largest folder that was not scanned yet. */
static unsigned usage_largest(const kiln__usage_table *table,
                              const uint8_t *seen, int by_size)
{
    unsigned largest = 0;
    uint64_t most = 0;

    for (unsigned i = 0; i < KILN__LOOSE_SHARDS; i++) {
        const kiln__usage *usage = &table->shards[i];
        const uint64_t size =
            seen[i] ? 0
                    : kiln__usage_plus(1, by_size ? usage->bytes
                                                  : entries_of(usage));

        if (size > most)
            largest = i;
        most = size > most ? size : most;
    }
    return largest;
}

/* ---- one folder ---- */

/* The state of one call that keeps the bounds. */
typedef struct keeping {
    kiln__loose *loose;
    int folder;
    const char *keep; /* name of the entry that was stored */
    bounds of;
    kiln__usage_table table;
    uint8_t seen[KILN__LOOSE_SHARDS];
} keeping;

static void evict(keeping *k, kiln__loose_scan *scan, unsigned shard)
{
    uint64_t size = KILN_CACHE_UNBOUNDED, entries = KILN_CACHE_UNBOUNDED;
    kiln__usage *usage = &k->table.shards[shard];
    const kiln__usage counted = *usage;

    kiln__loose_scan_keep(scan, k->keep);
    *usage = (kiln__usage){scan->bytes, scan->files.count + 1};
    if (is_too_much(&k->table, k->of)) {
        size = low_water(k->of.size) / KILN__LOOSE_SHARDS;
        entries = low_water(k->of.entries) / KILN__LOOSE_SHARDS;
    }
    *usage = counted;
    kiln__loose_scan_evict(scan, size, entries, k->loose->options.max_age_s,
                           (scan->files.count + 1) / 2);
}

/* Scans a folder. If there is too much in all, evicts down to the folder's
   share. Counts what is left. */
static kiln_status scan_folder(keeping *k, unsigned shard)
{
    kiln__loose_scan scan;
    kiln_status status = kiln__loose_scan_begin(&scan, k->loose);

    if (status != KILN_OK)
        return status;
    k->seen[shard] = 1;
    status = kiln__loose_scan_shard(&scan, shard, FILES_MAX);
    if (status == KILN_OK) {
        evict(k, &scan, shard);
        kiln__usage_set(&k->table, k->loose, scan.folder, shard, &scan.report);
    }
    kiln__loose_scan_end(&scan);
    return status;
}

static kiln_status scan_unseen(keeping *k, unsigned shard)
{
    kiln_status status = KILN_OK;
    int left = UNSEEN_MAX;

    for (unsigned i = 0; i < KILN__LOOSE_SHARDS && left && status == KILN_OK;
         i++) {
        const unsigned at = (shard + i) % KILN__LOOSE_SHARDS;

        if (k->table.shards[at].mark != 0 || k->seen[at])
            continue;
        status = scan_folder(k, at);
        left--;
    }
    return status;
}

static void scan_largest(keeping *k)
{
    kiln_status status = KILN_OK;

    for (int i = 0; i < KILN__LOOSE_SHARDS && status == KILN_OK &&
                    is_too_much(&k->table, k->of);
         i++)
        status = scan_folder(
            k, usage_largest(&k->table, k->seen,
                             usage_sum(&k->table).size > k->of.size));
}

static void keep_bounds(keeping *k, unsigned shard, uint64_t bytes,
                        int is_drawn)
{
    kiln_status status = KILN_OK;

    (void)kiln__usage_add(&k->table, k->loose, k->folder, shard, bytes);
    if (getpid() != k->loose->pid)
        return;
    if (is_drawn)
        status = scan_folder(k, shard);
    if (status == KILN_OK)
        status = scan_unseen(k, shard);
    if (status == KILN_OK)
        scan_largest(k);
}

/* ---- all folders ---- */

/* `low`: if there is too much, evict down to the low-water mark. */
static kiln_status scan_all(kiln__loose *loose, bounds of, int low,
                            const char *keep, kiln__store_report *report)
{
    kiln__loose_scan scan;
    kiln_status status = kiln__loose_scan_begin(&scan, loose);

    *report = (kiln__store_report){0};
    if (status != KILN_OK)
        return status == KILN_ENOTFOUND ? KILN_OK : status;
    for (unsigned i = 0; i < KILN__LOOSE_SHARDS && status == KILN_OK; i++)
        status = kiln__loose_scan_shard(&scan, i, SIZE_MAX);
    if (status == KILN_OK) {
        if (keep != NULL)
            kiln__loose_scan_keep(&scan, keep);
        if (low && scan.bytes > of.size)
            of.size = low_water(of.size);
        if (low && scan.files.count > of.entries)
            of.entries = low_water(of.entries);
        kiln__loose_scan_evict(&scan, of.size, of.entries,
                               loose->options.max_age_s,
                               low ? (scan.files.count + 1) / 2 : SIZE_MAX);
    }
    *report = scan.report;
    kiln__loose_scan_end(&scan);
    return status;
}

kiln_status kiln__loose_prune(kiln__loose *loose, kiln__store_report *report)
{
    const int folder = kiln__loose_folder(loose, 0);

    *report = (kiln__store_report){0};
    if (folder < 0)
        return KILN_OK;
    if (!loose->options.writes)
        return KILN_EREADONLY;
    return scan_all(loose, bounds_of(loose, folder), 0, NULL, report);
}

kiln_status kiln__loose_clear(kiln__loose *loose, kiln__store_report *report)
{
    const int folder = kiln__loose_folder(loose, 0);
    kiln_status status;

    *report = (kiln__store_report){0};
    if (folder < 0)
        return KILN_OK;
    if (!loose->options.writes)
        return KILN_EREADONLY;
    status = scan_all(loose, (bounds){0, 0}, 0, NULL, report);
    (void)unlinkat(folder, KILN__USAGE_NAME, 0);
    for (unsigned i = 0; i < KILN__LOOSE_SHARDS; i++) {
        char name[3];

        (void)snprintf(name, sizeof name, "%02x", i & 0xff);
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    }
    return status;
}

/* ---- random numbers ---- */

/* Returns a number from 0 to 1. The state advances by an odd step, so that each
   thread gets another value, which is mixed for the result. */
static double draw(kiln__loose *loose)
{
    uint64_t at = atomic_fetch_add(&loose->random, 0x9e3779b97f4a7c15u);

    if (at == 0) {
        if (getrandom(&at, sizeof at, GRND_NONBLOCK) != (ssize_t)sizeof at)
            at = kiln__clock_ns();
        atomic_store(&loose->random, at | 1);
    }
    at = kiln__hash_words(&at, 1);
    return (double)(at >> 11) * 0x1p-53;
}

/* Returns which part of a folder's share of a bound `amount` is. */
static double part_of(uint64_t amount, uint64_t bound)
{
    return bound == KILN_CACHE_UNBOUNDED
               ? 0.0
               : (double)amount * KILN__LOOSE_SHARDS / (double)bound;
}

/* Used with large bounds. */
static void count_put(kiln__loose *loose, int folder, const char *name,
                      uint64_t bytes, bounds of)
{
    const double part = fmax(part_of(bytes, of.size), part_of(1, of.entries));
    keeping *k = kiln__allocate(&loose->alloc, sizeof *k);
    unsigned shard;

    if (k != NULL && sscanf(name, "%2x", &shard) == 1) {
        k->loose = loose;
        k->folder = folder;
        k->keep = name;
        k->of = of;
        keep_bounds(k, shard, bytes, draw(loose) < part * LOOKS);
    }
    kiln__deallocate(&loose->alloc, k, sizeof *k);
}

void kiln__loose_grew(kiln__loose *loose, int folder, const char *name,
                      uint64_t size)
{
    const bounds of = bounds_of(loose, folder);
    kiln__store_report report;

    if (is_small(of))
        (void)scan_all(loose, of, 1, name, &report);
    else
        count_put(loose, folder, name, (size + BLOCK - 1) / BLOCK * BLOCK, of);
}
