/* plain_dot.c - a dot product in plain C, its additions in any order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "plain_dot.h"

/* cmake/programs.cmake has the flags; without OpenMP there is one thread. */
float plain_dot(const float *x, const float *y, int64_t count, int threads)
{
    float sum = 0;

    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
#endif
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

int plain_dot_has_threads(void)
{
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}
