/* kernels_pressure.c - projection, the Poisson operator, reductions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "loops.h"

static inline REAL positive(REAL a)
{
    return a > 0 ? a : 0;
}

void divergence(REAL *q, const REAL *u, int64_t n)
{
    const REAL *const v = u + n * n * n, *const w = v + n * n * n;

    INSIDE(n, c)
    q[c] = (u[c + 1] - u[c]) + (v[c + n] - v[c]) + (w[c + n * n] - w[c]);
}

void correct_u(REAL *u, const REAL *mu0, const REAL *p, int64_t n, int64_t i)
{
    const int64_t s = stride(n, i);
    REAL *const ui = u + i * n * n * n;
    const REAL *const m = mu0 + i * n * n * n;

    INSIDE(n, c)
    ui[c] -= m[c] * (p[c] - p[c - s]);
}

void flux_out(REAL *sigma, const REAL *u, int64_t n)
{
    const REAL *const v = u + n * n * n, *const w = v + n * n * n;

    INSIDE(n, c)
    sigma[c] = (positive(u[c + 1]) + positive(-u[c])) +
               (positive(v[c + n]) + positive(-v[c])) +
               (positive(w[c + n * n]) + positive(-w[c]));
}

/* ---- the Poisson operator ---- */

void diag_D(REAL *d, const REAL *l, int64_t n)
{
    const REAL *const l1 = l + n * n * n, *const l2 = l1 + n * n * n;

    INSIDE(n, c)
    d[c] = -((l[c] + l[c + 1]) + (l1[c] + l1[c + n]) + (l2[c] + l2[c + n * n]));
}

void diag_iD(REAL *id, const REAL *d, int64_t n)
{
    INSIDE(n, c)
    id[c] = d[c] * d[c] < 2 * EPSILON ? 0 : 1 / d[c];
}

void restrict_L(REAL *coarse, const REAL *fine, int64_t n, int64_t fine_n,
                int64_t i)
{
    const int64_t m = fine_n;
    const int64_t s = i == 0 ? m : 1, t = i == 2 ? m : m * m;
    const REAL *const a = fine + i * m * m * m;
    REAL *const to = coarse + i * n * n * n;

    SPREAD(n * n * n)
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
            VECTORS for (int64_t x = 1; x < n - 1; x++)
            {
                const int64_t c = 2 * x - 1 + m * (2 * y - 1 + m * (2 * z - 1));

                to[x + n * (y + n * z)] =
                    ((a[c] + a[c + s]) + (a[c + t] + a[c + s + t])) / 2;
            }
}

/* A v at c. */
#define APPLY(v) \
    (v[c] * d[c] + (v[c - 1] * l[c] + v[c + 1] * l[c + 1]) + \
     (v[c - n] * l1[c] + v[c + n] * l1[c + n]) + \
     (v[c - n * n] * l2[c] + v[c + n * n] * l2[c + n * n]))

void residual(REAL *r, const REAL *q, const REAL *v, const REAL *d,
              const REAL *l, const REAL *id, int64_t n)
{
    const REAL *const l1 = l + n * n * n, *const l2 = l1 + n * n * n;

    INSIDE(n, c)
    {
        const REAL rest = q[c] - APPLY(v);

        r[c] = id[c] == 0 ? 0 : rest;
    }
}

void subtract_mean(REAL *r, int64_t n, REAL mean)
{
    INSIDE(n, c)
    r[c] -= mean;
}

void jacobi(REAL *e, const REAL *r, const REAL *id, int64_t n)
{
    INSIDE(n, c)
    e[c] = r[c] * id[c];
}

void increment(REAL *r, REAL *v, const REAL *e, const REAL *d, const REAL *l,
               int64_t n)
{
    const REAL *const l1 = l + n * n * n, *const l2 = l1 + n * n * n;

    INSIDE(n, c)
    {
        r[c] -= APPLY(e);
        v[c] += e[c];
    }
}

void restrict_r(REAL *coarse, const REAL *fine, int64_t n, int64_t fine_n)
{
    const int64_t m = fine_n;
    const REAL *const a = fine;

    SPREAD(n * n * n)
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
            VECTORS for (int64_t x = 1; x < n - 1; x++)
            {
                const int64_t c = 2 * x - 1 + m * (2 * y - 1 + m * (2 * z - 1));
                const int64_t e = c + m * m;

                coarse[x + n * (y + n * z)] =
                    ((a[c] + a[c + 1]) + (a[c + m] + a[c + 1 + m])) +
                    ((a[e] + a[e + 1]) + (a[e + m] + a[e + 1 + m]));
            }
}

void prolongate(REAL *e, const REAL *coarse, int64_t n, int64_t coarse_n)
{
    const int64_t m = coarse_n;

    SPREAD(n * n * n)
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
            VECTORS for (int64_t x = 1; x < n - 1; x++) e[x + n * (y + n * z)] =
                coarse[((x + 1) >> 1) +
                       m * (((y + 1) >> 1) + m * ((z + 1) >> 1))];
}

/* ---- conjugate gradients ---- */

void cg_start(REAL *q, REAL *e, const REAL *r, const REAL *id, int64_t n)
{
    INSIDE(n, c)
    q[c] = e[c] = r[c] * id[c];
}

void cg_matvec(REAL *q, const REAL *e, const REAL *d, const REAL *l, int64_t n)
{
    const REAL *const l1 = l + n * n * n, *const l2 = l1 + n * n * n;

    INSIDE(n, c)
    q[c] = APPLY(e);
}

void cg_update(REAL *v, REAL *r, const REAL *e, const REAL *q, int64_t n,
               REAL alpha)
{
    INSIDE(n, c)
    {
        v[c] += alpha * e[c];
        r[c] -= alpha * q[c];
    }
}

void cg_precond(REAL *q, const REAL *r, const REAL *id, int64_t n)
{
    INSIDE(n, c)
    q[c] = r[c] * id[c];
}

void cg_direction(REAL *e, const REAL *q, int64_t n, REAL beta)
{
    INSIDE(n, c)
    e[c] = beta * e[c] + q[c];
}

/* ---- reductions, in f64 and in any order ---- */

#define REDUCE(operation, s) \
    PRAGMA(omp parallel for schedule(static) reduction(operation : s) if ( \
        n * n * n > ITEMS_FOR_ONE_THREAD)) \
    for (int64_t z = 1; z < n - 1; z++) \
        for (int64_t y = 1; y < n - 1; y++) \
            PRAGMA(omp simd reduction(operation : s)) \
    for (int64_t c = 1 + n * (y + n * z); c < n - 1 + n * (y + n * z); c++)

double dot(const REAL *a, const REAL *b, int64_t n)
{
    double s = 0;

    REDUCE(+, s)
    s += (double)a[c] * (double)b[c];
    return s;
}

double sum(const REAL *a, int64_t n)
{
    double s = 0;

    REDUCE(+, s)
    s += (double)a[c];
    return s;
}

double max_value(const REAL *a, int64_t n, REAL offset)
{
    REAL m = a[1 + n + n * n] + offset;

    REDUCE(max, m)
    m = a[c] + offset > m ? a[c] + offset : m;
    return (double)m;
}

double max_abs(const REAL *a, int64_t n)
{
    REAL m = 0;

    REDUCE(max, m)
    m = (a[c] < 0 ? -a[c] : a[c]) > m ? (a[c] < 0 ? -a[c] : a[c]) : m;
    return (double)m;
}
