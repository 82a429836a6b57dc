/* spmv_coo - y := y + A x of a sparse matrix of whole numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void spmv_coo(int *restrict y, const int *restrict row,
              const int *restrict column, const int *restrict value,
              const int *restrict x, int n)
{
#pragma omp parallel for
    for (int k = 0; k < n; k++)
#pragma omp atomic
        y[row[k]] += value[k] * x[column[k]];
}
