/* lu - what elimination of row k leaves below and to the right of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void lu(global float *a, int k, int n)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i > k && j > k && i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
