/* syrk - C := alpha A A' + beta C below the diagonal. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void syrk(float *restrict c, const float *restrict a, float alpha, float beta,
          int n, int m)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            float sum = beta * c[i * n + j];

            for (int k = 0; k < m; k++)
                sum += alpha * a[i * m + k] * a[j * m + k];
            c[i * n + j] = sum;
        }
}
