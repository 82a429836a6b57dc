/* temp_dir.h - private temporary folders, and names that nobody guesses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_SYSTEM_TEMP_DIR_H
#define KILN_BASE_SYSTEM_TEMP_DIR_H

#include <stddef.h>

/* Makes an empty folder NAME-XXXXXX below TMPDIR or /tmp, that nobody else may
   enter. False: `path` is "", and errno says why. */
int kiln__temporary_new(char *path, size_t capacity, const char *name);
/* Removes it with all that is in it; "" is fine. Who was killed may write for a
   moment yet, which is waited for. */
void kiln__temporary_remove(const char *path);

/* 32 hexadecimal digits that nobody else has or can guess. False: the system
   has no random bits to give. */
#define KILN__RANDOM_NAME_SIZE 33 /* with the NUL */
int kiln__random_name(char name[KILN__RANDOM_NAME_SIZE]);

#endif /* KILN_BASE_SYSTEM_TEMP_DIR_H */
