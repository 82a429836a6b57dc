/* file_stamp.h - numbers that show whether a file has changed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FILE_STAMP_H
#define KILN_FILE_STAMP_H

#include <stdint.h>

/* Device, inode, size, and times of change. All zero: there was no file. */
enum { KILN__STAMP_INODE = 1, KILN__STAMP_SIZE, KILN__STAMP_NUMBERS = 7 };

typedef struct kiln__file_stamp {
    int64_t numbers[KILN__STAMP_NUMBERS];
} kiln__file_stamp;

kiln__file_stamp kiln__file_stamp_at(const char *path);
kiln__file_stamp kiln__file_stamp_of(int descriptor);
int kiln__file_stamp_is_none(const kiln__file_stamp *stamp);
int kiln__file_stamp_is(const kiln__file_stamp *a, const kiln__file_stamp *b);

#endif /* KILN_FILE_STAMP_H */
