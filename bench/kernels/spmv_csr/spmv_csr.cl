/* spmv_csr - y := A x of a sparse matrix, one item for each row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void spmv_csr(global float *y, global const int *first,
                     global const int *column, global const float *value,
                     global const float *x, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        float sum = 0;

        for (int k = first[i]; k < first[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
