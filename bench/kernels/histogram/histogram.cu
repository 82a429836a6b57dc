/* histogram - of bytes: a group counts in its memory, then adds to all. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
histogram(unsigned *counts, const unsigned char *x, int n)
{
    __shared__ unsigned bins[256];
    int l = threadIdx.x, stride = gridDim.x * blockDim.x;

    bins[l] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[l], bins[l]);
}
