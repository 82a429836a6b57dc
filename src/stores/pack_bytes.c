/* pack_bytes.c - opens a pack, and holds it while somebody looks at it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pack_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesystem.h"
#include "report.h"

/*
 * A mapping needs no copy, but each page that is looked at for the first time
 * costs more than reading it does. So a pack is read piece by piece at first:
 * most processes want a few entries of it, each once. One that is asked for
 * more is mapped.
 *
 * A file on another machine, or behind a process of the user's, may become
 * shorter or unreadable below a mapping, which ends the process by a signal.
 * There, or where mapping fails, reading goes on.
 */
#define LOANS_UNTIL_MAPPED 64u

/* ---- looking ---- */

static kiln_status read_all(int descriptor, void *to, size_t size,
                            uint64_t offset)
{
    char *at = to;

    while (size > 0) {
        const ssize_t got = pread(descriptor, at, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* it has become shorter */
            return KILN_EIO;
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return KILN_OK;
}

static const unsigned char *base_of(const kiln_pack *pack)
{
    return atomic_load_explicit(&pack->base, memory_order_acquire);
}

kiln_status kiln__pack_copy_out(const kiln_pack *pack, uint64_t offset,
                                void *to, size_t size)
{
    const unsigned char *base = base_of(pack);

    if (!base)
        return read_all(pack->descriptor, to, size, offset);
    memcpy(to, base + offset, size);
    return KILN_OK;
}

static int may_map(const kiln_pack *pack)
{
    return pack->may_map ? pack->may_map(pack->descriptor)
                         : !kiln__filesystem_of(&pack->alloc, pack->descriptor)
                                .is_network;
}

/* Counts a loan; whoever comes to the number maps the file, if that may be. */
static const unsigned char *map_in_time(kiln_pack *pack)
{
    const unsigned char *base = base_of(pack);
    void *mapping;

    if (base ||
        atomic_fetch_add_explicit(&pack->loans, 1, memory_order_relaxed) !=
            LOANS_UNTIL_MAPPED)
        return base;
    if (!may_map(pack))
        return NULL;
    mapping = mmap(NULL, (size_t)pack->layout.size, PROT_READ, MAP_SHARED,
                   pack->descriptor, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    atomic_store_explicit(&pack->base, mapping, memory_order_release);
    return mapping;
}

static void end_loan(kiln_blob *blob)
{
    kiln__pack_release(blob->private_data);
}

kiln_status kiln__pack_lend(kiln_blob *out, kiln_pack *pack, uint64_t offset,
                            size_t size)
{
    const unsigned char *base = map_in_time(pack);
    kiln_status status;
    void *copy;

    if (base) {
        *out =
            (kiln_blob){base + offset, size, end_loan, kiln__pack_retain(pack)};
        return KILN_OK;
    }
    copy = kiln__blob_new(out, &pack->alloc, size);
    if (!copy)
        return KILN_ENOMEM;
    status = read_all(pack->descriptor, copy, size, offset);
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
    const unsigned char *base = base_of(pack);

    /* The address is mmap()'s own, which was never const. */
    if (pack->descriptor >= 0) {
        if (base)
            (void)munmap((void *)(uintptr_t)base, (size_t)pack->layout.size);
        (void)close(pack->descriptor);
    }
    kiln__string_free(&alloc, pack->path);
    kiln__deallocate(&alloc, pack, sizeof *pack);
}

void kiln__pack_release(kiln_pack *pack)
{
    if (!pack)
        return;
    /* Acquire: what others did with the pack comes before its end. */
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
    return pack->path ? pack->path : "memory";
}

kiln__pack_way kiln__pack_looked_at(const kiln_pack *pack)
{
    if (pack->descriptor < 0)
        return KILN__PACK_MEMORY;
    return base_of(pack) ? KILN__PACK_MAPPED : KILN__PACK_READ;
}

/* ---- opening ---- */

static kiln_pack *pack_new(const kiln_alloc *alloc)
{
    kiln_pack *pack = kiln__allocate(alloc, sizeof *pack);

    if (pack) {
        pack->alloc = *alloc;
        pack->descriptor = -1;
        atomic_init(&pack->references, 1);
        atomic_init(&pack->base, NULL);
        atomic_init(&pack->loans, 0);
    }
    return pack;
}

static kiln_status refuse(kiln_error **error, const char *name,
                          const char *reason)
{
    return kiln__error_set(error, KILN_ECORRUPT, "pack %s: %s", name, reason);
}

/* Reads both ends of something of `size` bytes. */
static kiln_status read_ends(kiln_pack *pack, uint64_t size, const char *name,
                             kiln_error **error)
{
    unsigned char header[KILN__PACK_HEADER_SIZE];
    unsigned char footer[KILN__PACK_FOOTER_SIZE];
    const char *wrong;

    if (size < sizeof header + sizeof footer || size > SIZE_MAX / 2)
        return refuse(error, name, "its size is no pack's");
    if (kiln__pack_copy_out(pack, 0, header, sizeof header) != KILN_OK ||
        kiln__pack_copy_out(pack, size - sizeof footer, footer,
                            sizeof footer) != KILN_OK)
        return kiln__error_set(error, KILN_EIO, "pack %s: cannot be read",
                               name);
    wrong = kiln__pack_header_read(&pack->layout, header, footer, size);
    return wrong ? refuse(error, name, wrong) : KILN_OK;
}

kiln_status kiln__pack_open_memory(kiln_pack **out, const kiln_alloc *alloc,
                                   const void *bytes, size_t size,
                                   kiln_error **error)
{
    kiln_pack *pack = pack_new(alloc);
    kiln_status status;

    if (!pack)
        return kiln__error_no_memory(error);
    atomic_init(&pack->base, bytes);
    status = read_ends(pack, size, "memory", error);
    if (status == KILN_OK)
        *out = pack;
    else
        kiln__pack_release(pack);
    return status;
}

static kiln_status fail(kiln_error **error, const char *path, int number)
{
    char buffer[128];
    const char *reason = strerror_r(number, buffer, sizeof buffer);

    if (number == ENOENT || number == ENOTDIR)
        return kiln__error_set(error, KILN_ENOTFOUND, "pack %s: %s", path,
                               reason);
    return kiln__error_set(error, KILN_EIO, "pack %s: %s", path, reason);
}

static kiln_status open_file(kiln_pack *pack, const char *path,
                             kiln_error **error)
{
    struct stat facts;

    pack->path = kiln__string_copy(&pack->alloc, path);
    if (!pack->path)
        return kiln__error_no_memory(error);
    /* Opening something else than a file must not wait. */
    pack->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (pack->descriptor < 0 || fstat(pack->descriptor, &facts) != 0)
        return fail(error, path, errno);
    if (!S_ISREG(facts.st_mode))
        return refuse(error, path, "it is no file");
    return read_ends(pack, (uint64_t)facts.st_size, path, error);
}

kiln_status kiln__pack_open(kiln_pack **out, const kiln_alloc *alloc,
                            const char *path, kiln__pack_may_map mappable,
                            kiln_error **error)
{
    kiln_pack *pack = pack_new(alloc);
    kiln_status status;

    if (!pack)
        return kiln__error_no_memory(error);
    pack->may_map = mappable;
    status = open_file(pack, path, error);
    if (status == KILN_OK)
        *out = pack;
    else
        kiln__pack_release(pack);
    return status;
}
