/* sequence.h - one side of the comparison of launches that follow each other.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_SEQUENCE_H
#define BENCH_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Two kernels:
 *
 *     saxpy   y = a * x + y: memory and little else
 *     orbits  each item follows z*z + c for `steps` steps, which no compiler
 *             here makes into vectors: as few heavy items as one likes
 */
enum kernel { SAXPY, ORBITS };

struct work {
    enum kernel kernel;
    int64_t items;
    int64_t steps;
    float *x, *y; /* x is smaller than 0.1: no orbit leaves */
};

/* The functions return 0 on failure, after telling why. */
struct side {
    int (*open)(struct work *work);
    int (*launch)(void);
    void (*close)(void);
};

extern const struct side side_kiln;
extern const struct side side_openmp;

#endif /* BENCH_SEQUENCE_H */
