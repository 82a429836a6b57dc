/* io.c - reads and writes that transfer all bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/quiet.h"

/* Counts what a call has transferred, or -1 with errno. True: go on. */
static int count_moved(ssize_t moved, size_t *done)
{
    if (moved < 0)
        return errno == EINTR;
    *done += (size_t)moved;
    return moved > 0;
}

/* ---- files ---- */

static int is_no_room(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG ||
           reason == EIO;
}

/* posix_fallocate() is not used, because it writes zeros where the file system
   does not support it. */
int kiln__io_reserve(int file, uint64_t size)
{
    kiln__quiet quiet;
    int failed;

    kiln__quiet_begin(&quiet);
    do
        failed = fallocate(file, 0, 0, (off_t)size);
    while (failed != 0 && errno == EINTR);
    kiln__quiet_end(&quiet);
    return failed != 0 && is_no_room(errno) ? errno : 0;
}

int kiln__io_write_file(int file, const void *bytes, size_t size)
{
    kiln__quiet quiet;
    size_t done = 0;
    int reason;

    kiln__quiet_begin(&quiet);
    reason = kiln__io_write(file, bytes, size, &done);
    kiln__quiet_end(&quiet);
    return reason;
}

ssize_t kiln__io_read_at(int file, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    ssize_t got = 0;

    while (done < size) {
        got = pread(file, (char *)bytes + done, size - done,
                    (off_t)(offset + done));
        if (!count_moved(got, &done))
            break;
    }
    return got < 0 ? -1 : (ssize_t)done;
}

/* ---- streams ---- */

int kiln__io_write(int stream, const void *bytes, size_t size, size_t *done)
{
    while (*done < size) {
        const ssize_t moved =
            write(stream, (const char *)bytes + *done, size - *done);

        if (!count_moved(moved, done))
            return moved < 0 ? errno : ENOSPC;
    }
    return 0;
}

int kiln__io_send(int socket, const void *bytes, size_t size, int flags,
                  size_t *done)
{
    while (*done < size) {
        const ssize_t moved = send(socket, (const char *)bytes + *done,
                                   size - *done, flags | MSG_NOSIGNAL);

        if (!count_moved(moved, done))
            return moved < 0 ? errno : EPIPE;
    }
    return 0;
}

int kiln__io_receive(int socket, void *bytes, size_t size, int flags,
                     size_t *done)
{
    while (*done < size) {
        const ssize_t moved =
            recv(socket, (char *)bytes + *done, size - *done, flags);

        if (!count_moved(moved, done))
            return moved < 0 ? errno : ECONNRESET;
    }
    return 0;
}
