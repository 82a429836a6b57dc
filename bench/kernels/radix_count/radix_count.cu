/* radix_count - how often each digit of four bits is among a group's keys;
 * an item counts 16 keys. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
radix_count(unsigned *counts, const unsigned *key, int shift, int groups)
{
    __shared__ unsigned bins[16];
    int l = threadIdx.x, group = blockIdx.x;

    if (l < 16)
        bins[l] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
        atomicAdd(&bins[key[group * 4096 + k * 256 + l] >> shift & 15], 1u);
    __syncthreads();
    if (l < 16)
        counts[l * groups + group] = bins[l];
}
