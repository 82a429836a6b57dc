/* gaussian - what elimination of column k leaves of a matrix and of the
 * right side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void gaussian(float *a, float *b, const float *m, int k,
                                    int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i < n - 1 - k && j < n - k) {
        a[(i + 1 + k) * n + j + k] -= m[i + 1 + k] * a[k * n + j + k];
        if (j == 0)
            b[i + 1 + k] -= m[i + 1 + k] * b[k];
    }
}
