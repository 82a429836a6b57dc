/* atax - y := A' t, the second half of y := A' (A x): an item a column. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void atax(float *y, const float *a, const float *t, int n,
                                int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;

    if (j < m) {
        float sum = 0;

        for (int i = 0; i < n; i++)
            sum += a[i * m + j] * t[i];
        y[j] = sum;
    }
}
