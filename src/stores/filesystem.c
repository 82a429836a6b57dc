/* filesystem.c - what Kiln may rely on in a file system. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "base/system/passing.h"

/*
 * File systems are identified by the number that statfs() returns. The kernel's
 * own list is incomplete: parallel file systems are developed outside it.
 */

#define OVERLAY 0x794c7630u

static const struct {
    uint32_t magic;
    const char *name;
} networks[] = {
    {0x00006969u, "nfs"},    {0x0bd00bd0u, "lustre"},  {0x47504653u, "gpfs"},
    {0x19830326u, "beegfs"}, {0xff534d42u, "cifs"},    {0x0000517bu, "smb"},
    {0xfe534d42u, "smb2"},   {0x5346414fu, "openafs"}, {0x6b414653u, "afs"},
    {0x00c36400u, "ceph"},   {0x01021997u, "9p"},      {0x65735546u, "fuse"},
    {0xaad7aaeau, "panfs"},  {0x73757245u, "coda"},    {0x0000564cu, "ncp"},
    {0x20030528u, "pvfs2"},  {0x01161970u, "gfs2"},    {0x7461636fu, "ocfs2"},
    {0xbeefdeadu, "snfs"},   {0x786f4256u, "vboxfs"},
};

static kiln__filesystem from_magic(uint32_t magic)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (networks[i].magic == magic)
            return (kiln__filesystem){1, networks[i].name, 0};
    return (kiln__filesystem){0, "local", 0};
}

static int magic_of(uint32_t *out, int descriptor)
{
    struct statfs facts;

    while (fstatfs(descriptor, &facts) != 0)
        if (errno != EINTR)
            return 0;
    *out = (uint32_t)facts.f_type;
    return 1;
}

/* ---- overlays ---- */

#define PATH_SIZE ((size_t)4096)
#define MOUNTS_MAX ((size_t)4 << 20)
#define UPPER "upperdir="

/* Decodes the octal escapes of /proc/self/mountinfo up to the end of an option.
   False if the text is too long. */
static int read_path(char *to, size_t capacity, const char *from)
{
    size_t size = 0;

    while (*from && !strchr(", \n", *from)) {
        unsigned octal;

        if (size + 1 == capacity)
            return 0;
        if (*from == '\\' && sscanf(from + 1, "%3o", &octal) == 1 &&
            strlen(from) > 3) {
            to[size++] = (char)octal;
            from += 4;
        } else {
            to[size++] = *from++;
        }
    }
    to[size] = '\0';
    return size > 0;
}

/* Finds the upper folder of the overlay with the device number. */
static int find_upper(char *to, size_t capacity, const char *mounts, dev_t of)
{
    for (const char *line = mounts; line != NULL && *line;) {
        const char *end = strchr(line, '\n');
        const char *upper = strstr(line, UPPER);
        unsigned major_number, minor_number;

        if (upper != NULL && (end == NULL || upper < end) &&
            sscanf(line, "%*u %*u %u:%u", &major_number, &minor_number) == 2 &&
            makedev(major_number, minor_number) == of)
            return read_path(to, capacity, upper + sizeof UPPER - 1);
        line = end != NULL ? end + 1 : NULL;
    }
    return 0;
}

/* In a container the upper folder is often not visible. It is where the machine
   keeps its containers, which is local. */
static kiln__filesystem below_overlay(const kiln_alloc *alloc, int descriptor)
{
    kiln__filesystem found = {0, "local", 0};
    kiln_blob mounts = {0};
    char *path;
    struct stat facts;
    uint32_t magic;
    int upper;

    if (fstat(descriptor, &facts) != 0 ||
        kiln__file_read(&mounts, alloc, "/proc/self/mountinfo", MOUNTS_MAX,
                        NULL) != KILN_OK) {
        found.may_pass = kiln__passes(errno);
        return found;
    }
    path = kiln__allocate(alloc, PATH_SIZE);
    if (path != NULL &&
        find_upper(path, PATH_SIZE, mounts.data, facts.st_dev)) {
        upper = kiln__descriptor_open(AT_FDCWD, path, O_PATH, 0);
        if (upper >= 0 && magic_of(&magic, upper))
            found = from_magic(magic);
        if (upper >= 0)
            (void)close(upper);
    }
    kiln__deallocate(alloc, path, PATH_SIZE);
    kiln_blob_release(&mounts);
    return found;
}

/* ---- asking ---- */

kiln__filesystem kiln__filesystem_of(const kiln_alloc *alloc, int descriptor)
{
    uint32_t magic;

    if (!magic_of(&magic, descriptor))
        return (kiln__filesystem){1, "unknown", kiln__passes(errno)};
    if (magic == OVERLAY)
        return below_overlay(alloc, descriptor);
    return from_magic(magic);
}

kiln__filesystem kiln__filesystem_of_path(const kiln_alloc *alloc,
                                          const char *path)
{
    kiln__filesystem found = {1, "unknown", 1};
    char *at = kiln__string_copy(alloc, path);
    const size_t size = at != NULL ? strlen(at) + 1 : 0;
    int descriptor = -1;

    while (at != NULL) {
        char *slash = strrchr(at, '/');

        descriptor = kiln__descriptor_open(AT_FDCWD, *at ? at : "/", O_PATH, 0);
        if (descriptor >= 0 || errno != ENOENT || slash == NULL)
            break;
        *slash = '\0';
    }
    if (descriptor >= 0) {
        found = kiln__filesystem_of(alloc, descriptor);
        (void)close(descriptor);
    } else if (at != NULL) {
        found.may_pass = kiln__passes(errno);
    }
    kiln__deallocate(alloc, at, size);
    return found;
}
