/* bench_hit.c - finding a compiled job in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

#include "bench_program.h"

struct hit {
    struct program program;
    kiln_call_site site;
};

static void *hit_setup(const struct bench *bench, const char **reason)
{
    struct hit *hit = calloc(1, sizeof *hit);

    (void)bench;
    (void)reason;
    if (!hit)
        bench_check(KILN_ENOMEM, NULL);
    program_open(&hit->program, BENCH_SAXPY, 0);
    hit->site.kernel = program_compile(&hit->program);
    return hit;
}

static void hit_teardown(void *state)
{
    struct hit *hit = state;

    program_close(&hit->program);
    free(hit);
}

static void by_signature(void *state, uint64_t iterations)
{
    struct hit *hit = state;

    for (uint64_t i = 0; i < iterations; i++) {
        const kiln_kernel *kernel = NULL;

        if (kiln_compile(&kernel, hit->program.context, &hit->program.signature,
                         hit->program.config, NULL, NULL) != KILN_OK)
            abort();
        BENCH_KEEP(kernel);
    }
}

static void by_handle(void *state, uint64_t iterations)
{
    struct hit *hit = state;

    for (uint64_t i = 0; i < iterations; i++) {
        const kiln_kernel *kernel = kiln_call_site_get(&hit->site);

        if (!kernel)
            abort();
        BENCH_KEEP(kernel);
    }
}

static void by_code(void *state, uint64_t iterations)
{
    struct hit *hit = state;

    for (uint64_t i = 0; i < iterations; i++) {
        const kiln_code *code = NULL;

        if (kiln_infer(&code, hit->program.context, &hit->program.signature,
                       hit->program.config, 0, NULL) != KILN_OK)
            abort();
        BENCH_KEEP(code);
    }
}

#define HIT(title, function, count) \
    { \
        .name = "hit/" title, .setup = hit_setup, .run = (function), \
        .teardown = hit_teardown, .threads = (count) \
    }

const struct bench bench_hits[] = {
    HIT("signature/threads=1", by_signature, 1),
    HIT("signature/threads=2", by_signature, 2),
    HIT("handle/threads=1", by_handle, 1),
    HIT("handle/threads=2", by_handle, 2),
    HIT("typed_ir/threads=1", by_code, 1),
    {.name = NULL},
};
