/* covariance - of the columns of data without their means: an item a row of
 * the symmetric matrix. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void covariance(float *s, const float *x, int n, int m)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;

    if (a < m) {
        for (int b = a; b < m; b++) {
            float sum = 0;

            for (int i = 0; i < n; i++)
                sum += x[i * m + a] * x[i * m + b];
            s[a * m + b] = sum;
            s[b * m + a] = sum;
        }
    }
}
