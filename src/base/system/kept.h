/* kept.h - descriptors that are kept, and that the host may have closed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_KEPT_H
#define KILN_KEPT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * A host may close descriptors that it does not know (close_range(), as a
 * process does that becomes a daemon), and then open files of its own, which
 * get the same numbers. So a descriptor that is kept between calls is checked
 * by its file's device, inode, type and time of birth before it is written to,
 * locked, trusted or closed. A descriptor that was lost is opened anew. A host
 * that closes descriptors while Kiln works in another thread is not protected,
 * as with any library.
 */
typedef struct kiln__kept_facts {
    dev_t device;
    ino_t inode;
    mode_t type;    /* S_IFMT */
    int has_birth;  /* not every file system has times of birth */
    int64_t born_s; /* needed because a new file may get the inode of a removed
                       one */
    uint32_t born_ns;
} kiln__kept_facts;

typedef struct kiln__kept {
    int number; /* or -1: none */
    kiln__kept_facts facts;
} kiln__kept;

#define KILN__KEPT_NONE ((kiln__kept){.number = -1})

/* Returns 0 or an errno. */
static inline int kiln__kept_look(kiln__kept_facts *out, int descriptor)
{
    struct statx now;
    struct stat old;

    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME,
              &now) == 0) {
        *out = (kiln__kept_facts){makedev(now.stx_dev_major, now.stx_dev_minor),
                                  now.stx_ino,
                                  now.stx_mode & S_IFMT,
                                  (now.stx_mask & STATX_BTIME) != 0,
                                  now.stx_btime.tv_sec,
                                  now.stx_btime.tv_nsec};
        return 0;
    }
    if (errno != ENOSYS && errno != EPERM) /* a seccomp filter may not know the
                                              call */
        return errno;
    if (fstat(descriptor, &old) != 0)
        return errno;
    *out = (kiln__kept_facts){.device = old.st_dev,
                              .inode = old.st_ino,
                              .type = old.st_mode & S_IFMT};
    return 0;
}

static inline int kiln__kept_is_same(const kiln__kept_facts *a,
                                     const kiln__kept_facts *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->type == b->type &&
           (!a->has_birth || !b->has_birth ||
            (a->born_s == b->born_s && a->born_ns == b->born_ns));
}

/* Takes over a descriptor that was just opened, or -1. On failure it is closed,
   the result is none, and errno gives the reason. */
static inline kiln__kept kiln__kept_of(int descriptor)
{
    kiln__kept kept = {.number = descriptor};
    int reason;

    if (descriptor < 0)
        return KILN__KEPT_NONE;
    reason = kiln__kept_look(&kept.facts, descriptor);
    if (reason == 0)
        return kept;
    (void)close(descriptor);
    errno = reason;
    return KILN__KEPT_NONE;
}

/* False for none, too. If a file server does not answer, the descriptor still
   counts as ours. */
static inline int kiln__kept_is_ours(const kiln__kept *kept)
{
    kiln__kept_facts now = {0};
    int reason;

    if (kept->number < 0)
        return 0;
    reason = kiln__kept_look(&now, kept->number);
    return reason ? reason != EBADF : kiln__kept_is_same(&now, &kept->facts);
}

static inline void kiln__kept_close(kiln__kept *kept)
{
    if (kiln__kept_is_ours(kept))
        (void)close(kept->number);
    kept->number = -1;
}

#endif /* KILN_KEPT_H */
