/* plain_dot.c - a dot product in plain C, its additions in any order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "plain_dot.h"

/* cmake/programs.cmake has the flags; without OpenMP there is one thread. */
#ifdef _OPENMP
#define SPREAD \
    _Pragma("omp parallel for simd reduction(+ : sum) schedule(static) " \
            "num_threads(threads)")
#else
#define SPREAD
#endif

float plain_dot(const float *x, const float *y, int64_t count, int threads)
{
    float sum = 0;

    (void)threads;
    SPREAD
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
