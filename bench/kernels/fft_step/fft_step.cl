/* fft_step - butterflies of a Fourier transform of radix 2, at a distance. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void fft_step(global float *re, global float *im,
                     global const float *wr, global const float *wi,
                     int distance, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        int block = i / distance, l = i - block * distance;
        int a = 2 * block * distance + l, b = a + distance;
        int w = l * (n / distance);
        float tr = wr[w] * re[b] - wi[w] * im[b];
        float ti = wr[w] * im[b] + wi[w] * re[b];

        re[b] = re[a] - tr;
        im[b] = im[a] - ti;
        re[a] += tr;
        im[a] += ti;
    }
}
