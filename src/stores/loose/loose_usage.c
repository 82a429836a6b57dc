/* loose_usage.c - counts what a loose store holds, without scanning it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/loose/loose_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/quiet.h"

/*
 * One small file has two numbers for each of the 256 folders. A process that
 * stores an entry adds to them after the entry has its name; a process that
 * scans a folder sets them to what it found. An addition reads and writes 16
 * bytes under a lock of these bytes. The lock belongs to the open file
 * description: it ends with its holder, and is held for microseconds. Waiting
 * for it is limited: if a holder was stopped, or where files cannot be locked,
 * an addition may be lost.
 *
 * Removed entries are not subtracted, so there may be less than the sum says
 * until the folder is scanned; before evicting, a process scans. There may be
 * more than the sum says: entries whose writers died or have not counted them
 * yet. A scan finds them, too.
 */

#define TRIES 100
#define PAUSE_NS 20000

enum { NOT_ASKED, LOCKS, NO_LOCKS };

static int may_lock(kiln__loose *loose, int folder)
{
    int known = atomic_load(&loose->locks);

    if (known == NOT_ASKED) {
        const kiln__filesystem of = kiln__filesystem_of(&loose->alloc, folder);

        known = of.is_network ? NO_LOCKS : LOCKS;
        if (!of.may_pass)
            atomic_store(&loose->locks, known);
    }
    return known == LOCKS;
}

/* Closing the file releases the lock. */
static void lock_shard(kiln__loose *loose, int folder, int file, unsigned shard)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct flock range = {
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = (off_t)(shard * sizeof(kiln__usage)),
        .l_len = (off_t)sizeof(kiln__usage),
    };

    if (!may_lock(loose, folder))
        return;
    for (int i = 0; i < TRIES; i++) {
        if (fcntl(file, F_OFD_SETLK, &range) == 0 ||
            (errno != EAGAIN && errno != EACCES && errno != EINTR))
            return;
        (void)nanosleep(&pause, NULL);
    }
}

static int open_file(const kiln__loose *loose, int folder)
{
    return kiln__trust_make(&loose->options.trust, folder, KILN__USAGE_NAME,
                            O_RDWR);
}

/* A file that is too short is read as if zeros followed. */
static int read_table(kiln__usage_table *table, int file)
{
    memset(table, 0, sizeof *table);
    return pread(file, table, sizeof *table, 0) >= 0;
}

static void write_shard(int file, unsigned shard, const kiln__usage *usage)
{
    kiln__quiet quiet;

    kiln__quiet_begin(&quiet);
    (void)!pwrite(file, usage, sizeof *usage, (off_t)(shard * sizeof *usage));
    kiln__quiet_end(&quiet);
}

int kiln__usage_add(kiln__usage_table *table, kiln__loose *loose, int folder,
                    unsigned shard, uint64_t bytes)
{
    kiln__usage *usage = &table->shards[shard];
    const int file = open_file(loose, folder);
    int is_read;

    memset(table, 0, sizeof *table);
    if (file < 0)
        return 0;
    lock_shard(loose, folder, file, shard);
    is_read = read_table(table, file);
    if (is_read && usage->mark != 0) {
        usage->bytes = kiln__usage_plus(usage->bytes, bytes);
        usage->mark +=
            (usage->mark & KILN__USAGE_ENTRIES) != KILN__USAGE_ENTRIES;
        write_shard(file, shard, usage);
    }
    (void)close(file);
    return is_read;
}

#define LOOKED (KILN__USAGE_ENTRIES + 1) /* adds one to the number of scans */

static kiln__usage usage_of(const kiln__usage *before, const kiln__usage *now,
                            const kiln__store_report *found)
{
    const uint64_t begun = before->mark & KILN__USAGE_ENTRIES;
    const uint64_t more =
        begun && now->mark > before->mark ? now->mark - before->mark : 0;
    const uint64_t bytes =
        begun && now->bytes > before->bytes ? now->bytes - before->bytes : 0;
    const uint64_t looks = (now->mark & ~KILN__USAGE_ENTRIES) + LOOKED;

    return (kiln__usage){
        kiln__usage_plus(found->bytes, bytes),
        looks | ((found->entries + more + 1) & KILN__USAGE_ENTRIES)};
}

static int was_looked_at(const kiln__usage *before, const kiln__usage *now)
{
    return ((before->mark ^ now->mark) & ~KILN__USAGE_ENTRIES) != 0;
}

void kiln__usage_set(kiln__usage_table *table, kiln__loose *loose, int folder,
                     unsigned shard, const kiln__store_report *found)
{
    const kiln__usage before = table->shards[shard];
    const int file = open_file(loose, folder);
    kiln__usage now = before;

    if (file >= 0) {
        lock_shard(loose, folder, file, shard);
        if (pread(file, &now, sizeof now, (off_t)(shard * sizeof now)) !=
            (ssize_t)sizeof now)
            now = (kiln__usage){0, 0};
        if (!was_looked_at(&before, &now)) {
            now = usage_of(&before, &now, found);
            write_shard(file, shard, &now);
        }
        (void)close(file);
    }
    table->shards[shard] = now;
}
