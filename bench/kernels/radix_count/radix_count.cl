/* radix_count - how often each digit of four bits is among a group's keys;
 * an item counts 16 keys. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
radix_count(global uint *counts, global const uint *key, int shift, int groups)
{
    local uint bins[16];
    int l = get_local_id(0), group = get_group_id(0);

    if (l < 16)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
        atomic_add(&bins[key[group * 4096 + k * 256 + l] >> shift & 15], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        counts[l * groups + group] = bins[l];
}
