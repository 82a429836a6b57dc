/* matmul_tiled - C := A B of square matrices, by tiles of 16 x 16 in the
 * memory of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
matmul_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;

    for (int tile = 0; tile < n / 16; tile++) {
        ta[y][x] = a[row * n + tile * 16 + x];
        tb[y][x] = b[(tile * 16 + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
