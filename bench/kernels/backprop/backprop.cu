/* backprop - a layer forward: products of inputs and weights, summed over
 * the 16 inputs of a group by halves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
backprop(float *partial, float *weight, const float *input, int n)
{
    __shared__ float in[16], w[16][16];
    int x = threadIdx.x, y = threadIdx.y, by = blockIdx.y;
    int at = (n + 1) * (by * 16 + y + 1) + x + 1;

    if (x == 0)
        in[y] = input[by * 16 + y + 1];
    __syncthreads();
    w[y][x] = weight[at] * in[y];
    __syncthreads();
    for (int step = 8; step > 0; step /= 2) {
        if (y < step)
            w[y][x] += w[y + step][x];
        __syncthreads();
    }
    weight[at] = w[y][x];
    if (y == 0)
        partial[by * n + x] = w[0][x];
}
