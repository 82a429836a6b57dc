/* loose_write.c - writes a loose entry. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/passing.h"
#include "base/system/reason.h"
#include "base/system/thread.h"
#include "context/log.h"
#include "stores/loose/loose.h"

/*
 * The steps: a temporary file in the entry's own folder; space for all of it;
 * the bytes; closing it, where some file systems report failures; the entry's
 * name. A process that dies between two steps leaves a temporary file or the
 * whole entry.
 *
 * The first writer wins. The others have the bytes in their own memory and do
 * not read the file.
 */

#define REFUSED (-1) /* a result besides errno: the folder must not be used */
#define FILE_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)

/* Returns 0 or errno. Closing is not tried again: the descriptor is gone. */
static int fill_file(int file, const void *bytes, size_t size)
{
    int result = size > 0 ? kiln__io_reserve(file, size) : 0;

    if (result == 0)
        result = kiln__io_write_file(file, bytes, size);
    if (close(file) != 0 && errno != EINTR && result == 0)
        result = errno;
    return result;
}

static int write_entry(int shard, const char *name, const void *bytes,
                       size_t size, int replace)
{
    char temporary[KILN__LOOSE_NAME_SIZE];
    int file, result;

    if (!kiln__loose_temporary(temporary))
        return EAGAIN;
    file = kiln__descriptor_open(shard, temporary, FILE_FLAGS, 0600);
    result = file < 0 ? errno : fill_file(file, bytes, size);
    if (result == 0)
        result = kiln__loose_publish(shard, temporary, name, replace);
    if (result != 0)
        (void)unlinkat(shard, temporary, 0);
    return result;
}

/* True if there is an entry that readers would use. Anything else is replaced;
   a folder cannot be. */
static int is_there(const kiln__loose *loose, int shard, const char *file,
                    int *replace)
{
    struct stat facts;

    if (*replace || fstatat(shard, file, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    *replace = !S_ISDIR(facts.st_mode) &&
               kiln__trust_why_not(&loose->options.trust, &facts) != NULL;
    return !*replace;
}

/* Returns 0, an errno or REFUSED. */
static int put_in(kiln__loose *loose, int folder, const char *name,
                  const kiln_blob *bytes, int replace)
{
    const char *file = kiln__loose_base(name);
    const char *why_not;
    const int shard = kiln__loose_shard(&why_not, loose, folder, name, 1);
    int result = EEXIST;

    if (shard < 0)
        return why_not != NULL ? REFUSED : errno;
    if (!is_there(loose, shard, file, &replace))
        result = write_entry(shard, file, bytes->data, bytes->size, replace);
    (void)close(shard);
    return result;
}

/* ---- what failed ---- */

/* A full disk may get room again, and a file system may be mounted anew. That
   is noticed after this time; every attempt that fails has a cost. */
#define REST_NS ((uint64_t)10 * 1000000000)

int kiln__loose_rests(const kiln__loose *loose)
{
    const uint64_t until = atomic_load(&loose->rests_until);

    return until != 0 && kiln__clock_ns() < until;
}

void kiln__loose_rest(kiln__loose *loose)
{
    atomic_store(&loose->rests_until, kiln__clock_ns() + REST_NS);
}

static void go_on_writing(kiln__loose *loose)
{
    if (atomic_load(&loose->rests_until) == 0 ||
        atomic_exchange(&loose->rests_until, 0) == 0)
        return;
    atomic_store(&loose->is_warned, 0);
    kiln__log(loose->context, KILN_LOG_INFO, "cache: writes to %s again",
              loose->directory);
}

static int is_gone(int reason)
{
    return reason == ENOENT || reason == ESTALE || reason == ENOTDIR;
}

/* The failure concerns only this process or this moment; the next entry may
   succeed. */
static int is_passing(int reason)
{
    return is_gone(reason) || kiln__passes(reason);
}

/* The entry is larger than this process may make a file (RLIMIT_FSIZE), or than
   the file system allows; smaller ones succeed. */
static void leave_out(kiln__loose *loose, size_t size)
{
    if (!atomic_exchange(&loose->is_large_reported, 1))
        kiln__log(loose->context, KILN_LOG_WARNING,
                  "cache: an entry of %zu bytes is larger than files in %s may "
                  "be",
                  size, loose->directory);
}

static kiln_status give_up(kiln__loose *loose, int reason, size_t size)
{
    if (reason == EFBIG)
        leave_out(loose, size);
    if (reason == REFUSED || reason == EFBIG || is_passing(reason))
        return KILN_EIO;
    kiln__loose_rest(loose);
    if (!atomic_exchange(&loose->is_warned, 1))
        kiln__log(loose->context, KILN_LOG_WARNING,
                  "cache: cannot write to %s, and tries again from time to "
                  "time: %s",
                  loose->directory, kiln__reason_text(reason));
    return KILN_EREADONLY;
}

#define TRIES 3 /* a folder that vanishes more often is given up */

kiln_status kiln__loose_put(kiln__loose *loose, kiln_digest digest,
                            const void *bytes, size_t size, int replace)
{
    const kiln_blob blob = {.data = bytes, .size = size};
    char name[KILN__LOOSE_NAME_SIZE];
    int folder = -1, result = ENOENT;

    if (!loose->options.writes || kiln__loose_rests(loose))
        return KILN_EREADONLY;
    if (size > KILN__ENTRY_LARGEST)
        return KILN_EINVAL;
    kiln__loose_name(name, digest);
    for (int i = 0; i < TRIES && is_gone(result); i++) {
        folder = kiln__loose_folder(loose, 1);
        if (folder < 0)
            break;
        result = put_in(loose, folder, name, &blob, replace);
        if (is_gone(result))
            kiln__loose_forget(loose, folder);
    }
    if (folder < 0)
        return kiln__loose_is_refused(loose) || kiln__loose_rests(loose)
                   ? KILN_EREADONLY
                   : KILN_EIO;
    if (result != 0 && result != EEXIST)
        return give_up(loose, result, size);
    if (result == 0) {
        go_on_writing(loose);
        kiln__loose_grew(loose, folder, name, size);
    }
    return KILN_OK;
}
