/* kernels_flow.c - fields, boundaries, convection, and the immersed body. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "loops.h"

/* ---- initial field and boundaries ---- */

void init_field(REAL *u, int64_t n, int64_t cells)
{
    const double scale = 3.14159265358979323846 / (double)cells;
    const int64_t size = n * n * n;

    WHOLE(n, x, y, z, c)
    {
        const double fx = ((double)x - 2.5) * scale;
        const double cx = ((double)x - 2.0) * scale;
        const double fy = ((double)y - 2.5) * scale;
        const double cy = ((double)y - 2.0) * scale;
        const double cz = ((double)z - 2.0) * scale;

        u[c] = (REAL) - (sin(fx) * cos(cy) * cos(cz));
        u[c + size] = (REAL)(cos(cx) * sin(fy) * cos(cz));
        u[c + 2 * size] = 0;
    }
}

void bc_normal_low(REAL *a, int64_t n, REAL value, int64_t i, int64_t k)
{
    REAL *const b = a + i * n * n * n + k * stride(n, i);

    PLANE(n, i, 0, n, c)
    b[c] = value;
}

void bc_normal_high(REAL *a, int64_t n, REAL value, int64_t i)
{
    bc_normal_low(a, n, value, i, n - 1);
}

void bc_tangent_low(REAL *a, int64_t n, int64_t i, int64_t j)
{
    REAL *const b = a + i * n * n * n;
    const int64_t s = stride(n, j);

    PLANE(n, j, 0, n, c)
    b[c] = b[c + s];
}

void bc_tangent_high(REAL *a, int64_t n, int64_t i, int64_t j)
{
    const int64_t s = stride(n, j);
    REAL *const b = a + i * n * n * n + (n - 1) * s;

    PLANE(n, j, 0, n, c)
    b[c] = b[c - s];
}

void exit_advect(REAL *u, int64_t n, REAL a0)
{
    REAL *const b = u + n - 1;

    PLANE(n, 0, 1, n - 1, c)
    b[c] -= a0 * 0 * (b[c] - b[c - 1]);
}

void exit_correct(REAL *u, int64_t n, REAL m)
{
    REAL *const b = u + n - 1;

    PLANE(n, 0, 1, n - 1, c)
    b[c] -= m;
}

/* ---- whole arrays ---- */

void fill_scalar(REAL *a, int64_t n, REAL value)
{
    FLAT(n * n * n, c)
    a[c] = value;
}

void fill_vector(REAL *a, int64_t n, REAL value)
{
    FLAT(3 * n * n * n, c)
    a[c] = value;
}

void copy_vector(REAL *to, const REAL *from, int64_t n)
{
    FLAT(3 * n * n * n, c)
    to[c] = from[c];
}

void times(REAL *a, int64_t n, REAL factor)
{
    FLAT(n * n * n, c)
    a[c] *= factor;
}

void divide(REAL *a, int64_t n, REAL divisor)
{
    FLAT(n * n * n, c)
    a[c] /= divisor;
}

void scale_u(REAL *u, int64_t n, REAL factor)
{
    for (int i = 0; i < 3; i++) {
        REAL *const a = u + i * n * n * n;

        INSIDE(n, c)
        a[c] *= factor;
    }
}

/* ---- convection and diffusion ---- */

static inline REAL least(REAL a, REAL b)
{
    return a < b ? a : b;
}

static inline REAL greatest(REAL a, REAL b)
{
    return a > b ? a : b;
}

static inline REAL median(REAL a, REAL b, REAL c)
{
    return greatest(least(a, b), least(greatest(a, b), c));
}

static inline REAL quick(REAL u, REAL c, REAL d)
{
    return median((5 * c + 2 * d - u) / 6, c, median(10 * c - 9 * u, c, d));
}

void conv_lower(REAL *f, const REAL *u, int64_t n, REAL nu, int64_t i,
                int64_t j)
{
    const int64_t size = n * n * n, sj = stride(n, j), si = stride(n, i);
    const REAL *const ui = u + i * size + sj;
    const REAL *const uj = u + j * size + sj;
    REAL *const fi = f + i * size + sj;

    PLANE(n, j, 1, n, c)
    {
        const REAL a = (uj[c] + uj[c - si]) / 2;
        const REAL f0 = ui[c], fm = ui[c - sj], fp = ui[c + sj];
        const REAL l = a > 0 ? (f0 + fm) / 2 : quick(fp, f0, fm);

        fi[c] += a * l - nu * (f0 - fm);
    }
}

void conv_inner(REAL *phi, REAL *f, const REAL *u, int64_t n, REAL nu,
                int64_t i, int64_t j)
{
    const int64_t size = n * n * n, sj = stride(n, j), si = stride(n, i);
    const REAL *const ui = u + i * size;
    const REAL *const uj = u + j * size;
    REAL *const fi = f + i * size;

    INNER(n, j, c)
    {
        const REAL a = (uj[c] + uj[c - si]) / 2;
        const REAL f0 = ui[c], fm = ui[c - sj], fmm = ui[c - 2 * sj];
        const REAL fp = ui[c + sj];
        const REAL l = a > 0 ? quick(fmm, fm, f0) : quick(fp, f0, fm);
        const REAL flux = a * l - nu * (f0 - fm);

        phi[c] = flux;
        fi[c] += flux;
    }
}

void conv_subtract(REAL *f, const REAL *phi, int64_t n, int64_t i, int64_t j)
{
    REAL *const fi = f + i * n * n * n - stride(n, j);

    INNER(n, j, c)
    fi[c] -= phi[c];
}

void conv_upper(REAL *f, const REAL *u, int64_t n, REAL nu, int64_t i,
                int64_t j)
{
    const int64_t size = n * n * n, sj = stride(n, j), si = stride(n, i);
    const REAL *const ui = u + i * size + (n - 1) * sj;
    const REAL *const uj = u + j * size + (n - 1) * sj;
    REAL *const fi = f + i * size + (n - 2) * sj;

    PLANE(n, j, 1, n, c)
    {
        const REAL a = (uj[c] + uj[c - si]) / 2;
        const REAL f0 = ui[c], fm = ui[c - sj], fmm = ui[c - 2 * sj];
        const REAL l = a < 0 ? (f0 + fm) / 2 : quick(fmm, fm, f0);

        fi[c] += nu * (f0 - fm) - a * l;
    }
}

/* ---- the body's immersed boundary ---- */

void bdim_f(REAL *f, const REAL *u0, const REAL *v, int64_t n, REAL dt)
{
    FLAT(3 * n * n * n, c)
    f[c] = u0[c] + dt * f[c] - v[c];
}

void bdim_u(REAL *u, const REAL *mu1, const REAL *f, const REAL *v,
            const REAL *mu0, int64_t n)
{
    const int64_t size = n * n * n;

    for (int i = 0; i < 3; i++) {
        const int64_t at = i * size;
        const REAL *const fi = f + at, *const m = mu1 + at;
        const REAL *const vi = v + at, *const m0 = mu0 + at;
        REAL *const ui = u + at;

        INSIDE(n, c)
        {
            const REAL s = m[c] * (fi[c + 1] - fi[c - 1]) +
                           m[c + 3 * size] * (fi[c + n] - fi[c - n]) +
                           m[c + 6 * size] * (fi[c + n * n] - fi[c - n * n]);

            ui[c] += s / 2 + vi[c] + m0[c] * fi[c];
        }
    }
}

double sum_exit(const REAL *u, int64_t n)
{
    double s = 0;

    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
            s += (double)u[n - 1 + n * (y + n * z)];
    return s;
}
