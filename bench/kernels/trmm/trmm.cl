/* trmm - B := alpha A' B with A below the diagonal, whose own elements are 1:
 * an item a column. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void trmm(global float *b, global const float *a, float alpha, int m,
                 int n)
{
    int j = get_global_id(0);

    if (j < n)
        for (int i = 0; i < m; i++) {
            float sum = b[i * n + j];

            for (int k = i + 1; k < m; k++)
                sum += a[k * m + i] * b[k * n + j];
            b[i * n + j] = alpha * sum;
        }
}
