/* transpose - of a matrix, by tiles of 32 x 32 that 32 x 8 items turn. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(32, 8, 1))) void
transpose(global float *out, global const float *x, int nx, int ny)
{
    local float tile[32][33];
    int lx = get_local_id(0);
    int ly = get_local_id(1);
    int bx = get_group_id(0);
    int by = get_group_id(1);

    for (int k = 0; k < 32; k += 8)
        tile[ly + k][lx] = x[(by * 32 + ly + k) * nx + bx * 32 + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 32; k += 8)
        out[(bx * 32 + ly + k) * ny + by * 32 + lx] = tile[lx][ly + k];
}
