/* sobel - the gradient's absolute value of a picture in bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

void sobel(unsigned char *restrict out, const unsigned char *restrict p, int nx,
           int ny)
{
#pragma omp parallel for
    for (int j = 1; j < ny - 1; j++)
        for (int at = j * nx + 1; at < j * nx + nx - 1; at++) {
            int gx = p[at - nx + 1] + 2 * p[at + 1] + p[at + nx + 1] -
                     p[at - nx - 1] - 2 * p[at - 1] - p[at + nx - 1];
            int gy = p[at + nx - 1] + 2 * p[at + nx] + p[at + nx + 1] -
                     p[at - nx - 1] - 2 * p[at - nx] - p[at - nx + 1];
            int sum = abs(gx) + abs(gy);

            out[at] = sum < 255 ? sum : 255;
        }
}
