/* everything.h - all that a process of a host does with Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_EVERYTHING_H
#define KILN_TESTS_EVERYTHING_H

#include "kiln.h"
#include "support/frontend/toy_frontend.h"

/*
 * Kernels of the language, of which some are in a pack on the search path; one
 * of another frontend, whose code a worker process generates; one for CUDA; a
 * launch on the host; a device of CUDA's, whose driver is the tests' fake.
 */
typedef struct everything {
    const char *folder;
    kiln_context *context;
    const kiln_config *config, *cuda;
    kiln_package *package;
    struct toy toy;
    int has_toy;
    char log[4096];
} everything;

/* What `folder` must have: the pack. Fails the process. */
void everything_prepare(const char *folder);
/* Makes the context, with the cache in the folder. Each of these gives the
   first failure's status, and says on stderr what it was if `says`. */
kiln_status everything_begin(everything *e, const char *folder, int says);
/* Does all of it with the kernels of that number, 0 to 3. */
kiln_status everything_do(everything *e, unsigned number, int says);
void everything_end(everything *e);
/* Is everything there as if nothing had been? Works with the kernels 0 and 1,
   and says on stderr what is not. */
int everything_has_recovered(everything *e);

/* Runs this program once more over an empty cache, with `--one`, the folder and
   at most four words, up to NULL; ends as harness_run_self(). */
int everything_try(const char *folder, const char *const *words);

#endif /* KILN_TESTS_EVERYTHING_H */
