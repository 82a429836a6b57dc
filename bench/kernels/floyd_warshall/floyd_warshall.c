/* floyd_warshall - shortest paths through node k. No path to itself is less
 * than 0, so that row and column k stay as they are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void floyd_warshall(int *path, int k, int n)
{
    const int *from = path + k * n;

#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int *to = path + i * n, first = to[k];

#pragma GCC ivdep
        for (int j = 0; j < n; j++) {
            int other = first + from[j];

            to[j] = other < to[j] ? other : to[j];
        }
    }
}
