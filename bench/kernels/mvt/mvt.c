/* mvt - x := x + A y. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void mvt(double *restrict x, const double *a, const double *y, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = x[i];

        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * y[k];
        x[i] = sum;
    }
}
