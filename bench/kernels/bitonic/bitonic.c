/* bitonic - a step of the sorting network, on pairs at a distance; it is at
 * most half a block, which begins at multiples of its size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void bitonic(int *x, int distance, int block, int items)
{
#pragma omp parallel for
    for (int first = 0; first < 2 * items; first += 2 * distance) {
        int rises = (first & block) == 0;
        int *restrict a = x + first, *restrict b = a + distance;

        for (int l = 0; l < distance; l++) {
            int low = a[l] < b[l] ? a[l] : b[l];
            int high = a[l] < b[l] ? b[l] : a[l];

            a[l] = rises ? low : high;
            b[l] = rises ? high : low;
        }
    }
}
