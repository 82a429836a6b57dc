/* loops.h - the ranges of the kernels as loops that are spread over threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef LOOPS_H
#define LOOPS_H

#include "plain.h"

/* A loop of fewer items is over before another thread has begun. */
#define ITEMS_FOR_ONE_THREAD 4096

#define PRAGMA(text) _Pragma(#text)
/* The points of a kernel are independent. */
#define SPREAD(items) \
    PRAGMA(omp parallel for schedule(static) if ((items) > \
                                                 ITEMS_FOR_ONE_THREAD))
#define VECTORS _Pragma("GCC ivdep")

#define WHOLE(n, x, y, z, c) \
    SPREAD(n *n *n) \
    for (int64_t z = 0; z < n; z++) \
        for (int64_t y = 0; y < n; y++) \
            for (int64_t x = 0, c = n * (y + n * z); x < n; x++, c++)

#define FLAT(count, c) \
    PRAGMA(omp parallel for simd schedule(static) if ( \
        (count) > ITEMS_FOR_ONE_THREAD)) \
    for (int64_t c = 0; c < (count); c++)

#define BOX(n, x0, x1, y0, y1, z0, z1, c) \
    SPREAD(n *n *n) \
    for (int64_t z = z0; z < z1; z++) \
        for (int64_t y = y0; y < y1; y++) \
    VECTORS for (int64_t c = x0 + n * (y + n * z), \
                 last = x1 + n * (y + n * z); \
                 c < last; c++)

#define INSIDE(n, c) BOX(n, 1, n - 1, 1, n - 1, 1, n - 1, c)

/* From 2 in direction j, and up to the upper ghost in the other directions. */
#define INNER(n, j, c) \
    BOX(n, 1 + (j == 0), n - (j == 0), 1 + (j == 1), n - (j == 1), \
        1 + (j == 2), n - (j == 2), c)

/* The plane 0 of direction d, from `first` to before `last` in the others. */
#define PLANE(n, d, first, last, c) \
    SPREAD(n *n) \
    for (int64_t slow = first; slow < last; slow++) \
    VECTORS for (int64_t fast = first, \
                 c = first * plane_s(n, d) + slow * plane_t(n, d); \
                 fast < last; fast++, c += plane_s(n, d))

static inline int64_t stride(int64_t n, int64_t d)
{
    return d == 0 ? 1 : d == 1 ? n : n * n;
}

/* Strides of the two directions of a plane, the faster one first. */
static inline int64_t plane_s(int64_t n, int64_t d)
{
    return d == 0 ? n : 1;
}

static inline int64_t plane_t(int64_t n, int64_t d)
{
    return d == 2 ? n : n * n;
}

#endif /* LOOPS_H */
