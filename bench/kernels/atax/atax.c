/* atax - y := A' t, the second half of y := A' (A x), row by row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void atax(float *restrict y, const float *a, const float *t, int n, int m)
{
    for (int j = 0; j < m; j++)
        y[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[j] += a[i * m + j] * t[i];
}
