/* kiln_progress.h - how far something has come, on standard error. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_PROGRESS_H
#define KILN_TOOLS_PROGRESS_H

#include <stddef.h>

/* A bar on a terminal, a line for each step elsewhere. */
typedef struct progress {
    const char *what;
    size_t count;
    int is_terminal;
} progress;

void progress_begin(progress *out, const char *what, size_t count);
/* `name` is done, or has failed. */
void progress_step(const progress *p, size_t done, const char *name, int good);
/* Takes the bar away. */
void progress_end(const progress *p);

#endif /* KILN_TOOLS_PROGRESS_H */
