/* pack_sink.c - writes a pack into memory, or into a file beside its place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/pack/pack_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/reason.h"
#include "base/system/temp_dir.h"

/*
 * The process or the machine may stop between any two of these calls:
 *
 *     open      a temporary name that nobody else has
 *     fallocate reports a lack of space before anything is written
 *     write     as often as needed
 *     fsync     puts the bytes on the disk before the name
 *     close     reports failures of network file systems
 *     rename    makes the whole pack appear
 *     fsync     of the folder: puts the name on the disk, too
 *
 * Before rename() there is the old pack, or none, and a file with a temporary
 * name that no reader looks at. After it there is the new pack.
 */

#define BUFFER_SIZE ((size_t)256 << 10)

kiln_status kiln__pack_sink_pad(kiln__pack_sink *sink)
{
    static const unsigned char zeros[KILN__PACK_ALIGNMENT];

    return sink->write(sink, zeros,
                       (size_t)(kiln__pack_align(sink->offset) - sink->offset));
}

/* ---- memory ---- */

static kiln_status write_memory(kiln__pack_sink *sink, const void *bytes,
                                size_t size)
{
    if (size > 0)
        memcpy(sink->bytes + sink->offset, bytes, size);
    sink->offset += size;
    return KILN_OK;
}

kiln_status kiln__pack_sink_memory(kiln__pack_sink *sink, kiln_blob *out,
                                   const kiln_alloc *alloc, uint64_t size)
{
    *sink = (kiln__pack_sink){.write = write_memory, .descriptor = -1};
    sink->bytes = kiln__blob_new(out, alloc, (size_t)size);
    return sink->bytes != NULL ? KILN_OK : KILN_ENOMEM;
}

/* ---- a file ---- */

static kiln_status write_through(kiln__pack_sink *sink, const void *bytes,
                                 size_t size)
{
    sink->number = kiln__io_write_file(sink->descriptor, bytes, size);
    return sink->number == 0 ? KILN_OK : KILN_EIO;
}

static kiln_status flush(kiln__pack_sink *sink)
{
    const size_t held = sink->held;

    sink->held = 0;
    return write_through(sink, sink->bytes, held);
}

static kiln_status write_file(kiln__pack_sink *sink, const void *bytes,
                              size_t size)
{
    sink->offset += size;
    if (size > BUFFER_SIZE - sink->held)
        KILN_TRY(flush(sink));
    if (size > BUFFER_SIZE)
        return write_through(sink, bytes, size);
    if (size > 0)
        memcpy(sink->bytes + sink->held, bytes, size);
    sink->held += size;
    return KILN_OK;
}

/* Only finish_file() fails with EEXIST. */
static kiln_status write_error(kiln_error **error, const char *path, int number)
{
    return kiln__error_set(
        error, KILN_EIO, "pack %s: cannot be written: %s", path,
        number == EEXIST ? "it is there, and is no regular file"
                         : kiln__reason_text(number));
}

#define NAME_SIZE (sizeof ".kiln-.tmp" - 1 + KILN__RANDOM_NAME_SIZE)

/* Makes a name in the same folder that is unique among all processes on all
   machines. */
static char *temporary_name(const kiln_alloc *alloc, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char random[KILN__RANDOM_NAME_SIZE];
    char *name;

    if (!kiln__random_name(random))
        return NULL;
    name = kiln__allocate(alloc, folder + NAME_SIZE);
    if (name == NULL)
        return NULL;
    memcpy(name, path, folder);
    (void)snprintf(name + folder, NAME_SIZE, ".kiln-%s.tmp", random);
    return name;
}

static void dispose(kiln__pack_sink *sink)
{
    if (sink->descriptor >= 0)
        (void)close(sink->descriptor);
    kiln__string_free(sink->alloc, sink->temporary);
    kiln__deallocate(sink->alloc, sink->bytes, BUFFER_SIZE);
}

/* Not writable by the group: a pack that its group may write to is not used. */
#define MODE 0644

kiln_status kiln__pack_sink_open(kiln__pack_sink *sink, const kiln_alloc *alloc,
                                 int folder, const char *path, uint64_t size,
                                 kiln_error **error)
{
    *sink = (kiln__pack_sink){.write = write_file,
                              .folder = folder,
                              .descriptor = -1,
                              .alloc = alloc};
    sink->temporary = temporary_name(alloc, path);
    sink->bytes = kiln__allocate(alloc, BUFFER_SIZE);
    if (sink->temporary == NULL || sink->bytes == NULL) {
        dispose(sink);
        return kiln__error_no_memory(error);
    }
    sink->descriptor =
        kiln__descriptor_open(folder, sink->temporary,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, MODE);
    if (sink->descriptor < 0) {
        write_error(error, path, errno);
        (void)unlinkat(folder, sink->temporary, 0);
        dispose(sink);
        return KILN_EIO;
    }
    sink->number = kiln__io_reserve(sink->descriptor, size);
    if (sink->number == 0)
        return KILN_OK;
    return kiln__pack_sink_close(sink, path, KILN_EIO, error);
}

/* The rename is on the disk when its folder is synced. A failure here has no
   effect on readers. */
static void sync_folder(const kiln_alloc *alloc, int above, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash != NULL
            ? kiln__string_copy_n(alloc, path, (size_t)(slash - path) + 1)
            : kiln__string_copy(alloc, ".");
    int descriptor;

    if (folder == NULL)
        return;
    descriptor =
        kiln__descriptor_open(above, folder, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
    kiln__string_free(alloc, folder);
}

/* What is no regular file must not be replaced: a device or a pipe belongs to
   the machine, and the new pack would be in the place of a link and not where
   the link leads. */
static int is_no_file(int folder, const char *path)
{
    struct stat facts;

    return fstatat(folder, path, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISREG(facts.st_mode);
}

/* Does everything from the last byte to the name. */
static kiln_status finish_file(kiln__pack_sink *sink, const char *path)
{
    const int descriptor = sink->descriptor;

    KILN_TRY(flush(sink));
    if (fsync(descriptor) != 0) {
        sink->number = errno;
        return KILN_EIO;
    }
    sink->descriptor = -1;
    if (close(descriptor) != 0 && errno != EINTR) {
        sink->number = errno;
        return KILN_EIO;
    }
    if (is_no_file(sink->folder, path)) {
        sink->number = EEXIST;
        return KILN_EIO;
    }
    if (renameat(sink->folder, sink->temporary, sink->folder, path) != 0) {
        sink->number = errno;
        return KILN_EIO;
    }
    sync_folder(sink->alloc, sink->folder, path);
    return KILN_OK;
}

kiln_status kiln__pack_sink_close(kiln__pack_sink *sink, const char *path,
                                  kiln_status status, kiln_error **error)
{
    if (status == KILN_OK)
        status = finish_file(sink, path);
    if (status != KILN_OK) {
        (void)unlinkat(sink->folder, sink->temporary, 0);
        write_error(error, path, sink->number);
    }
    dispose(sink);
    return status;
}
