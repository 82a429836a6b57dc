/* file_stamp.c - numbers that show whether a file has changed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/file_stamp.h"

#include <string.h>
#include <sys/stat.h>

static kiln__file_stamp stamp_of(const struct stat *file)
{
    return (kiln__file_stamp){{(int64_t)file->st_dev, (int64_t)file->st_ino,
                               file->st_size, file->st_mtim.tv_sec,
                               file->st_mtim.tv_nsec, file->st_ctim.tv_sec,
                               file->st_ctim.tv_nsec}};
}

kiln__file_stamp kiln__file_stamp_at(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 ? stamp_of(&file) : (kiln__file_stamp){{0}};
}

kiln__file_stamp kiln__file_stamp_of(int descriptor)
{
    struct stat file;

    return fstat(descriptor, &file) == 0 ? stamp_of(&file)
                                         : (kiln__file_stamp){{0}};
}

int kiln__file_stamp_is_none(const kiln__file_stamp *stamp)
{
    return stamp->numbers[KILN__STAMP_INODE] == 0;
}

int kiln__file_stamp_is(const kiln__file_stamp *a, const kiln__file_stamp *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
