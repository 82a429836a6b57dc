/* loose_prune.c - a loose store stays within its bounds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "loose_scan.h"
#include "quiet.h"
#include "sum.h"

/*
 * Nobody counts what is in the store, and nobody scans it when it is opened,
 * read or closed. A put draws, and the larger what it put, the likelier it
 * looks at the folder it put it in: once in a tenth of what that folder may
 * hold, on average. That needs no memory and no agreement: a thousand
 * processes that put a little each look as often as one that puts as much as
 * all of them.
 *
 * Keys are digests, so the 256 folders fill alike, and each has its share of
 * the bounds. But entries differ in size: one folder may hold more than its
 * share while the whole has room. So whoever looks at a folder notes in a
 * small file what is in it, and evicts only when all that is noted is too
 * much. That file is a hint: several write to it without a lock, and a wrong
 * one makes the store somewhat too large or too small for a while.
 *
 * A store whose bounds are small is looked at as a whole, by each put: that
 * takes a millisecond or two, and no draw is wide of the mark. Whoever is the
 * last to put sees what all others put before, so when nobody puts any more,
 * the bounds hold, however many processes there were.
 *
 * What was unused for too long goes, but at most half of a folder at a time: a
 * clock that jumps ahead makes everything look old, and what is used
 * meanwhile is young again.
 */

#define USAGE_NAME "usage"
#define SMALL_ENTRIES ((uint64_t)4096)
#define SMALL_SIZE ((uint64_t)64 << 20)
#define BLOCK ((uint64_t)4096)      /* what the smallest file takes */
#define LOOKS 10.0                  /* while a folder is filled once */
#define FILES_MAX ((size_t)1 << 16) /* looked at in one folder */

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

/* At most one part in twenty of the file system; one without a size has no
   such bound. */
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

/* ---- what is noted ---- */

typedef struct usage {
    uint64_t bytes;
    uint64_t entries_and_one; /* 0: never looked at */
} usage;

typedef struct usage_table {
    usage shards[KILN__LOOSE_SHARDS];
} usage_table;

/* All zero when nothing is noted. */
static void usage_read(usage_table *table, const kiln__loose *loose, int folder)
{
    const char *why_not;
    struct stat facts;
    const int file = kiln__trust_open(&why_not, &facts, &loose->options.trust,
                                      folder, USAGE_NAME, O_RDONLY);

    memset(table, 0, sizeof *table);
    if (file < 0)
        return;
    if (read(file, table, sizeof *table) != (ssize_t)sizeof *table)
        memset(table, 0, sizeof *table);
    (void)close(file);
}

static void usage_note(const kiln__loose *loose, int folder, unsigned shard,
                       const usage *noted)
{
    const int file =
        kiln__trust_make(&loose->options.trust, folder, USAGE_NAME, O_WRONLY);
    const off_t last = (off_t)(sizeof(usage_table) - sizeof *noted);
    kiln__quiet quiet;

    if (file < 0)
        return;
    kiln__quiet_begin(&quiet);
    /* A file that is too short is read as nothing. */
    if (lseek(file, 0, SEEK_END) < last + (off_t)sizeof *noted)
        (void)!ftruncate(file, (off_t)sizeof(usage_table));
    (void)!pwrite(file, noted, sizeof *noted, (off_t)(shard * sizeof *noted));
    kiln__quiet_end(&quiet);
    (void)close(file);
}

/* All that is noted. Where nothing is, there will be, before that folder has
   grown by much. A wild number is one of a damaged file, and the sum may then
   be anything, until that folder is looked at again. */
static bounds usage_sum(const usage_table *table)
{
    bounds sum = {0, 0};

    for (size_t i = 0; i < KILN__LOOSE_SHARDS; i++) {
        if (table->shards[i].entries_and_one == 0)
            continue;
        sum.size += table->shards[i].bytes;
        sum.entries += table->shards[i].entries_and_one - 1;
    }
    return sum;
}

static unsigned usage_largest(const usage_table *table, int by_size)
{
    unsigned largest = 0;

    for (unsigned i = 1; i < KILN__LOOSE_SHARDS; i++) {
        const usage *a = &table->shards[i], *b = &table->shards[largest];

        if (by_size ? a->bytes > b->bytes
                    : a->entries_and_one > b->entries_and_one)
            largest = i;
    }
    return largest;
}

/* ---- one folder ---- */

/* Looks at a folder; evicts down to its share if there `is_too_much` in all.
   Notes what is left. */
static kiln_status look(kiln__loose *loose, unsigned shard, bounds of,
                        int is_too_much, const char *keep, usage *left)
{
    kiln__loose_scan scan;
    kiln_status status = kiln__loose_scan_begin(&scan, loose);
    uint64_t size = KILN_CACHE_UNBOUNDED, entries = KILN_CACHE_UNBOUNDED;

    if (status != KILN_OK)
        return status;
    status = kiln__loose_scan_shard(&scan, shard, FILES_MAX);
    if (status == KILN_OK) {
        kiln__loose_scan_keep(&scan, keep);
        if (is_too_much) {
            size = low_water(of.size) / KILN__LOOSE_SHARDS;
            entries = low_water(of.entries) / KILN__LOOSE_SHARDS;
        }
        kiln__loose_scan_evict(&scan, size, entries, loose->options.max_age_s,
                               (scan.files.count + 1) / 2);
        *left = (usage){scan.report.bytes, scan.report.entries + 1};
        usage_note(loose, scan.folder, shard, left);
    }
    kiln__loose_scan_end(&scan);
    return status;
}

/* What was put since the folders were looked at is not in the sum: about a
   tenth, since a folder is looked at LOOKS times while it is filled. */
static uint64_t high_water(uint64_t bound)
{
    return bound == KILN_CACHE_UNBOUNDED ? bound : bound - bound / 10;
}

/* Looks at the folder that grew; when there is too much in all, evicts there
   and in the fullest one. */
static void look_near_with(kiln__loose *loose, usage_table *table, int folder,
                           unsigned shard, const char *keep, bounds of)
{
    unsigned largest;
    usage left;
    bounds sum;

    usage_read(table, loose, folder);
    if (look(loose, shard, of, 0, keep, &left) != KILN_OK)
        return;
    table->shards[shard] = left;
    sum = usage_sum(table);
    if (sum.size <= high_water(of.size) &&
        sum.entries <= high_water(of.entries))
        return;
    largest = usage_largest(table, sum.size > high_water(of.size));
    (void)look(loose, shard, of, 1, keep, &left);
    if (largest != shard)
        (void)look(loose, largest, of, 1, keep, &left);
}

static void look_near(kiln__loose *loose, int folder, unsigned shard,
                      const char *keep, bounds of)
{
    usage_table *table = kiln__allocate(&loose->alloc, sizeof *table);

    if (table)
        look_near_with(loose, table, folder, shard, keep, of);
    kiln__deallocate(&loose->alloc, table, sizeof *table);
}

/* ---- all folders ---- */

/* `low`: once there is too much, down to the low water mark. */
static kiln_status look_at_all(kiln__loose *loose, bounds of, int low,
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
        if (keep)
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
    return look_at_all(loose, bounds_of(loose, folder), 0, NULL, report);
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
    status = look_at_all(loose, (bounds){0, 0}, 0, NULL, report);
    (void)unlinkat(folder, USAGE_NAME, 0);
    for (unsigned i = 0; i < KILN__LOOSE_SHARDS; i++) {
        char name[3];

        (void)snprintf(name, sizeof name, "%02x", i & 0xff);
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    }
    return status;
}

/* ---- drawing ---- */

/* From 0 to 1. The state moves by an odd step, so each thread gets another
   value, and is mixed for the result. */
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

/* How much of a bound is filled by so much. */
static double part_of(uint64_t amount, uint64_t bound, int is_shared)
{
    const double share =
        (double)bound / (is_shared ? (double)KILN__LOOSE_SHARDS : 1.0);

    return bound == KILN_CACHE_UNBOUNDED ? 0.0 : (double)amount / share;
}

void kiln__loose_grew(kiln__loose *loose, int folder, const char *name,
                      uint64_t size)
{
    const bounds of = bounds_of(loose, folder);
    const int shares = !is_small(of);
    const uint64_t blocks = (size + BLOCK - 1) / BLOCK * BLOCK;
    const double part =
        fmax(part_of(blocks, of.size, shares), part_of(1, of.entries, shares));
    kiln__store_report report;
    unsigned shard;

    if (!shares)
        (void)look_at_all(loose, of, 1, name, &report);
    else if (getpid() == loose->pid && draw(loose) < part * LOOKS &&
             sscanf(name, "%2x", &shard) == 1)
        look_near(loose, folder, shard, name, of);
}
