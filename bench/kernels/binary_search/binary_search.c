/* binary_search - where each key belongs among sorted numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void binary_search(int *restrict place, const int *restrict sorted,
                   const int *restrict key, int n, int keys)
{
#pragma omp parallel for
    for (int i = 0; i < keys; i++) {
        const int *low = sorted;
        int left = n;

        while (left > 1) { /* no branch on what is found: it is a coin toss */
            int half = left / 2;

            low += low[half - 1] < key[i] ? half : 0;
            left -= half;
        }
        place[i] = (int)(low - sorted) + (left == 1 && *low < key[i]);
    }
}
