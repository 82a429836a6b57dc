/* radix_split - keys of a group, those with a bit of 0 first, in their
 * order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
radix_split(global uint *out, global const uint *key, int bit)
{
    local uint t[2][256];
    int l = get_local_id(0), i = get_global_id(0), from = 0;
    uint own = key[i], zero = ~own >> bit & 1u;

    t[0][l] = zero;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d *= 2) {
        t[1 - from][l] = l >= d ? t[from][l] + t[from][l - d] : t[from][l];
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint before = t[from][l] - zero, zeros = t[from][255];

    out[i - l + (zero ? before : zeros + l - before)] = own;
}
