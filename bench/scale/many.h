/* many.h - a context with a given number of compiled jobs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include "../bench.h"

/*
 * The jobs are one kernel for all combinations of 16 types for its 5
 * parameters: 2^20 of them. Each is inferred, keyed and kept as usual. But the
 * code generator here returns the same few bytes for all, and these are for an
 * offline device, since no machine loads a million kernels.
 */
#define MANY_TYPES 16u
#define MANY_BITS 4u
#define MANY_PARAMETERS 5u
#define MANY_MAX (1u << (MANY_BITS * MANY_PARAMETERS))

struct many {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    const kiln_function *function;
    const kiln_type *types[MANY_TYPES];
    kiln_call_site *sites; /* one for each job */
    uint32_t count;
    uint64_t made_ns;    /* on all cores */
    uint64_t made_bytes; /* live bytes of the context's memory */
};

/* Opens a context and compiles `count` jobs in it. */
struct many *many_new(uint32_t count);
void many_free(struct many *many);

/* Stores the argument types of job `index`. */
static inline void many_types(const kiln_type *types[MANY_PARAMETERS],
                              const struct many *many, uint32_t index)
{
    for (unsigned i = 0; i < MANY_PARAMETERS; i++) {
        types[i] = many->types[index % MANY_TYPES];
        index >>= MANY_BITS;
    }
}

#endif /* BENCH_MANY_H */
