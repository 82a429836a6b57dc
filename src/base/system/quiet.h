/* quiet.h - writes beyond the process's file size limit without a signal. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_QUIET_H
#define KILN_QUIET_H

#include <errno.h>
#include <signal.h>
#include <time.h>

/*
 * A host may limit the size of its files (RLIMIT_FSIZE). A thread that makes a
 * file larger than that, by write(), ftruncate() or fallocate(), even a file in
 * memory, gets EFBIG and also SIGXFSZ, which ends the process. The signal is
 * sent to the calling thread alone. So that thread blocks it during its writes,
 * and consumes the one that it caused. A signal that was pending before belongs
 * to the host, and stays. No handler and no setting of the process is changed.
 */
typedef struct kiln__quiet {
    sigset_t before;
    int was_pending;
} kiln__quiet;

static inline void kiln__quiet_begin(kiln__quiet *quiet)
{
    sigset_t blocked, pending;

    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, &quiet->before);
    quiet->was_pending =
        sigpending(&pending) != 0 || sigismember(&pending, SIGXFSZ) == 1;
}

/* Does not change errno. */
static inline void kiln__quiet_end(const kiln__quiet *quiet)
{
    const struct timespec at_once = {0, 0};
    const int reason = errno;
    sigset_t caused;

    (void)sigemptyset(&caused);
    (void)sigaddset(&caused, SIGXFSZ);
    if (!quiet->was_pending)
        while (sigtimedwait(&caused, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    (void)pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
    errno = reason;
}

#endif /* KILN_QUIET_H */
