/* fir - a filter of 32 taps, on many elements side by side. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
enum { STRIP = 256 };

void fir(float *restrict out, const float *restrict x,
         const float *restrict tap, int n, int taps)
{
#pragma omp parallel for
    for (int first = 0; first < n; first += STRIP) {
        int end = n - first < STRIP ? n : first + STRIP;

        for (int i = first; i < end; i++)
            out[i] = 0;
        for (int k = 0; k < taps; k++)
            for (int i = first; i < end; i++)
                out[i] += tap[k] * x[i + k];
    }
}
