/* transpose - of a matrix, by tiles of 32 x 32 that 32 x 8 items turn. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
transpose(float *out, const float *x, int nx, int ny)
{
    __shared__ float tile[32][33];
    int lx = threadIdx.x, ly = threadIdx.y, bx = blockIdx.x, by = blockIdx.y;

    for (int k = 0; k < 32; k += 8)
        tile[ly + k][lx] = x[(by * 32 + ly + k) * nx + bx * 32 + lx];
    __syncthreads();
    for (int k = 0; k < 32; k += 8)
        out[(bx * 32 + ly + k) * ny + by * 32 + lx] = tile[lx][ly + k];
}
