/* bfs - from each node of the frontier to the nodes that nobody has visited. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void bfs(global uchar *next, global int *cost,
                global const uchar *frontier, global const uchar *visited,
                global const int *first, global const int *edge, int level,
                int n)
{
    int i = get_global_id(0);

    if (i < n && frontier[i]) {
        for (int k = first[i]; k < first[i + 1]; k++) {
            int to = edge[k];

            if (!visited[to]) {
                cost[to] = level;
                next[to] = 1;
            }
        }
    }
}
