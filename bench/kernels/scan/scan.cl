/* scan - inclusive sums within groups of 256, by doubling distances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
scan(global int *out, global const int *x)
{
    local int t[2][256];
    int l = get_local_id(0), i = get_global_id(0), from = 0;

    t[0][l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d *= 2) {
        t[1 - from][l] = l >= d ? t[from][l] + t[from][l - d] : t[from][l];
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = t[from][l];
}
