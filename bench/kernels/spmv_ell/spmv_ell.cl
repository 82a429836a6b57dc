/* spmv_ell - y := A x of a sparse matrix: all first elements of rows, then all
 * second ones. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void spmv_ell(global float *y, global const int *column,
                     global const float *value, global const float *x, int n,
                     int width)
{
    int i = get_global_id(0);

    if (i < n) {
        float sum = 0;

        for (int k = 0; k < width; k++)
            sum += value[k * n + i] * x[column[k * n + i]];
        y[i] = sum;
    }
}
