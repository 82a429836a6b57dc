/* histogram - of bytes: a group counts in its memory, then adds to all. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
histogram(global uint *counts, global const uchar *x, int n)
{
    local uint bins[256];
    int l = get_local_id(0), stride = get_global_size(0);

    bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += stride)
        atomic_add(&bins[x[i]], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[l], bins[l]);
}
