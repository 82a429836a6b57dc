/* bench_stored.c - tier 2 in a process that has nothing yet. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "hasher.h"
#include "keys.h"
#include "tiers.h"

/*
 * Each sample is a new context over one folder: forming the key, opening the
 * store and getting a closure of 16 KiB from it, whole. What that replaces is
 * `runtime/closure-extract`, and what the kernel pays in either case is
 * `runtime/closure-link`.
 */
#define BITCODE_SIZE ((size_t)16384)

struct stored {
    char folder[PATH_MAX];
    unsigned char bitcode[BITCODE_SIZE];
};

static kiln_context *open_context(const struct stored *s)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context *context;
    kiln_error *error = NULL;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = s->folder;
    options.cache = &cache;
    bench_check(kiln_context_new(&context, &options, &error), error);
    return context;
}

/* Gets the closure, or puts it there: true when a store had it. */
static int get(kiln_context *context, const kiln_config *config,
               const struct stored *s)
{
    const kiln_digest library = {1, 2};
    kiln__runtime_entry *entry = NULL;
    kiln__runtime_query query = {0};
    kiln__encoder key;
    int found;

    kiln__encoder_init(&key, &context->alloc);
    bench_check(kiln__key_closure(&key, library, "_Z3powff", config), NULL);
    query.digest = kiln__encoder_digest(&key);
    query.encoded = key.bytes;
    query.encoded_size = key.size;
    found = kiln__runtime_claim(&entry, context, &query) == KILN__RUNTIME_FOUND;
    if (!found)
        bench_check(
            kiln__runtime_finish(context, entry, s->bitcode, BITCODE_SIZE, 1),
            NULL);
    kiln__runtime_release(context, entry);
    kiln__encoder_dispose(&key);
    return found;
}

static void run(void *state, uint64_t iterations)
{
    const struct stored *s = state;
    kiln_context *context = open_context(s);
    const kiln_config *config;
    kiln_error *error = NULL;
    uint64_t start;

    (void)iterations;
    bench_check(kiln_config_new(&config, context, NULL, &error), error);
    start = bench_now_ns();
    if (!get(context, config, s))
        bench_check(KILN_ENOTFOUND, NULL);
    bench_set_time(bench_now_ns() - start);
    kiln_context_free(context);
}

static void *setup(const struct bench *bench, const char **reason)
{
    struct stored *s = calloc(1, sizeof *s);
    const kiln_config *config;
    kiln_context *context;
    kiln_error *error = NULL;

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
    context = open_context(s);
    bench_check(kiln_config_new(&config, context, NULL, &error), error);
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
