/* gray - of a picture's red, green and blue bytes, one behind the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void gray(unsigned char *restrict out, const unsigned char *restrict rgb, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] =
            (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}
