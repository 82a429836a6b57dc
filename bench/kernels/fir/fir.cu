/* fir - a filter of 32 taps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void fir(float *out, const float *x, const float *tap,
                               int n, int taps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float sum = 0;

        for (int k = 0; k < taps; k++)
            sum += tap[k] * x[i + k];
        out[i] = sum;
    }
}
