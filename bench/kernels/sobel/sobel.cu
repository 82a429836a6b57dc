/* sobel - the gradient's absolute value of a picture in bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void sobel(unsigned char *out, const unsigned char *p,
                                 int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int at = j * nx + i;

    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int gx = p[at - nx + 1] + 2 * p[at + 1] + p[at + nx + 1] -
            p[at - nx - 1] - 2 * p[at - 1] - p[at + nx - 1];
        int gy = p[at + nx - 1] + 2 * p[at + nx] + p[at + nx + 1] -
            p[at - nx - 1] - 2 * p[at - nx] - p[at - nx + 1];
        int sum = abs(gx) + abs(gy);

        out[at] = sum < 255 ? sum : 255;
    }
}
