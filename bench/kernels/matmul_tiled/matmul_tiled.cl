/* matmul_tiled - C := A B of square matrices, by tiles of 16 x 16 in the
 * memory of a group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul_tiled(global float *c, global const float *a, global const float *b,
             int n)
{
    local float ta[16][16], tb[16][16];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    for (int tile = 0; tile < n / 16; tile++) {
        ta[y][x] = a[row * n + tile * 16 + x];
        tb[y][x] = b[(tile * 16 + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += ta[y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
