/* lu - what elimination of row k leaves below and to the right of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void lu(float *a, int k, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i > k && j > k && i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
