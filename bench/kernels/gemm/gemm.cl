/* gemm - C := alpha A B + beta C, an item for each element. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void gemm(global float *c, global const float *a, global const float *b,
                 float alpha, float beta, int n, int m)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i < n && j < n) {
        float sum = beta * c[i * n + j];

        for (int k = 0; k < m; k++)
            sum += alpha * a[i * m + k] * b[k * n + j];
        c[i * n + j] = sum;
    }
}
