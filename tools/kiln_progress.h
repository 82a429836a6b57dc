/* kiln_progress.h - shows progress on standard error. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_PROGRESS_H
#define KILN_TOOLS_PROGRESS_H

#include <stddef.h>

/* Shows a bar on a terminal, and elsewhere a line for each step. */
typedef struct progress {
    const char *what;
    size_t count;
    int is_terminal;
} progress;

void progress_begin(progress *out, const char *what, size_t count);
/* Shows that `name` is done, or that it has failed. */
void progress_step(const progress *p, size_t done, const char *name, int good);
/* Removes the bar. */
void progress_end(const progress *p);

#endif /* KILN_TOOLS_PROGRESS_H */
