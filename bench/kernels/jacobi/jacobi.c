/* jacobi - a step in two dimensions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void jacobi(float *restrict b, const float *restrict a, int n)
{
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] =
                0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] +
                        a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}
