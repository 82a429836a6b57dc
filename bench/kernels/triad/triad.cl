/* triad - a := b + s c. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void triad(global double *a, global const double *b,
                  global const double *c, double s, int n)
{
    int i = get_global_id(0);

    if (i < n)
        a[i] = b[i] + s * c[i];
}
