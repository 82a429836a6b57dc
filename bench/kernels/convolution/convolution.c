/* convolution - of rows by 17 taps; what is outside the picture is 0. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void convolution(float *restrict out, const float *restrict p,
                 const float *restrict tap, int nx, int ny, int taps)
{
#pragma omp parallel for
    for (int y = 0; y < ny; y++) {
        const float *restrict row = p + y * nx;
        float *restrict to = out + y * nx;

        for (int x = 0; x < nx; x++)
            to[x] = 0;
        for (int k = 0; k < taps; k++) {
            int off = k - taps / 2;
            int first = off < 0 ? -off : 0, end = off > 0 ? nx - off : nx;

            for (int x = first; x < end; x++)
                to[x] += tap[k] * row[x + off];
        }
    }
}
