/* radix_split - keys of a group, those with a bit of 0 first, in their
 * order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
radix_split(unsigned *out, const unsigned *key, int bit)
{
    __shared__ unsigned t[2][256];
    int l = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;
    unsigned own = key[i], zero = ~own >> bit & 1u;

    t[0][l] = zero;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        t[1 - from][l] = l >= d ? t[from][l] + t[from][l - d] : t[from][l];
        from = 1 - from;
        __syncthreads();
    }
    unsigned before = t[from][l] - zero, zeros = t[from][255];

    out[i - l + (zero ? before : zeros + l - before)] = own;
}
