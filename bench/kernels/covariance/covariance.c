/* covariance - of the columns of data without their means: a row of the
 * symmetric matrix after the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void covariance(float *restrict s, const float *restrict x, int n, int m)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int a = 0; a < m; a++) {
        for (int b = a; b < m; b++)
            s[a * m + b] = 0;
        for (int i = 0; i < n; i++)
            for (int b = a; b < m; b++)
                s[a * m + b] += x[i * m + a] * x[i * m + b];
        for (int b = a; b < m; b++)
            s[b * m + a] = s[a * m + b];
    }
}
