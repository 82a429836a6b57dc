/* io.h - reads and writes that transfer all bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_SYSTEM_IO_H
#define KILN_BASE_SYSTEM_IO_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The system may transfer fewer bytes than it was asked for, and a signal may
 * interrupt a call. These functions go on until the last byte, the end of the
 * file, or an error.
 */

/* ---- files ---- */

/* Reserves disk space for a file of that size. Returns 0, or the errno that
   says that there is no space. If the file system does not support this, the
   result is 0, and writing reports a lack of space. */
int kiln__io_reserve(int file, uint64_t size);
/* Writes at the file's offset. Returns 0 or errno. Beyond the process's limit
   for the size of files this is EFBIG, and no signal (quiet.h). */
int kiln__io_write_file(int file, const void *bytes, size_t size);
/* Reads from `offset` on. Returns how many bytes there were, up to `size`, or
   -1 with errno. */
ssize_t kiln__io_read_at(int file, void *bytes, size_t size, uint64_t offset);

/* ---- streams ---- */

/*
 * These begin at byte `*done` of the bytes and add to it what they transfer.
 * They return 0 when all `size` bytes are through, else errno. A caller whose
 * descriptor does not block waits after EAGAIN and calls again. EPIPE and
 * ECONNRESET say that the other end is closed.
 */
int kiln__io_write(int stream, const void *bytes, size_t size, size_t *done);
/* Flags are those of send() and recv(); sending never raises SIGPIPE. */
int kiln__io_send(int socket, const void *bytes, size_t size, int flags,
                  size_t *done);
int kiln__io_receive(int socket, void *bytes, size_t size, int flags,
                     size_t *done);

#endif /* KILN_BASE_SYSTEM_IO_H */
