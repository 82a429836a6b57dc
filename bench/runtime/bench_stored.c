/* bench_stored.c - tier 2 in a process that has nothing in memory yet. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <limits.h>
#include <stdlib.h>

#include "../bench.h"
#include "closures.h"

/*
 * Each sample is a new context over the same folder. It makes the key, opens
 * the store, and gets a closure of 16 KiB from it. That replaces
 * `runtime/closure-extract`. In either case the kernel also pays
 * `runtime/closure-link`.
 */
#define BITCODE_SIZE ((size_t)16384)

struct stored {
    char folder[PATH_MAX];
    unsigned char bitcode[BITCODE_SIZE];
};

static int get(kiln_context *context, const kiln_config *config,
               const struct stored *s)
{
    const struct closure closure = {
        {{1, 2}}, "_Z3powff", s->bitcode, BITCODE_SIZE};

    return closures_get(context, config, &closure);
}

static void run(void *state, uint64_t iterations)
{
    const struct stored *s = state;
    const kiln_config *config = NULL;
    kiln_context *context = closures_open(s->folder, NULL, &config);
    uint64_t start;

    (void)iterations;
    start = bench_now_ns();
    if (!get(context, config, s))
        bench_check(KILN_ENOTFOUND, NULL);
    bench_set_time(bench_now_ns() - start);
    kiln_context_free(context);
}

static void *setup(const struct bench *bench, const char **reason)
{
    struct stored *s = calloc(1, sizeof *s);
    const kiln_config *config = NULL;
    kiln_context *context;

    (void)bench;
    if (!s)
        bench_check(KILN_ENOMEM, NULL);
    if (!bench_folder_new(s->folder, sizeof s->folder)) {
        *reason = "the program's folder takes no files";
        free(s);
        return NULL;
    }
    for (size_t i = 0; i < BITCODE_SIZE; i++)
        s->bitcode[i] = (unsigned char)(i * 7 + i / 256);
    context = closures_open(s->folder, NULL, &config);
    (void)get(context, config, s);
    kiln_context_free(context);
    return s;
}

static void teardown(void *state)
{
    struct stored *s = state;

    bench_folder_empty(s->folder);
    free(s);
}

const struct bench bench_stored[] = {
    {.name = "runtime/closure-get-stored",
     .setup = setup,
     .run = run,
     .teardown = teardown,
     .whole = 1,
     .samples = 31},
    {.name = NULL},
};
