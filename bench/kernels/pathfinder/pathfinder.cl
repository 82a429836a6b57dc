/* pathfinder - the cheapest way through a grid, row by row: a group advances
 * so many steps, and keeps what it needs of its neighbours. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
pathfinder(global int *out, global const int *wall, global const int *cost,
           int steps, int n)
{
    local int row[256];
    int l = get_local_id(0), group = get_group_id(0);
    int x = group * (256 - 2 * steps) + l - steps;
    int is_inside = x >= 0 && x < n;
    int best = is_inside ? cost[x] : 1 << 30;

    for (int i = 0; i < steps; i++) {
        row[l] = best;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_inside) {
            int left = l > 0 ? row[l - 1] : best;
            int right = l < 255 ? row[l + 1] : best;

            best = min(best, min(left, right)) + wall[i * n + x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (is_inside && l >= steps && l < 256 - steps)
        out[x] = best;
}
