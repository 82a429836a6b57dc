/* trmm - B := alpha A' B with A below the diagonal, whose own elements are 1,
 * row by row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void trmm(float *restrict b, const float *restrict a, float alpha, int m, int n)
{
    for (int i = 0; i < m; i++) {
        float *restrict row = b + i * n;

        for (int k = i + 1; k < m; k++)
            for (int j = 0; j < n; j++)
                row[j] += a[k * m + i] * b[k * n + j];
        for (int j = 0; j < n; j++)
            row[j] *= alpha;
    }
}
