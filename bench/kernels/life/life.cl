/* life - a generation of Conway's game, in bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void life(global uchar *out, global const uchar *x, int nx, int ny)
{
    int i = get_global_id(0), j = get_global_id(1), at = j * nx + i;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int near = x[at - nx - 1] + x[at - nx] + x[at - nx + 1] + x[at - 1] +
            x[at + 1] + x[at + nx - 1] + x[at + nx] + x[at + nx + 1];

        out[at] = near == 3 || (near == 2 && x[at]);
    }
}
