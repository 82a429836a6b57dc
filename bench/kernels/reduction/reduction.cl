/* reduction - a sum: each item takes every so manieth element, then a group
 * adds by halves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
reduction(global float *partial, global const float *x, int n)
{
    local float sums[256];
    int l = get_local_id(0), stride = get_global_size(0);
    float sum = 0;

    for (int i = get_global_id(0); i < n; i += stride)
        sum += x[i];
    sums[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 128; k > 0; k /= 2) {
        if (l < k)
            sums[l] += sums[l + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        partial[get_group_id(0)] = sums[0];
}
