/* sobel - the gradient's absolute value of a picture in bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void sobel(global uchar *out, global const uchar *p, int nx, int ny)
{
    int i = get_global_id(0), j = get_global_id(1), at = j * nx + i;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int gx = p[at - nx + 1] + 2 * p[at + 1] + p[at + nx + 1] -
            p[at - nx - 1] - 2 * p[at - 1] - p[at + nx - 1];
        int gy = p[at + nx - 1] + 2 * p[at + nx] + p[at + nx + 1] -
            p[at - nx - 1] - 2 * p[at - nx] - p[at - nx + 1];
        int sum = abs(gx) + abs(gy);

        out[at] = sum < 255 ? sum : 255;
    }
}
