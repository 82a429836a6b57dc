/* life - a generation of Conway's game, in bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void life(unsigned char *restrict out, const unsigned char *restrict x, int nx,
          int ny)
{
#pragma omp parallel for
    for (int j = 1; j < ny - 1; j++)
        for (int at = j * nx + 1; at < j * nx + nx - 1; at++) {
            unsigned char near = x[at - nx - 1] + x[at - nx] + x[at - nx + 1] +
                                 x[at - 1] + x[at + 1] + x[at + nx - 1] +
                                 x[at + nx] + x[at + nx + 1];

            out[at] = (near == 3) | ((near == 2) & (x[at] != 0));
        }
}
