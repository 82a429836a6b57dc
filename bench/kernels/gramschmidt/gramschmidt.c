/* gramschmidt - takes column k out of those behind it, row by row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void gramschmidt(float *restrict a, float *restrict r, const float *restrict q,
                 int k, int n, int m)
{
    float *restrict sum = r + k * m;

    for (int j = k + 1; j < m; j++)
        sum[j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = k + 1; j < m; j++)
            sum[j] += q[i * m + k] * a[i * m + j];
    for (int i = 0; i < n; i++)
        for (int j = k + 1; j < m; j++)
            a[i * m + j] -= q[i * m + k] * sum[j];
}
