/* binary_search - where each key belongs among sorted numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
kernel void binary_search(global int *place, global const int *sorted,
                          global const int *key, int n, int keys)
{
    int i = get_global_id(0);

    if (i < keys) {
        int wanted = key[i], low = 0, high = n;

        while (low < high) {
            int middle = (low + high) / 2;

            if (sorted[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        place[i] = low;
    }
}
