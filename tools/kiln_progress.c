/* kiln_progress.c - shows progress on standard error. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR 24
#define NAME 32

void progress_begin(progress *out, const char *what, size_t count)
{
    const char *terminal = getenv("TERM");

    out->what = what;
    out->count = count;
    out->is_terminal = isatty(STDERR_FILENO) &&
                       (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void progress_step(const progress *p, size_t done, const char *name, int good)
{
    static const char full[] = "########################";
    static const char empty[] = "........................";
    const int filled = (int)(done * BAR / (p->count > 0 ? p->count : 1));

    if (p->is_terminal)
        (void)fprintf(stderr, "\r\033[K%s [%.*s%.*s] %zu/%zu %.*s", p->what,
                      filled, full, BAR - filled, empty, done, p->count, NAME,
                      name);
    else
        (void)fprintf(stderr, "%s %zu/%zu %s%s\n", p->what, done, p->count,
                      name, good ? "" : ": failed");
}

void progress_end(const progress *p)
{
    if (p->is_terminal)
        (void)fputs("\r\033[K", stderr);
}
