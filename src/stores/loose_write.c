/* loose_write.c - a loose entry comes into being. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "loose.h"

/*
 * A temporary file in the entry's own folder; room for all of it; the bytes;
 * its end, which is where some file systems report what went wrong; the
 * entry's name. A process that dies between any two of these steps leaves a
 * temporary file, or the whole entry.
 *
 * The first writer wins. The others have what they wrote in their own memory
 * and do not read it again.
 */

#define FILE_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
#define SHARD_SIZE 3 /* "ab" and the NUL */

/* A descriptor, or -1 and errno. */
static int create(int folder, const char *temporary)
{
    int file = openat(folder, temporary, FILE_FLAGS, 0600);
    char shard[SHARD_SIZE] = {temporary[0], temporary[1], '\0'};

    if (file >= 0 || errno != ENOENT)
        return file;
    if (mkdirat(folder, shard, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(folder, temporary, FILE_FLAGS, 0600);
}

/* Not every file system can; what counts is what write() says then. */
static int reserve(int file, size_t size)
{
    int result = 0;

    do {
        result = fallocate(file, 0, 0, (off_t)size) == 0 ? 0 : errno;
    } while (result == EINTR);
    return result == ENOSPC || result == EDQUOT || result == EFBIG ||
                   result == EIO
               ? result
               : 0;
}

static int write_all(int file, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        const ssize_t written = write(file, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        if (written == 0)
            return ENOSPC;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

/* 0 or errno. Closing is not tried again: the descriptor is gone. */
static int fill(int file, const void *bytes, size_t size)
{
    int result = size > 0 ? reserve(file, size) : 0;

    if (result == 0)
        result = write_all(file, bytes, size);
    if (close(file) != 0 && errno != EINTR && result == 0)
        result = errno;
    return result;
}

static int write_entry(int folder, const char *name, const void *bytes,
                       size_t size, int replace)
{
    char temporary[KILN__LOOSE_NAME_SIZE];
    int file, result;

    kiln__loose_temporary(temporary, name);
    file = create(folder, temporary);
    if (file < 0)
        return errno;
    result = fill(file, bytes, size);
    if (result == 0)
        result = kiln__loose_publish(folder, temporary, name, replace);
    if (result != 0)
        (void)unlinkat(folder, temporary, 0);
    return result;
}

/* ---- what failed ---- */

static int is_gone(int reason)
{
    return reason == ENOENT || reason == ESTALE || reason == ENOTDIR;
}

/* Of the process or the moment; the next entry may succeed. */
static int is_passing(int reason)
{
    return is_gone(reason) || reason == EMFILE || reason == ENFILE ||
           reason == ENOMEM || reason == EINTR || reason == EAGAIN;
}

static kiln_status give_up(kiln__loose *loose, int reason)
{
    char buffer[128];

    if (is_passing(reason))
        return KILN_EIO;
    atomic_store(&loose->takes_none, 1);
    kiln__loose_warn(loose, "writes no more to", loose->directory,
                     strerror_r(reason, buffer, sizeof buffer));
    return KILN_EREADONLY;
}

#define TRIES 3 /* a folder that vanishes more often is left alone */

kiln_status kiln__loose_put(kiln__loose *loose, kiln_digest digest,
                            const void *bytes, size_t size, int replace)
{
    char name[KILN__LOOSE_NAME_SIZE];
    int folder = -1, result = ENOENT;

    if (!loose->options.writes || atomic_load(&loose->takes_none))
        return KILN_EREADONLY;
    if (size > KILN__LOOSE_LARGEST)
        return KILN_EINVAL;
    kiln__loose_name(name, digest);
    for (int i = 0; i < TRIES && is_gone(result); i++) {
        folder = kiln__loose_folder(loose, 1);
        if (folder < 0)
            break;
        if (!replace && faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return KILN_OK;
        result = write_entry(folder, name, bytes, size, replace);
        if (is_gone(result))
            kiln__loose_forget(loose, folder);
    }
    if (folder < 0)
        return atomic_load(&loose->folder) == KILN__LOOSE_REFUSED
                   ? KILN_EREADONLY
                   : KILN_EIO;
    if (result != 0 && result != EEXIST)
        return give_up(loose, result);
    if (result == 0)
        kiln__loose_grew(loose, folder, name, size);
    return KILN_OK;
}
