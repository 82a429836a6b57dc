/* spmv_csr - y := A x of a sparse matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void spmv_csr(float *restrict y, const int *first, const int *column,
              const float *value, const float *x, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;

        for (int k = first[i]; k < first[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
