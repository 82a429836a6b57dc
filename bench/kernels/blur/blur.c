/* blur - of a picture in bytes, by weights of 1, 2 and 1 in both directions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static inline unsigned short row(const unsigned char *p)
{
    return p[-1] + 2 * p[0] + p[1];
}

void blur(unsigned char *restrict out, const unsigned char *restrict p, int nx,
          int ny)
{
#pragma omp parallel for
    for (int j = 1; j < ny - 1; j++)
        for (int at = j * nx + 1; at < j * nx + nx - 1; at++) {
            unsigned short sum =
                row(p + at - nx) + 2 * row(p + at) + row(p + at + nx);

            out[at] = (unsigned short)(sum + 8) >> 4;
        }
}
