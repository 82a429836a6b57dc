/* matmul_tiled - C := A B of square matrices, by tiles of 16 rows of B, which
 * stay in a cache. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void matmul_tiled(float *restrict c, const float *restrict a,
                  const float *restrict b, int n)
{
    for (int i = 0; i < n * n; i++)
        c[i] = 0;
    for (int tile = 0; tile < n; tile += 16)
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int k = tile; k < tile + 16; k++)
                for (int j = 0; j < n; j++)
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
}
