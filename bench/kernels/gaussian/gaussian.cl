/* gaussian - what elimination of column k leaves of a matrix and of the
 * right side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void gaussian(global float *a, global float *b, global const float *m,
                     int k, int n)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i < n - 1 - k && j < n - k) {
        a[(i + 1 + k) * n + j + k] -= m[i + 1 + k] * a[k * n + j + k];
        if (j == 0)
            b[i + 1 + k] -= m[i + 1 + k] * b[k];
    }
}
