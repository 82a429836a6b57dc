/* kernels.h - compiles kernels over one array of f32, and runs them on the
   host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <kiln.h>

struct kernels {
    kiln_context *context;
    const kiln_config *config;
    kiln_device *device;
    kiln_queue *queue;
    kiln_package *package;
    const kiln_type *array;
};

/* A failure in any of these functions ends the program. */
void kernels_open(struct kernels *k, const kiln_alloc *alloc);
void kernels_close(struct kernels *k);
void kernels_define(struct kernels *k, const char *text, size_t size);
/* Stores one of KILN_SOURCE_... to `*source` if that is not NULL. */
const kiln_kernel *kernels_compile(struct kernels *k, const char *name,
                                   int32_t *source);
/* Runs the kernel in place over `count` items. */
void kernels_run(struct kernels *k, const kiln_kernel *kernel, float *items,
                 int count);
/* Ends the program unless item I is now `factor` * I + `sum`. */
void kernels_check(const float *items, int count, int factor, int64_t sum);

#endif /* BENCH_KERNELS_H */
