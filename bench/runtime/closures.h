/* closures.h - closures of tier 2 in a folder, for contexts with empty
   memory. */
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

/* Makes a context over the folder and its config for `target`; NULL: the host.
   A failure ends the program. */
kiln_context *closures_open(const char *folder, const char *target,
                            const kiln_config **config);
/* Makes the key and gets the closure, or puts it there; true when it was
   there. */
int closures_get(kiln_context *context, const kiln_config *config,
                 const struct closure *closure);

#endif /* BENCH_CLOSURES_H */
