/* gramschmidt - takes column k out of those behind it: an item a column. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void gramschmidt(global float *a, global float *r, global const float *q,
                        int k, int n, int m)
{
    int j = get_global_id(0);

    if (j > k && j < m) {
        float sum = 0;

        for (int i = 0; i < n; i++)
            sum += q[i * m + k] * a[i * m + j];
        for (int i = 0; i < n; i++)
            a[i * m + j] -= q[i * m + k] * sum;
        r[k * m + j] = sum;
    }
}
