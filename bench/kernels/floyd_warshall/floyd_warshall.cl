/* floyd_warshall - shortest paths through node k. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void floyd_warshall(global int *path, int k, int n)
{
    int j = get_global_id(0), i = get_global_id(1);

    if (i < n && j < n)
        path[i * n + j] =
            min(path[i * n + j], path[i * n + k] + path[k * n + j]);
}
