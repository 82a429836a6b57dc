/* kept.h - descriptors that are kept, and may be somebody else's by now. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_KEPT_H
#define KILN_KEPT_H

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A host may close descriptors that it does not know (close_range(), as who
 * becomes a daemon does), and open files of its own, which get their numbers.
 * So what is kept from one call to another is recognised by its device and
 * inode before it is written to, locked, trusted or closed, and one that is
 * lost is opened anew. A host that does so while Kiln works in another thread
 * takes its chances, as with any library.
 */
typedef struct kiln__kept {
    int number; /* or -1: none */
    dev_t device;
    ino_t inode;
} kiln__kept;

#define KILN__KEPT_NONE ((kiln__kept){.number = -1})

/* Takes over a descriptor that was just opened, or -1. If that fails it is
   closed, and errno says why: none. */
static inline kiln__kept kiln__kept_of(int descriptor)
{
    struct stat facts;
    int reason;

    if (descriptor < 0)
        return KILN__KEPT_NONE;
    if (fstat(descriptor, &facts) == 0)
        return (kiln__kept){descriptor, facts.st_dev, facts.st_ino};
    reason = errno;
    (void)close(descriptor);
    errno = reason;
    return KILN__KEPT_NONE;
}

/* False for none, too. A server that does not answer takes nothing away. */
static inline int kiln__kept_is_ours(const kiln__kept *kept)
{
    struct stat facts;

    if (kept->number < 0)
        return 0;
    if (fstat(kept->number, &facts) != 0)
        return errno != EBADF;
    return facts.st_dev == kept->device && facts.st_ino == kept->inode;
}

static inline void kiln__kept_close(kiln__kept *kept)
{
    if (kiln__kept_is_ours(kept))
        (void)close(kept->number);
    kept->number = -1;
}

#endif /* KILN_KEPT_H */
