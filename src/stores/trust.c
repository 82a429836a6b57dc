/* trust.c - checks owners and permissions of files and the path to them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include "base/data/memory.h"
#include "base/system/descriptor.h"

/* ---- users ---- */

/* The system reports this number for all users that have no number in this
   process's user namespace. */
#define NOBODY ((uid_t)65534)

/* True if every user has a number of its own in this namespace. A line of
   uid_map is a range: the first number inside, the first number outside, the
   count. */
static int users_are_told_apart(void)
{
    const int file = kiln__descriptor_open(AT_FDCWD, "/proc/self/uid_map",
                                           O_RDONLY | O_CLOEXEC, 0);
    char text[64] = "";
    unsigned long here, outside, count;
    ssize_t size;

    if (file < 0)
        return 0;
    size = read(file, text, sizeof text - 1);
    (void)close(file);
    return size > 0 &&
           sscanf(text, "%lu %lu %lu", &here, &outside, &count) == 3 &&
           count == UINT32_MAX;
}

static int has_trusted_number(const kiln__trust *trust, uid_t user)
{
    if (user == geteuid())
        return 1;
    if (!trust->is_shared)
        return 0;
    if (user == 0)
        return 1;
    for (size_t i = 0; i < trust->count; i++)
        if (trust->users[i] == user)
            return 1;
    return 0;
}

static int is_trusted(const kiln__trust *trust, uid_t user)
{
    return has_trusted_number(trust, user) &&
           (user != NOBODY || users_are_told_apart());
}

const char *kiln__trust_why_not(const kiln__trust *trust,
                                const struct stat *facts)
{
    if (!is_trusted(trust, facts->st_uid))
        return facts->st_uid == geteuid()
                   ? "users cannot be told apart in this user namespace"
                   : "it is another user's";
    if (facts->st_mode & (S_IWGRP | S_IWOTH))
        return "others may write to it";
    return NULL;
}

/* ---- one level ---- */

/* Opening anything that is not a regular file must not block. */
#define CAREFUL (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static int open_again(int folder, const char *name, int flags)
{
    return kiln__descriptor_open(folder, name, flags, 0600);
}

static const char *wrong_kind(const struct stat *facts, int flags)
{
    if (flags & O_DIRECTORY)
        return S_ISDIR(facts->st_mode) ? NULL : "it is no folder";
    return S_ISREG(facts->st_mode) ? NULL : "it is no file";
}

/* Finds out what it is that could not be opened, or must not be. */
static void look_at_name(const char **why_not, struct stat *facts,
                         const kiln__trust *trust, int folder, const char *name,
                         int flags)
{
    const int reason = errno;

    *why_not = NULL;
    if ((reason == ELOOP || reason == ENOTDIR || reason == EACCES ||
         reason == ENXIO) &&
        fstatat(folder, name, facts, AT_SYMLINK_NOFOLLOW) == 0) {
        *why_not =
            S_ISLNK(facts->st_mode) ? "it is a link" : wrong_kind(facts, flags);
        if (!*why_not)
            *why_not = kiln__trust_why_not(trust, facts);
    }
    errno = reason;
}

int kiln__trust_open(const char **why_not, struct stat *facts,
                     const kiln__trust *trust, int folder, const char *name,
                     int flags)
{
    const int opened = open_again(folder, name, flags | CAREFUL);
    int reason;

    *why_not = NULL;
    if (opened < 0) {
        look_at_name(why_not, facts, trust, folder, name, flags);
        return -1;
    }
    if (fstat(opened, facts) == 0) {
        *why_not = wrong_kind(facts, flags);
        if (!*why_not)
            *why_not = kiln__trust_why_not(trust, facts);
        if (!*why_not)
            return opened;
    }
    reason = errno;
    (void)close(opened);
    errno = reason;
    return -1;
}

int kiln__trust_make(const kiln__trust *trust, int folder, const char *name,
                     int flags)
{
    const char *why_not;
    struct stat facts;
    int file = kiln__trust_open(&why_not, &facts, trust, folder, name,
                                flags | O_CREAT);

    if (file < 0 && why_not != NULL && unlinkat(folder, name, 0) == 0)
        file = kiln__trust_open(&why_not, &facts, trust, folder, name,
                                flags | O_CREAT);
    return file;
}

/* ---- a path ---- */

#define LINKS_MAX 40 /* as many as the system follows */

typedef struct walk {
    const kiln__trust *trust;
    const char **why_not;
    int makes;
    int at; /* the folder reached so far */
    unsigned links;
    char rest[PATH_MAX]; /* the rest of the path */
    char link[PATH_MAX]; /* the target of a link */
} walk;

static void step(walk *w, int next)
{
    const int reason = errno;

    if (w->at >= 0)
        (void)close(w->at);
    w->at = next;
    errno = reason;
}

/* Opens the start of the path. */
static int begin_walk(walk *w)
{
    step(w, open_again(AT_FDCWD, *w->rest == '/' ? "/" : ".",
                       O_PATH | O_DIRECTORY | O_CLOEXEC));
    return w->at >= 0;
}

/* Puts the link's target before `tail`. False, with errno, on failure. */
static int read_link(walk *w, int link, const char *tail)
{
    const ssize_t size = readlinkat(link, "", w->link, sizeof w->link);
    const size_t left = strlen(tail);

    if (size < 0)
        return 0;
    if ((size_t)size + 1 + left >= sizeof w->rest) {
        errno = ENAMETOOLONG;
        return 0;
    }
    memmove(w->rest + size + 1, tail, left + 1);
    memcpy(w->rest, w->link, (size_t)size);
    w->rest[size] = '/';
    return *w->rest != '/' || begin_walk(w);
}

/* If the name is a link that may be followed, restarts with its target and
   returns true. False: it is no link, or must not be followed. */
static int follow(walk *w, const char *name, const char *tail)
{
    const int reason = errno;
    const int link = open_again(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat facts;
    int is_followed = 0;

    errno = reason;
    if (link < 0)
        return 0;
    if (fstat(link, &facts) == 0 && S_ISLNK(facts.st_mode)) {
        if (facts.st_uid != 0 && !is_trusted(w->trust, facts.st_uid))
            *w->why_not = "a link of another user's leads to it";
        else if (++w->links > LINKS_MAX)
            errno = ELOOP;
        else
            is_followed = read_link(w, link, tail);
    }
    (void)close(link);
    return is_followed;
}

static int is_no_folder(int reason)
{
    return reason == ENOTDIR || reason == ELOOP;
}

/* Opens the name below the current folder, after making it if it is to be
   made. */
static int enter_name(const walk *w, const char *name, int flags)
{
    int opened = open_again(w->at, name, flags | CAREFUL);

    if (opened < 0 && errno == ENOENT && w->makes &&
        (mkdirat(w->at, name, 0700) == 0 || errno == EEXIST))
        opened = open_again(w->at, name, flags | CAREFUL);
    return opened;
}

/* Advances by one name. At the end of the path it opens the name with
   `flags`. */
static int go_on(walk *w, int flags, int *is_done)
{
    char *name = w->rest + strspn(w->rest, "/");
    char *tail = name + strcspn(name, "/");
    const int is_last = tail[strspn(tail, "/")] == '\0';
    int next;

    if (*tail)
        *tail++ = '\0';
    next = enter_name(w, *name ? name : ".",
                      is_last ? flags : O_PATH | O_DIRECTORY);
    if (next < 0)
        return is_no_folder(errno) && follow(w, name, tail);
    memmove(w->rest, tail, strlen(tail) + 1);
    step(w, next);
    *is_done = is_last;
    return 1;
}

static int walk_path(walk *w, const char *path, int flags)
{
    const size_t size = strlen(path);
    int is_done = 0;

    if (size == 0 || size >= sizeof w->rest) {
        errno = size ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    memcpy(w->rest, path, size + 1);
    if (!begin_walk(w))
        return -1;
    while (!is_done && go_on(w, flags, &is_done))
        continue;
    if (!is_done)
        step(w, -1);
    return w->at;
}

/* Opens what the path leads to if nothing in it is a link, as the system finds
   out in one call: most paths are like that. -1: it must be walked. */
static int open_without_links(const char *path, int flags)
{
#ifdef SYS_openat2
    const struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | CAREFUL),
        .resolve = RESOLVE_NO_SYMLINKS,
    };

    return kiln__descriptor_clear(
        (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
#else
    (void)path;
    (void)flags;
    return -1;
#endif
}

/* The paths are allocated, because two of them are much for a small stack. */
int kiln__trust_open_path(const char **why_not, const kiln__trust *trust,
                          const char *path, int flags, int makes)
{
    int opened = open_without_links(path, flags);
    walk *w;
    int reason;

    *why_not = NULL;
    if (opened >= 0)
        return opened;
    w = kiln__allocate(&kiln__malloc, sizeof *w);
    if (w == NULL) {
        errno = ENOMEM;
        return -1;
    }
    w->trust = trust;
    w->why_not = why_not;
    w->makes = makes;
    w->at = -1;
    opened = walk_path(w, path, flags);
    reason = errno;
    kiln__deallocate(&kiln__malloc, w, sizeof *w);
    errno = reason;
    return opened;
}
