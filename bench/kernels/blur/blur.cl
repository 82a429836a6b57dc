/* blur - of a picture in bytes, by weights of 1, 2 and 1 in both directions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static uint row(global const uchar *p, int at)
{
    return p[at - 1] + 2u * p[at] + p[at + 1];
}

kernel void blur(global uchar *out, global const uchar *p, int nx, int ny)
{
    int i = get_global_id(0), j = get_global_id(1), at = j * nx + i;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        uint sum = row(p, at - nx) + 2 * row(p, at) + row(p, at + nx);

        out[at] = sum + 8 >> 4;
    }
}
