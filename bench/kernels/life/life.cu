/* life - a generation of Conway's game, in bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void life(unsigned char *out, const unsigned char *x,
                                int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int at = j * nx + i;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int near = x[at - nx - 1] + x[at - nx] + x[at - nx + 1] + x[at - 1] +
            x[at + 1] + x[at + nx - 1] + x[at + nx] + x[at + nx + 1];

        out[at] = near == 3 || (near == 2 && x[at]);
    }
}
