/* bfs - from each node of the frontier to the nodes that nobody has visited. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void bfs(unsigned char *restrict next, int *restrict cost,
         const unsigned char *restrict frontier,
         const unsigned char *restrict visited, const int *restrict first,
         const int *restrict edge, int level, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (!frontier[i])
            continue;
        for (int k = first[i]; k < first[i + 1]; k++) {
            int to = edge[k];

            if (!visited[to]) {
                cost[to] = level;
                next[to] = 1;
            }
        }
    }
}
