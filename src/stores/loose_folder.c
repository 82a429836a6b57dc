/* loose_folder.c - where loose entries lie: opened, checked, and named. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "log.h"
#include "loose.h"

/*
 * The folder is opened once, and everything below it is reached through that
 * descriptor, which a child of fork() may share: nothing seeks in it. Its path
 * may lead through links; nothing below it may.
 *
 * A folder that somebody else may write to would let him choose what this
 * process executes. So it must be ours, and its group and others must not be
 * able to write. That holds for each level of ours.
 *
 * A folder may go away while it is open (`rm -rf`), and come back as another
 * one. A writer notices and opens it anew; the old descriptor may be in use by
 * other threads, so it is closed only at the end. Their number is bounded.
 */

void kiln__loose_warn(kiln__loose *loose, const char *what, const char *path,
                      const char *reason)
{
    if (!atomic_exchange(&loose->is_warned, 1))
        kiln__log(loose->context, KILN_LOG_WARNING, "cache: %s %s: %s", what,
                  path, reason);
}

/* ---- opening ---- */

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

static int refuse(kiln__loose *loose, const char *reason)
{
    kiln__loose_warn(loose, "does not use", loose->directory, reason);
    return KILN__LOOSE_REFUSED;
}

/* NULL, or why entries there cannot be trusted. */
static const char *distrust(const kiln__loose *loose, int folder)
{
    const mode_t writers =
        loose->options.is_foreign ? S_IWOTH : S_IWGRP | S_IWOTH;
    struct stat facts;

    if (fstat(folder, &facts) != 0)
        return "it cannot be asked whose it is";
    if (!loose->options.is_foreign && facts.st_uid != geteuid())
        return "it is another user's";
    if (facts.st_mode & writers)
        return "others may write to it";
    return NULL;
}

/* Makes each missing folder of the path, for this user alone. */
static int make_path(const kiln__loose *loose)
{
    char *path = kiln__string_copy(&loose->alloc, loose->directory);
    int result = 0;

    if (!path)
        return ENOMEM;
    for (char *at = path; *at && result == 0; at++) {
        if (at == path || *at != '/')
            continue;
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            result = errno == EROFS || errno == EACCES ? 0 : errno;
        *at = '/';
    }
    if (result == 0 && mkdir(path, 0700) != 0 && errno != EEXIST)
        result = errno;
    kiln__string_free(&loose->alloc, path);
    return result;
}

/* Opens `name` in `parent`, which is closed; or -1 and errno. */
static int enter(int parent, const char *name, int make)
{
    int folder = openat(parent, name, FOLDER_FLAGS | O_NOFOLLOW);
    int reason;

    if (folder < 0 && errno == ENOENT && make &&
        (mkdirat(parent, name, 0700) == 0 || errno == EEXIST))
        folder = openat(parent, name, FOLDER_FLAGS | O_NOFOLLOW);
    reason = errno;
    (void)close(parent);
    errno = reason;
    return folder;
}

static int open_top(const kiln__loose *loose, int make)
{
    int folder = open(loose->directory, FOLDER_FLAGS);
    int reason;

    if (folder >= 0 || errno != ENOENT || !make)
        return folder;
    reason = make_path(loose);
    if (reason != 0) {
        errno = reason;
        return -1;
    }
    return open(loose->directory, FOLDER_FLAGS);
}

/* What a failure to open means. */
static int failed(kiln__loose *loose, int reason)
{
    char buffer[128];

    if (reason == ENOENT || reason == EMFILE || reason == ENFILE ||
        reason == ENOMEM || reason == EINTR || reason == ESTALE)
        return KILN__LOOSE_UNOPENED;
    return refuse(loose, strerror_r(reason, buffer, sizeof buffer));
}

static int open_folder(kiln__loose *loose, int make)
{
    const char *const levels[] = {loose->name_space, KILN__LOOSE_FORMAT};
    int folder = open_top(loose, make);
    const char *why_not = NULL;

    for (size_t i = 0; i < 2 && folder >= 0 && !why_not; i++) {
        why_not = distrust(loose, folder);
        if (!why_not && levels[i])
            folder = enter(folder, levels[i], make);
    }
    if (folder < 0)
        return failed(loose, errno);
    if (!why_not)
        why_not = distrust(loose, folder);
    if (!why_not)
        return folder;
    (void)close(folder);
    return refuse(loose, why_not);
}

int kiln__loose_folder(kiln__loose *loose, int make)
{
    int folder = atomic_load_explicit(&loose->folder, memory_order_acquire);
    int expected = KILN__LOOSE_UNOPENED;

    if (folder == KILN__LOOSE_UNOPENED) {
        folder = open_folder(loose, make);
        if (folder == KILN__LOOSE_UNOPENED)
            return -1;
        if (!atomic_compare_exchange_strong(&loose->folder, &expected,
                                            folder)) {
            if (folder >= 0)
                (void)close(folder);
            folder = expected;
        }
    }
    return folder >= 0 ? folder : -1;
}

void kiln__loose_forget(kiln__loose *loose, int folder)
{
    unsigned at;

    if (atomic_load(&loose->retired_count) >= KILN__LOOSE_RETIRED_MAX ||
        !atomic_compare_exchange_strong(&loose->folder, &folder,
                                        KILN__LOOSE_UNOPENED))
        return;
    at = atomic_fetch_add(&loose->retired_count, 1);
    if (at < KILN__LOOSE_RETIRED_MAX)
        atomic_store(&loose->retired[at], folder + 1);
}

/* ---- names ---- */

void kiln__loose_name(char name[KILN__LOOSE_NAME_SIZE], kiln_digest digest)
{
    char text[KILN_DIGEST_TEXT_SIZE];

    kiln_digest_text(digest, text);
    memcpy(name, text, 2);
    name[2] = '/';
    memcpy(name + 3, text + 2, 30);
    memcpy(name + 33, ".e", 3);
}

/* Hosts that share a file system share process ids: what tells two writers
   apart is 128 random bits. */
void kiln__loose_temporary(char out[KILN__LOOSE_NAME_SIZE], const char *name)
{
    kiln_digest random = {0, 0};
    char text[KILN_DIGEST_TEXT_SIZE];

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) !=
        (ssize_t)sizeof random) {
        /* Early after the machine's start there may be none. */
        random.low = kiln__clock_ns();
        random.high = (uint64_t)gettid();
    }
    kiln_digest_text(random, text);
    (void)snprintf(out, KILN__LOOSE_NAME_SIZE,
                   "%.2s/" KILN__LOOSE_TEMPORARY "%s-%lx", name, text,
                   (unsigned long)getpid());
}

/* ---- from a temporary name to a name ---- */

static int exists(int folder, const char *name)
{
    return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Renames, but not over another file: as the file system can. */
static int publish_new(int folder, const char *temporary, const char *name)
{
    if (renameat2(folder, temporary, folder, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return errno;
    if (linkat(folder, temporary, folder, name, 0) == 0) {
        (void)unlinkat(folder, temporary, 0);
        return 0;
    }
    if (errno == EEXIST || exists(folder, name))
        return EEXIST;
    return renameat(folder, temporary, folder, name) == 0 ? 0 : errno;
}

/* A server's answer may get lost: what counts is whether the name is there. */
int kiln__loose_publish(int folder, const char *temporary, const char *name,
                        int replace)
{
    int reason;

    if (replace)
        return renameat(folder, temporary, folder, name) == 0 ? 0 : errno;
    reason = publish_new(folder, temporary, name);
    return reason != 0 && exists(folder, name) ? EEXIST : reason;
}
