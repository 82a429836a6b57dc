/* dwt - a level of Haar's wavelets: means, then differences. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void dwt(global float *out, global const float *x, int n)
{
    int i = get_global_id(0), half_ = n / 2;

    if (i < half_) {
        float a = x[2 * i], b = x[2 * i + 1];

        out[i] = (a + b) * 0.70710678f;
        out[half_ + i] = (a - b) * 0.70710678f;
    }
}
