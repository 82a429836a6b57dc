/* triad - a := b + s c. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void triad(double *restrict a, const double *restrict b,
           const double *restrict c, double s, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
