/* side_openmp.c - the kernels in plain C, spread over threads by OpenMP. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "sequence.h"

static const struct work *given;

static void saxpy(float *restrict y, float a, const float *restrict x,
                  int64_t items)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < items; i++)
        y[i] = a * x[i] + y[i];
}

static void orbits(float *restrict y, const float *restrict x, int64_t items,
                   int64_t steps)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < items; i++) {
        float z = 0;
        int64_t n = 0;

        while (n < steps && z < 4) {
            z = z * z + x[i];
            n++;
        }
        y[i] = z;
    }
}

static int open_openmp(struct work *work)
{
    given = work;
    return 1;
}

static int launch(void)
{
    if (given->kernel == SAXPY)
        saxpy(given->y, 0.5f, given->x, given->items);
    else
        orbits(given->y, given->x, given->items, given->steps);
    return 1;
}

static void close_openmp(void)
{
}

const struct side side_openmp = {open_openmp, launch, close_openmp};
