/* fir - a filter of 32 taps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void fir(global float *out, global const float *x,
                global const float *tap, int n, int taps)
{
    int i = get_global_id(0);

    if (i < n) {
        float sum = 0;

        for (int k = 0; k < taps; k++)
            sum += tap[k] * x[i + k];
        out[i] = sum;
    }
}
