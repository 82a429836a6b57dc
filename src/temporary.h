/* temporary.h - private temporary folders. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TEMPORARY_H
#define KILN_TEMPORARY_H

#include <stddef.h>

/* Makes an empty folder NAME-XXXXXX below TMPDIR or /tmp, that nobody else may
   enter. False: `path` is "", and errno says why. */
int kiln__temporary_new(char *path, size_t capacity, const char *name);
/* Removes it with all that is in it; "" is fine. Who was killed may write for a
   moment yet, which is waited for. */
void kiln__temporary_remove(const char *path);

#endif /* KILN_TEMPORARY_H */
