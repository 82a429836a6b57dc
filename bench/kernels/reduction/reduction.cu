/* reduction - a sum: each item takes every so manieth element, then a group
 * adds by halves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
reduction(float *partial, const float *x, int n)
{
    __shared__ float sums[256];
    int l = threadIdx.x, stride = gridDim.x * blockDim.x;
    float sum = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i];
    sums[l] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (l < k)
            sums[l] += sums[l + k];
        __syncthreads();
    }
    if (l == 0)
        partial[blockIdx.x] = sums[0];
}
