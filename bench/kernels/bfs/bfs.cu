/* bfs - from each node of the frontier to the nodes that nobody has visited. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
extern "C" __global__ void bfs(unsigned char *next, int *cost,
                               const unsigned char *frontier,
                               const unsigned char *visited, const int *first,
                               const int *edge, int level, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

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
