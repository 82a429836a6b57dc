/* cholesky - what a step leaves below the diagonal and to the right of column
 * k, of which there is a copy. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void cholesky(float *restrict a, int k, int n)
{
    float column[n];

    for (int i = k; i < n; i++)
        column[i] = a[i * n + k];
#pragma omp parallel for
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
            a[i * n + j] -= column[i] * column[j];
}
