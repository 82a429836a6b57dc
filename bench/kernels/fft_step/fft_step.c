/* fft_step - butterflies of a Fourier transform of radix 2, at a distance:
 * block by block. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void fft_step(float *restrict re, float *restrict im, const float *restrict wr,
              const float *restrict wi, int distance, int n)
{
#pragma omp parallel for
    for (int first = 0; first < 2 * n; first += 2 * distance) {
        float *restrict re_a = re + first, *restrict im_a = im + first;
        float *restrict re_b = re_a + distance, *restrict im_b =
                                                    im_a + distance;

        for (int l = 0; l < distance; l++) {
            int w = l * (n / distance);
            float tr = wr[w] * re_b[l] - wi[w] * im_b[l];
            float ti = wr[w] * im_b[l] + wi[w] * re_b[l];

            re_b[l] = re_a[l] - tr;
            im_b[l] = im_a[l] - ti;
            re_a[l] += tr;
            im_a[l] += ti;
        }
    }
}
