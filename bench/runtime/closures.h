/* closures.h - closures of tier 2 in a folder, for contexts with nothing yet.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_CLOSURES_H
#define BENCH_CLOSURES_H

#include "context/context.h"

struct closure {
    kiln_digest library;
    const char *wanted; /* the function's name in it */
    const void *bitcode;
    size_t size;
};

/* A context over the folder, and its configuration for `target`; NULL: the
   host. Failures end the program. */
kiln_context *closures_open(const char *folder, const char *target,
                            const kiln_config **config);
/* Gets the closure, its key included, or puts it there: true when the folder
   had it. */
int closures_get(kiln_context *context, const kiln_config *config,
                 const struct closure *closure);

#endif /* BENCH_CLOSURES_H */
