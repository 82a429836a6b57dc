/* bench_program.h - a context with a program, for benchmarks of compilation. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

#include "bench.h"

struct program {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    const kiln_type *types[3];
    kiln_signature signature; /* of saxpy(f32[:], f32, f32[:]) */
};

#define BENCH_SAXPY \
    "kernel saxpy(y, a, x)\n" \
    "    i = global_id(0)\n" \
    "    if i < length(y)\n" \
    "        y[i] = a * x[i] + y[i]\n" \
    "    end\n" \
    "end\n"

/* Opens a context and defines `text`, which has a kernel saxpy. `threads` is
   the number of threads of the host backend; 0: as many as there are cores. */
void program_open(struct program *program, const char *text, uint32_t threads);
void program_close(struct program *program);
const kiln_kernel *program_compile(struct program *program);

#endif /* BENCH_PROGRAM_H */
