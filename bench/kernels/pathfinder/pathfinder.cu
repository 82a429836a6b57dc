/* pathfinder - the cheapest way through a grid, row by row: a group advances
 * so many steps, and keeps what it needs of its neighbours. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void __launch_bounds__(256)
pathfinder(int *out, const int *wall, const int *cost, int steps, int n)
{
    __shared__ int row[256];
    int l = threadIdx.x, group = blockIdx.x;
    int x = group * (256 - 2 * steps) + l - steps;
    int is_inside = x >= 0 && x < n;
    int best = is_inside ? cost[x] : 1 << 30;

    for (int i = 0; i < steps; i++) {
        row[l] = best;
        __syncthreads();
        if (is_inside) {
            int left = l > 0 ? row[l - 1] : best;
            int right = l < 255 ? row[l + 1] : best;

            best = min(best, min(left, right)) + wall[i * n + x];
        }
        __syncthreads();
    }
    if (is_inside && l >= steps && l < 256 - steps)
        out[x] = best;
}
