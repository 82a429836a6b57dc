/* failed_input.c - keeps inputs on which code generation failed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/failed_input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/temp_dir.h"

/*
 * A file is named by the digest of its content, so that the same failure is
 * kept once. It is written under a temporary name and renamed; other processes
 * may do the same, or drop files, at any time. The temporary name begins with a
 * dot. If its writer dies, the next process that keeps a file drops it.
 */

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define FILE_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
#define SUFFIX_MAX ((size_t)15) /* letters and the dot */
#define NAME_SIZE (KILN_DIGEST_TEXT_SIZE + SUFFIX_MAX)
#define DIGITS ((size_t)KILN_DIGEST_TEXT_SIZE - 1)
#define TEMPORARY_S 3600 /* no writer takes longer */

/* ---- the folder ---- */

/* Returns a descriptor, or -1. */
static int open_folder(kiln__loose *loose, int makes)
{
    const int above = kiln__loose_folder(loose, makes);
    const char *why_not;
    int folder;

    if (above < 0)
        return -1;
    folder = kiln__loose_level(&why_not, loose, above, KILN__FAILED, makes);
    if (why_not != NULL)
        kiln__loose_refuse(loose, KILN__FAILED, why_not);
    return folder;
}

static int is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == DIGITS && name[DIGITS] == '.' &&
           strlen(name + DIGITS) <= SUFFIX_MAX;
}

static int is_temporary(const char *name)
{
    return name[0] == '.' &&
           strspn(name + 1, "0123456789abcdef") == KILN__RANDOM_NAME_SIZE - 1;
}

/* Finds the oldest file and returns how many there are; `oldest` is "" if the
   folder cannot be read. Drops temporary files older than `before`. Opens a
   descriptor of its own. */
static size_t find_oldest(int folder, char oldest[NAME_SIZE], time_t before)
{
    const int again = kiln__descriptor_open(folder, ".", FOLDER_FLAGS, 0);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    struct timespec first = {0};
    const struct dirent *entry;
    size_t count = 0;

    oldest[0] = '\0';
    if (list == NULL) {
        if (again >= 0)
            (void)close(again);
        return 0;
    }
    while ((entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        struct stat facts;

        if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (is_temporary(name) && facts.st_mtim.tv_sec < before)
            (void)unlinkat(folder, name, 0);
        if (!is_ours(name))
            continue;
        if (count++ == 0 || facts.st_mtim.tv_sec < first.tv_sec ||
            (facts.st_mtim.tv_sec == first.tv_sec &&
             facts.st_mtim.tv_nsec < first.tv_nsec)) {
            first = facts.st_mtim;
            memcpy(oldest, name, strlen(name) + 1);
        }
    }
    (void)closedir(list);
    return count;
}

/* Drops the oldest files until `most` are left, and temporary files of dead
   writers. With `most` 0 it also drops files that others are still writing. */
static void drop_beyond(int folder, size_t most)
{
    const time_t now = time(NULL);
    char oldest[NAME_SIZE];

    while (find_oldest(folder, oldest, most > 0 ? now - TEMPORARY_S : now + 1) >
           most)
        if (unlinkat(folder, oldest, 0) != 0 && errno != ENOENT)
            return;
}

/* ---- keeping ---- */

static int write_file(int folder, const char *name, const void *bytes,
                      size_t size)
{
    const int file = kiln__descriptor_open(folder, name, FILE_FLAGS, 0600);
    int reason;

    if (file < 0)
        return 0;
    reason = kiln__io_write_file(file, bytes, size);
    return close(file) == 0 && reason == 0;
}

static int keep_input(int folder, const char *name, const void *bytes,
                      size_t size)
{
    char random[KILN__RANDOM_NAME_SIZE], temporary[sizeof random + 1];

    if (!kiln__random_name(random))
        return 0;
    (void)snprintf(temporary, sizeof temporary, ".%s", random);
    if (write_file(folder, temporary, bytes, size) &&
        renameat(folder, temporary, folder, name) == 0)
        return 1;
    (void)unlinkat(folder, temporary, 0);
    return 0;
}

kiln_status kiln__failed_keep(kiln__loose *loose, char *path, size_t capacity,
                              const char *suffix, const void *bytes,
                              size_t size)
{
    char digest[KILN_DIGEST_TEXT_SIZE], name[NAME_SIZE];
    char level[sizeof KILN__FAILED + NAME_SIZE], whole[KILN__LOOSE_PATH_SIZE];
    int folder, kept, length;

    if (!loose->options.writes || kiln__loose_rests(loose) ||
        size > KILN__FAILED_LARGEST || strlen(suffix) > SUFFIX_MAX)
        return KILN_EREADONLY;
    folder = open_folder(loose, 1);
    if (folder < 0)
        return KILN_EIO;
    kiln_digest_text(kiln__digest_bytes(bytes, size), digest);
    (void)snprintf(name, sizeof name, "%s%s", digest, suffix);
    kept = keep_input(folder, name, bytes, size);
    if (kept)
        drop_beyond(folder, KILN__FAILED_MOST);
    (void)close(folder);
    (void)snprintf(level, sizeof level, KILN__FAILED "/%s", name);
    kiln__loose_path(whole, loose, level);
    length = snprintf(path, capacity, "%s", whole);
    return kept && length > 0 && (size_t)length < capacity ? KILN_OK : KILN_EIO;
}

void kiln__failed_clear(kiln__loose *loose)
{
    const int folder = open_folder(loose, 0);

    if (folder < 0)
        return;
    drop_beyond(folder, 0);
    (void)close(folder);
}
