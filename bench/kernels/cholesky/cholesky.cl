/* cholesky - what a step leaves below the diagonal and to the right of column
 * k. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void cholesky(global float *a, int k, int n)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i < n && j > k && j <= i)
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
}
