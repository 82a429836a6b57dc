/* dwt - a level of Haar's wavelets: means, then differences. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void dwt(float *restrict out, const float *restrict x, int n)
{
    int half = n / 2;

#pragma omp parallel for
    for (int i = 0; i < half; i++) {
        float a = x[2 * i], b = x[2 * i + 1];

        out[i] = (a + b) * 0.70710678f;
        out[half + i] = (a - b) * 0.70710678f;
    }
}
