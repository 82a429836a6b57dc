/* bicg - q := A p and s := A' r of a square matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void bicg(global float *q, global float *s, global const float *a,
                 global const float *p, global const float *r, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        float row = 0, column = 0;

        for (int k = 0; k < n; k++) {
            row += a[i * n + k] * p[k];
            column += a[k * n + i] * r[k];
        }
        q[i] = row;
        s[i] = column;
    }
}
