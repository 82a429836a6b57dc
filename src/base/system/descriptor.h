/* descriptor.h - keeps Kiln's descriptors away from the standard ones. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DESCRIPTOR_H
#define KILN_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * A host may have closed its standard descriptors. The system gives their
 * numbers to the next file that is opened. If that is a file of Kiln's, the
 * host's output goes into it; or the host opens /dev/null in place of a
 * standard descriptor, which closes Kiln's file. So a descriptor of ours is
 * moved away from 0, 1 and 2 before it is used.
 */

/* Moves a descriptor to `least` or above; exec still closes it. False: it was
   not moved, and errno gives the reason. */
static inline int kiln__descriptor_lift(int *descriptor, int least)
{
    const int lifted = fcntl(*descriptor, F_DUPFD_CLOEXEC, least);

    if (lifted < 0) {
        /* The process's limit of descriptors may be lower than that. */
        if (errno == EINVAL)
            errno = EMFILE;
        return 0;
    }
    (void)close(*descriptor);
    *descriptor = lifted;
    return 1;
}

/* Moves a descriptor that was just opened above 2; passes -1 on. On failure it
   is closed, and the result is -1 with errno. */
static inline int kiln__descriptor_clear(int descriptor)
{
    int reason;

    if (descriptor < 0 || descriptor > STDERR_FILENO ||
        kiln__descriptor_lift(&descriptor, STDERR_FILENO + 1))
        return descriptor;
    reason = errno;
    (void)close(descriptor);
    errno = reason;
    return -1;
}

/* openat() with O_CLOEXEC, repeated after a signal. The result is above 2, or
   -1 with errno; after a failure a file that was to be made may exist. */
static inline int kiln__descriptor_open(int folder, const char *path, int flags,
                                        mode_t mode)
{
    int opened;

    do
        opened = openat(folder, path, flags | O_CLOEXEC, mode);
    while (opened < 0 && errno == EINTR);
    return kiln__descriptor_clear(opened);
}

#endif /* KILN_DESCRIPTOR_H */
