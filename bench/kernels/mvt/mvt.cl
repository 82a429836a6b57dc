/* mvt - x := x + A y, an item a row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void mvt(global double *x, global const double *a,
                global const double *y, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        double sum = x[i];

        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * y[k];
        x[i] = sum;
    }
}
