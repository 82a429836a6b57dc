/* derivative - convection of a vortex's velocity, u du/dx + v du/dy + w
 * du/dz, by central differences of fourth order in a periodic cube. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static inline int wrapped(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* What lies one and two points before and behind a row. */
struct around {
    const double *low2, *low, *high, *high2;
};

static struct around rows(const double *u, int at, int n, int stride, int rest)
{
    struct around found = {u + wrapped(at - 2, n) * stride + rest,
                           u + wrapped(at - 1, n) * stride + rest,
                           u + wrapped(at + 1, n) * stride + rest,
                           u + wrapped(at + 2, n) * stride + rest};

    return found;
}

static inline double slope(struct around a, int i)
{
    return 8 * (a.high[i] - a.low[i]) - a.high2[i] + a.low2[i];
}

static inline double across(const double *row, int i, int n)
{
    return 8 * (row[wrapped(i + 1, n)] - row[wrapped(i - 1, n)]) -
           row[wrapped(i + 2, n)] + row[wrapped(i - 2, n)];
}

void derivative(double *restrict out, const double *restrict u,
                const double *restrict v, const double *restrict w, double h,
                int n)
{
#pragma omp parallel for
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) {
            int first = (k * n + j) * n;
            const double *row = u + first;
            struct around y = rows(u, j, n, n, k * n * n);
            struct around z = rows(u, k, n, n * n, j * n);
            double x[n];

            for (int i = 0; i < 2; i++) {
                x[i] = across(row, i, n);
                x[n - 1 - i] = across(row, n - 1 - i, n);
            }
            for (int i = 2; i < n - 2; i++)
                x[i] = 8 * (row[i + 1] - row[i - 1]) - row[i + 2] + row[i - 2];
            for (int i = 0; i < n; i++)
                out[first + i] = (row[i] * x[i] + v[first + i] * slope(y, i) +
                                  w[first + i] * slope(z, i)) *
                                 h;
        }
}
