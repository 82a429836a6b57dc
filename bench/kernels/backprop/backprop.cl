/* backprop - a layer forward: products of inputs and weights, summed over
 * the 16 inputs of a group by halves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
backprop(global float *partial, global float *weight, global const float *input,
         int n)
{
    local float in[16], w[16][16];
    int x = get_local_id(0), y = get_local_id(1), by = get_group_id(1);
    int at = (n + 1) * (by * 16 + y + 1) + x + 1;

    if (x == 0)
        in[y] = input[by * 16 + y + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    w[y][x] = weight[at] * in[y];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 8; step > 0; step /= 2) {
        if (y < step)
            w[y][x] += w[y + step][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    weight[at] = w[y][x];
    if (y == 0)
        partial[by * n + x] = w[0][x];
}
