/* scan - inclusive sums within groups of 256, by doubling distances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256) scan(int *out, const int *x)
{
    __shared__ int t[2][256];
    int l = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;

    t[0][l] = x[i];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        t[1 - from][l] = l >= d ? t[from][l] + t[from][l - d] : t[from][l];
        from = 1 - from;
        __syncthreads();
    }
    out[i] = t[from][l];
}
