/* loose_scan.c - lists and evicts the files of a loose store. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/loose/loose_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * A file whose name is neither that of an entry nor that of one of Kiln's
 * temporary files is not touched. Other processes are at work: a file may be
 * gone or used again by the time the scan acts on it. At worst that loses an
 * entry.
 *
 * Clocks jump. A file with a time in the future would stay the newest one for
 * years, so its time is set to now.
 */

#define TEMPORARY_S 3600 /* no writer takes longer */
#define FUTURE_S 3600    /* clocks of two machines differ by less */
#define DIGITS 62        /* of a name inside a shard */

#define SECOND INT64_C(1000000000)

/* Times that do not fit become the largest value. */
static int64_t nanoseconds(const struct timespec *time)
{
    int64_t sum;

    if (__builtin_mul_overflow((int64_t)time->tv_sec, SECOND, &sum) ||
        __builtin_add_overflow(sum, (int64_t)time->tv_nsec, &sum))
        return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

kiln_status kiln__loose_scan_begin(kiln__loose_scan *scan, kiln__loose *loose)
{
    struct timespec now;

    *scan = (kiln__loose_scan){.loose = loose};
    scan->folder = kiln__loose_folder(loose, 0);
    if (scan->folder < 0)
        return KILN_ENOTFOUND;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    scan->now_ns = nanoseconds(&now);
    return KILN_OK;
}

void kiln__loose_scan_end(kiln__loose_scan *scan)
{
    kiln__array_dispose(&scan->loose->alloc, &scan->files);
}

/* ---- names ---- */

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* False for a name that is not an entry's. */
static int read_name(kiln_digest *digest, unsigned shard, const char *name)
{
    digest->bytes[0] = (uint8_t)shard;
    for (int i = 0; i < DIGITS; i += 2) {
        const int high = hex_value(name[i]);
        const int low = high < 0 ? -1 : hex_value(name[i + 1]);

        if (low < 0)
            return 0;
        digest->bytes[1 + i / 2] = (uint8_t)(high * 16 + low);
    }
    return strcmp(name + DIGITS, ".e") == 0;
}

/* ---- looking ---- */

/* Returns when the file was last used; corrects a time in the future. */
static int64_t used_ns(const kiln__loose_scan *scan, int shard,
                       const char *name, const struct stat *facts)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {.tv_nsec = UTIME_NOW}};
    const int64_t used = nanoseconds(&facts->st_mtim);

    if (used <= scan->now_ns + FUTURE_S * SECOND)
        return used;
    if (scan->loose->options.writes)
        (void)utimensat(shard, name, times, AT_SYMLINK_NOFOLLOW);
    return scan->now_ns;
}

static void sweep(kiln__loose_scan *scan, int shard, const char *name,
                  int64_t used)
{
    if (scan->loose->options.writes &&
        used < scan->now_ns - TEMPORARY_S * SECOND &&
        unlinkat(shard, name, 0) == 0)
        scan->report.swept++;
}

static kiln_status look_at(kiln__loose_scan *scan, int descriptor,
                           unsigned shard, const char *name)
{
    const int is_temporary = strncmp(name, KILN__LOOSE_TEMPORARY,
                                     sizeof KILN__LOOSE_TEMPORARY - 1) == 0;
    kiln__loose_file file;
    struct stat facts;

    if (!is_temporary && !read_name(&file.digest, shard, name))
        return KILN_OK;
    if (fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode))
        return KILN_OK;
    file.used_ns = used_ns(scan, descriptor, name, &facts);
    if (is_temporary) {
        sweep(scan, descriptor, name, file.used_ns);
        return KILN_OK;
    }
    file.size = (uint64_t)facts.st_size;
    /* Some file systems know the blocks only later. */
    file.disk_size =
        facts.st_blocks ? (uint64_t)facts.st_blocks * 512 : file.size;
    if (!kiln__array_push(&scan->loose->alloc, &scan->files, file))
        return KILN_ENOMEM;
    scan->bytes += file.disk_size;
    return KILN_OK;
}

static DIR *open_shard(const kiln__loose_scan *scan, unsigned shard)
{
    const char *why_not;
    char name[3];
    DIR *opened;
    int descriptor;

    (void)snprintf(name, sizeof name, "%02x", shard & 0xff);
    descriptor =
        kiln__loose_level(&why_not, scan->loose, scan->folder, name, 0);
    if (why_not != NULL)
        kiln__loose_refuse(scan->loose, name, why_not);
    if (descriptor < 0)
        return NULL;
    opened = fdopendir(descriptor);
    if (opened == NULL)
        (void)close(descriptor);
    return opened;
}

kiln_status kiln__loose_scan_shard(kiln__loose_scan *scan, unsigned shard,
                                   size_t limit)
{
    DIR *opened = open_shard(scan, shard);
    kiln_status status = KILN_OK;
    const struct dirent *found;

    if (opened == NULL)
        return errno == ENOMEM ? KILN_ENOMEM : KILN_OK;
    while (status == KILN_OK && limit-- > 0 && (found = readdir(opened)))
        status = look_at(scan, dirfd(opened), shard, found->d_name);
    (void)closedir(opened);
    return status;
}

/* ---- dropping ---- */

#define KEPT INT64_MAX

void kiln__loose_scan_keep(kiln__loose_scan *scan, const char *name)
{
    for (size_t i = 0; i < scan->files.count; i++) {
        kiln__loose_file *file = &scan->files.items[i];
        char own[KILN__LOOSE_NAME_SIZE];

        kiln__loose_name(own, file->digest);
        if (strcmp(own, name) == 0)
            file->used_ns = KEPT;
    }
}

/* Sorts by time of use, then by name, so that all processes drop the same
   files. */
static int compare(const void *a, const void *b)
{
    const kiln__loose_file *first = a, *second = b;

    if (first->used_ns != second->used_ns)
        return first->used_ns < second->used_ns ? -1 : 1;
    return memcmp(first->digest.bytes, second->digest.bytes,
                  sizeof first->digest.bytes);
}

static int is_too_old(const kiln__loose_scan *scan,
                      const kiln__loose_file *file, uint64_t max_age_s)
{
    return file->used_ns < scan->now_ns &&
           ((uint64_t)scan->now_ns - (uint64_t)file->used_ns) / SECOND >
               max_age_s;
}

static void drop(kiln__loose_scan *scan, const kiln__loose_file *file)
{
    char name[KILN__LOOSE_NAME_SIZE];

    kiln__loose_name(name, file->digest);
    if (kiln__loose_unlink(scan->loose, scan->folder, name) == 0) {
        scan->report.evicted++;
        scan->report.evicted_bytes += file->disk_size;
    }
}

void kiln__loose_scan_evict(kiln__loose_scan *scan, uint64_t max_bytes,
                            uint64_t max_entries, uint64_t max_age_s,
                            size_t age_limit)
{
    const size_t count = scan->files.count;
    uint64_t bytes = scan->bytes;
    size_t at = 0;

    if (count > 1)
        qsort(scan->files.items, count, sizeof *scan->files.items, compare);
    for (; at < count; at++) {
        const kiln__loose_file *file = &scan->files.items[at];

        if (file->used_ns == KEPT)
            break;
        if (bytes <= max_bytes && count - at <= max_entries &&
            !(at < age_limit && is_too_old(scan, file, max_age_s)))
            break;
        drop(scan, file);
        bytes -= file->disk_size;
    }
    scan->report.entries += count - at;
    scan->report.bytes += bytes;
}

/* ---- for tools ---- */

kiln_status kiln__loose_each(kiln__loose *loose,
                             int (*see)(void *env,
                                        const kiln__store_item *item),
                             void *env)
{
    kiln__loose_scan scan;
    kiln_status status = kiln__loose_scan_begin(&scan, loose);
    int goes_on = 1;

    if (status != KILN_OK)
        return status == KILN_ENOTFOUND ? KILN_OK : status;
    for (unsigned i = 0; i < KILN__LOOSE_SHARDS && goes_on; i++) {
        scan.files.count = 0;
        status = kiln__loose_scan_shard(&scan, i, SIZE_MAX);
        if (status != KILN_OK)
            break;
        for (size_t j = 0; j < scan.files.count && goes_on; j++) {
            const kiln__loose_file *file = &scan.files.items[j];
            const kiln__store_item item = {file->digest, file->size,
                                           file->disk_size,
                                           file->used_ns / SECOND};

            goes_on = see(env, &item);
        }
    }
    kiln__loose_scan_end(&scan);
    return status;
}
