/* descriptor.h - descriptors of ours, away from the standard ones. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DESCRIPTOR_H
#define KILN_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * A host may have closed its standard descriptors. The system gives their
 * numbers to whoever opens something next, and then what the host prints goes
 * into a file of ours; or the host opens /dev/null in their place, which closes
 * ours. So a descriptor of ours is moved away from 0, 1 and 2 before it is
 * used.
 */

/* Moves a descriptor to `least` or above, still closed by exec. False: it
   stays, and errno says why. */
static inline int kiln__descriptor_lift(int *descriptor, int least)
{
    const int lifted = fcntl(*descriptor, F_DUPFD_CLOEXEC, least);

    if (lifted < 0) {
        /* The process may have no number that is so large. */
        if (errno == EINVAL)
            errno = EMFILE;
        return 0;
    }
    (void)close(*descriptor);
    *descriptor = lifted;
    return 1;
}

/* Moves one that was just opened above 2; passes -1 on. -1 and errno: it is
   closed. */
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

/* openat(), with O_CLOEXEC, once more after a signal. Above 2; or -1 and errno,
   and then a file that was to be made may be there. */
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
