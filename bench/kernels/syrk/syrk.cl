/* syrk - C := alpha A A' + beta C below the diagonal, an item for each
 * element. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void syrk(global float *c, global const float *a, float alpha,
                 float beta, int n, int m)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i < n && j <= i) {
        float sum = beta * c[i * n + j];

        for (int k = 0; k < m; k++)
            sum += alpha * a[i * m + k] * a[j * m + k];
        c[i * n + j] = sum;
    }
}
