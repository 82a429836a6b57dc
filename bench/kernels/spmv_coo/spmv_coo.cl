/* spmv_coo - y := y + A x of a sparse matrix of whole numbers, an item an
 * element of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void spmv_coo(global int *y, global const int *row,
                     global const int *column, global const int *value,
                     global const int *x, int n)
{
    int k = get_global_id(0);

    if (k < n)
        atomic_add(&y[row[k]], value[k] * x[column[k]]);
}
