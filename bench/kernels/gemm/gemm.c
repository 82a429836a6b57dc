/* gemm - C := alpha A B + beta C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void gemm(float *restrict c, const float *a, const float *b, float alpha,
          float beta, int n, int m)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += alpha * a[i * m + k] * b[k * n + j];
    }
}
