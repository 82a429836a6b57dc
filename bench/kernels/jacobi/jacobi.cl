/* jacobi - a step in two dimensions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void jacobi(global float *b, global const float *a, int n)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
        b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] +
            a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}
