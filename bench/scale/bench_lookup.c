/* bench_lookup.c - finds one compiled job among many, on one or more
   threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>

#include "many.h"

/*
 * Each iteration draws a random job; `lookup/draw` measures only that, to be
 * subtracted. All benchmarks with the same number of jobs use the same context.
 */
#define SMOKE_COUNT 2000u

static struct many *made;

static void *setup(const struct bench *bench, const char **reason)
{
    uint32_t count = (uint32_t)bench->size;

    (void)reason;
    if (bench_is_smoke() && count > SMOKE_COUNT)
        count = SMOKE_COUNT;
    if (made && made->count == count)
        return made;
    many_free(made);
    made = many_new(count);
    return made;
}

static void keep(void *state)
{
    (void)state;
}

/* A linear congruential generator, of which the upper half is used. */
static uint32_t draw(uint64_t *random, uint32_t count)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((*random >> 32) * count) >> 32);
}

/* Threads begin with different jobs. */
static uint64_t seed(const void *here)
{
    return (uint64_t)(uintptr_t)here;
}

static void only_draw(void *state, uint64_t iterations)
{
    const struct many *many = state;
    uint64_t random = seed(&random);

    for (uint64_t i = 0; i < iterations; i++) {
        const kiln_type *types[MANY_PARAMETERS];

        many_types(types, many, draw(&random, many->count));
        for (unsigned p = 0; p < MANY_PARAMETERS; p++)
            BENCH_KEEP(types[p]);
    }
}

static void by_signature(void *state, uint64_t iterations)
{
    const struct many *many = state;
    uint64_t random = seed(&random);

    for (uint64_t i = 0; i < iterations; i++) {
        const kiln_type *types[MANY_PARAMETERS];
        const kiln_signature signature = {many->function, types,
                                          MANY_PARAMETERS};
        const kiln_kernel *kernel = NULL;

        many_types(types, many, draw(&random, many->count));
        if (kiln_compile(&kernel, many->context, &signature, many->config, NULL,
                         NULL) != KILN_OK)
            abort();
        BENCH_KEEP(kernel);
    }
}

static void by_handle(void *state, uint64_t iterations)
{
    const struct many *many = state;
    uint64_t random = seed(&random);

    for (uint64_t i = 0; i < iterations; i++) {
        const kiln_kernel *kernel =
            kiln_call_site_get(&many->sites[draw(&random, many->count)]);

        if (!kernel)
            abort();
        BENCH_KEEP(kernel);
    }
}

static void tell_making(void *state, char *json, size_t capacity)
{
    const struct many *many = state;

    snprintf(json, capacity,
             ", \"jobs\": %u, \"made_ns_per_job\": %.1f, "
             "\"bytes_per_job\": %.1f",
             many->count, (double)many->made_ns / many->count,
             (double)many->made_bytes / many->count);
}

#define LOOKUP(title, function, jobs, count) \
    { \
        .name = "lookup/" title "/jobs=" #jobs "/threads=" #count, \
        .setup = setup, .run = (function), .teardown = keep, \
        .threads = (count), .size = (jobs), .extra = tell_making \
    }
#define LOOKUPS(jobs) \
    LOOKUP("draw", only_draw, jobs, 1), \
        LOOKUP("signature", by_signature, jobs, 1), \
        LOOKUP("signature", by_signature, jobs, 2), \
        LOOKUP("signature", by_signature, jobs, 3), \
        LOOKUP("signature", by_signature, jobs, 4), \
        LOOKUP("handle", by_handle, jobs, 1), \
        LOOKUP("handle", by_handle, jobs, 2), \
        LOOKUP("handle", by_handle, jobs, 3), \
        LOOKUP("handle", by_handle, jobs, 4)

const struct bench bench_lookups[] = {
    LOOKUPS(1),
    LOOKUPS(1000),
    LOOKUPS(1000000),
    {.name = NULL},
};
