/* pack_reader.c - opens packs, reads from them, and counts their users. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/pack/pack_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/passing.h"
#include "base/system/reason.h"
#include "stores/buffer.h"

/*
 * A pack in the caller's memory is read in place. A pack in a file is read
 * piece by piece, each piece into memory of its own (buffer.h says why it is
 * not mapped). A look-up reads the start of a bucket, its slots, and the entry,
 * because most processes want only a few entries. For a pack that is asked more
 * often, the whole index is read once the look-ups have cost about as much as
 * that would. From then on a look-up is one read, or none if there is no entry.
 * A damaged index is not kept: its pieces still lead to entries, which are
 * checked themselves.
 */
#define LOOKS_LEAST ((size_t)16)
#define LOOK_WORTH ((size_t)4096) /* bytes read in the time of a look */
#define INDEX_LARGEST ((size_t)16 << 20)

/* ---- looking ---- */

static kiln_status read_piece(const kiln_pack *pack, uint64_t offset, void *to,
                              size_t size)
{
    /* Less than there was before: the file has become shorter. */
    return kiln__io_read_at(pack->file.number, to, size, offset) ==
                   (ssize_t)size
               ? KILN_OK
               : KILN_EIO;
}

kiln_status kiln__pack_copy_out(const kiln_pack *pack, uint64_t offset,
                                void *to, size_t size)
{
    if (pack->base == NULL)
        return read_piece(pack, offset, to, size);
    memcpy(to, pack->base + offset, size);
    return KILN_OK;
}

static size_t index_size(const kiln_pack *pack)
{
    return (size_t)(pack->layout.size - KILN__PACK_FOOTER_SIZE -
                    pack->layout.index);
}

static unsigned char *read_index(const kiln_pack *pack)
{
    const size_t size = index_size(pack);
    unsigned char *index =
        size > INDEX_LARGEST ? NULL : kiln__resize(&pack->alloc, NULL, 0, size);

    if (index != NULL &&
        (read_piece(pack, pack->layout.index, index, size) != KILN_OK ||
         !kiln__sum_equal(kiln__sum_bytes(index, size),
                          pack->layout.index_sum))) {
        kiln__deallocate(&pack->alloc, index, size);
        index = NULL;
    }
    return index;
}

/* The look-up that reaches the number reads the index. */
static const unsigned char *index_in_time(kiln_pack *pack)
{
    unsigned char *index =
        atomic_load_explicit(&pack->index, memory_order_acquire);

    if (index != NULL ||
        atomic_fetch_add_explicit(&pack->looks, 1, memory_order_relaxed) !=
            LOOKS_LEAST + index_size(pack) / LOOK_WORTH)
        return index;
    index = read_index(pack);
    atomic_store_explicit(&pack->index, index, memory_order_release);
    return index;
}

kiln_status kiln__pack_look(kiln_pack *pack, uint64_t offset, void *to,
                            size_t size)
{
    const unsigned char *index =
        pack->base != NULL ? NULL : index_in_time(pack);

    if (index == NULL)
        return kiln__pack_copy_out(pack, offset, to, size);
    memcpy(to, index + (offset - pack->layout.index), size);
    return KILN_OK;
}

static void end_loan(kiln_blob *blob)
{
    kiln__pack_release(blob->private_data);
}

kiln_status kiln__pack_lend(kiln_blob *out, kiln_pack *pack, uint64_t offset,
                            size_t size)
{
    kiln_status status;
    char *copy;

    if (pack->base != NULL) {
        *out = (kiln_blob){pack->base + offset, size, end_loan,
                           kiln__pack_retain(pack)};
        return KILN_OK;
    }
    copy = kiln__buffer_new(out, &pack->alloc, size);
    if (copy == NULL)
        return KILN_ENOMEM;
    status = read_piece(pack, offset, copy, size);
    if (status == KILN_OK && !kiln__kept_is_ours(&pack->file))
        status = KILN_EIO;
    if (status != KILN_OK)
        kiln_blob_release(out);
    return status;
}

/* ---- holding ---- */

kiln_pack *kiln__pack_retain(kiln_pack *pack)
{
    atomic_fetch_add_explicit(&pack->references, 1, memory_order_relaxed);
    return pack;
}

static void pack_free(kiln_pack *pack)
{
    const kiln_alloc alloc = pack->alloc;

    kiln__deallocate(&alloc, atomic_load(&pack->index), index_size(pack));
    kiln__kept_close(&pack->file);
    kiln__string_free(&alloc, pack->path);
    kiln__deallocate(&alloc, pack, sizeof *pack);
}

void kiln__pack_release(kiln_pack *pack)
{
    if (pack == NULL)
        return;
    /* Acquire: all uses by other threads come before the end of the pack. */
    if (atomic_fetch_sub_explicit(&pack->references, 1, memory_order_acq_rel) ==
        1)
        pack_free(pack);
}

size_t kiln__pack_count(const kiln_pack *pack)
{
    return (size_t)pack->layout.count;
}

uint64_t kiln__pack_size(const kiln_pack *pack)
{
    return pack->layout.size;
}

const char *kiln__pack_name(const kiln_pack *pack)
{
    return pack->path != NULL ? pack->path : "memory";
}

int kiln__pack_is_file(const kiln_pack *pack)
{
    return pack->file.number >= 0;
}

int64_t kiln__pack_used_s(const kiln_pack *pack)
{
    struct stat facts;

    return kiln__pack_is_file(pack) && fstat(pack->file.number, &facts) == 0
               ? facts.st_mtime
               : 0;
}

void kiln__pack_note_use(const kiln_pack *pack)
{
    if (kiln__kept_is_ours(&pack->file))
        (void)futimens(pack->file.number, NULL);
}

/* ---- opening ---- */

static kiln_pack *pack_new(const kiln_alloc *alloc)
{
    kiln_pack *pack = kiln__allocate(alloc, sizeof *pack);

    if (pack != NULL) {
        pack->alloc = *alloc;
        pack->file = KILN__KEPT_NONE;
        atomic_init(&pack->references, 1);
        atomic_init(&pack->index, NULL);
        atomic_init(&pack->looks, 0);
    }
    return pack;
}

static kiln_status refuse_pack(kiln_error **error, const char *name,
                               const char *reason)
{
    return kiln__error_set(error, KILN_ECORRUPT, "pack %s: %s", name, reason);
}

/* Reads and checks header and footer of a pack of `size` bytes. */
static kiln_status read_ends(kiln_pack *pack, uint64_t size, const char *name,
                             kiln_error **error)
{
    unsigned char header[KILN__PACK_HEADER_SIZE];
    unsigned char footer[KILN__PACK_FOOTER_SIZE];
    const char *wrong;

    if (size < sizeof header + sizeof footer || size > SIZE_MAX / 2)
        return refuse_pack(error, name, "its size is no pack's");
    if (kiln__pack_copy_out(pack, 0, header, sizeof header) != KILN_OK ||
        kiln__pack_copy_out(pack, size - sizeof footer, footer,
                            sizeof footer) != KILN_OK)
        return kiln__error_set(error, KILN_EIO, "pack %s: cannot be read",
                               name);
    wrong = kiln__pack_header_read(&pack->layout, header, footer, size);
    return wrong != NULL ? refuse_pack(error, name, wrong) : KILN_OK;
}

kiln_status kiln__pack_open_memory(kiln_pack **out, const kiln_alloc *alloc,
                                   const void *bytes, size_t size,
                                   kiln_error **error)
{
    kiln_pack *pack = pack_new(alloc);
    kiln_status status;

    if (pack == NULL)
        return kiln__error_no_memory(error);
    pack->base = bytes;
    status = read_ends(pack, size, "memory", error);
    if (status == KILN_OK)
        *out = pack;
    else
        kiln__pack_release(pack);
    return status;
}

static kiln_status open_error(kiln_error **error, const char *path, int number)
{
    const char *reason = kiln__reason_text(number);

    if (number == ENOENT || number == ENOTDIR)
        return kiln__error_set(error, KILN_ENOTFOUND, "pack %s: %s", path,
                               reason);
    return kiln__error_set(error, kiln__passing_status(number, KILN_EIO),
                           "pack %s: %s", path, reason);
}

static kiln_status look_at_file(kiln_pack *pack, const char *path,
                                kiln_error **error)
{
    struct stat facts;

    pack->path = kiln__string_copy(&pack->alloc, path);
    if (pack->path == NULL)
        return kiln__error_no_memory(error);
    if (fstat(pack->file.number, &facts) != 0)
        return open_error(error, path, errno);
    if (!S_ISREG(facts.st_mode))
        return refuse_pack(error, path, "it is no file");
    return read_ends(pack, (uint64_t)facts.st_size, path, error);
}

static kiln_status finish_pack(kiln_pack **out, kiln_pack *pack,
                               kiln_status status)
{
    if (status == KILN_OK)
        *out = pack;
    else
        kiln__pack_release(pack);
    return status;
}

kiln_status kiln__pack_open(kiln_pack **out, const kiln_alloc *alloc,
                            const char *path, kiln_error **error)
{
    kiln_pack *pack = pack_new(alloc);

    if (pack == NULL)
        return kiln__error_no_memory(error);
    /* Opening anything that is not a regular file must not block. */
    pack->file = kiln__kept_of(kiln__descriptor_open(
        AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0));
    return finish_pack(out, pack,
                       !kiln__pack_is_file(pack)
                           ? open_error(error, path, errno)
                           : look_at_file(pack, path, error));
}

kiln_status kiln__pack_open_file(kiln_pack **out, const kiln_alloc *alloc,
                                 int file, const char *path, kiln_error **error)
{
    kiln_pack *pack = pack_new(alloc);

    if (pack == NULL) {
        (void)close(file);
        return kiln__error_no_memory(error);
    }
    pack->file = kiln__kept_of(file);
    return finish_pack(out, pack,
                       !kiln__pack_is_file(pack)
                           ? open_error(error, path, errno)
                           : look_at_file(pack, path, error));
}
