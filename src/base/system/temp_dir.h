/* temp_dir.h - private temporary folders, and names that nobody guesses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_SYSTEM_TEMP_DIR_H
#define KILN_BASE_SYSTEM_TEMP_DIR_H

#include <stddef.h>

/* Makes an empty folder NAME-XXXXXX below TMPDIR or /tmp, which no other user
   may enter. False: `path` is "", and errno gives the reason. */
int kiln__temporary_new(char *path, size_t capacity, const char *name);
/* Removes the folder with its content; "" is fine. A process that was killed
   may still write for a moment; the function waits for that. */
void kiln__temporary_remove(const char *path);

/* 32 hexadecimal digits that are unique and cannot be guessed. False: the
   system has no random bits to give. */
#define KILN__RANDOM_NAME_SIZE 33 /* with the NUL */
int kiln__random_name(char name[KILN__RANDOM_NAME_SIZE]);

#endif /* KILN_BASE_SYSTEM_TEMP_DIR_H */
