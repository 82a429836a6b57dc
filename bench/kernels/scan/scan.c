/* scan - inclusive sums within groups of 256. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void scan(int *restrict out, const int *restrict x, int items)
{
#pragma omp parallel for
    for (int first = 0; first < items; first += 256) {
        int sum = 0;

        for (int i = first; i < first + 256; i++) {
            sum += x[i];
            out[i] = sum;
        }
    }
}
