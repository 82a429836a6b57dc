/* atax - y := A' t, the second half of y := A' (A x): an item a column. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void atax(global float *y, global const float *a, global const float *t,
                 int n, int m)
{
    int j = get_global_id(0);

    if (j < m) {
        float sum = 0;

        for (int i = 0; i < n; i++)
            sum += a[i * m + j] * t[i];
        y[j] = sum;
    }
}
