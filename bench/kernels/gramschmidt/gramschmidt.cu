/* gramschmidt - takes column k out of those behind it: an item a column. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void gramschmidt(float *a, float *r, const float *q,
                                       int k, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;

    if (j > k && j < m) {
        float sum = 0;

        for (int i = 0; i < n; i++)
            sum += q[i * m + k] * a[i * m + j];
        for (int i = 0; i < n; i++)
            a[i * m + j] -= q[i * m + k] * sum;
        r[k * m + j] = sum;
    }
}
