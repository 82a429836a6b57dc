/* spmv_csr - y := A x of a sparse matrix, one item for each row. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void spmv_csr(float *y, const int *first,
                                    const int *column, const float *value,
                                    const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float sum = 0;

        for (int k = first[i]; k < first[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
